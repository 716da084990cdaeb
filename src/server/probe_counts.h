/*
 * probe_counts.h - how many values roles that may not decrypt have compared encrypted columns with, by the hour.
 */
#ifndef TDE_SERVER_PROBE_COUNTS_H
#define TDE_SERVER_PROBE_COUNTS_H

/* tde_column.probe_limit: how many a role may in an hour; 0: any number. */
extern int	tde_probe_limit;

/* The current user is about to compare with so many; ereport if these are too many. */
extern void tde_probes_add(uint64 probes);

extern void tde_probes_init(void);	/* from _PG_init */

#endif							/* TDE_SERVER_PROBE_COUNTS_H */
