/*
 * stats.h - what this backend has done: the counters behind the view tde.stats.
 */
#ifndef TDE_SERVER_STATS_H
#define TDE_SERVER_STATS_H

typedef struct TdeStats
{
	uint64		encryptions;	/* values encrypted */
	uint64		decryptions;	/* values decrypted */
	uint64		key_setups;		/* cipher and MAC contexts made ready */
	uint64		key_loads;		/* scans of the key table */
} TdeStats;

extern TdeStats tde_stats;

#endif							/* TDE_SERVER_STATS_H */
