/*
 * usage_index.c - every encrypted value in a btree or BRIN index, also of rows that are gone: it still guides searches.
 */
#include "postgres.h"

#include "access/brin.h"
#include "access/brin_internal.h"
#include "access/brin_page.h"
#include "access/brin_revmap.h"
#include "access/brin_tuple.h"
#include "access/nbtree.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"

#include "maintenance/usage_scan.h"
#include "server/compat.h"

/* ---- btrees ---- */

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

void
tde_scan_value(TdeScan *scan, AttrNumber column, Oid type, Datum value)
{
	Position	position = {scan, column};

	if (scan->datum)
		scan->datum(scan, column, type, value);
	else
		tde_inside_headers_of_datum(type, value, visit_value, &position);
}

static void
scan_index_tuple(Relation index, IndexTuple tuple, const AttrNumber *columns, int count, TdeScan *scan)
{
	TupleDesc	desc = RelationGetDescr(index);
	int			present = BTreeTupleGetNAtts(tuple, index);

	for (int i = 0; i < count && columns[i] <= present; i++)
	{
		bool		isnull;
		Datum		value = index_getattr(tuple, columns[i], desc, &isnull);

		if (!isnull)
			tde_scan_value(scan, columns[i], TupleDescAttr(desc, columns[i] - 1)->atttypid, value);
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
	{
		ItemId		id = PageGetItemId(page, item);
		IndexTuple	tuple = (IndexTuple) PageGetItem(page, id);

		if (BTreeTupleIsPivot(tuple))
			ItemPointerSetInvalid(&scan->row);
		else
			scan->row = *BTreeTupleGetHeapTID(tuple);
		scan_index_tuple(index, tuple, columns, count, scan);
		if (scan->entry && !BTreeTupleIsPivot(tuple) && !ItemIdIsDead(id))
			scan->entry(scan, tuple);
	}
	ItemPointerSetInvalid(&scan->row);
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
		tde_scan_tell_page(scan);
		block = opaque->btpo_next;
	}
	MemoryContextDelete(per_page);
	return below;
}

void
tde_scan_btree(Relation index, const AttrNumber *columns, int count, TdeScan *scan)
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

/* ---- BRIN ---- */

static void
scan_summary(BrinDesc *desc, BrinTuple *tuple, const AttrNumber *columns, int count, TdeScan *scan)
{
	BrinMemTuple *summary = brin_deform_tuple(desc, tuple, NULL);

	for (int i = 0; i < count; i++)
	{
		BrinValues *values = &summary->bt_columns[columns[i] - 1];
		BrinOpcInfo *stored = desc->bd_info[columns[i] - 1];

		for (int j = 0; j < stored->oi_nstored && !values->bv_allnulls; j++)
			if (tde_type_holds_encrypted(stored->oi_typcache[j]->type_id))
				tde_scan_value(scan, columns[i], stored->oi_typcache[j]->type_id, values->bv_values[j]);
	}
}

/*
 * The summaries of all ranges of blocks, also of such as the table no longer has, since it may grow again.  They are found as
 * queries find them: one that is made larger moves to another page.
 */
void
tde_scan_brin(Relation index, const AttrNumber *columns, int count, TdeScan *scan)
{
	MemoryContext per_range = AllocSetContextCreate(CurrentMemoryContext, "tde_column summary", ALLOCSET_DEFAULT_SIZES);
	BrinDesc   *desc = brin_build_desc(index);
	BlockNumber per_summary;
	BrinRevmap *revmap = TDE_BRIN_REVMAP(index, &per_summary);
	Buffer		buffer = InvalidBuffer;
	BlockNumber page = InvalidBlockNumber;
	BrinStatsData size;
	uint64		end;

	brinGetStats(index, &size);
	/* it counts the pages of the map without the first */
	end = Min((uint64) (BlockNumber) (size.revmapNumPages + 1) * REVMAP_PAGE_MAXITEMS * per_summary, (uint64) MaxBlockNumber + 1);
	for (uint64 block = 0; block < end; block += per_summary)
	{
		MemoryContext before = MemoryContextSwitchTo(per_range);
		OffsetNumber offset;
		Size		length;
		BrinTuple  *tuple = TDE_BRIN_TUPLE(revmap, (BlockNumber) block, &buffer, &offset, &length);

		CHECK_FOR_INTERRUPTS();
		if (tuple)
		{
			/* a copy, so that nothing happens under the page's lock */
			tuple = brin_copy_tuple(tuple, length, NULL, NULL);
			LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
			if (page != BufferGetBlockNumber(buffer))
				tde_scan_tell_page(scan);
			page = BufferGetBlockNumber(buffer);
			scan_summary(desc, tuple, columns, count, scan);
		}
		MemoryContextSwitchTo(before);
		MemoryContextReset(per_range);
	}
	if (BufferIsValid(buffer))
		ReleaseBuffer(buffer);
	brinRevmapTerminate(revmap);
	brin_free_desc(desc);
	MemoryContextDelete(per_range);
}
