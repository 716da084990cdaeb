/*
 * polyval.h - the hashes of AES-GCM-SIV (POLYVAL) and AES-GCM (GHASH) over the associated byte and the data of a value.
 *
 * Both are polynomials over GF(2^128).  RFC 8452, appendix A, says how one is the other with the bytes of each block in reverse
 * order and the key multiplied by x, so there is one multiplication for both.
 */
#ifndef TDE_CRYPTO_POLYVAL_H
#define TDE_CRYPTO_POLYVAL_H

#include "crypto/internal.h"

/* So many blocks are multiplied before their sum is reduced once. */
#define TDE_POLYVAL_POWERS	8

/* Of messages up to this size, with the usual associated byte, all but the data is hashed ahead. */
#define TDE_POLYVAL_AHEAD	16

typedef struct TdePolyval
{
	TdePair		powers[TDE_POLYVAL_POWERS]; /* of the key, the first one first */
	TdePair		ahead[TDE_POLYVAL_AHEAD + 1];	/* the hashes of so many zeros, with the usual associated byte */
	TdePair		short_power;	/* the second power times x^-64 */
	uint8_t		usual;
	bool		reversed;		/* GHASH */
	bool		fast;			/* by the processor's carry-less multiplication */
} TdePolyval;

/*
 * Makes a key from the 16 bytes of the hash key, which the caller derives.  ghash: for GHASH.  Messages with the usual associated byte are hashed
 * faster.
 */
extern void tde_polyval_init(TdePolyval *key, const uint8_t secret[16], bool ghash, uint8_t usual);

/* Zeroes the key. */
extern void tde_polyval_free(TdePolyval *key);

/*
 * The hash of a message with one associated byte: of that byte filled up with zeros to a block, the data filled up likewise, and
 * a block with the number of bits of both (RFC 8452, section 4; SP 800-38D, 6.4 and 7.1).  As tde_load128() would read it.
 */
extern TdePair tde_polyval(const TdePolyval *key, uint8_t associated, const uint8_t *data, size_t size);

/*
 * The same for data of up to TDE_POLYVAL_AHEAD bytes, which are given as a block, filled up with zeros; where
 * tde_polyval_is_short() says so.
 */
extern TdePair tde_polyval_short(const TdePolyval *key, TdePair data, size_t size);

/* Returns true if tde_polyval_short() may be called for such a message. */
static inline bool
tde_polyval_is_short(const TdePolyval *key, uint8_t associated, size_t size)
{
	return size <= TDE_POLYVAL_AHEAD && key->fast && associated == key->usual;
}

/* Returns true if this processor can multiply without carries.  On x86-64 it is asked once per process. */
extern bool tde_polyval_has_fast(void);

#ifdef TDE_UNIT_TEST
/* Keys that are made from now on do without what the processor has (true), or not (false). */
extern void tde_polyval_use_portable(bool on);
#endif

#endif							/* TDE_CRYPTO_POLYVAL_H */
