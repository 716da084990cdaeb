/*
 * wipe.c - what removed rows leave in the pages of a table is overwritten with zeros.
 *
 * When PostgreSQL removes a row version it gives its space free and leaves its bytes where they are: between the line pointers
 * and the rows, and in the alignment after a row that is put there later.  Zeroing them changes nothing that anyone reads,
 * so an exclusive lock on the page is enough.  The page is logged as a whole: PostgreSQL replays it with zeros in its free
 * space, so that replicas are wiped, too.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/transam.h"
#include "access/xloginsert.h"
#include "catalog/pg_am.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_statistic_ext_data.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/procarray.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/xid8.h"

#include "server/compat.h"

PG_FUNCTION_INFO_V1(tde_conversion_wipe_blocks);

/* A call on one table. */
typedef struct Wipe
{
	Relation	rel;
	TransactionId oldest;		/* who was deleted before it is seen by nobody */
	TransactionId cutoff;		/* what was deleted from here on is not our matter */
} Wipe;

/* Returns true if the row is dead for everybody, or for most since before the cutoff. */
static bool
is_remains(Wipe *wipe, Buffer buffer, OffsetNumber offset)
{
	Page		page = BufferGetPage(buffer);
	ItemId		item = PageGetItemId(page, offset);
	HeapTupleData tuple;
	TransactionId deleter;

	if (!ItemIdIsNormal(item))
		return false;
	tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
	tuple.t_len = ItemIdGetLength(item);
	tuple.t_tableOid = RelationGetRelid(wipe->rel);
	ItemPointerSet(&tuple.t_self, BufferGetBlockNumber(buffer), offset);
	switch (HeapTupleSatisfiesVacuum(&tuple, wipe->oldest, buffer))
	{
		case HEAPTUPLE_DEAD:
			return true;
		case HEAPTUPLE_RECENTLY_DEAD:
			deleter = HeapTupleHeaderGetUpdateXid(tuple.t_data);
			return TransactionIdPrecedes(deleter, wipe->cutoff);
		default:
			return false;
	}
}

static int
count_remains(Wipe *wipe, Buffer buffer)
{
	OffsetNumber last = PageGetMaxOffsetNumber(BufferGetPage(buffer));
	int			count = 0;

	for (OffsetNumber i = FirstOffsetNumber; i <= last; i++)
		count += is_remains(wipe, buffer, i);
	return count;
}

/* Has PostgreSQL prune the page now, whatever its space: it looks at pages that are full, or whose hint names a transaction. */
static void
prune(Wipe *wipe, Buffer buffer)
{
	PageHeader	page = (PageHeader) BufferGetPage(buffer);

	PageSetFull((Page) page);
	page->pd_prune_xid = wipe->oldest;
	TransactionIdRetreat(page->pd_prune_xid);
	MarkBufferDirtyHint(buffer, true);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	TDE_PRUNE(wipe->rel, buffer);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
}

/* Makes a copy of the page with zeros wherever nothing stands.  Returns false if it is so already, and needs no WAL. */
static bool
wiped_copy(Page page, char *copy)
{
	PageHeader	header = (PageHeader) page;
	OffsetNumber last = PageGetMaxOffsetNumber(page);

	memset(copy, 0, BLCKSZ);
	memcpy(copy, page, header->pd_lower);
	memcpy(copy + header->pd_special, page + header->pd_special, BLCKSZ - header->pd_special);
	for (OffsetNumber i = FirstOffsetNumber; i <= last; i++)
	{
		ItemId		item = PageGetItemId(page, i);

		if (ItemIdHasStorage(item))
			memcpy(copy + ItemIdGetOffset(item), page + ItemIdGetOffset(item), ItemIdGetLength(item));
	}
	return memcmp(copy, page, BLCKSZ) != 0;
}

/* Overwrites what is no row, in the page and in WAL.  Nothing can fail between the two. */
static void
zero_gaps(Relation rel, Buffer buffer)
{
	Page		page = BufferGetPage(buffer);
	PGAlignedBlock copy;

	if (!wiped_copy(page, copy.data))
		return;
	START_CRIT_SECTION();
	memcpy(page, copy.data, BLCKSZ);
	MarkBufferDirty(buffer);
	if (RelationNeedsWAL(rel))
		log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
}

/* Wipes one page under an exclusive lock.  Returns how many dead rows pruning had to leave, since somebody may see them or has the page pinned. */
static int
wipe_block(Wipe *wipe, BlockNumber block, BufferAccessStrategy strategy)
{
	Buffer		buffer = ReadBufferExtended(wipe->rel, MAIN_FORKNUM, block, RBM_NORMAL, strategy);
	int			remains = 0;

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	if (!PageIsNew(BufferGetPage(buffer)))
	{
		if (count_remains(wipe, buffer) > 0)
			prune(wipe, buffer);
		remains = count_remains(wipe, buffer);
		zero_gaps(wipe->rel, buffer);
	}
	UnlockReleaseBuffer(buffer);
	return remains;
}

/* Catalogs that hold values of everybody's columns: who has encrypted one wipes them.  Nobody can see, or lose, anything by it. */
static const Oid shared_by_all[] = {StatisticRelationId, StatisticExtDataRelationId, AttributeRelationId, AttrDefaultRelationId};

/* Returns true if it is one of them, or its TOAST table. */
static bool
is_shared_by_all(Oid relid)
{
	for (int i = 0; i < lengthof(shared_by_all); i++)
	{
		Relation	catalog = relation_open(shared_by_all[i], AccessShareLock);
		bool		found = relid == shared_by_all[i] || relid == catalog->rd_rel->reltoastrelid;

		relation_close(catalog, AccessShareLock);
		if (found)
			return true;
	}
	return false;
}

/* Throws unless the user owns the table.  Catalogs that hold values of everybody's columns anybody may wipe. */
static void
check_may_wipe(Relation rel)
{
	Oid			relid = RelationGetRelid(rel);

	if (rel->rd_rel->relkind != RELKIND_RELATION && rel->rd_rel->relkind != RELKIND_TOASTVALUE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("\"%s\" is not a table", RelationGetRelationName(rel))));
	if (rel->rd_rel->relam != HEAP_TABLE_AM_OID)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("\"%s\" is not stored as a heap", RelationGetRelationName(rel))));
	if (!is_shared_by_all(relid) && !TDE_OWNS_RELATION(relid))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, RelationGetRelationName(rel));
}

static Relation
open_relation(Oid relid)
{
	Relation	rel = try_relation_open(relid, AccessShareLock);

	if (rel == NULL)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", relid)));
	return rel;
}

static void
check_can_write(void)
{
	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION), errmsg("a replica cannot wipe pages of its own"),
				 errhint("Wipe them on the primary: the replica follows.")));
	PreventCommandIfReadOnly("wiping pages");
}

/* Returns where the given blocks end, of those that are there. */
static int64
end_of_blocks(Relation rel, int64 first, int64 count)
{
	int64		all = RelationGetNumberOfBlocks(rel);

	if (first < 0 || first > MaxBlockNumber)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("block number " INT64_FORMAT " is out of range", first)));
	if (count < 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("number of blocks must not be negative")));
	return count < all - first ? first + count : all;
}

/*
 * tde_wipe_blocks(relation regclass, first_block int8, blocks int8, cutoff xid8) - returns how many dead rows are still there
 * because a transaction may see them, or because the page is in use; those that died after the cutoff do not count.
 */
Datum
tde_conversion_wipe_blocks(PG_FUNCTION_ARGS)
{
	Relation	rel = open_relation(PG_GETARG_OID(0));
	int64		first = PG_GETARG_INT64(1);
	BufferAccessStrategy strategy = GetAccessStrategy(BAS_VACUUM);
	int64		remains = 0;
	int64		end;
	Wipe		wipe;

	check_may_wipe(rel);
	check_can_write();
	end = end_of_blocks(rel, first, PG_GETARG_INT64(2));
	wipe.rel = rel;
	wipe.oldest = GetOldestNonRemovableTransactionId(rel);
	wipe.cutoff = XidFromFullTransactionId(PG_GETARG_FULLTRANSACTIONID(3));
	for (int64 block = first; block < end; block++)
	{
		CHECK_FOR_INTERRUPTS();
		remains += wipe_block(&wipe, (BlockNumber) block, strategy);
	}
	relation_close(rel, AccessShareLock);
	PG_RETURN_INT64(remains);
}
