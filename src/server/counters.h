/*
 * counters.h - the numbers that views show of the running server: what keys and backends have done, how far a long command is.
 */
#ifndef TDE_SERVER_COUNTERS_H
#define TDE_SERVER_COUNTERS_H

#include "datatype/timestamp.h"
#include "storage/block.h"

/* ---- what keys and backends have done ---- */

/* What this backend has done: the counters behind the view tde.stats. */
typedef struct TdeStats
{
	uint64		encryptions;	/* values encrypted */
	uint64		decryptions;	/* values decrypted */
	uint64		reused;			/* values of rows that had been decrypted just before */
	uint64		key_setups;		/* cipher and MAC contexts made ready */
	uint64		key_loads;		/* scans of the key table */
} TdeStats;

extern PGDLLEXPORT TdeStats tde_stats;

/* What all processes have told of a key. */
typedef struct TdeSharedCount TdeSharedCount;

/* Tell the others; *place, at first NULL, remembers where.  False without shared memory. */
extern bool tde_counters_add(uint32 key_id, TdeSharedCount **place, uint64 values);

/* What was told of a key of this database, and of all keys of all databases. */
extern uint64 tde_counters_read(uint32 key_id);
extern uint64 tde_counters_read_all(void);

/* What all processes have done since the server started. */
typedef enum TdeEvent
{
	TDE_EVENT_DECRYPTED,		/* told at the end of transactions */
	TDE_EVENT_NOT_AUTHENTIC,
	TDE_EVENT_WALLET_OPENED,
	TDE_EVENT_WALLET_REFUSED,
	TDE_EVENTS					/* how many there are */
} TdeEvent;

extern void tde_counters_event(TdeEvent event, uint64 times);

/* A transaction that may have decrypted ends. */
extern void tde_counters_transaction_ends(void);

extern void tde_counters_init(void);

/* ---- how far a long command is: for the view tde.progress, and as notices ---- */

typedef enum TdePhase
{
	TDE_PHASE_REKEY,
	TDE_PHASE_WAIT,
	TDE_PHASE_VERIFY,
	TDE_PHASE_COPY,
	TDE_PHASE_ERASE,
	TDE_PHASE_LOOK,
	TDE_PHASE_VALUES,
	TDE_PHASE_SAMPLES,
	TDE_PHASE_INDEXES
} TdePhase;

typedef struct TdeProgress
{
	Oid			relid;			/* the table; InvalidOid: all of the database */
	NameData	table;			/* its name then, for the notices */
	TimestampTz started;
	TimestampTz noticed;		/* when the last notice was sent */
	TdePhase	phase;
	int64		blocks_total;	/* in this phase */
	int64		blocks_done;
	int64		rows_seen;		/* in all phases */
	int64		rows_changed;
} TdeProgress;

/* A command on a table, or on all of them, begins. */
extern PGDLLEXPORT void tde_counters_progress_start(TdeProgress *progress, Oid relid, TdePhase phase);

/* A phase has so many blocks before it. */
extern PGDLLEXPORT void tde_counters_progress_phase(TdeProgress *progress, TdePhase phase, int64 blocks_total);

/* Show where we are: to be called for each block or so.  Every few seconds also sends a notice. */
extern PGDLLEXPORT void tde_counters_progress_show(TdeProgress *progress);

/* The same after so many more blocks; what is appended to tables meanwhile does not count. */
extern PGDLLEXPORT void tde_counters_progress_blocks(TdeProgress *progress, int64 blocks);

/* PostgreSQL builds an index, and tells itself how many blocks of its table it has read; then these are done. */
extern void tde_counters_progress_built(TdeProgress *progress, int64 blocks);

extern PGDLLEXPORT void tde_counters_progress_end(void);

#endif							/* TDE_SERVER_COUNTERS_H */
