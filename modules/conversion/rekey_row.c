/*
 * rekey_row.c - re-encrypting rows of one table, among others who read and write them.
 *
 * A row is updated as UPDATE does it (indexes, TOAST, WAL, logical decoding), but below the executor: what it says does not
 * change, so no trigger fires, no constraint is checked and no generated column is computed.  Functions in index expressions
 * are the table owner's and run as such, with the restrictions of other maintenance commands.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/snapmgr.h"

#include "conversion/batches.h"
#include "conversion/rekey_row.h"
#include "maintenance/owner.h"
#include "server/compat.h"
#include "type/datum.h"
#include "type/declared.h"
#include "type/inside.h"

/* A table that is open in one transaction.  caller and context are undone in reverse by tde_rekey_close(). */
typedef struct RekeyTable
{
	Relation	rel;
	TdeInside **columns;		/* by number - 1; NULL where nothing is encrypted */
	AttrNumber	last;			/* the last column where something is */
	bool		repair;			/* take values that are not as they are declared: without a MAC, or under another key */
	TdeKeyFloors *floors;
	LockTupleMode lock_mode;
	EState	   *estate;
	ResultRelInfo *relinfo;
	TupleTableSlot *newest;		/* a row as it became since the snapshot, */
	TupleTableSlot *renewed;	/* and as it shall be */

	TdeCaller	caller;

	ErrorContextCallback context;
	TupleTableSlot *current;	/* row and column that are at work, for errors */
	AttrNumber	column;
} RekeyTable;

/* ---- tables ---- */

/* Returns room for a descriptor's columns, palloc'd; *last: the last that holds encrypted values, 0: none does. */
static TdeInside **
find_columns(TupleDesc desc, AttrNumber *last)
{
	TdeInside **columns = palloc0(Max(desc->natts, 1) * sizeof(TdeInside *));

	*last = 0;
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, i);

		if (!column->attisdropped)
			columns[i] = tde_inside_find(column->atttypid, column->atttypmod);
		if (columns[i])
			*last = i + 1;
	}
	return columns;
}

bool
tde_rekey_concerns(Relation rel)
{
	AttrNumber	last;

	(void) find_columns(RelationGetDescr(rel), &last);
	return last > 0;
}

bool
tde_rekey_concerns_indexes(Relation rel)
{
	List	   *indexes = RelationGetIndexList(rel);
	ListCell   *cell;
	bool		found = false;

	foreach(cell, indexes)
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);

		found |= tde_rekey_concerns(index);
		index_close(index, AccessShareLock);
	}
	return found;
}

/* Returns the lock that an update of these columns takes: a weaker one lets foreign keys be checked meanwhile. */
static LockTupleMode
needed_lock(RekeyTable *table)
{
	Bitmapset  *key = RelationGetIndexAttrBitmap(table->rel, INDEX_ATTR_BITMAP_KEY);

	for (AttrNumber i = 1; i <= table->last; i++)
		if (table->columns[i - 1] && bms_is_member(i - FirstLowInvalidHeapAttributeNumber, key))
			return LockTupleExclusive;
	return LockTupleNoKeyExclusive;
}

/* An error context callback: a value that cannot be read is found by its place. */
static void
add_context(void *arg)
{
	RekeyTable *table = arg;
	ItemPointer tid;

	if (table->current == NULL)
		return;
	tid = &table->current->tts_tid;
	if (table->column > 0)
		errcontext("re-encrypting column \"%s\" of row (%u,%u) of table \"%s\"",
				   NameStr(TupleDescAttr(RelationGetDescr(table->rel), table->column - 1)->attname),
				   ItemPointerGetBlockNumberNoCheck(tid), ItemPointerGetOffsetNumberNoCheck(tid),
				   RelationGetRelationName(table->rel));
	else
		errcontext("re-encrypting row (%u,%u) of table \"%s\"",
				   ItemPointerGetBlockNumberNoCheck(tid), ItemPointerGetOffsetNumberNoCheck(tid),
				   RelationGetRelationName(table->rel));
}

void *
tde_rekey_open(Relation rel, bool repair, TdeKeyFloors *floors)
{
	RekeyTable *table = palloc0(sizeof(RekeyTable));

	CheckCmdReplicaIdentity(rel, CMD_UPDATE);
	table->rel = rel;
	table->repair = repair;
	table->floors = floors;
	table->columns = find_columns(RelationGetDescr(rel), &table->last);
	table->lock_mode = needed_lock(table);
	table->newest = table_slot_create(rel, NULL);
	table->renewed = MakeSingleTupleTableSlot(RelationGetDescr(rel), &TTSOpsVirtual);

	tde_owner_begin(&table->caller, rel);

	table->estate = CreateExecutorState();
	table->relinfo = makeNode(ResultRelInfo);
	InitResultRelInfo(table->relinfo, rel, 0, NULL, 0);
	ExecOpenIndices(table->relinfo, false);

	table->context.callback = add_context;
	table->context.arg = table;
	table->context.previous = error_context_stack;
	error_context_stack = &table->context;
	return table;
}

void
tde_rekey_close(void *opened)
{
	RekeyTable *table = opened;

	error_context_stack = table->context.previous;
	ExecCloseIndices(table->relinfo);
	FreeExecutorState(table->estate);
	tde_owner_end(&table->caller);
	ExecDropSingleTupleTableSlot(table->newest);
	ExecDropSingleTupleTableSlot(table->renewed);
}

/* ---- rows ---- */

/* A TdeInside callback.  With repair the declaration is not asked, so that a value can become what it says. */
static Datum
renew_value(TdeType *type, Datum value, int32 typmod, void *arg)
{
	RekeyTable *table = arg;

	if (tde_datum_is_current(type, value, typmod, table->floors))
		return value;
	return tde_datum_reencrypt(type, value, typmod, table->repair ? -1 : tde_declared(type, typmod));
}

/* Puts the row, with what is not current re-encrypted, into the slot renewed.  Returns false if all is current. */
static bool
renew_row(RekeyTable *table, TupleTableSlot *row)
{
	TupleTableSlot *renewed = table->renewed;
	TupleDesc	desc = RelationGetDescr(table->rel);
	bool		changed = false;

	ExecClearTuple(renewed);
	slot_getsomeattrs(row, table->last);
	table->current = row;
	for (AttrNumber i = 1; i <= table->last; i++)
	{
		Datum		value = row->tts_values[i - 1];

		if (table->columns[i - 1] == NULL || row->tts_isnull[i - 1])
			continue;
		table->column = i;
		renewed->tts_values[i - 1] = tde_inside_replace(table->columns[i - 1], value, renew_value, table);
		changed |= renewed->tts_values[i - 1] != value;
	}
	table->column = 0;
	if (!changed)
		return false;

	slot_getallattrs(row);
	for (int i = 0; i < desc->natts; i++)
	{
		/* what is left of a dropped column goes, as in every UPDATE */
		renewed->tts_isnull[i] = row->tts_isnull[i] || TupleDescAttr(desc, i)->attisdropped;
		if (i >= table->last || table->columns[i] == NULL || row->tts_isnull[i])
			renewed->tts_values[i] = row->tts_values[i];
	}
	ExecStoreVirtualTuple(renewed);
	return true;
}

/* The row at tid, which this transaction has locked, becomes what is in the slot renewed. */
static void
update_row(RekeyTable *table, ItemPointer tid)
{
	LockTupleMode lock_mode;
	TdeIndexUpdate indexes;
	TM_FailureData failure;
	TM_Result	result = TDE_TUPLE_UPDATE(table->rel, tid, table->renewed, &failure, &lock_mode, &indexes);

	if (result != TM_Ok)
		elog(ERROR, "unexpected status %u of a row that is to be re-encrypted", result);
	/* unique constraints that wait for the end of the transaction need no second look: nothing has become equal */
	if (indexes && table->relinfo->ri_NumIndices > 0)
		(void) TDE_UPDATE_INDEXES(table->relinfo, table->renewed, table->estate, indexes);
}

/*
 * Locks what the row has become that the snapshot shows at tid, into the slot newest.  Returns TM_Ok, TM_Deleted (also moved to another partition) or
 * TM_WouldBlock.  Without a lock of our own, an update would have to wait for those who hold the row: PostgreSQL has none that does not.
 */
static TM_Result
lock_newest(RekeyTable *table, ItemPointer tid, bool may_wait)
{
	ItemPointerData at = *tid;
	TM_FailureData failure;
	TM_Result	result;

	/* the chain stays readable: our snapshot is older than whoever made its links, or the row would not be where it was */
	while (!ItemPointerIndicatesMovedPartitions(&at))
	{
		result = table_tuple_lock(table->rel, &at, GetActiveSnapshot(), table->newest, GetCurrentCommandId(false),
								  table->lock_mode, may_wait ? LockWaitBlock : LockWaitSkip, 0, &failure);
		if (result != TM_Updated)
			return result;
		at = failure.ctid;
	}
	return TM_Deleted;
}

/* Re-encrypts a row that is not current.  renewed has it already, unless somebody has changed the row since. */
static TdeRowResult
rekey_row(RekeyTable *table, TupleTableSlot *seen, bool may_wait)
{
	TM_Result	result = lock_newest(table, &seen->tts_tid, may_wait);

	if (result == TM_WouldBlock)
		return TDE_ROW_BUSY;
	if (result == TM_Deleted)
		return TDE_ROW_OVERTAKEN;
	if (result != TM_Ok)
		elog(ERROR, "unexpected status %u of a row that is to be re-encrypted", result);
	/* somebody may have changed it meanwhile */
	if (!ItemPointerEquals(&table->newest->tts_tid, &seen->tts_tid) && !renew_row(table, table->newest))
		return TDE_ROW_OVERTAKEN;
	update_row(table, &table->newest->tts_tid);
	return TDE_ROW_CHANGED;
}

TdeRowResult
tde_rekey_row(void *opened, TupleTableSlot *row, bool may_wait)
{
	RekeyTable *table = opened;
	MemoryContext old = MemoryContextSwitchTo(GetPerTupleMemoryContext(table->estate));
	TdeRowResult result = renew_row(table, row) ? rekey_row(table, row, may_wait) : TDE_ROW_CURRENT;

	table->current = NULL;
	MemoryContextSwitchTo(old);
	ResetPerTupleExprContext(table->estate);
	return result;
}
