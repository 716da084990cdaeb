/*
 * tde_convert.c - converting a column of a table in use: the trigger that keeps its copy, and filling the copy in batches.
 *
 * The copy is a second column.  A trigger of this table's own sees to rows that others write; rows that nobody writes are
 * updated here, as logical replication updates rows, but without firing triggers: to users nothing has changed.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relscan.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_class.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parse_relation.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "tde_compat.h"
#include "tde_progress.h"
#include "tde_type.h"

PG_FUNCTION_INFO_V1(tde_convert_trigger);
PG_FUNCTION_INFO_V1(tde_convert_rows);
PG_FUNCTION_INFO_V1(tde_may_commit);
PG_FUNCTION_INFO_V1(tde_must_commit);

/* From one column to the other; without a source the target becomes NULL. */
typedef struct Conversion
{
	AttrNumber	source;
	AttrNumber	target;
	ExprState  *expr;
	ExprContext *context;
} Conversion;

static AttrNumber
column_number(Relation rel, const char *name)
{
	AttrNumber	number = get_attnum(RelationGetRelid(rel), name);

	if (number <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist", name, RelationGetRelationName(rel))));
	return number;
}

/* The value as an assignment would store it. */
static Expr *
conversion_expr(Relation rel, AttrNumber source, AttrNumber target)
{
	Form_pg_attribute from = TupleDescAttr(RelationGetDescr(rel), source - 1);
	Form_pg_attribute to = TupleDescAttr(RelationGetDescr(rel), target - 1);
	Node	   *value = (Node *) makeVar(1, source, from->atttypid, from->atttypmod, from->attcollation, 0);
	Node	   *result = coerce_to_target_type(NULL, value, from->atttypid, to->atttypid, to->atttypmod,
											   COERCION_ASSIGNMENT, COERCE_IMPLICIT_CAST, -1);

	if (result == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" cannot be cast automatically to type %s",
						NameStr(from->attname), format_type_be(to->atttypid))));
	return expression_planner((Expr *) result);
}

/* ---- what is a conversion ---- */

/* What its trigger's arguments say: 'copy', source, target; or 'erase', column, its converted copy. */
typedef struct Roles
{
	const char *source;			/* NULL: the target is erased */
	const char *target;			/* the helper column */
	const char *original;		/* what it is the copy of, or is replaced by */
} Roles;

/* Does the name consist of these words and a number, the same as in the other name from there on? */
static bool
is_numbered(const char *name, const char *words, const char *number)
{
	size_t		size = strlen(words);

	return strncmp(name, words, size) == 0 && strcmp(name + size, number) == 0;
}

/* One column or array of an encrypted type, and one of its base type? */
static bool
are_pair(Oid one, Oid other)
{
	TdeType    *type;

	if (OidIsValid(get_element_type(one)) && OidIsValid(get_element_type(other)))
	{
		one = get_element_type(one);
		other = get_element_type(other);
	}
	type = tde_type_find(one);
	if (type && type->base == other)
		return true;
	type = tde_type_find(other);
	return type && type->base == one;
}

static bool
are_convertible(Relation rel, const Roles *roles)
{
	Form_pg_attribute target = TupleDescAttr(RelationGetDescr(rel), column_number(rel, roles->target) - 1);
	Form_pg_attribute original = TupleDescAttr(RelationGetDescr(rel), column_number(rel, roles->original) - 1);

	return target->attgenerated == '\0' && target->attidentity == '\0' && are_pair(target->atttypid, original->atttypid);
}

/*
 * Is the trigger one as tde_encrypt_column() makes it, '~tde_convert_N' for a column tde_convert_N, or tde_erase_N?  Everybody may
 * name the function in a trigger who may make triggers on a table.  But nobody except the owner adds columns or drops
 * triggers, so the name stands for his decision that the column's values are copied there, or go.
 */
static bool
is_conversion(Relation rel, const Trigger *trigger, Roles *roles)
{
	static const char words[] = "~tde_convert_";
	const char *number = trigger->tgname + strlen(words);
	bool		copies;

	if (strncmp(trigger->tgname, words, strlen(words)) != 0 || *number == '\0' || strspn(number, "0123456789") != strlen(number) ||
		trigger->tgnargs != 3)
		return false;
	copies = strcmp(trigger->tgargs[0], "copy") == 0;
	if (!copies && strcmp(trigger->tgargs[0], "erase") != 0)
		return false;
	roles->source = copies ? trigger->tgargs[1] : NULL;
	roles->target = trigger->tgargs[copies ? 2 : 1];
	roles->original = trigger->tgargs[copies ? 1 : 2];
	return (is_numbered(roles->target, "tde_convert_", number) || (!copies && is_numbered(roles->target, "tde_erase_", number))) &&
		are_convertible(rel, roles);
}

/* Is a conversion of the table under way that sets the target from the source, or to NULL without one? */
static bool
is_under_way(Relation rel, const char *source, const char *target)
{
	TriggerDesc *triggers = rel->trigdesc;

	for (int i = 0; triggers && i < triggers->numtriggers; i++)
	{
		Roles		roles;
		FmgrInfo	finfo;

		if (!is_conversion(rel, &triggers->triggers[i], &roles) || strcmp(roles.target, target) != 0 ||
			(roles.source == NULL) != (source == NULL) || (source && strcmp(roles.source, source) != 0))
			continue;
		fmgr_info(triggers->triggers[i].tgfoid, &finfo);
		if (finfo.fn_addr == tde_convert_trigger)
			return true;
	}
	return false;
}

/* ---- a value ---- */

static void
conversion_init(Conversion *conversion, Relation rel, const char *source, const char *target, ExprContext *context)
{
	conversion->source = source ? column_number(rel, source) : InvalidAttrNumber;
	conversion->target = column_number(rel, target);
	conversion->context = context;
	conversion->expr = source ? ExecInitExpr(conversion_expr(rel, conversion->source, conversion->target), NULL) : NULL;
}

/*
 * As the table's owner, since a writer need not be one who may decrypt: the owner has decided what the column becomes.  The
 * result lives until the context is reset.
 */
static Datum
convert(Conversion *conversion, Relation rel, TupleTableSlot *row, bool *isnull)
{
	Oid			user;
	int			context;
	Datum		result;

	*isnull = true;
	if (conversion->expr == NULL)
		return (Datum) 0;
	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(rel->rd_rel->relowner, context | SECURITY_RESTRICTED_OPERATION);
	conversion->context->ecxt_scantuple = row;
	result = ExecEvalExprSwitchContext(conversion->expr, conversion->context, isnull);
	SetUserIdAndSecContext(user, context);
	return result;
}

/* ---- the trigger ---- */

typedef struct TriggerState
{
	Conversion	conversion;
	TupleTableSlot *slot;
} TriggerState;

pg_noreturn static void
not_our_trigger(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
			 errmsg("tde_convert_trigger can only be called as the trigger that tde_encrypt_column() makes")));
}

static TriggerState *
trigger_state(FunctionCallInfo fcinfo, TriggerData *data)
{
	MemoryContext old;
	TriggerState *state = fcinfo->flinfo->fn_extra;
	Roles		roles;

	if (state != NULL)
		return state;
	if (!is_conversion(data->tg_relation, data->tg_trigger, &roles))
		not_our_trigger();
	old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	state = palloc0(sizeof(TriggerState));
	state->slot = MakeSingleTupleTableSlot(CreateTupleDescCopy(RelationGetDescr(data->tg_relation)), &TTSOpsHeapTuple);
	conversion_init(&state->conversion, data->tg_relation, roles.source, roles.target, CreateStandaloneExprContext());
	fcinfo->flinfo->fn_extra = state;
	MemoryContextSwitchTo(old);
	return state;
}

/* Row trigger before INSERT and UPDATE. */
Datum
tde_convert_trigger(PG_FUNCTION_ARGS)
{
	TriggerData *data = (TriggerData *) fcinfo->context;
	TriggerState *state;
	HeapTuple	row;
	int			target;
	Datum		value;
	bool		isnull;

	if (!CALLED_AS_TRIGGER(fcinfo) || !TRIGGER_FIRED_BEFORE(data->tg_event) || !TRIGGER_FIRED_FOR_ROW(data->tg_event) ||
		TRIGGER_FIRED_BY_DELETE(data->tg_event))
		not_our_trigger();
	state = trigger_state(fcinfo, data);
	row = TRIGGER_FIRED_BY_UPDATE(data->tg_event) ? data->tg_newtuple : data->tg_trigtuple;
	ResetExprContext(state->conversion.context);
	ExecStoreHeapTuple(row, state->slot, false);
	value = convert(&state->conversion, data->tg_relation, state->slot, &isnull);
	target = state->conversion.target;
	row = heap_modify_tuple_by_cols(row, RelationGetDescr(data->tg_relation), 1, &target, &value, &isnull);
	ExecClearTuple(state->slot);
	return PointerGetDatum(row);
}

/* ---- a batch ---- */

typedef struct Batch
{
	Relation	rel;
	EState	   *estate;
	ResultRelInfo *result;
	Conversion	conversion;
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

/* Users' triggers do not fire, but those by which PostgreSQL keeps foreign keys and deferrable constraints. */
static void
keep_internal_triggers(TriggerDesc *desc)
{
	TriggerDesc kept = {0};

	if (desc == NULL)
		return;
	kept.triggers = desc->triggers;
	for (int i = 0; i < desc->numtriggers; i++)
		if (desc->triggers[i].tgisinternal)
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
	conversion_init(&batch->conversion, rel, source, target, GetPerTupleExprContext(batch->estate));
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
	batch->new->tts_values[target] = convert(&batch->conversion, batch->rel, batch->old, &batch->new->tts_isnull[target]);
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
open_own_table(Oid relid)
{
	Relation	rel = try_table_open(relid, RowExclusiveLock);

	if (rel == NULL)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", relid)));
	if (rel->rd_rel->relkind != RELKIND_RELATION)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("\"%s\" is not a table", RelationGetRelationName(rel))));
	if (!TDE_OWNS_RELATION(relid))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, RelationGetRelationName(rel));
	return rel;
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
					 errmsg("arguments of tde_convert_rows must not be null, but for the source")));
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
	if (!is_under_way(rel, source, target))
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
	Oid			user;
	int			context,
				nest_level = NewGUCNestLevel();
	Batch		batch;

	refuse_nulls(fcinfo);
	PreventCommandIfReadOnly("converting rows");
	check_blocks(PG_GETARG_INT64(3), PG_GETARG_INT64(4));
	target = NameStr(*PG_GETARG_NAME(2));
	rel = open_own_table(PG_GETARG_OID(0));
	require_conversion(rel, source, target);

	/* What the table's owner has put into CHECKs, indexes and generated columns runs as the owner. */
	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(rel->rd_rel->relowner, context | SECURITY_RESTRICTED_OPERATION);
	PushActiveSnapshot(GetLatestSnapshot());
	batch_begin(&batch, rel, source, target);
	batch_run(&batch, (BlockNumber) PG_GETARG_INT64(3), (BlockNumber) PG_GETARG_INT64(4));
	AtEOXact_GUC(false, nest_level);
	SetUserIdAndSecContext(user, context);
	/* constraints may wait for the end of the transaction, which nothing can that runs as the owner */
	batch_end(&batch);
	PopActiveSnapshot();
	table_close(rel, NoLock);
	show_progress(PG_GETARG_OID(0), &batch, PG_GETARG_TIMESTAMPTZ(6), PG_GETARG_INT64(3) + PG_GETARG_INT64(4), PG_GETARG_INT64(5));
	return batch_result(fcinfo, &batch);
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
