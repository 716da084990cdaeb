/*
 * convert_rows.c - converting a column of a table in use: filling its copy in batches (batches.h).
 *
 * Rows that nobody writes are updated here, as logical replication updates rows, but without firing triggers: to users nothing
 * has changed.  PostgreSQL's own see to foreign keys, as the table's owner; rows of other tables are never changed.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relscan.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "commands/tablecmds.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "parser/parse_relation.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "conversion/batches.h"
#include "conversion/convert.h"
#include "conversion/under_way.h"
#include "maintenance/owner.h"
#include "server/compat.h"
#include "server/table_name.h"

PG_FUNCTION_INFO_V1(tde_conversion_convert_all_rows);
PG_FUNCTION_INFO_V1(tde_conversion_lock);
PG_FUNCTION_INFO_V1(tde_conversion_validate);
PG_FUNCTION_INFO_V1(tde_conversion_may_commit);
PG_FUNCTION_INFO_V1(tde_conversion_must_commit);

/* One call. */
typedef struct Convert
{
	TdeBatches	batches;
	const char *source;			/* NULL: the target becomes NULL */
	const char *target;
	Oid			late;			/* the last partition that was found to be late, and the first transaction that was none then */
	TransactionId late_since;
} Convert;

/* A table opened in a transaction; its owner is the current user until close_table(). */
typedef struct Batch
{
	Relation	rel;
	TdeCaller	caller;
	EState	   *estate;
	ResultRelInfo *result;
	List	   *cascades;		/* triggers of foreign keys that would change other tables */
	TdeConversion conversion;
	TransactionId since;		/* rows of transactions before this one are copied in any case; InvalidTransactionId: of none */
	TupleTableSlot *old;
	TupleTableSlot *new;
	LockTupleMode lock_mode;
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

/* Returns true of an action that changes rows of other tables, where users' triggers would fire. */
static bool
is_cascade(const Trigger *trigger)
{
	return trigger->tgfoid == F_RI_FKEY_CASCADE_UPD || trigger->tgfoid == F_RI_FKEY_SETNULL_UPD ||
		trigger->tgfoid == F_RI_FKEY_SETDEFAULT_UPD;
}

/*
 * Users' triggers do not fire, but those by which PostgreSQL checks foreign keys: at once, so that all is done before the owner's
 * rights are given up; whatever waits for the end of the transaction would run with those of whoever converts.  For the same reason
 * unique and exclusion constraints that wait have no second look, which would evaluate the owner's expressions: nothing has become
 * equal.  Returns the triggers that would change rows of other tables, where users' triggers would fire.
 */
static List *
keep_checks(TriggerDesc *desc)
{
	TriggerDesc kept = {0};
	List	   *cascades = NIL;

	if (desc == NULL)
		return NIL;
	kept.triggers = palloc(desc->numtriggers * sizeof(Trigger));
	for (int i = 0; i < desc->numtriggers; i++)
	{
		Trigger    *trigger = &desc->triggers[i];

		if (!trigger->tgisinternal || RI_FKey_trigger_type(trigger->tgfoid) == RI_TRIGGER_NONE)
			continue;
		if (is_cascade(trigger))
		{
			cascades = lappend(cascades, trigger);
			continue;
		}
		trigger->tgdeferrable = trigger->tginitdeferred = false;
		kept.triggers[kept.numtriggers++] = *trigger;
	}
	kept.trig_update_after_row = kept.numtriggers > 0;
	*desc = kept;
	return cascades;
}

/* Opens the table as a result relation, without a plan: ExecSimpleRelationUpdate() wants what an UPDATE has. */
static void
batch_begin(Batch *batch, Relation rel, const char *source, const char *target, const char *opener)
{
	batch->rel = rel;
	batch->estate = CreateExecutorState();
	tde_convert_init(&batch->conversion, rel, source, target, opener, GetPerTupleExprContext(batch->estate));
	init_range_table(batch->estate, rel, batch->conversion.target);
	batch->result = makeNode(ResultRelInfo);
	InitResultRelInfo(batch->result, rel, 1, NULL, 0);
	batch->cascades = keep_checks(batch->result->ri_TrigDesc);
	batch->estate->es_opened_result_relations = list_make1(batch->result);
	AfterTriggerBeginQuery();
	batch->estate->es_output_cid = GetCurrentCommandId(true);
	batch->estate->es_snapshot = GetActiveSnapshot();
	ExecOpenIndices(batch->result, false);
	batch->lock_mode = ExecUpdateLockMode(batch->estate, batch->result);
	batch->old = table_slot_create(rel, NULL);
	batch->new = MakeSingleTupleTableSlot(RelationGetDescr(rel), &TTSOpsVirtual);
}

/* TdeBatches.close.  Checks of foreign keys run here, at the end of the query, while the owner's rights are those that count. */
static void
close_table(void *table)
{
	Batch	   *batch = table;

	AfterTriggerEndQuery(batch->estate);
	ExecCloseResultRelations(batch->estate);
	ExecResetTupleTable(batch->estate->es_tupleTable, false);
	ExecDropSingleTupleTableSlot(batch->old);
	ExecDropSingleTupleTableSlot(batch->new);
	FreeExecutorState(batch->estate);
	tde_owner_end(&batch->caller);
}

/* Returns true of a row that was there before this pass came to its table, if that is late. */
static bool
is_doubtful(Batch *batch, TupleTableSlot *row)
{
	bool		isnull;

	return TransactionIdIsValid(batch->since) &&
		!TransactionIdFollowsOrEquals(DatumGetTransactionId(slot_getsysattr(row, MinTransactionIdAttributeNumber, &isnull)), batch->since);
}

/* Returns true if the row has yet to be converted, or erased.  So a later call goes on where one was interrupted. */
static bool
is_pending(Batch *batch, TupleTableSlot *row)
{
	if (batch->conversion.expr && slot_attisnull(row, batch->conversion.target))
		return !slot_attisnull(row, batch->conversion.source);
	return !slot_attisnull(row, batch->conversion.target) && (batch->conversion.expr == NULL || is_doubtful(batch, row));
}

/* Throws, and says what to do: the foreign key has to go for a while, since its action would fire users' triggers. */
pg_noreturn static void
report_cascade(Relation rel, const Trigger *trigger)
{
	char	   *name = get_constraint_name(trigger->tgconstraint);
	char	   *table = tde_table_name(trigger->tgconstrrelid);

	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("cannot change rows of table \"%s\" because of foreign key \"%s\"", RelationGetRelationName(rel), name),
			 errdetail("The foreign key would change rows of table %s, whose triggers would fire.", table),
			 errhint("ALTER TABLE %s DROP CONSTRAINT %s; and go on.", table, quote_identifier(name))));
}

/* The row has been updated, with its generated columns.  Throws if a key has changed whose change another table would have to follow. */
static void
refuse_cascade(Batch *batch)
{
	ListCell   *cell;

	foreach(cell, batch->cascades)
		if (RI_FKey_pk_upd_check_required(lfirst(cell), batch->rel, batch->old, batch->new))
			report_cascade(batch->rel, lfirst(cell));
}

/* The new row is the old one with another value in one column.  Old values may be out of line; heap_update() keeps them there. */
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
	batch->new->tts_values[target] = tde_convert_value(&batch->conversion, batch->rel, batch->old, &batch->new->tts_isnull[target]);
	/* as an UPDATE does */
	for (int i = 0; i < natts; i++)
		if (TupleDescAttr(RelationGetDescr(batch->rel), i)->attisdropped)
			batch->new->tts_isnull[i] = true;
	ExecStoreVirtualTuple(batch->new);
	ExecSimpleRelationUpdate(batch->result, batch->estate, NULL, batch->old, batch->new);
	refuse_cascade(batch);
	MemoryContextSwitchTo(old);
}

/* TdeBatches.row: locks the row, and looks again at what it has become. */
static TdeRowResult
convert_row(void *table, TupleTableSlot *row, bool may_wait)
{
	Batch	   *batch = table;
	ItemPointerData tid = row->tts_tid;
	TM_FailureData failure;
	TM_Result	result;

	ResetPerTupleExprContext(batch->estate);
	if (!is_pending(batch, row))
		return TDE_ROW_CURRENT;
	result = table_tuple_lock(batch->rel, &tid, GetActiveSnapshot(), batch->old, batch->estate->es_output_cid, batch->lock_mode,
							  may_wait ? LockWaitBlock : LockWaitSkip, 0, &failure);
	if (result == TM_WouldBlock)
		return TDE_ROW_BUSY;
	/* what others have written meanwhile went through the trigger */
	if (result != TM_Ok || !is_pending(batch, batch->old))
		return TDE_ROW_OVERTAKEN;
	update_row(batch);
	return TDE_ROW_CHANGED;
}

static void
check_table(Relation rel)
{
	if (rel->rd_rel->relkind != RELKIND_RELATION && rel->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("\"%s\" is not a table", RelationGetRelationName(rel))));
	if (!TDE_OWNS_RELATION(RelationGetRelid(rel)))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, RelationGetRelationName(rel));
}

/* Opens a table of the caller's.  Throws ERRCODE_UNDEFINED_TABLE, or as aclcheck_error() does. */
static Relation
open_own_table(Oid relid, LOCKMODE lock)
{
	Relation	rel = try_table_open(relid, lock);

	if (rel == NULL)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", relid)));
	check_table(rel);
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

/* Returns the conversion.  Without one this would set any column, and nobody would have decided that: an error. */
static TdeUnderWay
require_conversion(Relation rel, const char *source, const char *target)
{
	TdeUnderWay found = {NULL};

	if (!tde_under_way_find(rel, source, target, &found))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("column \"%s\" of table \"%s\" is not being converted", source ? source : target,
						RelationGetRelationName(rel)),
				 errdetail("Its conversion was not begun, or another session has ended or changed it meanwhile."),
				 errhint("See the view tde.conversions. CALL tde_encrypt_column() again, if it is to go on.")));
	return found;
}

/*
 * Returns the first transaction whose rows have the copies that they should.  A late partition may have come with some that are old, or anybody's: those of
 * all rows that are there now are made anew.
 */
static TransactionId
copies_since(Convert *convert, Oid relid, bool is_late)
{
	if (!is_late)
		return InvalidTransactionId;
	if (convert->late != relid)
	{
		convert->late = relid;
		convert->late_since = ReadNextTransactionId();
	}
	return convert->late_since;
}

/* TdeBatches.open. */
static void *
open_table(TdeBatches *batches, Relation rel)
{
	Convert    *convert = (Convert *) batches;
	Batch	   *batch = palloc0(sizeof(Batch));
	TdeUnderWay found;

	check_table(rel);
	require_heap(rel);
	found = require_conversion(rel, convert->source, convert->target);
	batch->since = copies_since(convert, RelationGetRelid(rel), found.is_late);
	tde_convert_begin_as_owner(&batch->caller, rel);
	batch_begin(batch, rel, convert->source, convert->target, found.opener);
	return batch;
}

static void
report(const TdeProgress *progress, const char *table)
{
	ereport(NOTICE,
			(errmsg("%lld rows of %s in %.1f s", (long long) progress->rows_changed, table,
					(GetCurrentTimestamp() - progress->started) / (double) USECS_PER_SEC)));
}

/* Lists the table, or the partitions that have its rows.  Returns their blocks. */
static int64
list_tables(TdeBatches *batches, Relation rel)
{
	int64		blocks = 0;
	List	   *family = rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ?
	find_all_inheritors(RelationGetRelid(rel), AccessShareLock, NULL) : list_make1_oid(RelationGetRelid(rel));
	ListCell   *cell;

	foreach(cell, family)
	{
		Relation	part;

		CHECK_FOR_INTERRUPTS();
		if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_PARTITIONED_TABLE)
			continue;
		part = table_open(lfirst_oid(cell), NoLock);
		blocks += RelationGetNumberOfBlocks(part);
		table_close(part, NoLock);
		batches->tables = lappend_oid(batches->tables, lfirst_oid(cell));
	}
	return blocks;
}

/* One pass over all tables that have rows.  The lock of the look at them is given back before it begins. */
static void
convert_all_rows(Convert *convert, Oid relid)
{
	TdeBatches *batches = &convert->batches;
	Relation	rel = open_own_table(relid, AccessShareLock);
	char	   *name = tde_table_name(RelationGetRelid(rel));
	int64		blocks;

	(void) require_conversion(rel, convert->source, convert->target);
	blocks = list_tables(batches, rel);
	table_close(rel, AccessShareLock);
	tde_batches_next_transaction(batches);
	tde_counters_progress_start(&batches->progress, relid, convert->source ? TDE_PHASE_COPY : TDE_PHASE_ERASE);
	/* rows that come, or move, later go through the trigger: one pass sees all others */
	(void) tde_batches_pass(batches, batches->progress.phase, blocks);
	tde_counters_progress_end();
	report(&batches->progress, name);
}

/*
 * tde_convert_all_rows(relation regclass, source name, target name, batch_rows int4, batch_delay float8), a procedure - set the
 * target column from the source column, or to NULL without one, in all rows where that was not done yet.
 */
Datum
tde_conversion_convert_all_rows(PG_FUNCTION_ARGS)
{
	Convert		convert = {.batches = {.command = "converting rows", .open = open_table, .row = convert_row, .close = close_table}};
	float8		delay;

	/* all arguments but the source must be there */
	for (int i = 0; i < PG_NARGS(); i++)
		if (i != 1 && PG_ARGISNULL(i))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("arguments of tde_convert_all_rows must not be null, except for the source")));
	delay = PG_GETARG_FLOAT8(4);
	convert.batches.rows = Max(PG_GETARG_INT32(3), 1);
	convert.batches.delay_ms = delay > 0 ? (long) (Min(delay, SECS_PER_DAY) * 1000) : 0;
	tde_batches_begin(&convert.batches, fcinfo);
	convert.source = PG_ARGISNULL(1) ? NULL : pstrdup(NameStr(*PG_GETARG_NAME(1)));
	convert.target = pstrdup(NameStr(*PG_GETARG_NAME(2)));
	convert_all_rows(&convert, PG_GETARG_OID(0));
	SPI_finish();
	PG_RETURN_VOID();
}

/*
 * tde_lock(relation oid) - lock a view, or a table with those that inherit from it, against all use.  By its OID: a name may become that of
 * something else while the lock is waited for.  For owners.
 */
Datum
tde_conversion_lock(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);

	if (get_rel_relkind(relid) == '\0')
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", relid)));
	if (!TDE_OWNS_RELATION(relid))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, get_rel_name(relid));
	LockRelationOid(relid, AccessExclusiveLock);
	(void) find_all_inheritors(relid, AccessExclusiveLock, NULL);
	/* it may have been given to somebody else meanwhile */
	if (!TDE_OWNS_RELATION(relid))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, get_rel_name(relid));
	PG_RETURN_VOID();
}

/*
 * tde_validate(relation regclass, constraint_name name) - validate a CHECK constraint or a foreign key, as the table's owner: its
 * expression, and casts of the owner's types, run with no more than his rights.  For owners of the table.
 */
Datum
tde_conversion_validate(PG_FUNCTION_ARGS)
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
tde_conversion_may_commit(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(SPI_inside_nonatomic_context());
}

/* tde_must_commit() - an error if it may not. */
Datum
tde_conversion_must_commit(PG_FUNCTION_ARGS)
{
	if (!SPI_inside_nonatomic_context())
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("a procedure that commits cannot be called in a transaction block or by a function"),
				 errhint("Commit first, and CALL it by itself.")));
	PG_RETURN_VOID();
}

PG_FUNCTION_INFO_V1(tde_conversion_convert_rows);

/* Of version 0.1.0: pg_upgrade makes the functions of the version that it finds, each of which has to be in the library. */
Datum
tde_conversion_convert_rows(PG_FUNCTION_ARGS)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("extension \"%s\" of this database is older than its library", "tde_column"),
			 errhint("Run ALTER EXTENSION tde_column UPDATE.")));
}
