/*
 * tde_stats.h - what this backend has done: the counters behind the view tde.stats.
 *
 * layer: 2
 */
#ifndef TDE_STATS_H
#define TDE_STATS_H

typedef struct TdeStats
{
	uint64		encryptions;	/* values encrypted */
	uint64		decryptions;	/* values decrypted */
	uint64		key_setups;		/* cipher and MAC contexts made ready */
	uint64		key_loads;		/* scans of the key table */
} TdeStats;

extern TdeStats tde_stats;

#endif							/* TDE_STATS_H */
