/*
 * rekey.c - the procedure tde_rekey_table(): re-encrypt a table in committed batches, beside its readers and writers.
 *
 * A pass goes through all rows of the table, its partitions and its children.  Each batch is a transaction with a snapshot of
 * its own, and ends after batch_rows rows if it changed some of them, or at a row that somebody else holds: only the first
 * row of a batch is waited for, so that nobody's transaction can end in a deadlock with ours.  What needs no change costs a
 * look at its header, so that a later call goes on where one was interrupted.
 *
 * Rows move: an update may put one where the pass has been already.  So the end is a pass that finds nothing to change in one
 * snapshot, taken when all transactions that wrote to the table before have ended; what they left is under an older key, perhaps.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "commands/defrem.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "storage/bufmgr.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "maintenance/rekey_row.h"
#include "server/compat.h"
#include "server/counters.h"
#include "wallet/wallet.h"

PG_FUNCTION_INFO_V1(tde_rekey_table);

#define COMMAND "tde_rekey_table()"

/* After so many verifications that found something it must be coming in faster than it can be re-encrypted. */
#define MAX_VERIFICATIONS 10

/* One call.  Lives in the procedure's memory, through its transactions. */
typedef struct Rekey
{
	Oid			relid;			/* the table that was named, */
	const char *name;			/* its name, */
	const char *qualified;		/* and that as SQL has it */
	int32		batch_rows;
	long		delay_ms;		/* between batches */
	bool		repair;			/* are values without MAC to be believed? */
	MemoryContext context;
	TdeProgress progress;

	List	   *tables;			/* those with rows, by OID */
	bool		indexed;		/* is an encrypted column of theirs in an index? */
	int			at;				/* the pass's place: position in tables, ... */
	ItemPointerData next;		/* ... and the row to look at first there, ... */
	BlockNumber end;			/* ... and where its blocks ended when the pass came there; Invalid: it has not yet */
	int64		stale;			/* rows found in this pass that were not current */
} Rekey;

/* ---- what may be re-encrypted ---- */

static void
check_table(Relation rel)
{
	char		kind = rel->rd_rel->relkind;

	if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot re-encrypt relation \"%s\"", RelationGetRelationName(rel)),
				 errdetail_relkind_not_supported(kind),
				 kind == RELKIND_MATVIEW ? errhint("REFRESH MATERIALIZED VIEW fills it anew.") : 0));
	if (!TDE_OWNS_RELATION(RelationGetRelid(rel)))
		aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(kind), RelationGetRelationName(rel));
	if (RELATION_IS_OTHER_TEMP(rel))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot re-encrypt temporary tables of other sessions")));
	/* single rows are locked and updated in their places, which others need not be able to, or mean otherwise */
	if (kind == RELKIND_RELATION && rel->rd_rel->relam != HEAP_TABLE_AM_OID)
	{
		const char *name = quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)), RelationGetRelationName(rel));

		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot re-encrypt table \"%s\"", RelationGetRelationName(rel)),
				 errdetail("Its access method \"%s\" is not heap.", get_am_name(rel->rd_rel->relam)),
				 errhint("Run ALTER TABLE %s SET ACCESS METHOD heap, re-encrypt it, and set the access method again.", name)));
	}
}

static void
add_table(Rekey *rekey, Oid relid, int64 *blocks)
{
	Relation	rel = relation_open(relid, AccessShareLock);
	MemoryContext old;

	if (rel->rd_rel->relkind == RELKIND_FOREIGN_TABLE)
		ereport(WARNING,
				(errmsg("skipping foreign table \"%s\"", RelationGetRelationName(rel)),
				 errdetail("Its values are stored, under keys of its own, by another server."),
				 errhint("Call tde_rekey_table() there.")));
	else
		check_table(rel);
	if (rel->rd_rel->relkind == RELKIND_RELATION && tde_rekey_concerns(rel))
	{
		old = MemoryContextSwitchTo(rekey->context);
		rekey->tables = lappend_oid(rekey->tables, relid);
		MemoryContextSwitchTo(old);
		rekey->indexed |= tde_rekey_concerns_indexes(rel);
		*blocks += RelationGetNumberOfBlocks(rel);
	}
	relation_close(rel, NoLock);
}

/* Once: it may be renamed, or dropped, where we hold no lock. */
static void
take_names(Rekey *rekey, Relation root)
{
	MemoryContext old = MemoryContextSwitchTo(rekey->context);

	if (rekey->name == NULL)
	{
		rekey->name = pstrdup(RelationGetRelationName(root));
		rekey->qualified = quote_qualified_identifier(get_namespace_name(RelationGetNamespace(root)), rekey->name);
	}
	MemoryContextSwitchTo(old);
}

/* The table with its partitions or children, as UPDATE would take them; returns their blocks. */
static int64
list_tables(Rekey *rekey)
{
	Relation	root = table_open(rekey->relid, AccessShareLock);
	int64		blocks = 0;
	ListCell   *cell;

	check_table(root);
	take_names(rekey, root);
	list_free(rekey->tables);
	rekey->tables = NIL;
	rekey->indexed = false;
	foreach(cell, find_all_inheritors(rekey->relid, AccessShareLock, NULL))
		add_table(rekey, lfirst_oid(cell), &blocks);
	table_close(root, NoLock);
	return blocks;
}

/* ---- transactions ---- */

/* End the transaction, which keeps what was done, and begin one in which updates by others are no errors. */
static void
next_transaction(void)
{
	SPI_commit();
	XactIsoLevel = XACT_READ_COMMITTED;
	PreventCommandIfReadOnly(COMMAND);
}

static void
pause_between(const Rekey *rekey)
{
	TimestampTz end = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), rekey->delay_ms);
	long		left = rekey->delay_ms;

	while (left > 0)
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, left, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), end);
	}
}

/* Wait until all transactions that may have written to the tables have ended, without holding anything ourselves. */
static void
wait_for_writers(Rekey *rekey)
{
	ListCell   *cell;

	tde_progress_phase(&rekey->progress, TDE_PHASE_WAIT, 0);
	foreach(cell, rekey->tables)
	{
		LOCKTAG		tag;

		SET_LOCKTAG_RELATION(tag, MyDatabaseId, lfirst_oid(cell));
		WaitForLockers(tag, ShareLock, false);
	}
}

/* ---- batches ---- */

static void
show_block(Rekey *rekey, BlockNumber *shown, BlockNumber block)
{
	TdeProgress *progress = &rekey->progress;

	/* what is appended meanwhile does not count */
	progress->blocks_done = Min(progress->blocks_done + (block - *shown), progress->blocks_total);
	*shown = block;
	tde_progress_show(progress);
}

/*
 * Look at the rows of one table from the pass's place on, under the active snapshot.  True if its end was reached; otherwise
 * the batch ends here.  *seen: rows of this batch; *touched: does it hold locks of rows?
 */
static bool
scan_table(Rekey *rekey, TdeRekeyTable *table, TableScanDesc scan, int64 *seen, bool *touched)
{
	TupleTableSlot *slot = tde_rekey_slot(table);
	BlockNumber block = ItemPointerGetBlockNumber(&rekey->next);

	while (table_scan_getnextslot_tidrange(scan, ForwardScanDirection, slot))
	{
		TdeRekeyResult result;

		CHECK_FOR_INTERRUPTS();
		rekey->next = slot->tts_tid;
		if (ItemPointerGetBlockNumber(&rekey->next) != block)
			show_block(rekey, &block, ItemPointerGetBlockNumber(&rekey->next));

		result = tde_rekey_row(table, !*touched);
		rekey->stale += result != TDE_ROW_CURRENT;
		if (result == TDE_ROW_BUSY)
			return false;
		rekey->progress.rows_seen++;
		rekey->progress.rows_changed += result == TDE_ROW_CHANGED;
		*touched |= result != TDE_ROW_CURRENT;
		if (++*seen >= rekey->batch_rows && *touched)
		{
			ItemPointerSetOffsetNumber(&rekey->next, OffsetNumberNext(ItemPointerGetOffsetNumber(&rekey->next)));
			return false;
		}
	}
	return true;
}

/* The pass goes to the beginning of a table. */
static void
go_to_table(Rekey *rekey, int at)
{
	rekey->at = at;
	rekey->end = InvalidBlockNumber;
	ItemPointerSet(&rekey->next, 0, FirstOffsetNumber);
}

static bool
rekey_from_here(Rekey *rekey, Relation rel, int64 *seen, bool *touched)
{
	ItemPointerData last;
	TdeRekeyTable *table;
	TableScanDesc scan;
	bool		ended;

	/* after the snapshot was taken, so that nothing visible is behind it; and no pass chases what is appended meanwhile */
	if (rekey->end == InvalidBlockNumber)
		rekey->end = RelationGetNumberOfBlocks(rel);
	if (rekey->end == 0)
		return true;
	ItemPointerSet(&last, rekey->end - 1, MaxOffsetNumber);
	table = tde_rekey_open(rel, rekey->repair);
	scan = table_beginscan_tidrange(rel, GetActiveSnapshot(), &rekey->next, &last);
	ended = scan_table(rekey, table, scan, seen, touched);
	table_endscan(scan);
	tde_rekey_close(table);
	return ended;
}

/* One transaction: from the pass's place on, over as many tables as it takes. */
static void
run_batch(Rekey *rekey)
{
	MemoryContext batch = AllocSetContextCreate(rekey->context, "tde_rekey_table batch", ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(batch);
	int64		seen = 0;
	bool		touched = false;
	bool		ended = true;

	PushActiveSnapshot(GetTransactionSnapshot());
	while (ended && rekey->at < list_length(rekey->tables))
	{
		Relation	rel = try_table_open(list_nth_oid(rekey->tables, rekey->at), RowExclusiveLock);

		if (rel)
		{
			check_table(rel);
			ended = rekey_from_here(rekey, rel, &seen, &touched);
			/* a lock that has served reading only need not be kept */
			table_close(rel, touched ? NoLock : RowExclusiveLock);
		}
		if (ended)
			go_to_table(rekey, rekey->at + 1);
	}
	PopActiveSnapshot();
	MemoryContextSwitchTo(old);
	MemoryContextDelete(batch);
	next_transaction();
	tde_progress_show(&rekey->progress);
	if (touched)
		pause_between(rekey);
}

/* ---- passes ---- */

/* One pass over everything; true if it was one transaction in which all was current. */
static bool
run_pass(Rekey *rekey, TdePhase phase)
{
	int64		blocks = list_tables(rekey);
	int			batches = 0;

	/* without the locks that listing took */
	next_transaction();
	if (phase == TDE_PHASE_VERIFY)
		wait_for_writers(rekey);
	tde_progress_phase(&rekey->progress, phase, blocks);
	rekey->stale = 0;
	go_to_table(rekey, 0);
	for (; batches == 0 || rekey->at < list_length(rekey->tables); batches++)
		run_batch(rekey);
	return batches == 1 && rekey->stale == 0;
}

/* What the user still has to do: old values are left in dead rows, statistics and pages of indexes. */
static void
report(const Rekey *rekey)
{
	const char *name = rekey->qualified;

	ereport(NOTICE,
			(errmsg("table \"%s\": %lld rows re-encrypted", rekey->name, (long long) rekey->progress.rows_changed),
			 rekey->indexed ?
			 errdetail("Old values may still be in dead rows, statistics and indexes.") :
			 errdetail("Old values may still be in dead rows and statistics."),
			 rekey->indexed ?
			 errhint("Run VACUUM (ANALYZE) %s; REINDEX TABLE CONCURRENTLY %s;", name, name) :
			 errhint("Run VACUUM (ANALYZE) %s;", name)));
}

static void
rekey_table(Rekey *rekey)
{
	bool		clean = false;

	list_tables(rekey);
	if (rekey->tables == NIL)
	{
		ereport(NOTICE, (errmsg("table \"%s\" stores no encrypted columns", rekey->name)));
		return;
	}
	if (!tde_wallet_ensure_open())
		tde_wallet_closed_error("to re-encrypt values");
	next_transaction();
	tde_progress_start(&rekey->progress, rekey->relid, TDE_PHASE_REKEY);
	(void) run_pass(rekey, TDE_PHASE_REKEY);
	for (int i = 0; i < MAX_VERIFICATIONS && !clean; i++)
		clean = run_pass(rekey, TDE_PHASE_VERIFY);
	tde_progress_end();
	report(rekey);
	if (!clean)
		ereport(WARNING,
				(errmsg("table \"%s\" still has values to re-encrypt", rekey->name),
				 errdetail("While they were re-encrypted, others were copied into the table from elsewhere."),
				 errhint("Re-encrypt the table that they come from, then call tde_rekey_table() again.")));
}

static long
delay_in_ms(const Interval *delay)
{
	double		seconds = delay->time / (double) USECS_PER_SEC + delay->day * (double) SECS_PER_DAY;

	if (delay->month != 0 || seconds < 0 || seconds > SECS_PER_DAY)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("delay must be between 0 and one day")));
	return (long) (seconds * 1000);
}

/* tde_rekey_table(relation regclass, batch_rows int4, delay interval, repair boolean), a procedure */
Datum
tde_rekey_table(PG_FUNCTION_ARGS)
{
	Rekey		rekey = {0};

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2) || PG_ARGISNULL(3))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("arguments of tde_rekey_table must not be null")));
	rekey.relid = PG_GETARG_OID(0);
	rekey.batch_rows = PG_GETARG_INT32(1);
	rekey.delay_ms = delay_in_ms(PG_GETARG_INTERVAL_P(2));
	rekey.repair = PG_GETARG_BOOL(3);
	if (rekey.batch_rows < 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("batch_rows must be greater than zero")));
	if (!IsA(fcinfo->context, CallContext) || castNode(CallContext, fcinfo->context)->atomic)
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("%s cannot run inside a transaction block", COMMAND),
				 errdetail("It commits after each batch.")));
	PreventCommandDuringRecovery(COMMAND);
	PreventCommandIfReadOnly(COMMAND);

	if (SPI_connect_ext(SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect_ext failed");
	rekey.context = CurrentMemoryContext;
	rekey_table(&rekey);
	SPI_finish();
	PG_RETURN_VOID();
}
