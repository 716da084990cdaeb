/*
 * probe_counts.h - how many values roles that may not decrypt have compared encrypted columns with, by the hour.
 *
 * Whoever may not decrypt can still compare: SELECT ... WHERE column = 'guess'.  Each constant is a guess, and of few possible values all can be
 * tried.  So guesses are counted by role and hour, logged, and limited if a limit is set.
 */
#ifndef TDE_SERVER_PROBE_COUNTS_H
#define TDE_SERVER_PROBE_COUNTS_H

/* GUC tde_column.probe_limit: how many a role may in an hour; 0: any number. */
extern int	tde_probe_limit;

/* The current user is about to compare with so many values.  Throws ERRCODE_PROGRAM_LIMIT_EXCEEDED if these are too many; then none counts. */
extern void tde_probes_add(uint64 probes);

extern void tde_probes_init(void);	/* from _PG_init */

#endif							/* TDE_SERVER_PROBE_COUNTS_H */
