/*
 * gcm.c - values with the MAC word gcm: AES-GCM where they are salted, AES-GCM-SIV where they are not.
 *
 * AES is always OpenSSL's.  Its AES-GCM spends most of its time for a short value on setting the IV and dispatching four
 * calls; the block that masks the tag and those of the key stream from one ECB call, and GHASH of our own (crypto/polyval.c), give
 * the same bytes in a ninth of the time (bench/crypto.c).  Long values are left to OpenSSL, whose assembler does both at once.
 */
#include "crypto/gcm.h"

#define TAG		16

/* From here on OpenSSL's own AES-GCM is faster, in spite of what each call costs. */
#define LONG_VALUE	512

/* So many blocks of key stream are made at once; one of them is the tag's in salted values. */
#define BATCH		(LONG_VALUE / 16 + 1)

static const TdeAheadKind ahead_kind = {.salt = TDE_GCM_NONCE, .first = 1, .blocks = TDE_AHEAD_BLOCKS};

static inline bool
encrypt_blocks(const TdeGcmKey *key, uint8_t *blocks, size_t size)
{
	int			written = 0;

	return EVP_EncryptUpdate(key->ecb, blocks, &written, blocks, (int) size) == 1 && (size_t) written == size;
}

/* In constant time; CRYPTO_memcmp() goes through the bytes one by one, which takes longer than the hash. */
static inline bool
is_zero(TdePair pair)
{
	return (pair[0] | pair[1]) == 0;
}

/* ---- keys ---- */

/*
 * AES-GCM.  Contexts for whole values are made in any case; those for ours only where they are used: not under FIPS, and not without the processor's
 * carry-less multiplication.
 */
static TdeStatus
init_salted(TdeGcmKey *key, TdeSpec spec, const uint8_t *secret)
{
	uint8_t		hash_key[16] = {0};
	TdeStatus	status = tde_cipher_context(&key->seal, spec, "GCM", secret, 1);

	if (status == TDE_OK)
		status = tde_cipher_context(&key->open, spec, "GCM", secret, 0);
	key->own = !tde_crypto_fips() && tde_polyval_has_fast();
	if (status != TDE_OK || !key->own)
		return status;

	status = tde_cipher_context(&key->ecb, spec, "ECB", secret, 1);
	/* the hash key is the block of zeros, encrypted */
	if (status == TDE_OK && !encrypt_blocks(key, hash_key, sizeof(hash_key)))
		status = TDE_E_CRYPTO;
	if (status == TDE_OK)
		tde_polyval_init(&key->hash, hash_key, true, tde_spec_byte(spec, false));
	tde_wipe(hash_key, sizeof(hash_key));
	return status;
}

/*
 * RFC 8452, section 4: the keys of a nonce are the first halves of blocks that number themselves, in four bytes and little-endian,
 * before the nonce: two for the hash, the others for the cipher.
 */
static TdeStatus
init_unsalted(TdeGcmKey *key, TdeSpec spec, const uint8_t *secret, const uint8_t *nonce)
{
	uint8_t		blocks[6 * 16] = {0};
	uint8_t		derived[6 * 8];
	size_t		count = 2 + tde_spec_key(spec) / 8;
	TdeStatus	status;

	if (tde_crypto_fips())
		return tde_crypto_unavailable("AES-GCM-SIV (gcm without salt)");
	status = tde_cipher_context(&key->ecb, spec, "ECB", secret, 1);
	for (size_t i = 0; i < count; i++)
	{
		blocks[16 * i] = (uint8_t) i;
		memcpy(blocks + 16 * i + 4, nonce, TDE_GCM_NONCE);
	}
	key->nonce = tde_load_partial(nonce, TDE_GCM_NONCE);
	if (status == TDE_OK && !encrypt_blocks(key, blocks, 16 * count))
		status = TDE_E_CRYPTO;
	for (size_t i = 0; i < count; i++)
		memcpy(derived + 8 * i, blocks + 16 * i, 8);
	EVP_CIPHER_CTX_free(key->ecb);
	key->ecb = NULL;
	if (status == TDE_OK)
		status = tde_cipher_context(&key->ecb, spec, "ECB", derived + 16, 1);
	if (status == TDE_OK)
		tde_polyval_init(&key->hash, derived, false, tde_spec_byte(spec, false));
	tde_wipe(blocks, sizeof(blocks));
	tde_wipe(derived, sizeof(derived));
	return status;
}

TdeStatus
tde_gcm_init(TdeGcmKey *key, TdeSpec spec, const uint8_t *secret, const uint8_t nonce[TDE_GCM_NONCE])
{
	TdeStatus	status;

	key->salted = spec.salted;
	status = spec.salted ? init_salted(key, spec, secret) : init_unsalted(key, spec, secret, nonce);
	if (status != TDE_OK)
		tde_gcm_free(key);
	return status;
}

void
tde_gcm_free(TdeGcmKey *key)
{
	EVP_CIPHER_CTX_free(key->ecb);
	EVP_CIPHER_CTX_free(key->seal);
	EVP_CIPHER_CTX_free(key->open);
	tde_polyval_free(&key->hash);
	tde_random_ahead_free(&key->ahead);
	tde_wipe(key, sizeof(*key));
}

/* ---- salted: AES-GCM ---- */

/* AES-GCM of one value by OpenSSL's own mode: long values, and all where our own is not used (TdeGcmKey). */
static bool
evp_seal(TdeGcmKey *key, const uint8_t *nonce, uint8_t spec_byte, const uint8_t *plain, size_t size, uint8_t *ciphertext)
{
	int			written = 0;

	return size <= TDE_MAX_UPDATE &&
		EVP_EncryptInit_ex2(key->seal, NULL, NULL, nonce, NULL) == 1 &&
		EVP_EncryptUpdate(key->seal, NULL, &written, &spec_byte, 1) == 1 &&
		(size == 0 || EVP_EncryptUpdate(key->seal, ciphertext, &written, plain, (int) size) == 1) &&
		(size == 0 || (size_t) written == size) &&
		EVP_EncryptFinal_ex(key->seal, ciphertext + size, &written) == 1 && written == 0 &&
		EVP_CIPHER_CTX_ctrl(key->seal, EVP_CTRL_AEAD_GET_TAG, TAG, ciphertext + size) == 1;
}

static TdeStatus
evp_open(TdeGcmKey *key, const uint8_t *nonce, uint8_t spec_byte, const uint8_t *ciphertext, size_t size, uint8_t *out)
{
	uint8_t		tag[TAG];
	int			written = 0;

	memcpy(tag, ciphertext + size, TAG);
	if (size > TDE_MAX_UPDATE ||
		EVP_DecryptInit_ex2(key->open, NULL, NULL, nonce, NULL) != 1 ||
		EVP_CIPHER_CTX_ctrl(key->open, EVP_CTRL_AEAD_SET_TAG, TAG, tag) != 1 ||
		EVP_DecryptUpdate(key->open, NULL, &written, &spec_byte, 1) != 1 ||
		(size > 0 && EVP_DecryptUpdate(key->open, out, &written, ciphertext, (int) size) != 1) ||
		(size > 0 && (size_t) written != size))
		return TDE_E_CRYPTO;
	return EVP_DecryptFinal_ex(key->open, tag, &written) == 1 ? TDE_OK : TDE_E_AUTH;
}

/*
 * The block that masks the tag, and blocks of key stream (SP 800-38D, 7.1, with J0 = nonce || 0^31 || 1).
 */
static inline __attribute__((always_inline))
bool
gcm_stream(TdeGcmKey *key, const uint8_t *nonce, size_t blocks, uint8_t *stream)
{
	uint32_t	last;

	memcpy(&last, nonce + 8, 4);
	for (uint32_t i = 0; i < blocks; i++)
	{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
		uint64_t	second = (uint64_t) tde_big32(1 + i) << 32 | last;
#else
		uint64_t	second = (uint64_t) last << 32 | (1 + i);
#endif

		tde_store128(stream + 16 * i, (TdePair) {tde_load64(nonce), second});
	}
	return encrypt_blocks(key, stream, 16 * blocks);
}

/* The first bytes of a block, and zeros. */
static inline TdePair
first_bytes(TdePair block, size_t size)
{
	static const uint8_t masks[32] = {
		255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255
	};

	return block & tde_load128(masks + 16 - size);
}

/*
 * Ciphertext and tag of a short value, from its key stream.  A block at most is not stored before it is hashed, since reading what was just written
 * in pieces takes longer than the hash.
 */
static inline void
gcm_finish(TdeGcmKey *key, uint8_t spec_byte, const uint8_t *stream, const uint8_t *plain, size_t size, uint8_t *ciphertext)
{
	TdePair		hash;

	if (size < 16 && tde_polyval_is_short(&key->hash, spec_byte, size))
	{
		TdePair		block = first_bytes(tde_load_partial(plain, size) ^ tde_load128(stream + 16), size);

		hash = tde_polyval_short(&key->hash, block, size);
		/* beyond the ciphertext, where the tag is written over it */
		tde_store128(ciphertext, block);
	}
	else
	{
		tde_xor(ciphertext, plain, stream + 16, size);
		hash = tde_polyval(&key->hash, spec_byte, ciphertext, size);
	}
	tde_store128(ciphertext + size, hash ^ tde_load128(stream));
}

/* AES-GCM under a given nonce.  Short values under a fresh one take tde_ahead_next() instead (tde_gcm_seal()). */
static TdeStatus
seal_gcm(TdeGcmKey *key, const uint8_t *nonce, uint8_t spec_byte, const uint8_t *plain, size_t size, uint8_t *ciphertext)
{
	uint8_t		stream[16 * BATCH];
	bool		good;

	if (!key->own || size > LONG_VALUE)
		return evp_seal(key, nonce, spec_byte, plain, size, ciphertext) ? TDE_OK : TDE_E_CRYPTO;
	good = gcm_stream(key, nonce, 1 + (size + 15) / 16, stream);
	if (good)
		gcm_finish(key, spec_byte, stream, plain, size, ciphertext);
	/* whoever has the key stream and the ciphertext has the plaintext */
	tde_wipe_blocks(stream, 1 + (size + 15) / 16);
	return good ? TDE_OK : TDE_E_CRYPTO;
}

/* GHASH of ciphertext that its tag follows, so that a whole block can be read. */
static inline __attribute__((always_inline)) TdePair
hash_sealed(const TdeGcmKey *key, uint8_t spec_byte, const uint8_t *ciphertext, size_t size)
{
	if (tde_polyval_is_short(&key->hash, spec_byte, size))
		return tde_polyval_short(&key->hash, first_bytes(tde_load128(ciphertext), size), size);
	return tde_polyval(&key->hash, spec_byte, ciphertext, size);
}

/*
 * Decrypt what is authentic, given so many blocks for the tag and the key stream.  The hash comes first: its multiplications are under way while
 * OpenSSL is called.
 */
static inline __attribute__((always_inline))
TdeStatus
open_blocks(TdeGcmKey *key, const uint8_t *nonce, uint8_t spec_byte, const uint8_t *ciphertext, size_t size, uint8_t *stream,
			size_t blocks, uint8_t *out)
{
	TdePair		tag = hash_sealed(key, spec_byte, ciphertext, size) ^ tde_load128(ciphertext + size);
	TdeStatus	status = TDE_E_CRYPTO;

	if (gcm_stream(key, nonce, blocks, stream))
		status = is_zero(tag ^ tde_load128(stream)) ? TDE_OK : TDE_E_AUTH;
	if (status == TDE_OK)
		tde_xor(out, ciphertext, stream + 16, size);
	tde_wipe_blocks(stream, blocks);
	return status;
}

static __attribute__((noinline))
TdeStatus
open_longer(TdeGcmKey *key, const uint8_t *nonce, uint8_t spec_byte, const uint8_t *ciphertext, size_t size, uint8_t *out)
{
	uint8_t		stream[16 * BATCH];

	if (!key->own || size > LONG_VALUE)
		return evp_open(key, nonce, spec_byte, ciphertext, size, out);
	return open_blocks(key, nonce, spec_byte, ciphertext, size, stream, 1 + (size + 15) / 16, out);
}

/* Most values are short: for them a number of blocks that the compiler knows. */
static inline TdeStatus
open_gcm(TdeGcmKey *key, const uint8_t *nonce, uint8_t spec_byte, const uint8_t *ciphertext, size_t size, uint8_t *out)
{
	uint8_t		stream[16 * TDE_AHEAD_BLOCKS];

	if (key->own && size <= 16)
		return open_blocks(key, nonce, spec_byte, ciphertext, size, stream, 2, out);
	if (key->own && size <= TDE_AHEAD_STREAM)
		return open_blocks(key, nonce, spec_byte, ciphertext, size, stream, TDE_AHEAD_BLOCKS, out);
	return open_longer(key, nonce, spec_byte, ciphertext, size, out);
}

/* ---- unsalted: AES-GCM-SIV ---- */

/* RFC 8452, section 4: the hash, xored with the nonce and with its highest bit cleared, is encrypted. */
static inline bool
siv_tag(TdeGcmKey *key, uint8_t spec_byte, const uint8_t *plain, size_t size, uint8_t *tag)
{
	TdePair		hash;

	if (size < 16 && tde_polyval_is_short(&key->hash, spec_byte, size))
		hash = tde_polyval_short(&key->hash, tde_load_partial(plain, size), size);
	else
		hash = tde_polyval(&key->hash, spec_byte, plain, size);
	hash ^= key->nonce;
	hash = tde_little128(hash) & (TdePair) {UINT64_MAX, UINT64_MAX >> 1};
	tde_store128(tag, tde_little128(hash));
	return encrypt_blocks(key, tag, TAG);
}

/*
 * CTR as section 4 has it: the first counter is the tag with its highest bit set, of which the first four bytes count, little-endian and
 * modulo 2^32.
 */
static bool
siv_crypt(TdeGcmKey *key, const uint8_t *tag, const uint8_t *in, size_t size, uint8_t *out)
{
	uint8_t		stream[16 * BATCH];
	TdePair		counter = tde_little128(tde_load128(tag)) | (TdePair) {0, UINT64_C(1) << 63};
	uint64_t	fixed = counter[0] >> 32 << 32;
	uint32_t	count = (uint32_t) counter[0];
	bool		good = true;

	for (size_t done = 0; done < size && good; done += sizeof(stream))
	{
		size_t		part = size - done < sizeof(stream) ? size - done : sizeof(stream);
		size_t		blocks = (part + 15) / 16;

		for (size_t i = 0; i < blocks; i++)
			tde_store128(stream + 16 * i, tde_little128((TdePair) {fixed | count++, counter[1]}));
		good = encrypt_blocks(key, stream, 16 * blocks);
		if (good)
			tde_xor(out + done, in + done, stream, part);
		tde_wipe_blocks(stream, blocks);
	}
	return good;
}

static TdeStatus
seal_siv(TdeGcmKey *key, uint8_t spec_byte, const uint8_t *plain, size_t size, uint8_t *ciphertext)
{
	uint8_t		tag[TAG];

	if (!siv_tag(key, spec_byte, plain, size, tag) || !siv_crypt(key, tag, plain, size, ciphertext))
		return TDE_E_CRYPTO;
	memcpy(ciphertext + size, tag, TAG);
	return TDE_OK;
}

/* AES-GCM-SIV can be checked only after decryption, since the tag is over the plaintext.  The caller cleanses out if it was wrong. */
static TdeStatus
open_siv(TdeGcmKey *key, uint8_t spec_byte, const uint8_t *ciphertext, size_t size, uint8_t *out)
{
	const uint8_t *stored = ciphertext + size;
	uint8_t		tag[TAG];

	if (!siv_crypt(key, stored, ciphertext, size, out) || !siv_tag(key, spec_byte, out, size, tag))
		return TDE_E_CRYPTO;
	return is_zero(tde_load128(tag) ^ tde_load128(stored)) ? TDE_OK : TDE_E_AUTH;
}

/* ---- both ---- */

TdeStatus
tde_gcm_seal_under(TdeGcmKey *key, const uint8_t nonce[TDE_GCM_NONCE], uint8_t spec_byte, const uint8_t *plain, size_t size,
				   uint8_t *body)
{
	if (!key->salted)
		return seal_siv(key, spec_byte, plain, size, body);
	memcpy(body, nonce, TDE_GCM_NONCE);
	return seal_gcm(key, nonce, spec_byte, plain, size, body + TDE_GCM_NONCE);
}

TdeStatus
tde_gcm_seal(TdeGcmKey *key, uint8_t spec_byte, const uint8_t *plain, size_t size, uint8_t *body)
{
	uint8_t		nonce[TDE_GCM_NONCE];
	uint8_t    *stream;
	TdeStatus	status = TDE_OK;

	if (key->salted && key->own && size <= TDE_AHEAD_STREAM)
	{
		status = tde_ahead_next(&key->ahead, key->ecb, ahead_kind, body, &stream);
		if (status == TDE_OK)
		{
			gcm_finish(key, spec_byte, stream, plain, size, body + TDE_GCM_NONCE);
			tde_wipe_blocks(stream, TDE_AHEAD_BLOCKS);
		}
		return status;
	}
	if (key->salted)
		status = tde_random_salt(nonce, sizeof(nonce));
	return status == TDE_OK ? tde_gcm_seal_under(key, nonce, spec_byte, plain, size, body) : status;
}

TdeStatus
tde_gcm_open(TdeGcmKey *key, uint8_t spec_byte, const uint8_t *body, size_t size, uint8_t *out)
{
	return key->salted ? open_gcm(key, body, spec_byte, body + TDE_GCM_NONCE, size, out)
		: open_siv(key, spec_byte, body, size, out);
}
