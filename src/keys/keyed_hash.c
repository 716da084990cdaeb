/*
 * keyed_hash.c - numbers hashed under the database's hash key, and what databases that have the same one tell each other.
 *
 * Everything here is derived from one data key (slot TDE_SLOT_HASH) and is good for one epoch of keys/cache.h.  make_ready() compares epochs on each
 * call and derives again what is stale.  Where results are kept, hold() comes first, so that nobody can rotate the key in between.
 */
#include "postgres.h"

#include <openssl/crypto.h>

#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "utils/resowner.h"

#include "crypto/primitives.h"
#include "keys/keyed_hash.h"
#include "server/compat.h"
#include "server/error.h"
#include "server/extension.h"
#include "server/memory.h"

#define HASH_KEY_SIZE	32

/* Of the image of an index's entry; a test compiles fewer, so that entries collide. */
#ifndef TDE_ENTRY_BITS
#define TDE_ENTRY_BITS	64
#endif

/* What is hashed for; it is part of what is hashed, so that one tells nothing of another.  0 is that of hash indexes for ever. */
typedef enum Purpose
{
	FOR_HASH,
	FOR_ORDER,
	PURPOSES,					/* those that have results of late */
	FOR_ENTRIES = PURPOSES
} Purpose;

static TdePrf *hash_prf = NULL; /* under the hash key of hash_epoch */
static TdeMacKey node_mac;		/* likewise, when hash_prf is there */
static uint64 hash_epoch = 0;

/* Results for the numbers of late: groups, join partners and the upper pages of an index come again and again.  Of hash_epoch. */
#define MEMOS			1024	/* a power of two */

/* A number and its hash.  An entry of zeros would claim a result for the number 0, so set_up_hash() fills that one in. */
typedef struct HashMemo
{
	uint64		number;
	uint64		result;
} HashMemo;
static HashMemo memos[PURPOSES][MEMOS];

/* Those of the indexes of late, likewise of hash_epoch. */
#define ENTRY_PRFS		16
typedef struct EntryPrf
{
	TdePrf	   *prf;			/* NULL: none yet */
	uint8		salt[TDE_ENTRY_SALT_SIZE];
} EntryPrf;
static EntryPrf entry_prfs[ENTRY_PRFS];
static int	next_entry_prf = 0;

/* Called when this process forgets its secrets, and before other keys are derived.  It must not look at catalogs. */
static void
forget_hash(void)
{
	OPENSSL_cleanse(memos, sizeof(memos));
	for (int i = 0; i < ENTRY_PRFS; i++)
	{
		tde_crypto_prf_free(entry_prfs[i].prf);
		entry_prfs[i].prf = NULL;
	}
	tde_crypto_prf_free(hash_prf);
	hash_prf = NULL;
	tde_mac_free(&node_mac);
}

void
tde_keyed_hash_init(void)
{
	tde_memory_forget_by(forget_hash);
}

/* Both keys are derived from the hash key, for what their labels say. */
static TdeStatus
derive_hash_keys(const uint8 *data_key, uint8 *hash_key, uint8 *node_key)
{
	static const uint8 hash_info[] = "tde_column/1hash";
	static const uint8 node_info[] = "tde_column/1node";
	TdeStatus	status = tde_crypto_hkdf(data_key, TDE_DATA_KEY_SIZE, hash_info, sizeof(hash_info) - 1, hash_key, HASH_KEY_SIZE);

	if (status == TDE_OK)
		status = tde_crypto_hkdf(data_key, TDE_DATA_KEY_SIZE, node_info, sizeof(node_info) - 1, node_key, HASH_KEY_SIZE);
	return status;
}

/* Make the keyed hash, and the digest between nodes, ready under the current hash key. */
static void
set_up_hash(void)
{
	uint8		data_key[TDE_DATA_KEY_SIZE];
	uint8		hash_key[HASH_KEY_SIZE];
	uint8		node_key[HASH_KEY_SIZE];
	TdeStatus	status;

	tde_key_unwrap_hash_key(data_key);
	status = derive_hash_keys(data_key, hash_key, node_key);
	OPENSSL_cleanse(data_key, sizeof(data_key));
	forget_hash();
	tde_secrets_held = true;
	if (status == TDE_OK)
		status = tde_mac_init(&node_mac, TDE_SHA256, node_key, sizeof(node_key));
	if (status == TDE_OK)
		status = tde_crypto_prf_new(&hash_prf, hash_key);
	OPENSSL_cleanse(hash_key, sizeof(hash_key));
	OPENSSL_cleanse(node_key, sizeof(node_key));
	tde_check(status);
	/* an empty memo is one of the number 0, which must not be found there before it was hashed */
	for (int purpose = 0; purpose < PURPOSES; purpose++)
		tde_check(tde_crypto_prf(hash_prf, (uint8) purpose, 0, &memos[purpose][0].result));
	hash_epoch = tde_keys_epoch;
}

/* The hash that is used next is under the hash key of now.  It may read the table of keys, open the wallet, and so throw. */
static inline void
make_ready(void)
{
	if (unlikely(hash_prf == NULL || !tde_keys_fresh(hash_epoch)))
		set_up_hash();
}

/* ---- one key as long as something is hashed under it ---- */

/*
 * A join has hashed one side before the other, and its workers share what they have.  So whoever hashes holds a lock to the end of his
 * transaction, and the key changes under one that excludes it.  The sequence that numbers keys stands for the hash key: only who makes a key locks it
 * besides.  A lock of a relation is a cheap one, and standbys have it, too, when the key changes.
 */
static LocalTransactionId held_in = InvalidLocalTransactionId;

/*
 * The relation whose lock stands for the hash key; InvalidOid if the extension is not here, or not yet, in pg_upgrade's schema.  It is looked up once
 * for each key table, since each transaction asks.
 */
static Oid
lock_relation(void)
{
	static Oid	sequence = InvalidOid;
	static Oid	sequence_of = InvalidOid;
	Oid			keys = tde_keys_relid();

	if (!OidIsValid(keys))
		return InvalidOid;
	if (sequence_of != keys || !OidIsValid(sequence))
	{
		sequence = tde_extension_table("data_keys_id_seq");
		sequence_of = keys;
	}
	return sequence;
}

/*
 * Tries for a tenth of a second, while a page of an index is held.  Whoever rotates the key holds the table, too, so that we wait for it elsewhere.
 * But a commit lets go of its locks one by one, and we may be here a moment too early.
 */
static bool
is_soon_locked(Oid relation)
{
	for (int tries = 0; tries < 100; tries++)
	{
		if (ConditionalLockRelationOid(relation, AccessShareLock))
			return true;
		pg_usleep(1000L);
	}
	return false;
}

/* As tde_keys_open() has it, this may be while a page of an index is held. */
static void
lock_for_hashing(Oid relation)
{
	if (InterruptHoldoffCount == 0)
		LockRelationOid(relation, AccessShareLock);
	else if (!is_soon_locked(relation))
		ereport(ERROR,
				(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				 errmsg("could not obtain lock on relation \"%s\"", "tde.data_keys_id_seq"),
				 errdetail("The hash key is rotated while a page of an index is held."),
				 errhint("Try again when it has been rotated.")));
}

/*
 * Takes the lock for the rest of the transaction.  It belongs to the top transaction: a subtransaction that fails must not give it back while an
 * outer cursor still has hash tables.
 */
static pg_noinline void
hold_again(void)
{
	ResourceOwner owner = CurrentResourceOwner;
	Oid			relation = lock_relation();

	if (!OidIsValid(relation))
		return;
	/* a subtransaction that fails leaves it to the others */
	CurrentResourceOwner = TopTransactionResourceOwner;
	lock_for_hashing(relation);
	CurrentResourceOwner = owner;
	held_in = TDE_LOCAL_TRANSACTION;
}

static inline void
hold(void)
{
	if (unlikely(held_in != TDE_LOCAL_TRANSACTION))
		hold_again();
}

/*
 * A plan hashes encrypted values by clauses whose functions are none of PostgreSQL's own.  A plan notes such functions in invalItems
 * (record_plan_function_dependency() in PostgreSQL's setrefs.c), and none of the server's own, so a plan without any needs no lock.
 */
void
tde_keyed_hash_starts(const PlannedStmt *plan)
{
	if (unlikely(plan->parallelModeNeeded && plan->invalItems != NIL))
		hold();
}

void
tde_keyed_hash_take(void)
{
	if (held_in == TDE_LOCAL_TRANSACTION)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("cannot change the hash key in a transaction that has hashed encrypted values"),
				 errdetail("What it has hashed may be open still, as a cursor."),
				 errhint("Do it in a transaction of its own.")));
	LockRelationOid(lock_relation(), AccessExclusiveLock);
}

/* ---- numbers ---- */

/*
 * The memo has one place for each number modulo MEMOS, so a later number may take it.  The purpose is hashed with the number: the order of values
 * must not tell anything of hash indexes.
 */
static inline uint64
hashed(Purpose purpose, uint64 number)
{
	HashMemo   *memo = &memos[purpose][number % MEMOS];

	hold();
	make_ready();
	if (memo->number != number)
	{
		uint64		result;

		tde_check(tde_crypto_prf(hash_prf, (uint8) purpose, number, &result));
		*memo = (HashMemo) {number, result};
	}
	return memo->result;
}

uint32
tde_key_hash(uint32 number)
{
	return (uint32) hashed(FOR_HASH, number);
}

uint64
tde_key_order(uint64 number)
{
	return hashed(FOR_ORDER, number);
}

/* Derives the key of one index.  Neither the label nor a salt has a length that varies, so no two pairs of them give the same info of HKDF. */
static TdeStatus
new_entry_prf(const uint8 salt[TDE_ENTRY_SALT_SIZE], TdePrf **prf)
{
	static const char label[] = "tde_column/1entry";
	uint8		info[sizeof(label) - 1 + TDE_ENTRY_SALT_SIZE];
	uint8		data_key[TDE_DATA_KEY_SIZE];
	uint8		key[HASH_KEY_SIZE];
	TdeStatus	status;

	memcpy(info, label, sizeof(label) - 1);
	memcpy(info + sizeof(label) - 1, salt, TDE_ENTRY_SALT_SIZE);
	tde_key_unwrap_hash_key(data_key);
	status = tde_crypto_hkdf(data_key, TDE_DATA_KEY_SIZE, info, sizeof(info), key, HASH_KEY_SIZE);
	OPENSSL_cleanse(data_key, sizeof(data_key));
	if (status == TDE_OK)
		status = tde_crypto_prf_new(prf, key);
	OPENSSL_cleanse(key, sizeof(key));
	return status;
}

/* Returns the PRF of the index with this salt.  The last ENTRY_PRFS indexes have theirs ready; the oldest makes room, which is replaced in turn. */
static TdePrf *
entry_prf(const uint8 salt[TDE_ENTRY_SALT_SIZE])
{
	EntryPrf   *entry;

	hold();
	make_ready();
	for (int i = 0; i < ENTRY_PRFS; i++)
		if (entry_prfs[i].prf && memcmp(entry_prfs[i].salt, salt, TDE_ENTRY_SALT_SIZE) == 0)
			return entry_prfs[i].prf;
	entry = &entry_prfs[next_entry_prf++ % ENTRY_PRFS];
	tde_crypto_prf_free(entry->prf);
	entry->prf = NULL;
	tde_check(new_entry_prf(salt, &entry->prf));
	memcpy(entry->salt, salt, TDE_ENTRY_SALT_SIZE);
	return entry->prf;
}

void
tde_key_entries(const uint8 salt[TDE_ENTRY_SALT_SIZE], uint64 *numbers, int count)
{
	tde_check(tde_crypto_prf_all(entry_prf(salt), FOR_ENTRIES, numbers, count));
	for (int i = 0; i < count; i++)
		numbers[i] >>= 64 - TDE_ENTRY_BITS;
}

void
tde_key_node_digest(char purpose, const uint8 *bytes, size_t size, uint8 digest[TDE_MAX_DIGEST])
{
	make_ready();
	tde_check(tde_mac_digest(&node_mac, (uint8) purpose, bytes, size, digest));
}
