/*
 * counters.h - the numbers that views show of the running server: what keys and backends have done, how far a long command is.
 *
 * Counting takes a lock only for a new key.  Without shared memory each process counts for itself alone.  What is shown may lag behind: processes
 * tell at the ends of their transactions.
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

/* This backend's counters.  They only grow, and whoever does the work adds to them. */
extern PGDLLEXPORT TdeStats tde_stats;

/* What all processes have told of a key. */
typedef struct TdeSharedCount TdeSharedCount;

/*
 * Tells the others of values that were encrypted under a key of this database; *place, at first NULL, remembers where.  Returns false without shared
 * memory.  What there is no room for is lost.
 */
extern bool tde_counters_add(uint32 key_id, TdeSharedCount **place, uint64 values);

/* Return what was told of a key of this database, and of all keys of all databases; 0 without shared memory. */
extern uint64 tde_counters_read(uint32 key_id);
extern uint64 tde_counters_read_all(void);

/* What all processes have done since the server started; places in an array of shared memory. */
typedef enum TdeEvent
{
	TDE_EVENT_DECRYPTED,		/* told at the end of transactions */
	TDE_EVENT_NOT_AUTHENTIC,
	TDE_EVENT_WALLET_OPENED,
	TDE_EVENT_WALLET_REFUSED,
	TDE_EVENTS					/* how many there are */
} TdeEvent;

/* Something has happened so many times.  It may be called in any state, an error's included: it throws nothing. */
extern void tde_counters_event(TdeEvent event, uint64 times);

/* Tells how many values the ending transaction has decrypted.  keys/table.c calls it, which has a callback anyway. */
extern void tde_counters_transaction_ends(void);

extern void tde_counters_init(void);	/* from _PG_init */

/* ---- how far a long command is: for the view tde.progress, and as notices ---- */

/* What a command is about; places in phase_words[] of counters.c.  TDE_PHASE_INDEXES is the last. */
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

/* How far a command is.  It belongs to the command, which counts rows itself and calls the functions below for the rest. */
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

/* Begins a command on a table, or on all of them (InvalidOid).  Of two commands at once in a process the later one is shown. */
extern PGDLLEXPORT void tde_counters_progress_start(TdeProgress *progress, Oid relid, TdePhase phase);

/* Begins a phase that has so many blocks before it. */
extern PGDLLEXPORT void tde_counters_progress_phase(TdeProgress *progress, TdePhase phase, int64 blocks_total);

/* Shows where we are; to be called for each block or so.  Every few seconds it also sends a notice. */
extern PGDLLEXPORT void tde_counters_progress_show(TdeProgress *progress);

/* The same after so many more blocks; what is appended to tables meanwhile does not count. */
extern PGDLLEXPORT void tde_counters_progress_blocks(TdeProgress *progress, int64 blocks);

/* PostgreSQL builds an index, and tells itself how many blocks of its table it has read.  When it has, so many blocks are done. */
extern void tde_counters_progress_built(TdeProgress *progress, int64 blocks);

/* Shows nothing any more.  After an error PostgreSQL does that. */
extern PGDLLEXPORT void tde_counters_progress_end(void);

#endif							/* TDE_SERVER_COUNTERS_H */
