/*
 * primitives.h - the few primitives that are used outside the value codec: HKDF, key wrap, random bytes, self-test.
 */
#ifndef TDE_CRYPTO_PRIMITIVES_H
#define TDE_CRYPTO_PRIMITIVES_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crypto/status.h"

/* Bytes that tde_crypto_wrap_key() adds to a multiple of 8 (RFC 5649); other sizes are first rounded up to 8. */
#define TDE_WRAP_OVERHEAD	8

/*
 * HKDF-SHA256 (RFC 5869), extract with an empty salt and expand.  out_size: at most 255 * 32.  TDE_E_UNAVAILABLE, TDE_E_NOMEM, TDE_E_CRYPTO; out is
 * cleansed after the last.
 */
extern TDE_MUST_CHECK TdeStatus tde_crypto_hkdf(const uint8_t *ikm, size_t ikm_size, const uint8_t *info, size_t info_size,
												uint8_t *out, size_t out_size);

/* PBKDF2-HMAC-SHA256 (RFC 8018): a key from a secret that people choose, a string.  TDE_E_CRYPTO if it fails; out is cleansed then. */
extern PGDLLEXPORT TDE_MUST_CHECK TdeStatus tde_crypto_stretch(const char *secret, const uint8_t *salt, size_t salt_size, uint32_t iterations,
															   uint8_t *out, size_t out_size);

/*
 * AES-256 key wrap with padding (RFC 5649).  *out_size: room on entry, bytes written on return; 0 on failure.  TDE_E_CRYPTO also if there is not
 * enough room.
 */
extern PGDLLEXPORT TDE_MUST_CHECK TdeStatus tde_crypto_wrap_key(const uint8_t kek[32], const uint8_t *in, size_t in_size,
																uint8_t *out, size_t *out_size);

/* The reverse; TDE_E_AUTH if the bytes were not wrapped under this key, or there is not enough room for what was wrapped. */
extern PGDLLEXPORT TDE_MUST_CHECK TdeStatus tde_crypto_unwrap_key(const uint8_t kek[32], const uint8_t *in, size_t in_size,
																  uint8_t *out, size_t *out_size);

/*
 * A keyed hash of 64 bits: AES-256 of one block that holds the number and the purpose, truncated (a pseudo-random function as long as the
 * block cipher is one).  It costs a third of what SipHash through EVP_MAC does (30 against 90 ns).
 */
typedef struct TdePrf TdePrf;

/* Makes a key ready.  *prf is NULL on failure.  To be freed by tde_crypto_prf_free(), which takes NULL, too. */
extern TDE_MUST_CHECK TdeStatus tde_crypto_prf_new(TdePrf **prf, const uint8_t key[32]);

/* Sets *result to the hash of a number.  Different purposes give numbers that have nothing to do with each other. */
extern TDE_MUST_CHECK TdeStatus tde_crypto_prf(TdePrf *prf, uint8_t purpose, uint64_t number, uint64_t *result);

/* The same of many numbers, in their places, in few calls of OpenSSL: half the time, or less, for each. */
extern TDE_MUST_CHECK TdeStatus tde_crypto_prf_all(TdePrf *prf, uint8_t purpose, uint64_t *numbers, size_t count);
extern void tde_crypto_prf_free(TdePrf *prf);

/* Draws bytes for a key, from OpenSSL's CSPRNG for secrets, stirred by the operating system's.  On failure out is cleansed. */
extern PGDLLEXPORT TDE_MUST_CHECK TdeStatus tde_random_key(uint8_t *out, size_t size);

/* Draws bytes for a salt (at most TDE_MAX_SALT), from a pool of bytes that are drawn ahead. */
extern PGDLLEXPORT TDE_MUST_CHECK TdeStatus tde_random_salt(uint8_t *out, size_t size);

/* Draws bytes for many salts at once, from the same pool; at most 256. */
extern TDE_MUST_CHECK TdeStatus tde_random_salts(uint8_t *out, size_t size);

/*
 * What is drawn ahead, and not used yet, would be used twice if a snapshot of the machine were resumed twice.  So it lives for an epoch, which
 * ends in the child of a fork(), and when the caller says so.  What begins an epoch comes from the operating system, which knows of both.
 */
extern volatile sig_atomic_t tde_random_epoch;

/* True if anything has been drawn ahead since it was dropped last. */
extern bool tde_random_is_ahead;

/* Called when something is drawn ahead in an epoch where nothing was; NULL: nobody wants to know. */
extern void (*tde_random_draws) (void);

/* Ends the epoch, and cleanses what is left of it.  Also called in the child of a fork(). */
extern void tde_random_drop(void);

/* Ends the epoch, from a signal handler too; the next use or drop cleanses. */
static inline void
tde_random_expire(void)
{
	tde_random_epoch = (tde_random_epoch + 1) & 0x3fffffff;
}

/*
 * Returns true if OpenSSL is restricted to its FIPS provider.  Then every operation goes through EVP's own modes and EVP_MAC.  Asked once per
 * process, at best before any fork().
 */
extern bool tde_crypto_fips(void);

/*
 * Known-answer tests of every cipher, mode, MAC, of HKDF and key wrap, against NIST and RFC vectors.  To be called once
 * at load.  Algorithms that the provider refuses (triple DES under FIPS) are left out here and refused at their use.
 * On failure *failed names the test.  Uses no random bytes, so it may run in the postmaster.
 */
extern TDE_MUST_CHECK TdeStatus tde_selftest(const char **failed);

/* Returns the cipher that the last TDE_E_UNAVAILABLE was about, as type modifiers name it; NULL if it was about none, or it was asked before. */
extern const char *tde_crypto_missing(void);

/* Returns what OpenSSL said about the last failure, or a general phrase; valid until the next call in this process. */
extern const char *tde_crypto_reason(void);

#endif							/* TDE_CRYPTO_PRIMITIVES_H */
