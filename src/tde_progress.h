/*
 * tde_progress.h - how far a long command of ours is: for a view, and as notices.
 *
 * layer: 9
 */
#ifndef TDE_PROGRESS_H
#define TDE_PROGRESS_H

#include "datatype/timestamp.h"
#include "storage/block.h"

typedef enum TdePhase
{
	TDE_PHASE_REKEY,
	TDE_PHASE_WAIT,
	TDE_PHASE_VERIFY
} TdePhase;

typedef struct TdeProgress
{
	const char *table;			/* its name, for the notices */
	TimestampTz started;
	TimestampTz noticed;		/* when the last notice was sent */
	TdePhase	phase;
	int64		blocks_total;	/* in this phase */
	int64		blocks_done;
	int64		rows_seen;		/* in all phases */
	int64		rows_changed;
} TdeProgress;

/* table: as long as the progress lives */
extern void tde_progress_start(TdeProgress *progress, Oid relid, const char *table);

/* A phase begins, with so many blocks before it. */
extern void tde_progress_phase(TdeProgress *progress, TdePhase phase, int64 blocks_total);

/* Show where we are: to be called for each block or so.  Every few seconds also sends a notice. */
extern void tde_progress_show(TdeProgress *progress);

extern void tde_progress_end(void);

#endif							/* TDE_PROGRESS_H */
