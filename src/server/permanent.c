/*
 * permanent.c - rows that exist for everybody from the moment they are inserted, as sequences advance.
 *
 * PostgreSQL has no autonomous transactions.  A row is inserted as usual, with its index entries, and then frozen in place, as VACUUM does it.  Until
 * then it is this transaction's, and an error takes it away; from then on it is everybody's, and nothing can take it back.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xloginsert.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "catalog/pg_index.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/sinval.h"
#include "storage/standby.h"
#include "utils/inval.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "server/compat.h"
#include "server/permanent.h"

/* ---- columns ---- */

void
tde_permanent_check_columns(Relation rel, int known, const Oid *types)
{
	TupleDesc	desc = RelationGetDescr(rel);

	for (int i = 0; i < known; i++)
		if (i >= desc->natts || TupleDescAttr(desc, i)->atttypid != types[i])
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("column %d of table \"tde.%s\" has an unexpected type", i + 1, RelationGetRelationName(rel)),
					 errdetail("It was dropped, or has got another type."),
					 errhint("Restore the database from a backup.")));
}

/* Makes arrays for all columns that the table has, of which we know the first ones. */
static void
take_values(Relation rel, int known, const Datum *values, const bool *nulls, Datum **all_values, bool **all_nulls)
{
	TupleDesc	desc = RelationGetDescr(rel);

	for (int i = known; i < desc->natts; i++)
		if (!TupleDescAttr(desc, i)->attisdropped)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("cannot change table \"tde.%s\" because of column \"%s\"", RelationGetRelationName(rel),
							NameStr(TupleDescAttr(desc, i)->attname)),
					 errdetail("The library that is loaded does not know it."),
					 errhint("If a later version of the extension has made the column, install its library, and restart the server.  "
							 "Drop the column otherwise.")));
	*all_values = palloc0(desc->natts * sizeof(Datum));
	*all_nulls = palloc(desc->natts * sizeof(bool));
	memset(*all_nulls, true, desc->natts * sizeof(bool));
	memcpy(*all_values, values, known * sizeof(Datum));
	memcpy(*all_nulls, nulls, known * sizeof(bool));
}

HeapTuple
tde_permanent_form(Relation rel, int known, const Datum *values, const bool *nulls)
{
	Datum	   *all_values;
	bool	   *all_nulls;

	take_values(rel, known, values, nulls, &all_values, &all_nulls);
	return heap_form_tuple(RelationGetDescr(rel), all_values, all_nulls);
}

HeapTuple
tde_permanent_modify(Relation rel, HeapTuple tuple, int known, const Datum *values, const bool *nulls, const bool *replace)
{
	Datum	   *all_values;
	bool	   *all_nulls;
	bool	   *all_replaced = palloc0(RelationGetDescr(rel)->natts * sizeof(bool));

	take_values(rel, known, values, nulls, &all_values, &all_nulls);
	memcpy(all_replaced, replace, known * sizeof(bool));
	return heap_modify_tuple(tuple, RelationGetDescr(rel), all_values, all_nulls, all_replaced);
}

/* ---- indexes ---- */

Oid
tde_permanent_index(Relation rel, AttrNumber column)
{
	ListCell   *cell;
	Oid			found = InvalidOid;

	if (HistoricSnapshotActive())
		return InvalidOid;
	foreach(cell, RelationGetIndexList(rel))
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);
		Form_pg_index form = index->rd_index;

		if (index->rd_rel->relam == BTREE_AM_OID && form->indisunique && form->indisvalid && form->indimmediate && !form->indcheckxmin &&
			form->indkey.values[0] == column && RelationGetIndexPredicate(index) == NIL)
			found = RelationGetRelid(index);
		index_close(index, AccessShareLock);
	}
	return found;
}

/* Entries of other indexes would take an executor: they would evaluate expressions of whoever made them. */
static void
refuse_odd_index(Relation rel, Relation index)
{
	if (RelationGetIndexExpressions(index) != NIL || RelationGetIndexPredicate(index) != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot change table \"tde.%s\" because of index \"%s\"", RelationGetRelationName(rel),
						RelationGetRelationName(index)),
				 errdetail("Indexes of this table have no expressions and are not partial."),
				 errhint("Drop the index.")));
}

void
tde_permanent_check_indexes(Relation rel)
{
	ListCell   *cell;

	foreach(cell, RelationGetIndexList(rel))
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);

		refuse_odd_index(rel, index);
		index_close(index, AccessShareLock);
	}
}

/* As CatalogIndexInsert() does it for catalogs.  A duplicate is found here, before the row is frozen. */
static void
insert_index_entries(Relation rel, HeapTuple tuple)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(RelationGetDescr(rel), &TTSOpsHeapTuple);
	ListCell   *cell;

	ExecStoreHeapTuple(tuple, slot, false);
	foreach(cell, RelationGetIndexList(rel))
	{
		Relation	index = index_open(lfirst_oid(cell), RowExclusiveLock);
		IndexInfo  *info = BuildIndexInfo(index);
		Datum		values[INDEX_MAX_KEYS];
		bool		nulls[INDEX_MAX_KEYS];

		if (!info->ii_ReadyForInserts)
		{
			index_close(index, RowExclusiveLock);
			continue;
		}
		FormIndexDatum(info, slot, NULL, values, nulls);
		index_insert(index, values, nulls, &tuple->t_self, rel,
					 index->rd_index->indisunique ? UNIQUE_CHECK_YES : UNIQUE_CHECK_NO, false, info);
		index_close(index, RowExclusiveLock);
	}
	ExecDropSingleTupleTableSlot(slot);
}

/* ---- rows ---- */

/* Whether the relation cache has the table as one that logical decoding reads (user_catalog_table), for the next insert. */
static void
tell_decoding(Relation rel, bool tell)
{
	((StdRdOptions *) rel->rd_options)->user_catalog_table = tell;
}

/*
 * Insert a row without telling logical decoding by which command: it will not be this transaction's, and what is logged then if the
 * transaction changes it again speaks of a row that was there before.
 */
static void
insert_untold(Relation rel, HeapTuple tuple, int options)
{
	bool		told = RelationIsUsedAsCatalogTable(rel);

	if (told)
		tell_decoding(rel, false);
	PG_TRY();
	{
		heap_insert(rel, tuple, GetCurrentCommandId(true), options, NULL);
	}
	PG_FINALLY();
	{
		if (told)
			tell_decoding(rel, true);
	}
	PG_END_TRY();
}

/* Make a row of this transaction one that no rollback takes away, in a single WAL record.  Nothing can fail any more. */
static void
freeze(Relation rel, ItemPointer tid)
{
	Buffer		buffer = ReadBuffer(rel, ItemPointerGetBlockNumber(tid));
	Page		page = BufferGetPage(buffer);
	ItemId		item = PageGetItemId(page, ItemPointerGetOffsetNumber(tid));

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	START_CRIT_SECTION();
	HeapTupleHeaderSetXminFrozen((HeapTupleHeader) PageGetItem(page, item));
	MarkBufferDirty(buffer);
	if (RelationNeedsWAL(rel))
		log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
}

static SharedInvalidationMessage
message_about(Oid relid)
{
	SharedInvalidationMessage message;

	memset(&message, 0, sizeof(message));
	message.rc.id = SHAREDINVALRELCACHE_ID;
	message.rc.dbId = MyDatabaseId;
	message.rc.relId = relid;
	return message;
}

void
tde_permanent_tell(Oid relid)
{
	SharedInvalidationMessage message = message_about(relid);

	SendSharedInvalidMessages(&message, 1);
}

void
tde_permanent_insert(Relation rel, HeapTuple tuple, int options)
{
	SharedInvalidationMessage message = message_about(RelationGetRelid(rel));

	tde_permanent_check_indexes(rel);
	/* a rollback takes the new file away, with all that was added to it */
	if (TDE_HAS_NEW_FILE(rel) && rel->rd_createSubid == InvalidSubTransactionId)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("cannot add rows to table \"tde.%s\", which this transaction has rewritten", RelationGetRelationName(rel)),
				 errhint("Commit first.")));
	insert_untold(rel, tuple, options);
	insert_index_entries(rel, tuple);

	/* a cancel must not keep the others from being told; here and on standbys at once, logical decoding with the commit, if any */
	HOLD_INTERRUPTS();
	freeze(rel, &tuple->t_self);
	if (XLogStandbyInfoActive())
		LogStandbyInvalidations(1, &message, false);
	XLogFlush(XactLastRecEnd);
	SendSharedInvalidMessages(&message, 1);
	RESUME_INTERRUPTS();
	CacheInvalidateRelcache(rel);
}

HeapTuple
tde_permanent_last(Relation rel, Oid oid)
{
	Relation	index;
	SysScanDesc scan;
	HeapTuple	tuple;

	if (!OidIsValid(oid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("an index of table \"tde.%s\" is missing", RelationGetRelationName(rel))));
	index = index_open(oid, AccessShareLock);
	scan = systable_beginscan_ordered(rel, index, NULL, 0, NULL);
	tuple = heap_copytuple(systable_getnext_ordered(scan, BackwardScanDirection));
	systable_endscan_ordered(scan);
	index_close(index, AccessShareLock);
	return tuple;
}
