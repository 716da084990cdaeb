/*
 * usage_scan.c - every encrypted value that a table or an index still holds for somebody.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "catalog/pg_am.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/procarray.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "maintenance/usage_scan.h"
#include "server/compat.h"

/* ---- rows ---- */

struct TdeRows
{
	TableScanDesc scan;
	TupleTableSlot *slot;
	Snapshot	snapshot;		/* a registered one, or NULL for a heap */
	TransactionId oldest;
};

TdeRows *
tde_scan_rows_begin(Relation rel)
{
	TdeRows    *rows = palloc(sizeof(TdeRows));
	bool		heap = rel->rd_rel->relam == HEAP_TABLE_AM_OID;

	rows->slot = table_slot_create(rel, NULL);
	rows->snapshot = heap ? NULL : RegisterSnapshot(GetLatestSnapshot());
	rows->oldest = GetOldestNonRemovableTransactionId(rel);
	rows->scan = table_beginscan_strat(rel, heap ? SnapshotAny : rows->snapshot, 0, NULL, true, false);
	return rows;
}

/* Could VACUUM remove this version of a row? */
static bool
is_dead(TdeRows *rows)
{
	Buffer		buffer = ((BufferHeapTupleTableSlot *) rows->slot)->buffer;
	HeapTuple	tuple = ExecFetchSlotHeapTuple(rows->slot, false, NULL);
	HTSV_Result state;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	state = HeapTupleSatisfiesVacuum(tuple, rows->oldest, buffer);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return state == HEAPTUPLE_DEAD;
}

TupleTableSlot *
tde_scan_rows_next(TdeRows *rows)
{
	while (table_scan_getnextslot(rows->scan, ForwardScanDirection, rows->slot))
	{
		CHECK_FOR_INTERRUPTS();
		if (rows->snapshot || !is_dead(rows))
			return rows->slot;
	}
	return NULL;
}

void
tde_scan_rows_end(TdeRows *rows)
{
	table_endscan(rows->scan);
	ExecDropSingleTupleTableSlot(rows->slot);
	if (rows->snapshot)
		UnregisterSnapshot(rows->snapshot);
	pfree(rows);
}

/* ---- values ---- */

int
tde_scan_columns(Relation rel, AttrNumber **columns)
{
	TupleDesc	desc = RelationGetDescr(rel);
	int			count = 0;

	*columns = palloc((desc->natts + 1) * sizeof(AttrNumber));
	for (int i = 0; i < desc->natts; i++)
		if (!TupleDescAttr(desc, i)->attisdropped && tde_type_holds_encrypted(TupleDescAttr(desc, i)->atttypid))
			(*columns)[count++] = i + 1;
	return count;
}

/* Tables. */

/* Only the blocks that are wanted, of those that are there. */
static void
limit_rows(TdeRows *rows, const TdeScan *scan)
{
	BlockNumber there = ((HeapScanDesc) rows->scan)->rs_nblocks;

	heap_setscanlimits(rows->scan, Min(scan->first_block, there), scan->first_block < there ? Min(scan->blocks, there - scan->first_block) : 0);
}

static void
scan_table(Relation rel, const AttrNumber *columns, int count, TdeScan *scan)
{
	MemoryContext per_row = AllocSetContextCreate(CurrentMemoryContext, "tde_column row", ALLOCSET_DEFAULT_SIZES);
	TdeRows    *rows = tde_scan_rows_begin(rel);
	BlockNumber block = InvalidBlockNumber;
	TupleTableSlot *slot;

	if (scan->blocks > 0 && rel->rd_rel->relam == HEAP_TABLE_AM_OID)
		limit_rows(rows, scan);
	while ((slot = tde_scan_rows_next(rows)) != NULL)
	{
		MemoryContext before = MemoryContextSwitchTo(per_row);

		if (block != ItemPointerGetBlockNumberNoCheck(&slot->tts_tid))
		{
			block = ItemPointerGetBlockNumberNoCheck(&slot->tts_tid);
			tde_scan_tell_page(scan);
		}
		scan->row = slot->tts_tid;
		slot_getsomeattrs(slot, columns[count - 1]);
		for (int i = 0; i < count; i++)
		{
			AttrNumber	column = columns[i];

			if (!slot->tts_isnull[column - 1])
				tde_scan_value(scan, column, TupleDescAttr(RelationGetDescr(rel), column - 1)->atttypid, slot->tts_values[column - 1]);
		}
		MemoryContextSwitchTo(before);
		MemoryContextReset(per_row);
	}
	tde_scan_rows_end(rows);
	MemoryContextDelete(per_row);
	ItemPointerSetInvalid(&scan->row);
}

bool
tde_scan_relation(Relation rel, TdeScan *scan)
{
	AttrNumber *columns;
	int			count = tde_scan_columns(rel, &columns);

	if (count == 0)
		return true;
	if (RELATION_IS_OTHER_TEMP(rel))
		return false;
	/* an index whose first build failed has no pages, not even a first one */
	if (rel->rd_rel->relkind == RELKIND_INDEX && RelationGetNumberOfBlocks(rel) == 0)
		return true;
	if (rel->rd_rel->relkind != RELKIND_INDEX)
		scan_table(rel, columns, count, scan);
	else if (rel->rd_rel->relam == BTREE_AM_OID)
		tde_scan_btree(rel, columns, count, scan);
	else if (rel->rd_rel->relam == BRIN_AM_OID)
		tde_scan_brin(rel, columns, count, scan);
	else
		return false;
	return true;
}
