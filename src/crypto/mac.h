/*
 * mac.h - HMAC-SHA1 and HMAC-SHA256 with a key that is made ready once and used for many values.
 */
#ifndef TDE_CRYPTO_MAC_H
#define TDE_CRYPTO_MAC_H

#include <openssl/evp.h>
#include <openssl/sha.h>

#include "crypto/spec.h"
#include "crypto/status.h"

#define TDE_MAX_DIGEST	32

/*
 * The states of the hash after the inner and the outer padded key, where OpenSSL still offers the structures.
 */
#ifndef OPENSSL_NO_DEPRECATED_3_0
#define TDE_PAD_STATES
typedef union TdePadState
{
	SHA_CTX		sha1;
	SHA256_CTX	sha256;
} TdePadState;
#endif

/* To be zeroed before tde_mac_init(). */
typedef struct TdeMacKey
{
	uint8_t		mac;			/* TdeMac */
	EVP_MAC_CTX *evp;			/* NULL where the pad states are used */
#ifdef TDE_PAD_STATES
	TdePadState inner;
	TdePadState outer;
#endif
} TdeMacKey;

/*
 * Makes a key ready; mac is TDE_SHA1 or TDE_SHA256, others are TDE_E_UNAVAILABLE.  The secret, of any size, is not kept.  Nothing is left after a
 * failure.
 */
extern TDE_MUST_CHECK TdeStatus tde_mac_init(TdeMacKey *key, TdeMac mac, const uint8_t *secret, size_t size);

/* Frees what was made, and zeroes the key.  Takes one that is all zeros. */
extern void tde_mac_free(TdeMacKey *key);

/*
 * The whole digest (20 or 32 bytes) over the first byte and the size bytes of data, which are apart, because the key id
 * that stands between them in a value is not authenticated; whoever stores a shorter tag cuts it.
 */
extern TDE_MUST_CHECK TdeStatus tde_mac_digest(const TdeMacKey *key, uint8_t first, const uint8_t *data, size_t size,
											   uint8_t digest[TDE_MAX_DIGEST]);

/* Returns true if two tags are the same, in constant time. */
extern bool tde_mac_equal(const uint8_t *a, const uint8_t *b, size_t size);

#endif							/* TDE_CRYPTO_MAC_H */
