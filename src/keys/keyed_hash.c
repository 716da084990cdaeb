/*
 * keyed_hash.c - numbers hashed under the database's hash key, and what databases that have the same one tell each other.
 */
#include "postgres.h"

#include <openssl/crypto.h>

#include "crypto/primitives.h"
#include "keys/keyed_hash.h"
#include "server/compat.h"
#include "server/error.h"
#include "server/memory.h"

#define HASH_KEY_SIZE	32

/* What is hashed for; it is part of what is hashed, so that one tells nothing of another.  0 is that of hash indexes for ever. */
typedef enum Purpose
{
	FOR_HASH,
	FOR_ORDER,
	PURPOSES
} Purpose;

static TdePrf *hash_prf = NULL; /* under the hash key of hash_epoch */
static TdeMacKey node_mac;		/* likewise, when hash_prf is there */
static uint64 hash_epoch = 0;

/* Results for the numbers of late: groups, join partners and the upper pages of an index come again and again.  Of hash_epoch. */
#define MEMOS			1024	/* a power of two */
typedef struct HashMemo
{
	uint64		number;
	uint64		result;
} HashMemo;
static HashMemo memos[PURPOSES][MEMOS];

static void
forget_hash(void)
{
	OPENSSL_cleanse(memos, sizeof(memos));
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

static inline void
make_ready(void)
{
	if (unlikely(hash_prf == NULL || !tde_keys_fresh(hash_epoch)))
		set_up_hash();
}

static inline uint64
hashed(Purpose purpose, uint64 number)
{
	HashMemo   *memo = &memos[purpose][number % MEMOS];

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

void
tde_key_node_digest(char purpose, const uint8 *bytes, size_t size, uint8 digest[TDE_MAX_DIGEST])
{
	make_ready();
	tde_check(tde_mac_digest(&node_mac, (uint8) purpose, bytes, size, digest));
}
