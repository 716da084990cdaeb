/*
 * value.c - the value format: what stands on disk between the varlena header and the end of a value.
 *
 * Nothing here allocates, sets a key or sets an IV per value; all of that is done once, in tde_value_key_new().
 */
#include "crypto/value.h"

#include <openssl/crypto.h>
#include <openssl/err.h>

#include "crypto/cipher.h"
#include "crypto/gcm.h"
#include "crypto/header.h"
#include "crypto/internal.h"
#include "crypto/mac.h"
#include "crypto/primitives.h"

/* The spec byte without flag and parity: what keys are derived from and compared by. */
#define SPEC_BITS		0x3f

#define MAC_KEY_SIZE	32
#define PAD_MARK		0x80
#define LABEL			"tde_column/1"

struct TdeValueKey
{
	TdeCipherKey cipher;
	TdeAhead	ahead;			/* salted CTR */
	TdeMacKey	mac;			/* salted: over the ciphertext; unsalted: over the plaintext (SIV) */
	TdeGcmKey	gcm;			/* in place of the three */
	TdeSpec		spec;
	bool		only_gcm;		/* it is all that is to be done: not padded */
	uint8_t		spec_byte[2];	/* without and with the flag */
	uint8_t		block;			/* sizes in bytes */
	uint8_t		salt;
	uint8_t		tag;
	uint8_t		overhead;		/* of the two */
	uint8_t		iv[TDE_MAX_BLOCK];	/* of unsalted values without a MAC */
};

/*
 * One key of the family that belongs to a data key: HKDF with the purpose, the spec and the type in its info.
 */
static TdeStatus
derive(const uint8_t *data_key, const char *purpose, TdeSpec spec, const uint8_t *type_tag, uint8_t *out, size_t size)
{
	uint8_t		info[sizeof(LABEL) + 8 + TDE_TYPE_TAG_SIZE];
	size_t		label = strlen(LABEL);
	size_t		purpose_size = strlen(purpose);
	uint8_t    *end = info;

	memcpy(end, LABEL, label);
	end += label;
	memcpy(end, purpose, purpose_size);
	end += purpose_size;
	*end++ = tde_spec_byte(spec, false) & SPEC_BITS;
	memcpy(end, type_tag, TDE_TYPE_TAG_SIZE);
	end += TDE_TYPE_TAG_SIZE;
	return tde_crypto_hkdf(data_key, TDE_DATA_KEY_SIZE, info, (size_t) (end - info), out, size);
}

/* Derives the cipher key, and makes contexts for it.  Of AES-GCM-SIV the nonce is part of that: see crypto/gcm.h. */
static TdeStatus
init_cipher(TdeValueKey *key, const uint8_t *data_key, const uint8_t *type_tag)
{
	static const uint8_t zeros[TDE_GCM_NONCE] = {0};
	uint8_t		secret[32];
	TdeStatus	status = derive(data_key, "enc", key->spec, type_tag, secret, tde_spec_key(key->spec));

	if (status == TDE_OK)
		status = key->spec.mac == TDE_GCM ? tde_gcm_init(&key->gcm, key->spec, secret, zeros)
			: tde_cipher_init(&key->cipher, key->spec, secret);
	tde_wipe(secret, sizeof(secret));
	return status;
}

/* Derives the MAC key.  Salted and unsalted values have purposes of their own, although the spec in the info differs already. */
static TdeStatus
init_mac(TdeValueKey *key, const uint8_t *data_key, const uint8_t *type_tag)
{
	uint8_t		secret[MAC_KEY_SIZE];
	const char *purpose = key->spec.salted ? "mac" : "siv";
	TdeStatus	status = derive(data_key, purpose, key->spec, type_tag, secret, sizeof(secret));

	if (status == TDE_OK)
		status = tde_mac_init(&key->mac, (TdeMac) key->spec.mac, secret, sizeof(secret));
	tde_wipe(secret, sizeof(secret));
	return status;
}

TdeStatus
tde_value_key_new(TdeValueKey **key, const uint8_t data_key[TDE_DATA_KEY_SIZE], TdeSpec spec,
				  const uint8_t type_tag[TDE_TYPE_TAG_SIZE])
{
	TdeValueKey *new;
	TdeStatus	status;

	*key = NULL;
	ERR_clear_error();
	if (tde_spec_refused(spec) != NULL)
		return TDE_E_UNAVAILABLE;
	new = OPENSSL_zalloc(sizeof(*new));
	if (new == NULL)
		return TDE_E_NOMEM;

	new->spec = spec;
	new->only_gcm = spec.mac == TDE_GCM && spec.mode == TDE_CTR;
	new->spec_byte[0] = tde_spec_byte(spec, false);
	new->spec_byte[1] = tde_spec_byte(spec, true);
	new->block = (uint8_t) tde_spec_block(spec);
	new->salt = (uint8_t) tde_spec_salt(spec);
	new->tag = (uint8_t) tde_spec_tag(spec);
	new->overhead = new->salt + new->tag;

	status = init_cipher(new, data_key, type_tag);
	if (status == TDE_OK && (spec.mac == TDE_SHA1 || spec.mac == TDE_SHA256))
		status = init_mac(new, data_key, type_tag);
	if (status == TDE_OK && spec.mac == TDE_NOMAC && !spec.salted)
		status = derive(data_key, "iv", spec, type_tag, new->iv, new->block);
	if (status != TDE_OK)
	{
		tde_value_key_free(new);
		return status;
	}
	*key = new;
	return TDE_OK;
}

/* Parts that were never made are zeros, which all these take. */
void
tde_value_key_free(TdeValueKey *key)
{
	if (key == NULL)
		return;
	tde_cipher_free(&key->cipher);
	tde_mac_free(&key->mac);
	tde_gcm_free(&key->gcm);
	tde_random_ahead_free(&key->ahead);
	OPENSSL_clear_free(key, sizeof(*key));
}

/* Copy a stored tag, whose size is one of two, by moves instead of a call. */
static inline void
copy_tag(uint8_t *to, const uint8_t *from, size_t size)
{
	memcpy(to, from, 16);
	if (size == 20)
		memcpy(to + 16, from + 16, 4);
}

/* A salt, and CTR under it. */
static TdeStatus
salted_ctr(TdeValueKey *key, const uint8_t *plain, size_t size, uint8_t *salt)
{
	uint8_t		counter[16];
	TdeStatus	status = tde_random_salt(salt, TDE_CTR_SALT);

	if (status != TDE_OK)
		return status;
	tde_first_counter(counter, salt);
	return tde_cipher_ctr(&key->cipher, counter, plain, size, salt + TDE_CTR_SALT);
}

/*
 * Salted: salt, ciphertext, and with a MAC encrypt-then-MAC over spec byte, salt and ciphertext.
 */
static inline TdeStatus
seal_salted(TdeValueKey *key, uint8_t spec_byte, const uint8_t *plain, size_t size, uint8_t *salt)
{
	uint8_t    *ciphertext = salt + key->salt;
	uint8_t		tag[TDE_MAX_DIGEST];
	size_t		written = size;
	TdeStatus	status;

	if (key->spec.mode == TDE_CTR)
		status = size <= TDE_AHEAD_STREAM && key->cipher.own_modes
			? tde_random_ahead_crypt(&key->ahead, &key->cipher, plain, size, salt)
			: salted_ctr(key, plain, size, salt);
	else
	{
		written = tde_padded_size(size, key->block);
		status = tde_random_salt(salt, key->salt);
		if (status == TDE_OK)
			status = tde_cipher_cbc_encrypt_padded(&key->cipher, salt, plain, size, ciphertext);
	}
	if (status != TDE_OK || key->tag == 0)
		return status;

	status = tde_mac_digest(&key->mac, spec_byte, salt, key->salt + written, tag);
	if (status == TDE_OK)
		copy_tag(ciphertext + written, tag, key->tag);
	return status;
}

/*
 * Unsalted.  With a MAC: SIV (the construction of RFC 5297, with HMAC for S2V), the tag over the plaintext is the IV
 * too.  Without: the IV is a constant of the key.
 */
static inline TdeStatus
seal_unsalted(TdeValueKey *key, uint8_t spec_byte, const uint8_t *plain, size_t size, uint8_t *ciphertext)
{
	uint8_t		tag[TDE_MAX_DIGEST];
	const uint8_t *iv = key->iv;
	size_t		written = size;
	TdeStatus	status;

	if (key->tag != 0)
	{
		status = tde_mac_digest(&key->mac, spec_byte, plain, size, tag);
		if (status != TDE_OK)
			return status;
		iv = tag;
	}
	if (key->spec.mode == TDE_CTR)
		status = tde_cipher_ctr(&key->cipher, iv, plain, size, ciphertext);
	else if (size < key->block)
	{
		written = key->block;
		status = tde_cipher_cbc_encrypt_padded(&key->cipher, iv, plain, size, ciphertext);
	}
	else
		status = tde_cipher_cs3_encrypt(&key->cipher, iv, plain, size, ciphertext);
	if (status == TDE_OK && key->tag != 0)
		copy_tag(ciphertext + written, tag, key->tag);
	return status;
}

TdeStatus
tde_value_seal(TdeValueKey *key, uint32_t key_id, bool compressed, const uint8_t *plain, size_t plain_size, uint8_t *out)
{
	bool		flag = compressed;
	uint8_t    *body;
	TdeStatus	status;

	if (!key->spec.salted && key->spec.mode == TDE_CBC)
		flag = plain_size < key->block;
	body = out + tde_header_write(out, key->spec_byte[flag], key_id);

	if (key_id == 0 || (compressed && !key->spec.salted) || key->spec.mode == TDE_PADDED)
		status = TDE_E_CRYPTO;
	else if (key->spec.mac == TDE_GCM)
		status = tde_gcm_seal(&key->gcm, out[0], plain, plain_size, body);
	else if (key->spec.salted)
		status = seal_salted(key, out[0], plain, plain_size, body);
	else
		status = seal_unsalted(key, out[0], plain, plain_size, body);
	if (status != TDE_OK)
		OPENSSL_cleanse(out, tde_header_sealed_size(key->spec, key_id, plain_size));
	return status;
}

/* The padded plaintext is put together where its ciphertext is to be. */
TdeStatus
tde_value_seal_padded(TdeValueKey *key, uint32_t key_id, bool compressed, const uint8_t *plain, size_t plain_size, size_t padded_size,
					  uint8_t *out)
{
	uint8_t    *body = out + tde_header_write(out, key->spec_byte[compressed], key_id);
	uint8_t    *padded = body + key->salt;
	TdeStatus	status = TDE_E_CRYPTO;

	if (key_id != 0 && key->spec.mode == TDE_PADDED && plain_size < padded_size && (key->spec.salted || !compressed))
	{
		tde_copy(padded, plain, plain_size);
		padded[plain_size] = PAD_MARK;
		memset(padded + plain_size + 1, 0, padded_size - plain_size - 1);
		status = tde_gcm_seal(&key->gcm, out[0], padded, padded_size, body);
	}
	if (status != TDE_OK)
		OPENSSL_cleanse(out, tde_header_sealed_size(key->spec, key_id, padded_size));
	return status;
}

/* Mark and zeros are taken away.  That they are not there, only whoever has the key can have done. */
static __attribute__((noinline))
TdeStatus
open_padded(TdeValueKey *key, const TdeHeader *header, const uint8_t *body, size_t size, uint8_t *out, size_t *plain_size)
{
	TdeStatus	status = tde_gcm_open(&key->gcm, header->spec_byte, body, size, out);

	if (status != TDE_OK)
		return status;
	while (size >= 8 && tde_load64(out + size - 8) == 0)
		size -= 8;
	while (size > 0 && out[size - 1] == 0)
		size--;
	if (size == 0 || out[size - 1] != PAD_MARK)
		return TDE_E_AUTH;
	*plain_size = size - 1;
	return TDE_OK;
}

/* Strip the padding of size bytes of decrypted blocks. */
static inline TdeStatus
strip(const uint8_t *plain, size_t size, size_t block, size_t *plain_size)
{
	size_t		padding;

	if (!tde_cipher_unpad(plain + size - block, block, &padding))
		return TDE_E_AUTH;
	*plain_size = size - padding;
	return TDE_OK;
}

/* Returns TDE_OK if this is the tag of these bytes.  Apart, so that values without a MAC need no room for digests. */
static __attribute__((noinline))
TdeStatus
authenticate(TdeValueKey *key, uint8_t spec_byte, const uint8_t *bytes, size_t size, const uint8_t *stored)
{
	uint8_t		tag[TDE_MAX_DIGEST];
	TdeStatus	status = tde_mac_digest(&key->mac, spec_byte, bytes, size, tag);

	if (status == TDE_OK && !tde_mac_equal(tag, stored, key->tag))
		status = TDE_E_AUTH;
	return status;
}

static inline TdeStatus
open_salted(TdeValueKey *key, const TdeHeader *header, const uint8_t *salt, size_t size, uint8_t *out,
			size_t *plain_size)
{
	const uint8_t *ciphertext = salt + key->salt;
	TdeStatus	status;

	if (key->tag != 0)
	{
		status = authenticate(key, header->spec_byte, salt, key->salt + size, ciphertext + size);
		if (status != TDE_OK)
			return status;
	}
	if (key->spec.mode == TDE_CTR)
	{
		uint8_t		counter[16];

		tde_first_counter(counter, salt);
		*plain_size = size;
		return tde_cipher_ctr(&key->cipher, counter, ciphertext, size, out);
	}
	status = tde_cipher_cbc_decrypt(&key->cipher, salt, ciphertext, size, out);
	return status == TDE_OK ? strip(out, size, key->block, plain_size) : status;
}

/*
 * A SIV value can be checked only after decryption; the caller cleanses what comes out if the check fails.  The MAC is
 * computed even where the padding is wrong already, so that the time taken does not tell one from the other.
 */
static inline TdeStatus
open_unsalted(TdeValueKey *key, const TdeHeader *header, const uint8_t *ciphertext, size_t size, uint8_t *out,
			  size_t *plain_size)
{
	const uint8_t *stored = ciphertext + size;
	const uint8_t *iv = key->tag != 0 ? stored : key->iv;
	TdeStatus	padding = TDE_OK;
	TdeStatus	status;

	*plain_size = size;
	if (key->spec.mode == TDE_CTR)
		status = tde_cipher_ctr(&key->cipher, iv, ciphertext, size, out);
	else if (header->flag)
	{
		status = tde_cipher_cbc_decrypt(&key->cipher, iv, ciphertext, size, out);
		if (status == TDE_OK)
			padding = strip(out, size, key->block, plain_size);
	}
	else
		status = tde_cipher_cs3_decrypt(&key->cipher, iv, ciphertext, size, out);

	if (status == TDE_OK && key->tag != 0)
		status = authenticate(key, header->spec_byte, out, *plain_size, stored);
	return status == TDE_OK ? padding : status;
}

/* A value of any spec, whose ciphertext has size bytes. */
static __attribute__((noinline))
TdeStatus
open_any(TdeValueKey *key, const TdeHeader *header, const uint8_t *body, size_t size, uint8_t *out, size_t *plain_size)
{
	if (!tde_ciphertext_possible(key->spec.salted, key->spec.mode, header->flag, key->block, size))
		return TDE_E_AUTH;
	if (key->spec.mac == TDE_GCM)
		return open_padded(key, header, body, size, out, plain_size);
	return key->spec.salted ? open_salted(key, header, body, size, out, plain_size)
		: open_unsalted(key, header, body, size, out, plain_size);
}

TdeStatus
tde_value_open(TdeValueKey *key, const TdeHeader *header, const uint8_t *value, size_t size, uint8_t *out,
			   size_t *plain_size)
{
	size_t		overhead = (size_t) header->size + key->overhead;
	const uint8_t *body = value + header->size;
	TdeStatus	status = TDE_E_AUTH;

	/* the header was checked when it was read, but against its own spec, which need not be the key's */
	if (((header->spec_byte ^ key->spec_byte[0]) & SPEC_BITS) == 0 && size >= overhead)
	{
		*plain_size = size - overhead;
		status = key->only_gcm ? tde_gcm_open(&key->gcm, header->spec_byte, body, size - overhead, out)
			: open_any(key, header, body, size - overhead, out, plain_size);
	}
	if (status != TDE_OK)
	{
		OPENSSL_cleanse(out, tde_header_open_room(header, size));
		*plain_size = 0;
	}
	return status;
}

TdeStatus
tde_value_open_slice(TdeValueKey *key, const TdeHeader *header, const uint8_t *salt, uint64_t offset, const uint8_t *ciphertext,
					 size_t size, uint8_t *out)
{
	uint8_t		counter[16];
	uint64_t	high,
				low;

	if (((header->spec_byte ^ key->spec_byte[0]) & SPEC_BITS) != 0 || !tde_sliceable(header) || offset % 16 != 0)
		return TDE_E_AUTH;
	tde_first_counter(counter, salt);
	high = tde_big64(tde_load64(counter));
	low = tde_big64(tde_load64(counter + 8)) + offset / 16;
	if (low < offset / 16)
		high++;
	tde_store128(counter, (TdePair) {tde_big64(high), tde_big64(low)});
	return tde_cipher_ctr(&key->cipher, counter, ciphertext, size, out);
}
