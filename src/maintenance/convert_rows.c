/*
 * convert_rows.c - converting a column of a table in use: filling its copy in batches.
 *
 * Rows that nobody writes are updated here, as logical replication updates rows, but without firing triggers: to users nothing
 * has changed.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relscan.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "commands/tablecmds.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "parser/parse_relation.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "maintenance/convert.h"
#include "server/compat.h"
#include "server/counters.h"
#include "server/owner.h"

PG_FUNCTION_INFO_V1(tde_convert_rows);
PG_FUNCTION_INFO_V1(tde_validate);
PG_FUNCTION_INFO_V1(tde_may_commit);
PG_FUNCTION_INFO_V1(tde_must_commit);

typedef struct Batch
{
	Relation	rel;
	EState	   *estate;
	ResultRelInfo *result;
	TdeConversion conversion;
	TupleTableSlot *old;
	TupleTableSlot *new;
	LockTupleMode lock_mode;
	int64		seen;
	int64		done;
	int64		skipped;
} Batch;

/* What PostgreSQL asks the range table is which columns an UPDATE sets. */
static void
init_range_table(EState *estate, Relation rel, AttrNumber target)
{
	RangeTblEntry *rte = makeNode(RangeTblEntry);
	List	   *permissions pg_attribute_unused() = NIL;
	Bitmapset **columns;

	rte->rtekind = RTE_RELATION;
	rte->relid = RelationGetRelid(rel);
	rte->relkind = rel->rd_rel->relkind;
	rte->rellockmode = RowExclusiveLock;
	columns = &TDE_UPDATED_COLUMNS(rte, &permissions);
	*columns = bms_make_singleton(target - FirstLowInvalidHeapAttributeNumber);
	TDE_INIT_RANGE_TABLE(estate, rte, permissions);
}

/*
 * Users' triggers do not fire, but those by which PostgreSQL keeps foreign keys.  Unique and exclusion constraints that wait for the
 * end of the transaction need no second look, since nothing has become equal; it would evaluate the table owner's expressions with
 * the rights of whoever converts.
 */
static void
keep_internal_triggers(TriggerDesc *desc)
{
	TriggerDesc kept = {0};

	if (desc == NULL)
		return;
	kept.triggers = desc->triggers;
	for (int i = 0; i < desc->numtriggers; i++)
		if (desc->triggers[i].tgisinternal && desc->triggers[i].tgfoid != F_UNIQUE_KEY_RECHECK)
			kept.triggers[kept.numtriggers++] = desc->triggers[i];
	kept.trig_update_after_row = kept.numtriggers > 0;
	*desc = kept;
}

static void
batch_begin(Batch *batch, Relation rel, const char *source, const char *target)
{
	batch->rel = rel;
	batch->seen = batch->done = batch->skipped = 0;
	batch->estate = CreateExecutorState();
	tde_conversion_init(&batch->conversion, rel, source, target, GetPerTupleExprContext(batch->estate));
	init_range_table(batch->estate, rel, batch->conversion.target);
	batch->result = makeNode(ResultRelInfo);
	InitResultRelInfo(batch->result, rel, 1, NULL, 0);
	keep_internal_triggers(batch->result->ri_TrigDesc);
	batch->estate->es_opened_result_relations = list_make1(batch->result);
	AfterTriggerBeginQuery();
	batch->estate->es_output_cid = GetCurrentCommandId(true);
	batch->estate->es_snapshot = GetActiveSnapshot();
	ExecOpenIndices(batch->result, false);
	batch->lock_mode = ExecUpdateLockMode(batch->estate, batch->result);
	batch->old = table_slot_create(rel, NULL);
	batch->new = MakeSingleTupleTableSlot(RelationGetDescr(rel), &TTSOpsVirtual);
}

static void
batch_end(Batch *batch)
{
	AfterTriggerEndQuery(batch->estate);
	ExecResetTupleTable(batch->estate->es_tupleTable, false);
	ExecDropSingleTupleTableSlot(batch->old);
	ExecDropSingleTupleTableSlot(batch->new);
	ExecCloseIndices(batch->result);
	FreeExecutorState(batch->estate);
}

/*
 * Rows that others have written meanwhile went through the trigger.  Rows that others have locked are skipped: whoever holds
 * one may wait for another one that the batch holds.
 */
static bool
lock_row(Batch *batch)
{
	TM_FailureData failure;
	ItemPointerData tid = batch->old->tts_tid;
	TM_Result	result = table_tuple_lock(batch->rel, &tid, GetActiveSnapshot(), batch->old, batch->estate->es_output_cid,
										  batch->lock_mode, LockWaitSkip, 0, &failure);

	if (result == TM_WouldBlock)
		batch->skipped++;
	return result == TM_Ok;
}

static bool
is_pending(Batch *batch)
{
	return batch->conversion.expr
		? !slot_attisnull(batch->old, batch->conversion.source) && slot_attisnull(batch->old, batch->conversion.target)
		: !slot_attisnull(batch->old, batch->conversion.target);
}

static void
update_row(Batch *batch)
{
	int			natts = RelationGetDescr(batch->rel)->natts;
	int			target = batch->conversion.target - 1;
	MemoryContext old = MemoryContextSwitchTo(GetPerTupleMemoryContext(batch->estate));

	slot_getallattrs(batch->old);
	ExecClearTuple(batch->new);
	memcpy(batch->new->tts_values, batch->old->tts_values, natts * sizeof(Datum));
	memcpy(batch->new->tts_isnull, batch->old->tts_isnull, natts * sizeof(bool));
	batch->new->tts_values[target] = tde_conversion_value(&batch->conversion, batch->rel, batch->old, &batch->new->tts_isnull[target]);
	/* as an UPDATE does */
	for (int i = 0; i < natts; i++)
		if (TupleDescAttr(RelationGetDescr(batch->rel), i)->attisdropped)
			batch->new->tts_isnull[i] = true;
	ExecStoreVirtualTuple(batch->new);
	ExecSimpleRelationUpdate(batch->result, batch->estate, NULL, batch->old, batch->new);
	batch->done++;
	MemoryContextSwitchTo(old);
}

static void
batch_run(Batch *batch, BlockNumber first, BlockNumber count)
{
	TupleTableSlot *row = table_slot_create(batch->rel, NULL);
	ItemPointerData from,
				to;
	TableScanDesc scan;

	ItemPointerSet(&from, first, 0);
	ItemPointerSet(&to, first + count - 1, MaxOffsetNumber);
	scan = table_beginscan_tidrange(batch->rel, GetActiveSnapshot(), &from, &to);
	while (table_scan_getnextslot_tidrange(scan, ForwardScanDirection, row))
	{
		CHECK_FOR_INTERRUPTS();
		ResetPerTupleExprContext(batch->estate);
		ExecCopySlot(batch->old, row);
		batch->seen++;
		if (is_pending(batch) && lock_row(batch) && is_pending(batch))
			update_row(batch);
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(row);
}

static Relation
open_own_table(Oid relid, LOCKMODE lock)
{
	Relation	rel = try_table_open(relid, lock);

	if (rel == NULL)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", relid)));
	if (rel->rd_rel->relkind != RELKIND_RELATION)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("\"%s\" is not a table", RelationGetRelationName(rel))));
	if (!TDE_OWNS_RELATION(relid))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, RelationGetRelationName(rel));
	return rel;
}

/* Other access methods need not be able to read some of the blocks, or to lock single rows. */
static void
require_heap(Relation rel)
{
	if (rel->rd_rel->relam != HEAP_TABLE_AM_OID)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("table \"%s\" is not stored as a heap", RelationGetRelationName(rel)),
				 errhint("Set its access method to heap until its columns are converted.")));
}

/*
 * Show how far the conversion is of which this was a batch, and which began with another call then.  A batch with rows that
 * were skipped comes once more.
 */
static void
show_progress(Oid relid, const Batch *batch, TimestampTz started, int64 end, int64 total)
{
	static TdeProgress progress;

	if (progress.relid != relid || progress.started != started)
	{
		tde_progress_start(&progress, relid, batch->conversion.source ? TDE_PHASE_COPY : TDE_PHASE_ERASE);
		progress.started = started;
		progress.blocks_total = total;
	}
	progress.rows_changed += batch->done;
	if (batch->skipped == 0)
	{
		progress.rows_seen += batch->seen;
		progress.blocks_done = Min(end, total);
	}
	tde_progress_show(&progress);
	if (progress.blocks_done >= total)
		tde_progress_end();
}

/* All arguments but the source must be there. */
static void
refuse_nulls(FunctionCallInfo fcinfo)
{
	for (int i = 0; i < PG_NARGS(); i++)
		if (i != 1 && PG_ARGISNULL(i))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("arguments of tde_convert_rows must not be null, except for the source")));
}

static Datum
batch_result(FunctionCallInfo fcinfo, Batch *batch)
{
	Datum		values[2] = {Int64GetDatum(batch->done), Int64GetDatum(batch->skipped)};
	bool		nulls[2] = {false, false};
	TupleDesc	desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}

static void
check_blocks(int64 first, int64 count)
{
	if (first < 0 || count < 1 || first > MaxBlockNumber || count > MaxBlockNumber || first + count - 1 > MaxBlockNumber)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg(INT64_FORMAT " blocks from block " INT64_FORMAT " on cannot be converted", count, first)));
}

/* Without a conversion this would set any column, and nobody would have decided that. */
static void
require_conversion(Relation rel, const char *source, const char *target)
{
	if (!tde_conversion_is_under_way(rel, source, target))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("column \"%s\" of table \"%s\" is not being converted", source ? source : target,
						RelationGetRelationName(rel)),
				 errhint("The procedures that convert columns call this function; see the view tde.conversions.")));
}

/*
 * tde_convert_rows(relation regclass, source name, target name, first_block int8, blocks int8, all_blocks int8,
 * started timestamptz, OUT done int8, OUT skipped int8) - set the target column from the source column, or to NULL without one,
 * in those rows of the blocks where that was not done yet, but for those that others have locked.  How many blocks there are in
 * all, and when the first call was, is for telling the progress.
 */
Datum
tde_convert_rows(PG_FUNCTION_ARGS)
{
	Relation	rel;
	const char *source = PG_ARGISNULL(1) ? NULL : NameStr(*PG_GETARG_NAME(1));
	const char *target;
	TdeCaller	caller;
	Batch		batch;

	refuse_nulls(fcinfo);
	PreventCommandIfReadOnly("converting rows");
	check_blocks(PG_GETARG_INT64(3), PG_GETARG_INT64(4));
	target = NameStr(*PG_GETARG_NAME(2));
	rel = open_own_table(PG_GETARG_OID(0), RowExclusiveLock);
	require_heap(rel);
	require_conversion(rel, source, target);

	tde_owner_begin(&caller, rel);
	PushActiveSnapshot(GetLatestSnapshot());
	batch_begin(&batch, rel, source, target);
	batch_run(&batch, (BlockNumber) PG_GETARG_INT64(3), (BlockNumber) PG_GETARG_INT64(4));
	tde_owner_end(&caller);
	/* foreign keys may wait for the end of the transaction, which nothing can that runs as the owner */
	batch_end(&batch);
	PopActiveSnapshot();
	table_close(rel, NoLock);
	show_progress(PG_GETARG_OID(0), &batch, PG_GETARG_TIMESTAMPTZ(6), PG_GETARG_INT64(3) + PG_GETARG_INT64(4), PG_GETARG_INT64(5));
	return batch_result(fcinfo, &batch);
}

/*
 * tde_validate(relation regclass, constraint_name name) - validate a CHECK constraint or a foreign key, as the table's owner: its
 * expression, and casts of the owner's types, run with no more than his rights.  For owners of the table.
 */
Datum
tde_validate(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	Relation	rel = open_own_table(relid, ShareUpdateExclusiveLock);
	AlterTableCmd *command = makeNode(AlterTableCmd);
	TdeCaller	caller;

	PreventCommandIfReadOnly("validating constraints");
	CheckTableNotInUse(rel, "ALTER TABLE");
	command->subtype = AT_ValidateConstraint;
	command->name = pstrdup(NameStr(*PG_GETARG_NAME(1)));
	tde_owner_begin(&caller, rel);
	table_close(rel, NoLock);
	AlterTableInternal(relid, list_make1(command), true);
	tde_owner_end(&caller);
	PG_RETURN_VOID();
}

/* tde_may_commit() - whether the procedure that calls it may COMMIT. */
Datum
tde_may_commit(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(SPI_inside_nonatomic_context());
}

/* tde_must_commit() - an error if it may not. */
Datum
tde_must_commit(PG_FUNCTION_ARGS)
{
	if (!SPI_inside_nonatomic_context())
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("a procedure that commits cannot be called in a transaction block or by a function")));
	PG_RETURN_VOID();
}
