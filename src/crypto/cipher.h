/*
 * cipher.h - AES and triple DES in the modes that values use, with contexts that are kept from value to value.
 *
 * In all functions out does not overlap in.
 */
#ifndef TDE_CRYPTO_CIPHER_H
#define TDE_CRYPTO_CIPHER_H

#include <openssl/evp.h>

#include "crypto/internal.h"
#include "crypto/primitives.h"
#include "crypto/spec.h"
#include "crypto/status.h"

/* Contexts for one key.  To be zeroed before tde_cipher_init().  Which of them there are depends on mode and own_modes. */
typedef struct TdeCipherKey
{
	EVP_CIPHER_CTX *encrypt;	/* CTR: ECB, of up to a batch; CBC: CBC */
	EVP_CIPHER_CTX *counter;	/* CTR: the rest; not used in CBC */
	EVP_CIPHER_CTX *decrypt;	/* CBC: ECB; not used in CTR */
	EVP_CIPHER_CTX *steal;		/* CBC-CS3 by OpenSSL, FIPS only */
	EVP_CIPHER_CTX *unsteal;
	uint8_t		block;			/* bytes */
	bool		own_modes;		/* false: every mode is EVP's (FIPS) */
	bool		chain_known;	/* chain holds what the CBC context xors into its next block */
	uint8_t		chain[TDE_MAX_BLOCK];
} TdeCipherKey;

/*
 * Makes one EVP context of a cipher in the given mode ("ECB", "GCM", ...) with key and direction set, padding off, and the IV zero.
 * TDE_E_UNAVAILABLE if OpenSSL has no such cipher.  The caller frees *context, after TDE_E_CRYPTO, too.
 */
extern TDE_MUST_CHECK TdeStatus tde_cipher_context(EVP_CIPHER_CTX **context, TdeSpec spec, const char *mode,
												   const uint8_t *secret, int encrypt);

/*
 * Makes the contexts of a key of tde_spec_key() bytes.  TDE_E_UNAVAILABLE if the cipher is not there or refused; tde_crypto_missing() names it then.
 * Nothing is left after a failure.
 */
extern TDE_MUST_CHECK TdeStatus tde_cipher_init(TdeCipherKey *key, TdeSpec spec, const uint8_t *secret);

/* Frees the contexts, and zeroes the key.  Takes one that is all zeros. */
extern void tde_cipher_free(TdeCipherKey *key);

/* CTR of any size; for tde_cipher_ctr(), which does short values itself. */
extern TDE_MUST_CHECK TdeStatus tde_cipher_ctr_any(TdeCipherKey *key, const uint8_t counter[16],
												   const uint8_t *in, size_t size, uint8_t *out);

/*
 * The first counter block: 14 bytes of salt and two of zeros.  Made in a register and stored by one move, because AES
 * reads it by one move, which would have to wait for several narrow stores.
 */
static inline void
tde_first_counter(uint8_t counter[16], const uint8_t *salt)
{
	uint64_t	tail = tde_big64(tde_load64(salt + 6)) << 16;

	tde_store128(counter, (TdePair) {tde_load64(salt), tde_big64(tail)});
}

/*
 * CTR (NIST SP 800-38A, 6.5), both directions, any size.  Inline, because for values of up to one block, which most
 * are, another call would be a good part of the work.
 */
static inline __attribute__((always_inline)) TDE_MUST_CHECK TdeStatus
tde_cipher_ctr(TdeCipherKey *key, const uint8_t counter[16], const uint8_t *in, size_t size, uint8_t *out)
{
	uint8_t		stream[16];
	int			written = 0;

	if (size > sizeof(stream) || size == 0 || !key->own_modes)
		return tde_cipher_ctr_any(key, counter, in, size, out);
	if (EVP_EncryptUpdate(key->encrypt, stream, &written, counter, sizeof(stream)) != 1 || written != sizeof(stream))
		return TDE_E_CRYPTO;
	tde_xor(out, in, stream, size);
	/* whoever has the key stream and the ciphertext has the plaintext */
	tde_wipe(stream, sizeof(stream));
	return TDE_OK;
}

/* CBC of whole blocks, at least one. */
extern TDE_MUST_CHECK TdeStatus tde_cipher_cbc_encrypt(TdeCipherKey *key, const uint8_t *iv,
													   const uint8_t *in, size_t size, uint8_t *out);
extern TDE_MUST_CHECK TdeStatus tde_cipher_cbc_decrypt(TdeCipherKey *key, const uint8_t *iv,
													   const uint8_t *in, size_t size, uint8_t *out);

/* CBC with PKCS#7 padding; out has room for tde_padded_size() bytes.  tde_cipher_unpad() is the reverse. */
extern TDE_MUST_CHECK TdeStatus tde_cipher_cbc_encrypt_padded(TdeCipherKey *key, const uint8_t *iv,
															  const uint8_t *in, size_t size, uint8_t *out);

/* CBC-CS3 of at least one block; the ciphertext is as long as the plaintext.  Only for unsalted CBC specs. */
extern TDE_MUST_CHECK TdeStatus tde_cipher_cs3_encrypt(TdeCipherKey *key, const uint8_t *iv,
													   const uint8_t *in, size_t size, uint8_t *out);
extern TDE_MUST_CHECK TdeStatus tde_cipher_cs3_decrypt(TdeCipherKey *key, const uint8_t *iv,
													   const uint8_t *in, size_t size, uint8_t *out);

/* Returns the size with PKCS#7 padding, 1 byte at least.  Sizes of blocks are powers of two, which saves the divisions. */
static inline size_t
tde_padded_size(size_t size, size_t block)
{
	return (size | (block - 1)) + 1;
}

/* False if the last block (given) does not end in PKCS#7 padding; otherwise how many of its bytes are padding. */
extern bool tde_cipher_unpad(const uint8_t *last, size_t block, size_t *padding);

/*
 * Salts drawn ahead, a few at a time, together with the key stream that belongs to them.  A salt is random, so nothing of a value is
 * needed to make it or its key stream.  Encrypting the counters of many salts in one call costs hardly more than those of one: what is
 * left for a value is a xor.
 */
#define TDE_AHEAD_SALTS		16
#define TDE_AHEAD_STREAM	32	/* bytes of key stream per salt that are for the value: most are not longer */
#define TDE_AHEAD_BLOCKS	3

/* How the counter blocks of a salt are made: the salt, zeros, and in the last byte the number of the block from first on. */
typedef struct TdeAheadKind
{
	uint8_t		salt;			/* bytes */
	uint8_t		first;
	uint8_t		blocks;			/* at most TDE_AHEAD_BLOCKS */
} TdeAheadKind;

/* To be zeroed before use. */
typedef struct TdeAhead
{
	uint8_t		streams[TDE_AHEAD_SALTS * TDE_AHEAD_BLOCKS * 16];
	uint8_t		salts[TDE_AHEAD_SALTS * TDE_CTR_SALT];
	unsigned	left;			/* the first ones; those behind them were used and wiped */
	unsigned	drawn;			/* in the last filling */
	sig_atomic_t epoch;			/* tde_random_epoch when they were drawn */
	bool		listed;			/* among those that tde_random_drop() cleanses */
	struct TdeAhead *after;
} TdeAhead;

/*
 * Draws salts and makes their key streams by ecb, which is set to encrypt by ECB without padding.  For tde_ahead_next(), which calls it when none is
 * left or the epoch has ended.
 */
extern TDE_MUST_CHECK TdeStatus tde_random_ahead_fill(TdeAhead *ahead, EVP_CIPHER_CTX *ecb, TdeAheadKind kind);

/* Wipe it; to be called before its memory is freed. */
extern void tde_random_ahead_free(TdeAhead *ahead);

/*
 * Write a fresh salt, and point at its key stream, which the caller wipes when it is used.  Only for keys that do the modes
 * themselves, since a validated module does the whole mode itself.
 */
static inline __attribute__((always_inline)) TDE_MUST_CHECK TdeStatus
tde_ahead_next(TdeAhead *ahead, EVP_CIPHER_CTX *ecb, const TdeAheadKind kind, uint8_t *salt, uint8_t **stream)
{
	unsigned	next;

	if (ahead->left == 0 || ahead->epoch != tde_random_epoch)
	{
		TdeStatus	status = tde_random_ahead_fill(ahead, ecb, kind);

		if (status != TDE_OK)
			return status;
	}
	next = --ahead->left;
	*stream = ahead->streams + next * kind.blocks * 16;
	memcpy(salt, ahead->salts + next * kind.salt, kind.salt);
	return TDE_OK;
}

/*
 * CTR of a value that is sealed under a fresh salt, which is written before its ciphertext.  size is at most
 * TDE_AHEAD_STREAM.
 */
static inline TDE_MUST_CHECK TdeStatus
tde_random_ahead_crypt(TdeAhead *ahead, TdeCipherKey *key, const uint8_t *in, size_t size, uint8_t *out)
{
	const TdeAheadKind kind = {.salt = TDE_CTR_SALT, .first = 0, .blocks = TDE_AHEAD_STREAM / 16};
	uint8_t    *stream;
	TdeStatus	status = tde_ahead_next(ahead, key->encrypt, kind, out, &stream);

	if (status != TDE_OK)
		return status;
	tde_xor(out + TDE_CTR_SALT, in, stream, size);
	/* the salt is no secret */
	tde_wipe(stream, TDE_AHEAD_STREAM);
	return TDE_OK;
}

#endif							/* TDE_CRYPTO_CIPHER_H */
