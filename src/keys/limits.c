/*
 * limits.c - how many values each version of a key has encrypted, counted durably; one that nears its limit is replaced.
 *
 * The table tde.key_counts has a row for each key.  Each process counts ahead, in blocks that grow while it encrypts, so that the count
 * is never too small, and too large by no more than what the process has encrypted, or by 32 values.  Rows are changed in place, as sequences are:
 * by a record of generic WAL, without a transaction, so that queries that only read and parallel workers count as well.  The record
 * precedes that of any page with the values, and so is on disk when one of them is.  Standbys, whose values are stored nowhere, do not count.
 *
 * Limits: salted AES-GCM has random nonces of 96 bits, of which a key may have 2^32 (NIST SP 800-38D, 8.3).  Triple DES may have 2^20 blocks
 * (SP 800-67r2, 3.3).  For the others 2^40 values keep the odds that two salts of 14 bytes are the same below 2^-32.  At half of that a version is
 * replaced by the end of a transaction; when there is no room for a value, at once, in the midst of a statement.  Only what stores values replaces
 * versions: anybody could make new ones by casts otherwise, for good and for all.  The others get an error when there is no room.
 *
 * But for the literals' key, which is needed before anybody can know what becomes of a value: when a statement is parsed, when parameters are bound, in
 * variables of functions.  If only some were let in, whoever casts could shut out all who store.  So at the end of a version of that one, whoever comes
 * next makes another, which takes 2^40 values each time: a processor is busy for days by that.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/generic_xlog.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "replication/logicalworker.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "keys/cache.h"
#include "keys/limits.h"
#include "server/compat.h"
#include "server/counters.h"
#include "server/extension.h"
#include "server/memory.h"
#include "server/permanent.h"
#include "server/statement.h"

#define FIRST_BLOCK		32
#define LARGEST_BLOCK	65536

/* Half of what a key may encrypt. */
#define HALF_GCM		(UINT64CONST(1) << 31)
#define HALF_3DES		(UINT64CONST(1) << 19)	/* blocks */
#define HALF_OTHER		(UINT64CONST(1) << 39)

/*
 * A version that is younger lives on beyond its half.  Nobody encrypts the other half in that time; but who stores what others encrypt for no
 * purpose does not make version after version.  Triple DES has no time to lose.
 */
#define LEAST_AGE_MS	60000

/* A row of tde.key_counts, none of whose columns is ever null. */
typedef struct CountsRow
{
	int32		id;
	int32		padding;
	int64		encryptions;
	int64		des_blocks;
} CountsRow;

int			tde_encryption_limit = 0;
int			tde_rotate_after = 0;

static HTAB *uses = NULL;		/* key id -> TdeKeyUse; NULL until something is encrypted */

static TdeKeyUse *first_use = NULL; /* of all of them: a walk through the table takes ten times as long */
static uint64 told = 0;			/* tde_stats.encryptions then */

/* Keys half of whose values are encrypted.  There are places for eight; more than these wait until they are counted again. */
typedef struct Reached
{
	uint32		key_id;
	bool		at_any_age;		/* not only if the version is older than LEAST_AGE_MS */
} Reached;

static Reached reached[8];
static int	reached_count = 0;

/* NULL if there is no such table yet (an update of the extension), or if it is locked while a page of an index is held. */
static Relation
open_counts(void)
{
	Oid			relid = tde_extension_table("key_counts");

	if (!OidIsValid(relid))
		return NULL;
	if (InterruptHoldoffCount == 0)
		return table_open(relid, RowExclusiveLock);
	return ConditionalLockRelationOid(relid, RowExclusiveLock) ? table_open(relid, NoLock) : NULL;
}

/* Finds the place of a key's row.  Returns false if it has none. */
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

/*
 * Returns the row at this place of the page, in which it may be changed; NULL if it does not look like one.  A damaged page must not be written to.
 */
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

/* ---- the limits ---- */

/* Returns half of what a key may encrypt under this spec: values, or blocks of triple DES. */
static uint64
half(TdeSpec spec)
{
	uint64		half = spec.cipher == TDE_3DES168 ? HALF_3DES : spec.mac == TDE_GCM && spec.salted ? HALF_GCM : HALF_OTHER;

	return tde_encryption_limit > 0 ? Min(half, (uint64) tde_encryption_limit) : half;
}

/* What counts against the spec's limit. */
static uint64
used(const CountsRow *counts, TdeSpec spec)
{
	return (uint64) (spec.cipher == TDE_3DES168 ? counts->des_blocks : counts->encryptions);
}

static uint64
room_for(const CountsRow *counts, TdeSpec spec)
{
	uint64		most = 2 * half(spec);

	return most - Min(used(counts, spec), most);
}

/* ---- counting ---- */

/* What is to be counted at once. */
typedef struct Claim
{
	TdeSpec		spec;
	uint64		values;			/* at least 1 */
	uint64		blocks;			/* at least least */
	uint64		least;			/* blocks of the next value, without which nothing is gained */
} Claim;

typedef enum Answer
{
	NOT_COUNTED,				/* there is no row, or it cannot be got at */
	COUNTED,
	FULL						/* there is no room for the next value */
} Answer;

/* Cuts the claim down to what there is room for.  Returns false if there is none for the next value. */
static bool
fit_claim(Claim *claim, const CountsRow *row)
{
	uint64		left = room_for(row, claim->spec);

	if (left < Max(claim->least, 1))
		return false;
	if (claim->spec.cipher == TDE_3DES168)
		claim->blocks = Min(claim->blocks, left);
	else
		claim->values = Min(claim->values, left);
	return true;
}

/*
 * Adds to the row as much of the claim as fits, and makes that the claim; *counts is the row then.  The page is changed by generic WAL, without a
 * transaction: what was counted stays counted, whatever becomes of the values.
 */
static Answer
add_to_row(Relation rel, ItemPointer tid, uint32 key_id, Claim *claim, CountsRow *counts)
{
	Buffer		buffer = ReadBuffer(rel, ItemPointerGetBlockNumber(tid));
	GenericXLogState *state;
	CountsRow  *row;
	Answer		answer = NOT_COUNTED;

	/* nobody moves the row: that takes a lock that excludes ours */
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	state = GenericXLogStart(rel);
	row = row_at(GenericXLogRegisterBuffer(state, buffer, 0), ItemPointerGetOffsetNumber(tid), key_id);
	if (row != NULL)
		answer = fit_claim(claim, row) ? COUNTED : FULL;
	if (answer == COUNTED)
	{
		row->encryptions += (int64) claim->values;
		row->des_blocks += (int64) claim->blocks;
		*counts = *row;
		GenericXLogFinish(state);
	}
	else
		GenericXLogAbort(state);
	UnlockReleaseBuffer(buffer);
	return answer;
}

/* Counts in the key's row, if that can be got at.  *counts is set only if something was counted. */
static Answer
add_counts(uint32 key_id, Claim *claim, CountsRow *counts)
{
	Relation	rel = open_counts();
	ItemPointerData tid;
	Answer		answer = NOT_COUNTED;

	if (rel == NULL)
		return answer;
	if (find_row(rel, key_id, &tid))
		answer = add_to_row(rel, &tid, key_id, claim, counts);
	table_close(rel, RowExclusiveLock);
	return answer;
}

/* Notes for the end of the transaction that a version is half used.  It only gets stricter: once at_any_age, always. */
static void
remember_reached(uint32 key_id, bool at_any_age)
{
	for (int i = 0; i < reached_count; i++)
	{
		if (reached[i].key_id == key_id)
		{
			reached[i].at_any_age |= at_any_age;
			return;
		}
	}
	if (reached_count < lengthof(reached))
		reached[reached_count++] = (Reached) {key_id, at_any_age};
}

/* ---- who stores ---- */

/* Workers for queries and indexes do what their leader's statement does; that is not known to them. */
bool
tde_limits_stores_nothing(void)
{
	return tde_statement.stores == TDE_STORES_NOTHING && !IsParallelWorker() && !IsLogicalWorker();
}

/* Returns true if this transaction has stored values.  A number alone anybody can get (pg_current_xact_id()). */
static bool
has_stored(void)
{
	return (tde_statement_has_stored || IsLogicalWorker()) && TransactionIdIsValid(GetTopTransactionIdIfAny());
}

/* Returns true if it has, or is about to.  Autovacuum stores statistics of expressions. */
static bool
stores(void)
{
	return tde_statement.stores == TDE_STORES_VALUES || has_stored() || IsLogicalWorker() || MyBackendType == B_AUTOVAC_WORKER;
}

/* Returns true if this statement may make another version of the key, there being no room. */
static bool
may_replace(uint32 key_id)
{
	TdeDataKey	row;

	return stores() || IsParallelWorker() || tde_statement_parses_stored() || (tde_keys_find(key_id, &row) && row.slot == TDE_SLOT_CATALOG);
}

/* What errors call a key's version. */
static const char *
called(uint32 key_id)
{
	TdeDataKey	row;

	return tde_keys_find(key_id, &row) ? psprintf("version %d of data key \"%s\"", row.version, tde_keys_called(&row)) :
		psprintf("data key %u", key_id);
}

/*
 * There is no room for the next value: makes another version in the midst of the statement.  Example: INSERT INTO t SELECT ... of so many rows that
 * one version does not suffice.  Returns if the caller is to look up the key again.
 */
static void
replace_now(uint32 key_id, TdeSpec spec, uint64 blocks)
{
	const char *limit = psprintf(spec.cipher == TDE_3DES168 ? UINT64_FORMAT " blocks of 8 bytes" : UINT64_FORMAT " values", 2 * half(spec));
	bool		done;

	if (blocks > 2 * half(spec))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("value is too large for triple DES"),
				 errdetail("It has " UINT64_FORMAT " blocks; a key may encrypt %s.", blocks, limit),
				 errhint("Give the column another cipher: ALTER TABLE ... ALTER COLUMN ... TYPE ...(aes256).")));
	if (!may_replace(key_id))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("%s has encrypted as many values as a key may", called(key_id)),
				 tde_statement.stores == TDE_STORES_NOTHING ?
				 errdetail("It may encrypt %s.  The next transaction that stores values makes another version; this one stores none.", limit) :
				 errdetail("It may encrypt %s.  The next transaction that stores values makes another version; this one has stored none yet.", limit),
				 tde_statement.stores == TDE_STORES_NOTHING ?
				 errhint("Store a value under the key, or run tde_rotate_key().") :
				 errhint("Store a value under the key by an expression, as ROW(...) is in place of a row's text, or run tde_rotate_key().")));
	/* whoever calls from outside of a query may have none */
	PushActiveSnapshot(GetTransactionSnapshot());
	/* nobody waits for a lock while a page of an index is held */
	done = InterruptHoldoffCount == 0 && tde_keys_replace(key_id, true);
	PopActiveSnapshot();
	/* seen by ourselves, too, if somebody else has made it */
	tde_keys_changed = true;
	if (!done)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("%s has encrypted as many values as a key may", called(key_id)),
				 errdetail("It may encrypt %s.  No version can be made in a read-only transaction, in a parallel query, after changes of keys, or for an index whose page is held.", limit),
				 errhint("Run tde_rotate_key() in a transaction of its own.")));
}

/*
 * Lets the process encrypt what was claimed.  What could not be counted now, since the table is locked while an index's page is held, is owed, and
 * counted with what comes next.
 */
static void
grant(TdeKeyUse *use, const Claim *claim, Answer answer)
{
	uint64		owed = Min(use->owed, claim->values);

	use->counted += claim->values - owed;
	use->owed = answer == COUNTED ? use->owed - owed : claim->values;
	use->blocks += claim->blocks;
	use->next = Min(use->next * 2, LARGEST_BLOCK);
}

void
tde_limits_reserve(TdeKeyUse *use, TdeSpec spec, uint64 blocks)
{
	Claim		claim = {spec, use->next, blocks, blocks};
	CountsRow	counts = {0};
	Answer		answer;

	/* what is stored nowhere, and not counted, is not to be left over when a standby is promoted */
	if (RecoveryInProgress() || IsBinaryUpgrade || HistoricSnapshotActive())
	{
		use->counted = use->values + 1;
		use->blocks = Max(use->blocks, blocks);
		return;
	}
	/* a lowered limit is not to be passed by the first block */
	if (tde_encryption_limit > 0)
		claim.values = Min(claim.values, (uint64) tde_encryption_limit / 4 + 1);
	if (blocks > 0)
		claim.blocks = Max(blocks, claim.values);
	claim.values += use->owed;
	answer = add_counts(use->key_id, &claim, &counts);
	if (answer == FULL)
	{
		replace_now(use->key_id, spec, blocks);
		return;
	}
	if (answer == COUNTED && used(&counts, spec) >= half(spec))
		remember_reached(use->key_id, spec.cipher == TDE_3DES168);
	grant(use, &claim, answer);
}

/* ---- the end of a transaction ---- */

/*
 * Before the commit, since making a key takes a transaction that may write.  A key that cannot be replaced now is tried again when the next
 * values are counted: nothing here may fail the transaction.
 */
static void
replace_reached(void)
{
	/* the last statement's is gone, and the table of keys has values that may be out of line */
	PushActiveSnapshot(GetTransactionSnapshot());
	while (reached_count > 0)
	{
		Reached		next = reached[--reached_count];

		if (next.at_any_age || tde_encryption_limit > 0 || tde_keys_age(next.key_id) >= LEAST_AGE_MS)
			(void) tde_keys_replace(next.key_id, false);
	}
	PopActiveSnapshot();
}

/*
 * Adds to shared memory what this process has encrypted since it did so last.  A process that has encrypted nothing in the transaction does nothing.
 */
static void
tell_others(void)
{
	if (tde_stats.encryptions == told)
		return;
	told = tde_stats.encryptions;
	for (TdeKeyUse *use = first_use; use != NULL; use = use->after)
		if (use->values != use->told && tde_counters_add(use->key_id, &use->place, use->values - use->told))
			use->told = use->values;
}

uint64
tde_limits_encrypted(uint32 key_id)
{
	const TdeKeyUse *use = uses ? hash_search(uses, &key_id, HASH_FIND, NULL) : NULL;

	return tde_counters_read(key_id) + (use ? use->values - use->told : 0);
}

uint64
tde_limits_untold(void)
{
	uint64		sum = 0;

	for (TdeKeyUse *use = first_use; use != NULL; use = use->after)
		sum += use->values - use->told;
	return sum;
}

/*
 * Keys are replaced before the commit, while the transaction may still write.  Every other event tells the others, aborts included: what was rolled
 * back was encrypted nevertheless.
 */
static void
end_transaction(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_PRE_COMMIT)
	{
		if (reached_count > 0 && has_stored())
			replace_reached();
		return;
	}
	tell_others();
}

TdeKeyUse *
tde_key_use(uint32 key_id)
{
	TdeKeyUse  *use;
	bool		found;

	if (uses == NULL)
	{
		uses = tde_memory_table_new("tde_column key use", sizeof(uint32), sizeof(TdeKeyUse));
		RegisterXactCallback(end_transaction, NULL);
	}
	use = hash_search(uses, &key_id, HASH_ENTER, &found);
	if (!found)
	{
		*use = (TdeKeyUse) {.key_id = key_id, .next = FIRST_BLOCK, .after = first_use};
		first_use = use;
	}
	return use;
}
