/*
 * value.h - the value format: what stands on disk between the varlena header and the end of a value.
 *
 *	[spec 1 byte][key id, minimal varint][salt][ciphertext][MAC]
 *
 *	salt,   mac		encrypt-then-MAC: HMAC(mac key, spec || salt || ciphertext)
 *	nosalt, mac		SIV: tag = HMAC(siv key, spec || plaintext); its first block is the IV
 *	salt,   nomac	salt and ciphertext
 *	nosalt, nomac	CBC-CS3 under a constant IV that is derived from the key
 *	salt,   gcm		AES-GCM; the salt is the nonce
 *	nosalt, gcm		AES-GCM-SIV under a nonce of zeros; see crypto/gcm.h
 *	gcm, padded		the same, of the plaintext || 0x80 || zeros (ISO/IEC 7816-4); of as many as whoever encrypts wants
 *
 * CTR:  no padding.  First counter block = salt || 0x0000, or the first 16 bytes of the SIV tag; incremented as one
 *       128-bit big-endian integer, as EVP's CTR does.
 * CBC:  with salt, the salt is the IV and PKCS#7 pads.  Without salt, ciphertext stealing (CBC-CS3, NIST SP 800-38A
 *       addendum); a plaintext shorter than one block becomes one PKCS#7-padded block and the flag in the spec byte is set.
 *
 * Varint: 7 bits a byte, least significant first, the high bit set on all but the last byte; the minimal length only.
 *
 * Keys are HKDF-SHA256(salt = none, ikm = data key, info = "tde_column/1" || purpose || spec || type tag), purpose being
 * "enc", "mac", "siv" or "iv" and spec the spec byte with flag and parity bits zeroed.  MAC and SIV keys are 32 bytes.
 */
#ifndef TDE_CRYPTO_VALUE_H
#define TDE_CRYPTO_VALUE_H

#include "crypto/spec.h"
#include "crypto/status.h"

#define TDE_DATA_KEY_SIZE	32
#define TDE_TYPE_TAG_SIZE	16

/* The longest header: spec byte and a 32-bit varint. */
#define TDE_MAX_HEADER	6

/* What stands before the salt of a value.  Set by tde_header_parse(); nothing vouches for it until tde_value_open() has succeeded. */
typedef struct TdeHeader
{
	TdeSpec		spec;
	bool		flag;			/* compressed, or one padded block */
	uint8_t		spec_byte;		/* as stored */
	uint8_t		size;			/* bytes that spec byte and key id take */
	uint32_t	key_id;
} TdeHeader;

/*
 * Cipher and MAC contexts made ready for one data key, one spec and one type.  Each use changes the contexts, so two threads must not have one key; a
 * backend has one thread.
 */
typedef struct TdeValueKey TdeValueKey;

/*
 * Makes a key.  The data key is not kept, and the caller's to cleanse.  TDE_E_UNAVAILABLE if the spec is refused, or OpenSSL here lacks its cipher;
 * TDE_E_NOMEM, TDE_E_CRYPTO; *key is NULL then.  To be freed by tde_value_key_free().
 */
extern TDE_MUST_CHECK TdeStatus tde_value_key_new(TdeValueKey **key, const uint8_t data_key[TDE_DATA_KEY_SIZE],
												  TdeSpec spec, const uint8_t type_tag[TDE_TYPE_TAG_SIZE]);

/* Cleanses and frees a key; NULL is no key. */
extern void tde_value_key_free(TdeValueKey *key);

/* Reads the header of a value that nothing vouches for yet.  Returns false if it is malformed or too short for its spec. */
extern bool tde_header_parse(const uint8_t *value, size_t size, TdeHeader *header);

/* Writes the header of a value that is taken over from elsewhere, out having TDE_MAX_HEADER bytes.  Returns its size. */
extern size_t tde_header_write(uint8_t *out, uint8_t spec_byte, uint32_t key_id);

/* Returns the exact size of a value, header included, for a plaintext of so many bytes; of a padded spec, for so many with the padding. */
extern size_t tde_header_sealed_size(TdeSpec spec, uint32_t key_id, size_t plain_size);

/*
 * Encrypts.  out has room for tde_header_sealed_size() bytes and does not overlap plain.  compressed is stored in the flag and is only allowed with
 * salt.  TDE_E_CRYPTO if that is not so, if key_id is 0, or if OpenSSL or the random generator fails; out is cleansed then.
 */
extern TDE_MUST_CHECK TdeStatus tde_value_seal(TdeValueKey *key, uint32_t key_id, bool compressed,
											   const uint8_t *plain, size_t plain_size, uint8_t *out);

/* The same for a padded spec: padded_size, of the plaintext with its padding, is at least plain_size + 1. */
extern TDE_MUST_CHECK TdeStatus tde_value_seal_padded(TdeValueKey *key, uint32_t key_id, bool compressed, const uint8_t *plain,
													  size_t plain_size, size_t padded_size, uint8_t *out);

/* Returns the room that tde_value_open() needs: the plaintext's size and at most TDE_MAX_BLOCK bytes more; padded, what it has with its padding. */
extern size_t tde_header_open_room(const TdeHeader *header, size_t size);

/*
 * Authenticate and decrypt a value whose header was read by tde_header_parse(); key must be of the header's spec.
 * out has room for tde_header_open_room() bytes and does not overlap value.  Anything wrong with the bytes is TDE_E_AUTH, and
 * then out is cleansed: bytes that were not authenticated never leave.
 */
extern TDE_MUST_CHECK TdeStatus tde_value_open(TdeValueKey *key, const TdeHeader *header, const uint8_t *value, size_t size,
											   uint8_t *out, size_t *plain_size);

/*
 * Decrypts some of a value that tde_sliceable() says yes to, without reading the rest: ciphertext has size bytes and begins offset bytes, a multiple
 * of 16, behind the salt.  out has size bytes.  TDE_E_AUTH if the header is none of the key's spec; otherwise nothing vouches for what comes out.
 */
extern TDE_MUST_CHECK TdeStatus tde_value_open_slice(TdeValueKey *key, const TdeHeader *header, const uint8_t *salt, uint64_t offset,
													 const uint8_t *ciphertext, size_t size, uint8_t *out);

/* Returns true for a value that is salted, in CTR mode, and neither authenticated nor compressed. */
static inline bool
tde_sliceable(const TdeHeader *header)
{
	return header->spec.salted && header->spec.mode == TDE_CTR && header->spec.mac == TDE_NOMAC && !header->flag;
}

#endif							/* TDE_CRYPTO_VALUE_H */
