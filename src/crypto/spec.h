/*
 * spec.h - the specification of an encrypted value: cipher, mode, salt, MAC, and its byte on disk.
 *
 * The codes are stored in pg_attribute (as part of the type modifier) and in every value.  They are never renumbered.
 */
#ifndef TDE_CRYPTO_SPEC_H
#define TDE_CRYPTO_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crypto/status.h"

/* Code 0 is not used, so that a type modifier is never 0; 5 and 6 are spare; 7 is the escape to a table of specs. */
typedef enum TdeCipher
{
	TDE_AES128 = 1,
	TDE_AES192 = 2,
	TDE_AES256 = 3,
	TDE_3DES168 = 4
} TdeCipher;

typedef enum TdeMode
{
	TDE_CTR = 0,				/* with a MAC and without salt: SIV, see crypto/value.h */
	TDE_CBC = 1,
	TDE_PADDED = 2				/* with TDE_GCM only: TDE_CTR, of plaintexts that are padded */
} TdeMode;

typedef enum TdeMac
{
	TDE_NOMAC = 0,
	TDE_SHA1 = 1,				/* HMAC-SHA1, 20 bytes */
	TDE_SHA256 = 2,				/* HMAC-SHA256, truncated to 16 bytes */
	TDE_GCM = 3					/* AES-GCM, unsalted AES-GCM-SIV: 16 bytes; mode is TDE_CTR or TDE_PADDED */
} TdeMac;

typedef struct TdeSpec
{
	uint8_t		cipher;			/* TdeCipher */
	uint8_t		mode;			/* TdeMode */
	uint8_t		mac;			/* TdeMac */
	bool		salted;
} TdeSpec;

#define TDE_MAX_BLOCK	16
#define TDE_MAX_SALT	16
#define TDE_CTR_SALT	14		/* the last two bytes of the first counter block are left to the count */
#define TDE_GCM_NONCE	12		/* the salt of gcm */
#define TDE_MAX_TAG		20

/*
 * The spec byte: bits 0-1 cipher - 1, bit 2 mode (cbc, or with gcm padded), bit 3 salt, bits 4-5 MAC, bit 6 the flag, bit 7 odd parity, so that
 * no single flipped bit gives another valid byte, and neither 0x00 nor 0xff is one.  Triple DES with MAC code 3 is the escape to a
 * later, longer header.
 *
 * The flag says "compressed" in salted specs and "one padded block" in unsalted CBC; it is never set in other unsalted ones.
 */
#define TDE_SPEC_MODE	0x04
#define TDE_SPEC_SALT	0x08
#define TDE_SPEC_MAC	0x30
#define TDE_SPEC_FLAG	0x40
#define TDE_SPEC_PARITY	0x80

/* Returns the byte of a specification that tde_spec_refused() allows, with this flag and the parity that goes with them. */
extern uint8_t tde_spec_byte(TdeSpec spec, bool flag);

/* Returns true if a spec byte says that values are padded: the mode's bit together with gcm, which has no cbc. */
static inline bool
tde_spec_byte_is_padded(uint8_t byte)
{
	return (byte & (TDE_SPEC_MODE | TDE_SPEC_MAC)) == (TDE_SPEC_MODE | TDE_SPEC_MAC);
}

/*
 * Sets *spec and *flag to what a byte says that nothing vouches for.  Returns false if no writer of this version can have written it; both may have
 * changed then.
 */
extern bool tde_spec_from_byte(uint8_t byte, TdeSpec *spec, bool *flag);

/* Returns NULL when the combination is allowed; otherwise a sentence (no final period) that says why not, as the detail of an error. */
extern const char *tde_spec_refused(TdeSpec spec);

/* Returns true if two specifications are the same in all their parts. */
extern bool tde_spec_equal(TdeSpec a, TdeSpec b);

/* Returns the size of the cipher key, in bytes. */
extern size_t tde_spec_key(TdeSpec spec);

/* Returns the size of a cipher block, in bytes: a power of two. */
static inline size_t
tde_spec_block(TdeSpec spec)
{
	return spec.cipher == TDE_3DES168 ? 8 : 16;
}

/* Returns the size of the salt that is stored in each value, in bytes; 0: none. */
static inline size_t
tde_spec_salt(TdeSpec spec)
{
	if (!spec.salted)
		return 0;
	if (spec.mac == TDE_GCM)
		return TDE_GCM_NONCE;
	/* in CBC the salt is the IV */
	return spec.mode == TDE_CTR ? TDE_CTR_SALT : tde_spec_block(spec);
}

/* Returns the size of the MAC that is stored in each value, in bytes; 0: none. */
static inline size_t
tde_spec_tag(TdeSpec spec)
{
	return spec.mac == TDE_SHA1 ? 20 : spec.mac == TDE_NOMAC ? 0 : 16;
}

/* Return the word of the type modifier for each part: "aes256", "cbc", "salt", "sha256", ...  Constants, for allowed specifications only. */
extern const char *tde_spec_cipher_word(TdeSpec spec);
extern const char *tde_spec_mode_word(TdeSpec spec);
extern const char *tde_spec_salt_word(TdeSpec spec);
extern const char *tde_spec_mac_word(TdeSpec spec);

#endif							/* TDE_CRYPTO_SPEC_H */
