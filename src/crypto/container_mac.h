/*
 * container_mac.h - the outer layer of a PKCS#12 file, its PFX (RFC 7292), and the MAC that vouches for what is inside.
 *
 * The MAC is PBMAC1 (RFC 9579): PBKDF2-HMAC-SHA256 makes a key of 32 bytes, and HMAC-SHA256 takes it.  What older versions have
 * written, the traditional MAC of PKCS#12 with SHA-256, is read where OpenSSL has its derivation; its FIPS provider has not.
 */
#ifndef TDE_CRYPTO_CONTAINER_MAC_H
#define TDE_CRYPTO_CONTAINER_MAC_H

#include <stddef.h>
#include <stdint.h>

#include <openssl/pkcs12.h>

#include "crypto/status.h"

/* Makes the file's bytes: the safes, and a MAC over them.  *der is allocated with OPENSSL_malloc; NULL on failure.  The safes stay the caller's. */
extern TDE_MUST_CHECK TdeStatus tde_container_write(const STACK_OF(PKCS7) *safes, const char *passphrase, int iterations,
													uint8_t **der, size_t *size);

/*
 * Reads the file's bytes: the safes are decoded once the MAC was found to be right, from the very bytes that it is over.  The caller frees *safes.
 *
 * TDE_E_AUTH if it is not, or is none of ours; TDE_E_UNAVAILABLE if OpenSSL here cannot compute it; TDE_E_FORMAT if what it is over are no safes.
 * *safes is NULL then.
 */
extern TDE_MUST_CHECK TdeStatus tde_container_read(const uint8_t *der, size_t size, const char *passphrase, STACK_OF(PKCS7) **safes);

/* Returns the status for a failure that OpenSSL reported, TDE_E_NOMEM if it was that, and empties the error queue. */
extern TDE_MUST_CHECK TdeStatus tde_container_failure(TdeStatus otherwise);

#endif							/* TDE_CRYPTO_CONTAINER_MAC_H */
