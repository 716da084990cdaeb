/*
 * gin_pages.c - all entries of a GIN index, beside those who write.
 *
 * First those of the pending list, which others move into the tree and take away only then; so none is missed.  Pages of the tree of entries are
 * split, to the right, and never deleted; those of a posting tree are not while its root is pinned.  (access/gin/README.)
 */
#include "postgres.h"

#include "access/gin_private.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "server/compat.h"
#include "verify/gin_pages.h"

/* A reading of one index. */
typedef struct Reading
{
	Relation	index;
	GinState	state;
	const TdeGinVisitor *visitor;
	MemoryContext per_page;
} Reading;

/* ---- pages ---- */

#define SORTS	(GIN_DATA | GIN_LIST | GIN_META)

/* Throws unless it is a page of this sort: what follows trusts what a page says of itself. */
static void
check_page(Relation index, BlockNumber block, Page page, uint16 sort)
{
	bool		good = !PageIsNew(page) && PageGetSpecialSize(page) == MAXALIGN(sizeof(GinPageOpaqueData)) &&
	((PageHeader) page)->pd_lower <= BLCKSZ && (GinPageGetOpaque(page)->flags & (SORTS | GIN_DELETED)) == sort;

	for (OffsetNumber item = FirstOffsetNumber; good && sort != GIN_DATA && sort != GIN_META && item <= PageGetMaxOffsetNumber(page); item++)
	{
		ItemId		id = PageGetItemId(page, item);

		CHECK_FOR_INTERRUPTS();
		good = ItemIdIsNormal(id) && ItemIdGetOffset(id) + ItemIdGetLength(id) <= BLCKSZ && ItemIdGetLength(id) >= sizeof(IndexTupleData);
	}
	if (!good)
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" contains unexpected page %u", RelationGetRelationName(index), block)));
}

/* Makes a copy, so that nothing happens under the page's lock. */
static void
copy_page(Relation index, BlockNumber block, uint16 sort, PGAlignedBlock *copy)
{
	Buffer		buffer = ReadBuffer(index, block);

	CHECK_FOR_INTERRUPTS();
	LockBuffer(buffer, GIN_SHARE);
	memcpy(copy->data, BufferGetPage(buffer), BLCKSZ);
	UnlockReleaseBuffer(buffer);
	check_page(index, block, (Page) copy->data, sort);
}

static IndexTuple
tuple_at(Page page, OffsetNumber item)
{
	return (IndexTuple) PageGetItem(page, PageGetItemId(page, item));
}

static BlockNumber
next_page(Page page)
{
	return GinPageGetOpaque(page)->rightlink;
}

/* Tells of a tuple, which stands for one entry, and of its rows. */
static void
tell(Reading *reading, IndexTuple tuple, const ItemPointerData * rows, int count)
{
	GinNullCategory category;
	AttrNumber	column = gintuple_get_attrnum(&reading->state, tuple);
	Datum		key = gintuple_get_key(&reading->state, tuple, &category);

	for (int i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		reading->visitor->entry(reading->visitor->arg, column, key, category, rows[i]);
	}
}

static void
end_page(Reading *reading)
{
	MemoryContextReset(reading->per_page);
	reading->visitor->page(reading->visitor->arg);
}

/* ---- the pending list ---- */

/* Returns the first page of the list, locked, before anybody can take it away; InvalidBuffer: there is none. */
static Buffer
first_pending(Relation index)
{
	Buffer		meta = ReadBuffer(index, GIN_METAPAGE_BLKNO);
	Buffer		first = InvalidBuffer;
	BlockNumber head;

	LockBuffer(meta, GIN_SHARE);
	check_page(index, GIN_METAPAGE_BLKNO, BufferGetPage(meta), GIN_META);
	head = GinPageGetMeta(BufferGetPage(meta))->head;
	if (head != InvalidBlockNumber)
	{
		first = ReadBuffer(index, head);
		LockBuffer(first, GIN_SHARE);
	}
	UnlockReleaseBuffer(meta);
	return first;
}

/* Returns the next page, locked before the other one is released, so the list cannot be taken away in between. */
static Buffer
next_pending(Relation index, Buffer buffer)
{
	BlockNumber block = next_page(BufferGetPage(buffer));
	Buffer		next = InvalidBuffer;

	if (block != InvalidBlockNumber)
	{
		next = ReadBuffer(index, block);
		LockBuffer(next, GIN_SHARE);
	}
	UnlockReleaseBuffer(buffer);
	return next;
}

/* Reads the pending list, whose pages stay locked while they are told of. */
static void
read_pending(Reading *reading)
{
	Buffer		buffer = first_pending(reading->index);

	while (BufferIsValid(buffer))
	{
		Page		page = BufferGetPage(buffer);

		CHECK_FOR_INTERRUPTS();
		check_page(reading->index, BufferGetBlockNumber(buffer), page, GIN_LIST);
		for (OffsetNumber item = FirstOffsetNumber; item <= PageGetMaxOffsetNumber(page); item++)
			tell(reading, tuple_at(page, item), &tuple_at(page, item)->t_tid, 1);
		buffer = next_pending(reading->index, buffer);
	}
	end_page(reading);
}

/* ---- the tree ---- */

static BlockNumber
first_child(Page page)
{
	if (GinPageIsData(page))
		return PostingItemGetBlockNumber(GinDataPageGetPostingItem(page, FirstOffsetNumber));
	return PageGetMaxOffsetNumber(page) >= FirstOffsetNumber ? GinGetDownlink(tuple_at(page, FirstOffsetNumber)) : InvalidBlockNumber;
}

/* Copies the first leaf under a root. */
static void
find_leaf(Relation index, BlockNumber root, uint16 sort, PGAlignedBlock *copy)
{
	BlockNumber block = root;

	for (;;)
	{
		copy_page(index, block, sort, copy);
		if (GinPageIsLeaf((Page) copy->data))
			return;
		block = first_child((Page) copy->data);
	}
}

/* Reads the rows of one entry, of which there are too many for a tuple.  The pin keeps VACUUM from deleting pages of this tree. */
static void
read_posting_tree(Reading *reading, IndexTuple tuple)
{
	BlockNumber root = GinGetPostingTree(tuple);
	Buffer		pinned = ReadBuffer(reading->index, root);
	PGAlignedBlock copy;
	Page		page = (Page) copy.data;
	ItemPointerData all;

	ItemPointerSetMin(&all);
	find_leaf(reading->index, root, GIN_DATA, &copy);
	for (;;)
	{
		int			count;
		ItemPointer rows = GinDataLeafPageGetItems(page, &count, all);

		tell(reading, tuple, rows, count);
		if (rows)
			pfree(rows);
		reading->visitor->page(reading->visitor->arg);
		if (GinPageRightMost(page))
			break;
		copy_page(reading->index, next_page(page), GIN_DATA, &copy);
	}
	ReleaseBuffer(pinned);
}

/* Reads the rows of an entry, in its tuple or in a tree of their own. */
static void
read_entry(Reading *reading, IndexTuple tuple)
{
	ItemPointer rows;
	int			count;

	if (GinIsPostingTree(tuple))
	{
		read_posting_tree(reading, tuple);
		return;
	}
	rows = ginReadTuple(&reading->state, gintuple_get_attrnum(&reading->state, tuple), tuple, &count);
	tell(reading, tuple, rows, count);
}

/* Reads the leaves of the tree of entries, from left to right. */
static void
read_tree(Reading *reading)
{
	PGAlignedBlock copy;
	Page		page = (Page) copy.data;

	find_leaf(reading->index, GIN_ROOT_BLKNO, 0, &copy);
	for (;;)
	{
		for (OffsetNumber item = FirstOffsetNumber; item <= PageGetMaxOffsetNumber(page); item++)
			read_entry(reading, tuple_at(page, item));
		end_page(reading);
		if (GinPageRightMost(page))
			break;
		copy_page(reading->index, next_page(page), 0, &copy);
	}
}

void
tde_gin_read(Relation index, const TdeGinVisitor *visitor)
{
	Reading		reading = {.index = index, .visitor = visitor};
	MemoryContext before;

	initGinState(&reading.state, index);
	reading.per_page = AllocSetContextCreate(CurrentMemoryContext, "tde_column page", ALLOCSET_DEFAULT_SIZES);
	before = MemoryContextSwitchTo(reading.per_page);
	read_pending(&reading);
	read_tree(&reading);
	MemoryContextSwitchTo(before);
	MemoryContextDelete(reading.per_page);
}
