/*
 * gcm.h - values with the MAC word gcm: AES-GCM where they are salted, AES-GCM-SIV where they are not.
 *
 * Salted: AES-GCM (NIST SP 800-38D) with a random nonce of 96 bits, which is the salt, and a tag of 16 bytes.  Unsalted: AES-GCM-SIV
 * (RFC 8452; for AES-192, which it leaves out, its section 4 with three blocks of derived key, as OpenSSL 3.2 has it) with a nonce of
 * zeros.  The associated data of both is the spec byte as it is stored.  The tag stands behind the ciphertext.
 */
#ifndef TDE_CRYPTO_GCM_H
#define TDE_CRYPTO_GCM_H

#include "crypto/cipher.h"
#include "crypto/polyval.h"

/* Contexts for one key.  To be zeroed before tde_gcm_init(). */
typedef struct TdeGcmKey
{
	EVP_CIPHER_CTX *ecb;		/* unsalted: under the key of the nonce of zeros */
	EVP_CIPHER_CTX *seal;		/* salted: OpenSSL's AES-GCM, for long values and where ours is not used */
	EVP_CIPHER_CTX *open;
	TdePolyval	hash;
	TdeAhead	ahead;			/* salted */
	TdePair		nonce;			/* unsalted, filled up with zeros */
	bool		salted;
	bool		own;			/* salted: false if all is left to OpenSSL (FIPS, and processors without fast multiplication) */
} TdeGcmKey;

/*
 * secret has tde_spec_key() bytes; TDE_E_UNAVAILABLE if there is no such cipher, and under FIPS for unsalted ones.  The nonce is that of
 * unsalted values: zeros, but in tests against published vectors.
 */
extern TDE_MUST_CHECK TdeStatus tde_gcm_init(TdeGcmKey *key, TdeSpec spec, const uint8_t *secret, const uint8_t nonce[TDE_GCM_NONCE]);

/* Frees the contexts, and zeroes the key.  Takes one that is all zeros. */
extern void tde_gcm_free(TdeGcmKey *key);

/*
 * Encrypt size bytes.  body is what follows a value's header: the nonce if it is salted, size bytes of ciphertext, the tag.  It does
 * not overlap plain, which may stand where its ciphertext is to be, though.
 */
extern TDE_MUST_CHECK TdeStatus tde_gcm_seal(TdeGcmKey *key, uint8_t spec_byte, const uint8_t *plain, size_t size, uint8_t *body);

/*
 * The same under a given nonce.  For tests against published vectors: a nonce must never come twice under one key.  Ignored if
 * the key is unsalted.
 */
extern TDE_MUST_CHECK TdeStatus tde_gcm_seal_under(TdeGcmKey *key, const uint8_t nonce[TDE_GCM_NONCE], uint8_t spec_byte,
												   const uint8_t *plain, size_t size, uint8_t *body);

/* Decrypt size bytes.  TDE_E_AUTH if anything is not as it was sealed; the caller cleanses out then. */
extern TDE_MUST_CHECK TdeStatus tde_gcm_open(TdeGcmKey *key, uint8_t spec_byte, const uint8_t *body, size_t size, uint8_t *out);

#endif							/* TDE_CRYPTO_GCM_H */
