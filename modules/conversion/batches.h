/*
 * batches.h - changing rows of tables in committed batches, beside their readers and writers: for re-encryption and conversions.
 *
 * A procedure calls tde_batches_begin() once, and tde_batches_pass() for each pass.  Its functions (open, row, close) are called within, in
 * transactions that begin and end there.  So nothing of theirs outlives a batch but what is in the context.
 */
#ifndef TDE_CONVERSION_BATCHES_H
#define TDE_CONVERSION_BATCHES_H

#include "executor/tuptable.h"
#include "storage/itemptr.h"
#include "utils/rel.h"

#include "server/compat.h"
#include "server/counters.h"

/* What became of a row; rows that are not TDE_ROW_CURRENT count as stale. */
typedef enum TdeRowResult
{
	TDE_ROW_CURRENT,			/* there is nothing to change */
	TDE_ROW_CHANGED,
	TDE_ROW_OVERTAKEN,			/* others have changed, deleted or moved it meanwhile, and left nothing to change here */
	TDE_ROW_BUSY				/* somebody else holds it; nothing was done */
} TdeRowResult;

/* One call of a procedure; callers embed it in a struct of their own.  It lives in the procedure's memory, through its transactions. */
typedef struct TdeBatches
{
	const char *command;		/* for errors */
	int32		rows;			/* of a batch that has changed some */
	long		delay_ms;		/* between batches */

	/*
	 * What is to be done: with a table of which rows come, which is checked again in each transaction; with a row, as the active
	 * snapshot shows it, where may_wait says whether whoever holds it may be waited for, instead of returning TDE_ROW_BUSY.
	 */
	void	   *(*open) (struct TdeBatches *batches, Relation rel);
	TdeRowResult (*row) (void *table, TupleTableSlot *row, bool may_wait);
	void		(*close) (void *table);

	MemoryContext context;		/* from here on set by tde_batches_begin() */
	TdeProgress progress;
	List	   *tables;			/* set before a pass: those to go through, by OID */
	int			at;				/* the pass's place: position in tables, ... */
	ItemPointerData next;		/* ... and the row to look at first there, ... */
	BlockNumber end;			/* ... and where its blocks ended when the pass came there; Invalid: it has not yet */
	int64		stale;			/* rows found in this pass that were not current */
} TdeBatches;

/*
 * Begins, with SPI connected; SPI_finish() ends it.  Throws ERRCODE_ACTIVE_SQL_TRANSACTION where nothing can be committed, as in a transaction block
 * or a function.
 */
extern void tde_batches_begin(TdeBatches *batches, FunctionCallInfo fcinfo);

/* Ends the transaction, which keeps what was done, and begins one in which updates by others are no errors.  Locks and snapshots are gone. */
extern void tde_batches_next_transaction(const TdeBatches *batches);

/* Makes one pass over all rows of the tables, which have so many blocks.  Returns in how many transactions. */
extern int	tde_batches_pass(TdeBatches *batches, TdePhase phase, int64 blocks);

#endif							/* TDE_CONVERSION_BATCHES_H */
