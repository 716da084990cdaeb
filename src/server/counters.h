/*
 * counters.h - how many values each key has encrypted since the server started, and what this backend has done.
 */
#ifndef TDE_SERVER_COUNTERS_H
#define TDE_SERVER_COUNTERS_H

/* What this backend has done: the counters behind the view tde.stats. */
typedef struct TdeStats
{
	uint64		encryptions;	/* values encrypted */
	uint64		decryptions;	/* values decrypted */
	uint64		key_setups;		/* cipher and MAC contexts made ready */
	uint64		key_loads;		/* scans of the key table */
} TdeStats;

extern TdeStats tde_stats;

/* This process's counter for a data key of its database, to be incremented for each value; it stays where it is. */
extern uint64 *tde_counters_for(uint32 key_id);

/* What all processes have counted for a key; up to the last end of a transaction in each. */
extern uint64 tde_counters_read(uint32 key_id);

/* The same for all keys of all databases. */
extern uint64 tde_counters_read_all(void);

extern void tde_counters_init(void);

#endif							/* TDE_SERVER_COUNTERS_H */
