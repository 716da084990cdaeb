/*
 * mac.c - HMAC-SHA1 and HMAC-SHA256 with a key that is made ready once and used for many values.
 *
 * HMAC(K, m) = H(K xor opad || H(K xor ipad || m)) (RFC 2104; FIPS 198-1).  Both padded keys fill exactly one block of
 * the hash, so the states after them are computed once per key, and a short message then costs two compressions.  EVP
 * can keep such states too, but needs twice the time for a short message, most of it for allocation and dispatch.
 */
#define OPENSSL_SUPPRESS_DEPRECATED /* the pad states; crypto/mac.h asks whether they are there at all */

#include "crypto/mac.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/params.h>

#include "crypto/internal.h"
#include "crypto/primitives.h"

#define HASH_BLOCK		64
#define MAX_SHORT		(HASH_BLOCK - 10)	/* leaves room for the first byte, the bit 1 and the length, 8 bytes */

/* Under FIPS, or where OpenSSL shows no states of its hashes, the whole HMAC is left to EVP. */
static TdeStatus
evp_init(TdeMacKey *key, const uint8_t *secret, size_t size)
{
	char		sha1[] = "SHA1";
	char		sha256[] = "SHA256";
	OSSL_PARAM	params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, key->mac == TDE_SHA1 ? sha1 : sha256, 0),
		OSSL_PARAM_construct_end()
	};
	EVP_MAC    *hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);

	if (hmac == NULL)
		return TDE_E_UNAVAILABLE;
	key->evp = EVP_MAC_CTX_new(hmac);
	EVP_MAC_free(hmac);
	if (key->evp == NULL)
		return TDE_E_NOMEM;
	return EVP_MAC_init(key->evp, secret, size, params) == 1 ? TDE_OK : TDE_E_CRYPTO;
}

static TdeStatus
evp_digest(const TdeMacKey *key, uint8_t first, const uint8_t *data, size_t size, uint8_t *digest)
{
	size_t		expected = key->mac == TDE_SHA1 ? SHA_DIGEST_LENGTH : SHA256_DIGEST_LENGTH;
	size_t		written = 0;

	/* no key: start again with the one that is set */
	if (EVP_MAC_init(key->evp, NULL, 0, NULL) != 1)
		return TDE_E_CRYPTO;
	if (EVP_MAC_update(key->evp, &first, 1) != 1 || (size > 0 && EVP_MAC_update(key->evp, data, size) != 1))
		return TDE_E_CRYPTO;
	if (EVP_MAC_final(key->evp, digest, &written, TDE_MAX_DIGEST) != 1 || written != expected)
		return TDE_E_CRYPTO;
	return TDE_OK;
}

#ifdef TDE_PAD_STATES

/*
 * A block of the hash.  It is written in quarters, because the hash reads quarters, and reading what was just written in
 * smaller pieces has to wait.
 */
typedef uint32_t Quarter __attribute__((vector_size(16)));

typedef union HashBlock
{
	Quarter		quarters[4];
	TdePair		pairs[4];
	uint8_t		bytes[HASH_BLOCK];
} HashBlock;

/* FIPS 180-4, 5.1.1: what ends a message is a bit 1, zeros, and in the last word the number of bits hashed in all. */
#define END_BIT				tde_big32(0x80000000)
#define BITS_HASHED(size)	tde_big32((uint32_t) ((HASH_BLOCK + (size)) * 8))	/* with the padded key */

/*
 * The message of a first byte and size more bytes, put together and ended; size is at most MAX_SHORT.
 */
static inline void
message_block(HashBlock *block, uint8_t first, const uint8_t *data, size_t size)
{
	TdePair		shifted = tde_shift_in(first, tde_load_partial(data, size < 15 ? size : 15));
	size_t		end = size + 1; /* where the message ends */

	block->pairs[0] = end < 16 ? shifted | tde_byte_at(end, 0x80) : shifted;
	for (size_t i = 1; i < 4; i++)
	{
		size_t		start = 16 * i;

		if (end >= start + 16)
			block->pairs[i] = tde_load128(data + start - 1);
		else if (end >= start)
			block->pairs[i] = tde_load_partial(data + start - 1, end - start) | tde_byte_at(end - start, 0x80);
		else
			block->pairs[i] = (TdePair) {0, 0};
	}
	block->quarters[3][3] = BITS_HASHED(end);
}

/*
 * HMAC-SHA1 of a short message: from each pad state one compression, without SHA1_Update and SHA1_Final, which copy and
 * test for half as long as that takes.
 */
static void
short_sha1(const TdeMacKey *key, HashBlock *block, uint8_t *digest)
{
	const SHA_CTX *pad = &key->inner.sha1;
	SHA_CTX		state;
	Quarter		first;
	uint32_t	last;

	for (int round = 0; round < 2; round++)
	{
		state.h0 = pad->h0;
		state.h1 = pad->h1;
		state.h2 = pad->h2;
		state.h3 = pad->h3;
		state.h4 = pad->h4;
		SHA1_Transform(&state, block->bytes);
		first = (Quarter) {tde_big32(state.h0), tde_big32(state.h1), tde_big32(state.h2), tde_big32(state.h3)};
		last = tde_big32(state.h4);
		block->quarters[0] = first;
		block->quarters[1] = (Quarter) {last, END_BIT, 0, 0};
		block->quarters[2] = (Quarter) {0, 0, 0, 0};
		block->quarters[3] = (Quarter) {0, 0, 0, BITS_HASHED(SHA_DIGEST_LENGTH)};
		pad = &key->outer.sha1;
	}
	memcpy(digest, &first, sizeof(first));
	memcpy(digest + sizeof(first), &last, sizeof(last));
}

/* The same by HMAC-SHA256.  The digest of the first round is the message of the second, whose end is the same for all. */
static void
short_sha256(const TdeMacKey *key, HashBlock *block, uint8_t *digest)
{
	const SHA256_CTX *pad = &key->inner.sha256;
	SHA256_CTX	state;

	for (int round = 0; round < 2; round++)
	{
		memcpy(state.h, pad->h, sizeof(state.h));
		SHA256_Transform(&state, block->bytes);
		block->quarters[0] = (Quarter) {tde_big32(state.h[0]), tde_big32(state.h[1]),
			tde_big32(state.h[2]), tde_big32(state.h[3])};
		block->quarters[1] = (Quarter) {tde_big32(state.h[4]), tde_big32(state.h[5]),
			tde_big32(state.h[6]), tde_big32(state.h[7])};
		block->quarters[2] = (Quarter) {END_BIT, 0, 0, 0};
		block->quarters[3] = (Quarter) {0, 0, 0, BITS_HASHED(SHA256_DIGEST_LENGTH)};
		pad = &key->outer.sha256;
	}
	memcpy(digest, block->bytes, SHA256_DIGEST_LENGTH);
}

/* HMAC of a message of any size. */
static TdeStatus
long_digest(const TdeMacKey *key, uint8_t first, const uint8_t *data, size_t size, uint8_t *digest)
{
	TdePadState state = key->inner;
	bool		sha1 = key->mac == TDE_SHA1;
	int			good;

	good = sha1 ? SHA1_Update(&state.sha1, &first, 1) : SHA256_Update(&state.sha256, &first, 1);
	good &= sha1 ? SHA1_Update(&state.sha1, data, size) : SHA256_Update(&state.sha256, data, size);
	good &= sha1 ? SHA1_Final(digest, &state.sha1) : SHA256_Final(digest, &state.sha256);
	state = key->outer;
	good &= sha1 ? SHA1_Update(&state.sha1, digest, SHA_DIGEST_LENGTH)
		: SHA256_Update(&state.sha256, digest, SHA256_DIGEST_LENGTH);
	good &= sha1 ? SHA1_Final(digest, &state.sha1) : SHA256_Final(digest, &state.sha256);
	return good == 1 ? TDE_OK : TDE_E_CRYPTO;
}

/* The state of the hash after the key, filled up with zeros and xored with the pad byte. */
static bool
pad_state(TdePadState *state, TdeMac mac, const uint8_t secret[HASH_BLOCK], uint8_t pad)
{
	uint8_t		block[HASH_BLOCK];
	bool		good;

	for (int i = 0; i < HASH_BLOCK; i++)
		block[i] = secret[i] ^ pad;
	if (mac == TDE_SHA1)
		good = SHA1_Init(&state->sha1) == 1 && SHA1_Update(&state->sha1, block, HASH_BLOCK) == 1;
	else
		good = SHA256_Init(&state->sha256) == 1 && SHA256_Update(&state->sha256, block, HASH_BLOCK) == 1;
	tde_wipe(block, sizeof(block));
	return good;
}

static TdeStatus
pads_init(TdeMacKey *key, const uint8_t *secret, size_t size)
{
	uint8_t		filled[HASH_BLOCK] = {0};
	bool		good = true;

	/* RFC 2104, 2: a key longer than the block of the hash is replaced by its hash */
	if (size > HASH_BLOCK)
		good = (key->mac == TDE_SHA1 ? SHA1(secret, size, filled) : SHA256(secret, size, filled)) != NULL;
	else
		tde_copy(filled, secret, size);
	good = good && pad_state(&key->inner, (TdeMac) key->mac, filled, 0x36) &&
		pad_state(&key->outer, (TdeMac) key->mac, filled, 0x5c);
	tde_wipe(filled, sizeof(filled));
	return good ? TDE_OK : TDE_E_CRYPTO;
}

#endif							/* TDE_PAD_STATES */

TdeStatus
tde_mac_init(TdeMacKey *key, TdeMac mac, const uint8_t *secret, size_t size)
{
	TdeStatus	status;

	if (mac != TDE_SHA1 && mac != TDE_SHA256)
		return TDE_E_UNAVAILABLE;
	key->mac = (uint8_t) mac;
#ifdef TDE_PAD_STATES
	if (!tde_crypto_fips())
		status = pads_init(key, secret, size);
	else
#endif
		status = evp_init(key, secret, size);
	if (status != TDE_OK)
		tde_mac_free(key);
	return status;
}

void
tde_mac_free(TdeMacKey *key)
{
	EVP_MAC_CTX_free(key->evp);
	tde_wipe(key, sizeof(*key));
}

TdeStatus
tde_mac_digest(const TdeMacKey *key, uint8_t first, const uint8_t *data, size_t size, uint8_t digest[TDE_MAX_DIGEST])
{
#ifdef TDE_PAD_STATES
	if (key->evp == NULL)
	{
		HashBlock	block;

		if (size > MAX_SHORT)
			return long_digest(key, first, data, size, digest);
		message_block(&block, first, data, size);
		if (key->mac == TDE_SHA1)
			short_sha1(key, &block, digest);
		else
			short_sha256(key, &block, digest);
		return TDE_OK;
	}
#endif
	return evp_digest(key, first, data, size, digest);
}

bool
tde_mac_equal(const uint8_t *a, const uint8_t *b, size_t size)
{
	return CRYPTO_memcmp(a, b, size) == 0;
}
