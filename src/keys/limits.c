/*
 * limits.c - how many values each version of a key has encrypted, counted durably; one that nears its limit is replaced.
 *
 * The table tde.key_counts has a row for each key.  Each process counts ahead, in blocks that grow while it encrypts, so that the count
 * is never too small, and too large by no more than what the process has encrypted, or by 32 values.  Rows are changed in place, as sequences are:
 * by a record of generic WAL, without a transaction, so that queries that only read and parallel workers count as well.  The record
 * precedes that of any page with the values, and so is on disk when one of them is.  Standbys, whose values are stored nowhere, do not count.
 *
 * Limits: salted AES-GCM has random nonces of 96 bits, of which a key may have 2^32 (NIST SP 800-38D, 8.3); half of that is left for what
 * goes on while the version is replaced.  Triple DES may have 2^20 blocks (SP 800-67r2, 3.3).  For the others 2^40 values keep the odds that two
 * salts of 14 bytes are the same below 2^-32.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/generic_xlog.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "keys/cache.h"
#include "keys/limits.h"
#include "server/compat.h"
#include "server/permanent.h"

#define FIRST_BLOCK		32
#define LARGEST_BLOCK	65536

#define LIMIT_GCM		(UINT64CONST(1) << 31)
#define LIMIT_3DES		(UINT64CONST(1) << 20)	/* blocks */
#define LIMIT_OTHER		(UINT64CONST(1) << 40)

/* A row of tde.key_counts, none of whose columns is ever null. */
typedef struct CountsRow
{
	int32		id;
	int32		padding;
	int64		encryptions;
	int64		des_blocks;
} CountsRow;

int			tde_encryption_limit = 0;

static HTAB *uses = NULL;

/* Keys that have reached their limit; more than these wait for their turn. */
static uint32 reached[8];
static int	reached_count = 0;

TdeKeyUse *
tde_key_use(uint32 key_id)
{
	TdeKeyUse  *use;
	bool		found;

	if (uses == NULL)
		uses = tde_table_new("tde_column key use", sizeof(uint32), sizeof(TdeKeyUse));
	use = hash_search(uses, &key_id, HASH_ENTER, &found);
	if (!found)
	{
		use->values = use->blocks = 0;
		use->next = FIRST_BLOCK;
	}
	return use;
}

void
tde_limits_start(uint32 key_id)
{
	Oid			relid = tde_keystore_sibling("key_counts");
	Datum		values[3] = {Int32GetDatum((int32) key_id), Int64GetDatum(0), Int64GetDatum(0)};
	bool		nulls[3] = {false, false, false};
	Relation	rel;
	HeapTuple	tuple;

	if (!OidIsValid(relid))
		return;
	rel = table_open(relid, RowExclusiveLock);
	tuple = tde_permanent_form(rel, lengthof(values), values, nulls);
	/* what this server has encrypted concerns no other */
	tde_permanent_insert(rel, tuple, HEAP_INSERT_NO_LOGICAL);
	heap_freetuple(tuple);
	table_close(rel, RowExclusiveLock);
}

/* NULL if there is no such table yet (an update of the extension), or if it is locked while a page of an index is held. */
static Relation
open_counts(void)
{
	Oid			relid = tde_keystore_sibling("key_counts");

	if (!OidIsValid(relid))
		return NULL;
	if (InterruptHoldoffCount == 0)
		return table_open(relid, RowExclusiveLock);
	return ConditionalLockRelationOid(relid, RowExclusiveLock) ? table_open(relid, NoLock) : NULL;
}

static bool
find_row(Relation rel, uint32 key_id, ItemPointer tid)
{
	Oid			index = tde_permanent_index(rel, 1);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, 1, BTEqualStrategyNumber, F_INT4EQ, Int32GetDatum((int32) key_id));
	scan = systable_beginscan(rel, index, OidIsValid(index), NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (tuple != NULL)
		*tid = tuple->t_self;
	systable_endscan(scan);
	return tuple != NULL;
}

/* The row at this place; NULL if it does not look like one. */
static CountsRow *
row_at(Page page, OffsetNumber offset, uint32 key_id)
{
	ItemId		item = PageGetItemId(page, offset);
	HeapTupleHeader header;
	CountsRow  *row;

	if (!ItemIdIsNormal(item) || ItemIdGetLength(item) < sizeof(CountsRow) + SizeofHeapTupleHeader)
		return NULL;
	header = (HeapTupleHeader) PageGetItem(page, item);
	row = (CountsRow *) ((char *) header + header->t_hoff);
	/* columns may come after ours, which are never null */
	if (HeapTupleHeaderGetNatts(header) < 3 || ((header->t_infomask & HEAP_HASNULL) && (header->t_bits[0] & 7) != 7))
		return NULL;
	return row->id == (int32) key_id ? row : NULL;
}

/* Add to the row's counts; what they are then.  False if there is no row. */
static bool
add_counts(uint32 key_id, uint64 values, uint64 blocks, CountsRow *counts)
{
	Relation	rel = open_counts();
	ItemPointerData tid;
	bool		found = false;

	if (rel == NULL)
		return false;
	if (find_row(rel, key_id, &tid))
	{
		Buffer		buffer = ReadBuffer(rel, ItemPointerGetBlockNumber(&tid));
		GenericXLogState *state;
		CountsRow  *row;

		/* nobody moves the row: that takes a lock that excludes ours */
		LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
		state = GenericXLogStart(rel);
		row = row_at(GenericXLogRegisterBuffer(state, buffer, 0), ItemPointerGetOffsetNumber(&tid), key_id);
		found = row != NULL;
		if (found)
		{
			row->encryptions += (int64) values;
			row->des_blocks += (int64) blocks;
			*counts = *row;
			GenericXLogFinish(state);
		}
		else
			GenericXLogAbort(state);
		UnlockReleaseBuffer(buffer);
	}
	table_close(rel, RowExclusiveLock);
	return found;
}

static uint64
lowered(uint64 limit)
{
	return tde_encryption_limit > 0 ? Min(limit, (uint64) tde_encryption_limit) : limit;
}

static bool
is_reached(const CountsRow *counts, TdeSpec spec)
{
	if (spec.cipher == TDE_3DES168)
		return (uint64) counts->des_blocks >= lowered(LIMIT_3DES);
	return (uint64) counts->encryptions >= lowered(spec.mac == TDE_GCM && spec.salted ? LIMIT_GCM : LIMIT_OTHER);
}

static void
remember_reached(uint32 key_id)
{
	for (int i = 0; i < reached_count; i++)
		if (reached[i] == key_id)
			return;
	if (reached_count < lengthof(reached))
		reached[reached_count++] = key_id;
}

void
tde_limits_reserve(TdeKeyUse *use, TdeSpec spec, uint64 blocks)
{
	uint64		values = use->next;
	CountsRow	counts;

	/* a lowered limit is not to be passed by the first block */
	if (tde_encryption_limit > 0)
		values = Min(values, (uint64) tde_encryption_limit / 4 + 1);
	if (blocks > 0)
		blocks = Max(blocks, values);
	if (!RecoveryInProgress() && !IsBinaryUpgrade && !HistoricSnapshotActive() && add_counts(use->key_id, values, blocks, &counts) && is_reached(&counts, spec))
		remember_reached(use->key_id);
	use->values += values;
	use->blocks += blocks;
	use->next = Min(use->next * 2, LARGEST_BLOCK);
}

/*
 * Before the commit, since making a key takes a transaction that may write.  A key that cannot be replaced now is tried again when the next
 * values are counted: nothing here may fail the transaction.
 */
static void
replace_reached(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_ABORT)
		reached_count = 0;
	if (event != XACT_EVENT_PRE_COMMIT || reached_count == 0)
		return;
	/* the last statement's is gone, and the table of keys has values that may be out of line */
	PushActiveSnapshot(GetTransactionSnapshot());
	while (reached_count > 0)
		tde_keystore_replace(reached[--reached_count]);
	PopActiveSnapshot();
}

void
tde_limits_init(void)
{
	RegisterXactCallback(replace_reached, NULL);
}
