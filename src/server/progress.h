/*
 * progress.h - how far a long command of ours is: for the view tde.progress, and as notices.
 */
#ifndef TDE_SERVER_PROGRESS_H
#define TDE_SERVER_PROGRESS_H

#include "datatype/timestamp.h"
#include "storage/block.h"

typedef enum TdePhase
{
	TDE_PHASE_REKEY,
	TDE_PHASE_WAIT,
	TDE_PHASE_VERIFY,
	TDE_PHASE_COPY,
	TDE_PHASE_ERASE,
	TDE_PHASE_LOOK
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
extern void tde_progress_start(TdeProgress *progress, Oid relid, TdePhase phase);

/* A phase has so many blocks before it. */
extern void tde_progress_phase(TdeProgress *progress, TdePhase phase, int64 blocks_total);

/* Show where we are: to be called for each block or so.  Every few seconds also sends a notice. */
extern void tde_progress_show(TdeProgress *progress);

extern void tde_progress_end(void);

#endif							/* TDE_SERVER_PROGRESS_H */
