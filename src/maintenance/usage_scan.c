/*
 * usage_scan.c - every encrypted value that a table or an index still holds for somebody.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/nbtree.h"
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
tde_rows_begin(Relation rel)
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
tde_rows_next(TdeRows *rows)
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
tde_rows_end(TdeRows *rows)
{
	table_endscan(rows->scan);
	ExecDropSingleTupleTableSlot(rows->slot);
	if (rows->snapshot)
		UnregisterSnapshot(rows->snapshot);
	pfree(rows);
}

/* ---- values ---- */

/* A scan on its way, and the column it is at. */
typedef struct Position
{
	TdeScan    *scan;
	AttrNumber	column;
} Position;

static void
visit_value(const TdeHeader *header, void *arg)
{
	Position   *position = arg;

	position->scan->value(position->scan, position->column, header);
}

static void
tell_page(TdeScan *scan)
{
	if (scan->page)
		scan->page(scan);
}

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

static void
scan_table(Relation rel, const AttrNumber *columns, int count, TdeScan *scan)
{
	MemoryContext per_row = AllocSetContextCreate(CurrentMemoryContext, "tde_column row", ALLOCSET_DEFAULT_SIZES);
	TdeRows    *rows = tde_rows_begin(rel);
	BlockNumber block = InvalidBlockNumber;
	TupleTableSlot *slot;

	while ((slot = tde_rows_next(rows)) != NULL)
	{
		MemoryContext before = MemoryContextSwitchTo(per_row);

		if (block != ItemPointerGetBlockNumberNoCheck(&slot->tts_tid))
		{
			block = ItemPointerGetBlockNumberNoCheck(&slot->tts_tid);
			tell_page(scan);
		}
		slot_getsomeattrs(slot, columns[count - 1]);
		for (int i = 0; i < count; i++)
		{
			AttrNumber	column = columns[i];
			Position	position = {scan, column};

			if (!slot->tts_isnull[column - 1])
				tde_headers_in_datum(TupleDescAttr(RelationGetDescr(rel), column - 1)->atttypid, slot->tts_values[column - 1],
							   visit_value, &position);
		}
		MemoryContextSwitchTo(before);
		MemoryContextReset(per_row);
	}
	tde_rows_end(rows);
	MemoryContextDelete(per_row);
}

/* Btrees. */

static void
scan_index_tuple(Relation index, IndexTuple tuple, const AttrNumber *columns, int count, TdeScan *scan)
{
	TupleDesc	desc = RelationGetDescr(index);
	int			present = BTreeTupleGetNAtts(tuple, index);

	for (int i = 0; i < count && columns[i] <= present; i++)
	{
		AttrNumber	column = columns[i];
		Position	position = {scan, column};
		bool		isnull;
		Datum		value = index_getattr(tuple, column, desc, &isnull);

		if (!isnull)
			tde_headers_in_datum(TupleDescAttr(desc, column - 1)->atttypid, value, visit_value, &position);
	}
}

/* A copy, so that nothing happens under the page's lock. */
static void
copy_page(Relation index, BlockNumber block, BufferAccessStrategy strategy, PGAlignedBlock *page)
{
	Buffer		buffer = ReadBufferExtended(index, MAIN_FORKNUM, block, RBM_NORMAL, strategy);

	LockBuffer(buffer, BT_READ);
	_bt_checkpage(index, buffer);
	memcpy(page->data, BufferGetPage(buffer), BLCKSZ);
	UnlockReleaseBuffer(buffer);
}

static void
scan_index_page(Relation index, PGAlignedBlock *copy, const AttrNumber *columns, int count, TdeScan *scan)
{
	Page		page = (Page) copy->data;

	/* the high key, where there is one, is the first item; and what is marked dead still guides searches */
	for (OffsetNumber item = FirstOffsetNumber; item <= PageGetMaxOffsetNumber(page); item++)
		scan_index_tuple(index, (IndexTuple) PageGetItem(page, PageGetItemId(page, item)), columns, count, scan);
}

/*
 * The pages of one level from this, the first one, on.  Returns the first page of the level below, P_NONE at the leaves.
 *
 * As index scans do, it follows the links to the right, where splits and deletions of pages move things to; reading the
 * file from its beginning could miss what moves to a page that was read before.
 */
static BlockNumber
scan_level(Relation index, BlockNumber block, BufferAccessStrategy strategy, const AttrNumber *columns, int count,
		   TdeScan *scan)
{
	MemoryContext per_page = AllocSetContextCreate(CurrentMemoryContext, "tde_column page", ALLOCSET_DEFAULT_SIZES);
	BlockNumber below = P_NONE;
	PGAlignedBlock copy;

	while (block != P_NONE)
	{
		Page		page = (Page) copy.data;
		BTPageOpaque opaque;

		CHECK_FOR_INTERRUPTS();
		copy_page(index, block, strategy, &copy);
		opaque = BTPageGetOpaque(page);
		if (!P_IGNORE(opaque))
		{
			MemoryContext before = MemoryContextSwitchTo(per_page);

			if (below == P_NONE && !P_ISLEAF(opaque))
				below = BTreeTupleGetDownLink((IndexTuple) PageGetItem(page, PageGetItemId(page, P_FIRSTDATAKEY(opaque))));
			scan_index_page(index, &copy, columns, count, scan);
			MemoryContextSwitchTo(before);
			MemoryContextReset(per_page);
		}
		tell_page(scan);
		block = opaque->btpo_next;
	}
	MemoryContextDelete(per_page);
	return below;
}

static void
scan_btree(Relation index, const AttrNumber *columns, int count, TdeScan *scan)
{
	BufferAccessStrategy strategy = GetAccessStrategy(BAS_BULKREAD);
	PGAlignedBlock meta;
	BlockNumber block;

	copy_page(index, BTREE_METAPAGE, strategy, &meta);
	block = BTPageGetMeta((Page) meta.data)->btm_root;
	while (block != P_NONE)
		block = scan_level(index, block, strategy, columns, count, scan);
	FreeAccessStrategy(strategy);
}

bool
tde_scan_relation(Relation rel, TdeScan *scan)
{
	AttrNumber *columns;
	int			count = tde_scan_columns(rel, &columns);
	bool		is_index = rel->rd_rel->relkind == RELKIND_INDEX;

	if (count == 0)
		return true;
	if (RELATION_IS_OTHER_TEMP(rel) || (is_index && rel->rd_rel->relam != BTREE_AM_OID))
		return false;
	if (is_index)
		scan_btree(rel, columns, count, scan);
	else
		scan_table(rel, columns, count, scan);
	return true;
}
