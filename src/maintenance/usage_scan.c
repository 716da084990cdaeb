/*
 * usage_scan.c - every encrypted value that a table or an index still holds for somebody.
 */
#include "postgres.h"

#include "access/brin.h"
#include "access/brin_internal.h"
#include "access/brin_page.h"
#include "access/brin_revmap.h"
#include "access/brin_tuple.h"
#include "access/heapam.h"
#include "access/htup_details.h"
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

/* Returns true if VACUUM could remove this version of a row. */
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

/* Has the scan read only the blocks that are wanted, of those that are there. */
static void
limit_rows(TdeRows *rows, const TdeScan *scan)
{
	BlockNumber there = ((HeapScanDesc) rows->scan)->rs_nblocks;

	heap_setscanlimits(rows->scan, Min(scan->first_block, there), scan->first_block < there ? Min(scan->blocks, there - scan->first_block) : 0);
}

/*
 * Tells of each row's values.  Memory is reset after each, since values that are out of line are fetched.  columns are in ascending order, so the
 * last one says how much of a row is to be taken apart.
 */
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

	/* an index may hold none, and have entries only of rows whose values say so */
	if (count == 0 && !(scan->entry && rel->rd_rel->relam == BTREE_AM_OID))
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

/* ---- uses of data keys, counted by key and place ---- */

/* What a count is of. */
typedef struct CountId
{
	uint32		key_id;
	int32		place;
	int32		column;			/* of the relation that is being read; 0: none in particular */
} CountId;

/* How often a key was met in one place. */
typedef struct Count
{
	CountId		id;				/* hash key */
	TdeUse	   *use;
} Count;

/* Counts a value of a key in the place of now.  The use is made with the first one, in the result's memory. */
static void
count_value(TdeUsage *usage, AttrNumber column, uint32 key_id)
{
	CountId		id = {key_id, usage->place, column};
	bool		found;
	Count	   *count = hash_search(usage->counts, &id, HASH_ENTER, &found);

	if (!found)
	{
		MemoryContext before = MemoryContextSwitchTo(usage->context);

		count->use = palloc0(sizeof(TdeUse));
		count->use->key_id = key_id;
		if (column > 0)
			count->use->column = pstrdup(NameStr(TupleDescAttr(RelationGetDescr(usage->rel), column - 1)->attname));
		usage->uses = lappend(usage->uses, count->use);
		MemoryContextSwitchTo(before);
	}
	count->use->count++;
}

static void
count_scanned(TdeScan *scan, AttrNumber column, const TdeHeader *header)
{
	count_value((TdeUsage *) scan, column, header ? header->key_id : 0);
}

void
tde_usage_count(const TdeHeader *header, void *usage)
{
	count_value(usage, 0, header ? header->key_id : 0);
}

void
tde_usage_begin_place(TdeUsage *usage)
{
	usage->place++;
	usage->before = list_length(usage->uses);
}

bool
tde_usage_counted(TdeUsage *usage)
{
	return list_length(usage->uses) > usage->before;
}

void
tde_usage_end_place(TdeUsage *usage, const char *object_type, const char *object, const char *column)
{
	object_type = MemoryContextStrdup(usage->context, object_type);
	object = MemoryContextStrdup(usage->context, object);
	if (column)
		column = MemoryContextStrdup(usage->context, column);
	for (int i = usage->before; i < list_length(usage->uses); i++)
	{
		TdeUse	   *use = list_nth(usage->uses, i);

		use->object_type = object_type;
		use->object = object;
		if (column)
			use->column = column;
	}
}

bool
tde_usage_wants(TdeUsage *usage, Oid relation)
{
	return usage->tables == NIL || list_member_oid(usage->tables, relation) || list_member_oid(usage->relations, relation);
}

void
tde_usage_begin(TdeUsage *usage)
{
	HASHCTL		control = {.keysize = sizeof(CountId), .entrysize = sizeof(Count), .hcxt = CurrentMemoryContext};

	usage->scan.value = count_scanned;
	usage->context = CurrentMemoryContext;
	usage->counts = hash_create("tde_column key usage", 256, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/* ---- a value ---- */

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

/* ---- btrees, also their entries of rows that are gone: these still guide searches ---- */

/* Pivot tuples may have lost their last columns, which then are not there to be read. */
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

/* Copies a page, so that nothing happens under its lock.  PostgreSQL's own check of a page finds a damaged one. */
static void
copy_page(Relation index, BlockNumber block, BufferAccessStrategy strategy, PGAlignedBlock *page)
{
	Buffer		buffer = ReadBufferExtended(index, MAIN_FORKNUM, block, RBM_NORMAL, strategy);

	LockBuffer(buffer, BT_READ);
	_bt_checkpage(index, buffer);
	memcpy(page->data, BufferGetPage(buffer), BLCKSZ);
	UnlockReleaseBuffer(buffer);
}

/* Tells of all items of a page, and which row each is of. */
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
 * Reads the pages of one level from this, the first one, on.  Returns the first page of the level below, P_NONE at the leaves.
 *
 * As index scans do, it follows the links to the right, where splits and deletions of pages move things to.  Reading the file from its beginning
 * could miss what moves to a page that was read before.
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

/* Some classes store more than two values, or one of another type than the column's; only what may be encrypted is told. */
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
