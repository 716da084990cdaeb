/*
 * batches.c - changing rows of tables in committed batches, beside their readers and writers: for re-encryption and conversions.
 *
 * A pass goes through all rows of some tables.  Each batch is a transaction with a snapshot of its own, and ends after so many
 * rows if it changed some of them, or at a row that somebody else holds: only the first row of a batch is waited for, so that
 * nobody's transaction can end in a deadlock with ours.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "storage/bufmgr.h"
#include "storage/latch.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/reltrigger.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "conversion/batches.h"
#include "server/compat.h"
#include "server/statement.h"

/* ---- transactions ---- */

void
tde_batches_begin(TdeBatches *batches, FunctionCallInfo fcinfo)
{
	if (!IsA(fcinfo->context, CallContext) || castNode(CallContext, fcinfo->context)->atomic)
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("%s cannot run inside a transaction block", batches->command),
				 errdetail("It commits after each batch."),
				 errhint("Commit first.")));
	PreventCommandDuringRecovery(batches->command);
	PreventCommandIfReadOnly(batches->command);
	if (SPI_connect_ext(SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect_ext failed");
	batches->context = CurrentMemoryContext;
}

/* READ COMMITTED whatever the session has: in stricter ones a row that others have updated is an error. */
void
tde_batches_next_transaction(const TdeBatches *batches)
{
	SPI_commit();
	XactIsoLevel = XACT_READ_COMMITTED;
	PreventCommandIfReadOnly(batches->command);
}

/* Waits between batches; the statement can be cancelled meanwhile. */
static void
pause_between(const TdeBatches *batches)
{
	TimestampTz end = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), batches->delay_ms);
	long		left = batches->delay_ms;

	while (left > 0)
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, left, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), end);
	}
}

/* ---- tools that copy a table beside its writers ---- */

/* Returns true if a trigger must see each change of a row, as C code of somebody's wants it. */
static bool
follows_changes(const Trigger *trigger)
{
	if (trigger->tgisinternal || trigger->tgenabled != TRIGGER_FIRES_ALWAYS || !TRIGGER_FOR_ROW(trigger->tgtype) ||
		!TRIGGER_FOR_AFTER(trigger->tgtype) || !TRIGGER_FOR_UPDATE(trigger->tgtype))
		return false;
	return GetSysCacheOid1(PROCOID, Anum_pg_proc_prolang, ObjectIdGetDatum(trigger->tgfoid)) == ClanguageId;
}

/*
 * pg_repack copies a table, follows what is changed meanwhile by such a trigger, and puts the copy in the table's place.  No trigger fires
 * here, since to users nothing changes: so the copy would have the old values still.  To make the trigger takes a lock that excludes ours.
 */
static void
refuse_followed(Relation rel)
{
	for (int i = 0; rel->trigdesc != NULL && i < rel->trigdesc->numtriggers; i++)
		if (follows_changes(&rel->trigdesc->triggers[i]))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_IN_USE),
					 errmsg("cannot change rows of table \"%s\" because of trigger \"%s\"", RelationGetRelationName(rel),
							rel->trigdesc->triggers[i].tgname),
					 errdetail("A tool that copies the table, like pg_repack, follows changes by it.  This one fires no triggers, so the copy "
							   "would bring the old values back."),
					 errhint("Go on when the tool has ended.  If it was broken off, drop the trigger that it has left.")));
}

/* ---- batches ---- */

static void
show_block(TdeBatches *batches, BlockNumber *shown, BlockNumber block)
{
	tde_counters_progress_blocks(&batches->progress, (int64) block - *shown);
	*shown = block;
}

/*
 * Looks at the rows of one table from the pass's place on, under the active snapshot.  Returns true if its end was reached; otherwise the batch ends
 * here.  *seen: rows of this batch; *touched: it holds locks of rows.
 */
static bool
scan_table(TdeBatches *batches, void *table, TableScanDesc scan, TupleTableSlot *slot, int64 *seen, bool *touched)
{
	BlockNumber block = ItemPointerGetBlockNumber(&batches->next);

	while (table_scan_getnextslot_tidrange(scan, ForwardScanDirection, slot))
	{
		TdeRowResult result;

		CHECK_FOR_INTERRUPTS();
		batches->next = slot->tts_tid;
		if (ItemPointerGetBlockNumber(&batches->next) != block)
			show_block(batches, &block, ItemPointerGetBlockNumber(&batches->next));

		result = batches->row(table, slot, !*touched);
		batches->stale += result != TDE_ROW_CURRENT;
		if (result == TDE_ROW_BUSY)
			return false;
		batches->progress.rows_seen++;
		batches->progress.rows_changed += result == TDE_ROW_CHANGED;
		*touched |= result != TDE_ROW_CURRENT;
		if (++*seen >= batches->rows && *touched)
		{
			ItemPointerSetOffsetNumber(&batches->next, OffsetNumberNext(ItemPointerGetOffsetNumber(&batches->next)));
			return false;
		}
	}
	return true;
}

/* The pass goes to the beginning of a table. */
static void
go_to_table(TdeBatches *batches, int at)
{
	batches->at = at;
	batches->end = InvalidBlockNumber;
	ItemPointerSet(&batches->next, 0, FirstOffsetNumber);
}

/* Goes on in one table.  open() checks it anew, since it may have been altered between two transactions. */
static bool
change_from_here(TdeBatches *batches, Relation rel, int64 *seen, bool *touched)
{
	TdeStores	outer = tde_statement_begin(true);
	void	   *table;
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	ItemPointerData last;
	TableScanDesc scan;
	bool		ended = true;

	refuse_followed(rel);
	table = batches->open(batches, rel);
	tde_statement_has_stored = true;
	/* after the snapshot was taken, so that nothing visible is behind it; and no pass chases what is appended meanwhile */
	if (batches->end == InvalidBlockNumber)
		batches->end = RelationGetNumberOfBlocks(rel);
	if (batches->end > 0)
	{
		ItemPointerSet(&last, batches->end - 1, MaxOffsetNumber);
		scan = TDE_BEGINSCAN_TIDRANGE(rel, &batches->next, &last);
		ended = scan_table(batches, table, scan, slot, seen, touched);
		table_endscan(scan);
	}
	ExecDropSingleTupleTableSlot(slot);
	batches->close(table);
	tde_statement_end(outer);
	return ended;
}

/* One transaction: from the pass's place on, over as many tables as it takes.  A table that was dropped meanwhile is passed over. */
static void
run_batch(TdeBatches *batches)
{
	MemoryContext batch = AllocSetContextCreate(batches->context, "tde_column batch", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(batch);
	int64		seen = 0;
	bool		touched = false;
	bool		ended = true;

	PushActiveSnapshot(GetTransactionSnapshot());
	while (ended && batches->at < list_length(batches->tables))
	{
		Relation	rel = try_table_open(list_nth_oid(batches->tables, batches->at), RowExclusiveLock);

		if (rel)
		{
			ended = change_from_here(batches, rel, &seen, &touched);
			/* a lock that has served reading only need not be kept */
			table_close(rel, touched ? NoLock : RowExclusiveLock);
		}
		if (ended)
			go_to_table(batches, batches->at + 1);
	}
	PopActiveSnapshot();
	MemoryContextSwitchTo(old);
	MemoryContextDelete(batch);
	tde_batches_next_transaction(batches);
	tde_counters_progress_show(&batches->progress);
	if (touched)
		pause_between(batches);
}

int
tde_batches_pass(TdeBatches *batches, TdePhase phase, int64 blocks)
{
	int			count = 0;

	tde_counters_progress_phase(&batches->progress, phase, blocks);
	batches->stale = 0;
	go_to_table(batches, 0);
	do
	{
		run_batch(batches);
		count++;
	} while (batches->at < list_length(batches->tables));
	return count;
}
