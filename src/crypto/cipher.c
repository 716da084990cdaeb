/*
 * cipher.c - AES and triple DES in the modes that values use, with contexts that are kept from value to value.
 *
 * A value is often shorter than one block, so what counts is the fixed cost of a call.  Beside an ECB call of one
 * block, setting an IV costs EVP several times and setting a key many times as much ("make bench-crypto").  So contexts
 * are kept with their key, and no IV is set but for long values in CTR:
 *
 * - CTR of shorter ones encrypts a run of counters with one ECB call and xors (the "CTR4" of Canim and Kantarcioglu);
 * - CBC decryption is one ECB call over all blocks and a xor;
 * - CBC encryption xors the wanted IV, and away what the context is about to xor, into the first block.
 *
 * Under FIPS OpenSSL's own modes are used instead, because a validated module is one that does the whole mode itself.
 */
#include "crypto/cipher.h"

#include <openssl/core_names.h>
#include <openssl/params.h>
#include <stdio.h>

#include "crypto/internal.h"
#include "crypto/primitives.h"

/* From here on OpenSSL's own CTR is faster, which keeps the key stream in registers, although an IV must be set for it. */
#define CTR_BATCH	1024

/*
 * One EVP context with key and direction set, padding off, and the IV zero.
 */
static TdeStatus
context_new(EVP_CIPHER_CTX **context, const char *name, const uint8_t *secret, int encrypt)
{
	static const uint8_t zero_iv[TDE_MAX_BLOCK] = {0};
	char		cs3[] = OSSL_CIPHER_CTS_MODE_CS3;
	OSSL_PARAM	stealing[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_CIPHER_PARAM_CTS_MODE, cs3, 0),
		OSSL_PARAM_construct_end()
	};
	bool		steals = strstr(name, "-CTS") != NULL;
	TdeStatus	status = TDE_OK;
	EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, name, NULL);

	if (cipher == NULL)
		return TDE_E_UNAVAILABLE;
	*context = EVP_CIPHER_CTX_new();
	if (*context == NULL)
		status = TDE_E_NOMEM;
	else if (EVP_CipherInit_ex2(*context, cipher, secret, EVP_CIPHER_get_iv_length(cipher) > 0 ? zero_iv : NULL,
								encrypt, steals ? stealing : NULL) != 1 ||
			 EVP_CIPHER_CTX_set_padding(*context, 0) != 1)
		status = TDE_E_CRYPTO;
	EVP_CIPHER_free(cipher);
	return status;
}

/* OpenSSL's name for a cipher in the given mode: "AES-256-ECB". */
static void
cipher_name(char *name, size_t room, TdeSpec spec, const char *mode)
{
	if (spec.cipher == TDE_3DES168)
		snprintf(name, room, "DES-EDE3-%s", mode);
	else
		snprintf(name, room, "AES-%zu-%s", tde_spec_key(spec) * 8, mode);
}

TdeStatus
tde_cipher_context(EVP_CIPHER_CTX **context, TdeSpec spec, const char *mode, const uint8_t *secret, int encrypt)
{
	char		name[32];

	cipher_name(name, sizeof(name), spec, mode);
	return context_new(context, name, secret, encrypt);
}

static TdeStatus
init_own_modes(TdeCipherKey *key, TdeSpec spec, const uint8_t *secret)
{
	TdeStatus	status;

	if (spec.mode == TDE_CTR)
	{
		status = tde_cipher_context(&key->encrypt, spec, "ECB", secret, 1);
		return status == TDE_OK ? tde_cipher_context(&key->counter, spec, "CTR", secret, 1) : status;
	}
	status = tde_cipher_context(&key->encrypt, spec, "CBC", secret, 1);
	if (status == TDE_OK)
		status = tde_cipher_context(&key->decrypt, spec, "ECB", secret, 0);
	return status;
}

static TdeStatus
init_evp_modes(TdeCipherKey *key, TdeSpec spec, const uint8_t *secret)
{
	TdeStatus	status;

	/* OpenSSL has no ciphertext stealing for triple DES, and NIST withdrew its approval at the end of 2023 */
	if (spec.cipher == TDE_3DES168)
		return TDE_E_UNAVAILABLE;
	if (spec.mode == TDE_CTR)
		return tde_cipher_context(&key->counter, spec, "CTR", secret, 1);

	status = tde_cipher_context(&key->encrypt, spec, "CBC", secret, 1);
	if (status == TDE_OK)
		status = tde_cipher_context(&key->decrypt, spec, "CBC", secret, 0);
	if (status == TDE_OK && !spec.salted)
		status = tde_cipher_context(&key->steal, spec, "CBC-CTS", secret, 1);
	if (status == TDE_OK && !spec.salted)
		status = tde_cipher_context(&key->unsteal, spec, "CBC-CTS", secret, 0);
	return status;
}

TdeStatus
tde_cipher_init(TdeCipherKey *key, TdeSpec spec, const uint8_t *secret)
{
	TdeStatus	status;

	key->block = (uint8_t) tde_spec_block(spec);
	key->own_modes = !tde_crypto_fips();
	status = key->own_modes ? init_own_modes(key, spec, secret) : init_evp_modes(key, spec, secret);
	/* a provider may offer triple DES, and refuse to encrypt with it */
	if (status == TDE_E_UNAVAILABLE || (status == TDE_E_CRYPTO && spec.cipher == TDE_3DES168))
		status = tde_crypto_unavailable(tde_spec_cipher_word(spec));
	if (status != TDE_OK)
	{
		tde_cipher_free(key);
		return status;
	}
	/* the CBC context starts with a zero IV */
	key->chain_known = key->own_modes;
	return TDE_OK;
}

void
tde_cipher_free(TdeCipherKey *key)
{
	EVP_CIPHER_CTX_free(key->encrypt);
	EVP_CIPHER_CTX_free(key->counter);
	EVP_CIPHER_CTX_free(key->decrypt);
	EVP_CIPHER_CTX_free(key->steal);
	EVP_CIPHER_CTX_free(key->unsteal);
	tde_wipe(key, sizeof(*key));
}

/* EVP's update in each direction; anything but exactly as many bytes out as in is a failure. */
static inline bool
encrypt_update(EVP_CIPHER_CTX *context, const uint8_t *in, size_t size, uint8_t *out)
{
	int			written = 0;

	return size <= TDE_MAX_UPDATE &&
		EVP_EncryptUpdate(context, out, &written, in, (int) size) == 1 &&
		(size_t) written == size;
}

static inline bool
decrypt_update(EVP_CIPHER_CTX *context, const uint8_t *in, size_t size, uint8_t *out)
{
	int			written = 0;

	return size <= TDE_MAX_UPDATE &&
		EVP_DecryptUpdate(context, out, &written, in, (int) size) == 1 &&
		(size_t) written == size;
}

/* Set the IV, keep everything else. */
static inline bool
set_iv(EVP_CIPHER_CTX *context, const uint8_t *iv)
{
	return EVP_CipherInit_ex2(context, NULL, NULL, iv, -1, NULL) == 1;
}

/*
 * The counter is one 128-bit big-endian integer (NIST SP 800-38A, 6.5 and appendix B.1 with m = 128).  Of this many blocks
 * all have the same upper half, but for one start in 2^64 / CTR_BATCH.
 */
static inline bool
is_batch(const uint8_t counter[16], size_t size)
{
	return size <= CTR_BATCH && tde_big64(tde_load64(counter + 8)) <= UINT64_MAX - CTR_BATCH / 16;
}

/* CTR of a batch: its counters are encrypted in one call. */
static TdeStatus
ctr_batch(TdeCipherKey *key, const uint8_t counter[16], const uint8_t *in, size_t size, uint8_t *out)
{
	uint8_t		stream[CTR_BATCH];
	uint64_t	high = tde_load64(counter);
	uint64_t	low = tde_big64(tde_load64(counter + 8));
	size_t		padded = tde_padded_size(size - 1, 16);
	bool		good;

	for (size_t i = 0; i < padded; i += 16)
		tde_store128(stream + i, (TdePair) {high, tde_big64(low++)});
	good = encrypt_update(key->encrypt, stream, padded, stream);
	if (good)
		tde_xor(out, in, stream, size);
	/* whoever has the key stream and the ciphertext has the plaintext */
	tde_wipe_blocks(stream, padded / 16);
	return good ? TDE_OK : TDE_E_CRYPTO;
}

TdeStatus
tde_cipher_ctr_any(TdeCipherKey *key, const uint8_t counter[16], const uint8_t *in, size_t size, uint8_t *out)
{
	if (size == 0)
		return TDE_OK;
	if (key->own_modes && is_batch(counter, size))
		return ctr_batch(key, counter, in, size, out);
	return set_iv(key->counter, counter) && encrypt_update(key->counter, in, size, out) ? TDE_OK : TDE_E_CRYPTO;
}

/* The chain and the IV have room for 16 bytes, but only the first 8 count where the block is that small. */
static inline TdePair
load_block(const uint8_t *from, size_t block)
{
	return block == 16 ? tde_load128(from) : (TdePair) {tde_load64(from), 0};
}

static inline void
store_block(uint8_t *to, TdePair pair, size_t block)
{
	if (block == 16)
		tde_store128(to, pair);
	else
		tde_store64(to, pair[0]);
}

/* Go on with CBC in place after cbc_start(). */
static inline TdeStatus
cbc_continue(TdeCipherKey *key, uint8_t *data, size_t size)
{
	size_t		block = key->block;

	key->chain_known = false;
	if (!encrypt_update(key->encrypt, data, size, data))
		return TDE_E_CRYPTO;
	tde_store128(key->chain, load_block(data + size - block, block));
	key->chain_known = key->own_modes;
	return TDE_OK;
}

/*
 * CBC encryption in place (NIST SP 800-38A, 6.2) under the IV given; the first block, not yet in place, is given too.
 * The context xors the last ciphertext block it made into its next input; xoring that block and the IV into the input
 * first is the same as setting the IV.
 */
static inline TdeStatus
cbc_start(TdeCipherKey *key, const uint8_t *iv, TdePair first, uint8_t *data, size_t size)
{
	size_t		block = key->block;

	if (key->chain_known)
		first ^= load_block(iv, block) ^ tde_load128(key->chain);
	else if (!set_iv(key->encrypt, iv))
		return TDE_E_CRYPTO;
	store_block(data, first, block);
	return cbc_continue(key, data, size);
}

TdeStatus
tde_cipher_cbc_encrypt(TdeCipherKey *key, const uint8_t *iv, const uint8_t *in, size_t size, uint8_t *out)
{
	if (size == 0 || (size & (key->block - 1u)) != 0)
		return TDE_E_CRYPTO;
	memcpy(out, in, size);
	return cbc_start(key, iv, load_block(in, key->block), out, size);
}

/* Bytes of a block counted from its end: the last one has distance 0. */
typedef uint8_t Bytes __attribute__((vector_size(16)));

static const Bytes from_end = {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0};

/* The last bytes, as many as count says, all ones; the others zero. */
static inline TdePair
last_bytes(unsigned count)
{
	Bytes		counts = (Bytes) {0} + (uint8_t) count;

	return (TdePair) (from_end < counts);
}

static inline TdePair
all_bytes(unsigned value)
{
	return (TdePair) ((Bytes) {0} + (uint8_t) value);
}

/* PKCS#7 (RFC 5652, 6.3): the padding is 1 to block bytes, each of which says how many they are. */
TdeStatus
tde_cipher_cbc_encrypt_padded(TdeCipherKey *key, const uint8_t *iv, const uint8_t *in, size_t size, uint8_t *out)
{
	size_t		padded = tde_padded_size(size, key->block);
	unsigned	padding = (unsigned) (padded - size);

	if (size < 16 && key->block == 16)
	{
		TdePair		only = tde_load_partial(in, size) | (last_bytes(padding) & all_bytes(padding));

		return cbc_start(key, iv, only, out, padded);
	}
	tde_copy(out, in, size);
	memset(out + size, (int) padding, padding);
	return cbc_start(key, iv, load_block(out, key->block), out, padded);
}

TdeStatus
tde_cipher_cbc_decrypt(TdeCipherKey *key, const uint8_t *iv, const uint8_t *in, size_t size, uint8_t *out)
{
	size_t		block = key->block;

	if (size == 0 || (size & (block - 1)) != 0)
		return TDE_E_CRYPTO;
	if (!key->own_modes)
		return set_iv(key->decrypt, iv) && decrypt_update(key->decrypt, in, size, out) ? TDE_OK : TDE_E_CRYPTO;

	if (!decrypt_update(key->decrypt, in, size, out))
		return TDE_E_CRYPTO;
	store_block(out, load_block(out, block) ^ load_block(iv, block), block);
	if (size > block)
		tde_xor(out + block, out + block, in, size - block);
	return TDE_OK;
}

/*
 * CBC-CS3 (NIST SP 800-38A addendum, 2010; the same as in RFC 3962).  The last plaintext block, which may be partial,
 * is filled up with zeros and encrypted by CBC; then the last two ciphertext blocks change places and the one that is
 * now last is cut to the size of the last plaintext block.  A single block is plain CBC.
 */
TdeStatus
tde_cipher_cs3_encrypt(TdeCipherKey *key, const uint8_t *iv, const uint8_t *in, size_t size, uint8_t *out)
{
	size_t		block = key->block;
	size_t		head;			/* all but the last block */
	uint8_t		last[TDE_MAX_BLOCK] = {0};
	TdeStatus	status;

	if (size < block)
		return TDE_E_CRYPTO;
	if (size == block)
		return tde_cipher_cbc_encrypt(key, iv, in, size, out);
	if (!key->own_modes)
		return set_iv(key->steal, iv) && encrypt_update(key->steal, in, size, out) ? TDE_OK : TDE_E_CRYPTO;

	head = (size - 1) & ~(block - 1);
	memcpy(out, in, head);
	memcpy(last, in + head, size - head);
	status = cbc_start(key, iv, load_block(in, block), out, head);
	if (status == TDE_OK)
		status = cbc_continue(key, last, block);
	if (status == TDE_OK)
	{
		memcpy(out + head, out + head - block, size - head);
		memcpy(out + head - block, last, block);
	}
	tde_wipe(last, sizeof(last));
	return status;
}

/*
 * The reverse.  With X the block that decrypting the last full ciphertext block gives: the first bytes of X are the
 * last plaintext block xor the stolen block's bytes, the others are the bytes that were cut off from the stolen block.
 */
TdeStatus
tde_cipher_cs3_decrypt(TdeCipherKey *key, const uint8_t *iv, const uint8_t *in, size_t size, uint8_t *out)
{
	size_t		block = key->block;
	size_t		head,
				tail;
	uint8_t		stolen[TDE_MAX_BLOCK];
	uint8_t    *x;

	if (size < block)
		return TDE_E_CRYPTO;
	if (size == block)
		return tde_cipher_cbc_decrypt(key, iv, in, size, out);
	if (!key->own_modes)
		return set_iv(key->unsteal, iv) && decrypt_update(key->unsteal, in, size, out) ? TDE_OK : TDE_E_CRYPTO;

	head = (size - 1) & ~(block - 1);
	tail = size - head;
	if (!decrypt_update(key->decrypt, in, head, out))
		return TDE_E_CRYPTO;
	x = out + head - block;
	memcpy(stolen, in + head, tail);
	memcpy(stolen + tail, x + tail, block - tail);
	tde_xor(out + head, x, stolen, tail);
	if (!decrypt_update(key->decrypt, stolen, block, x))
		return TDE_E_CRYPTO;
	tde_xor(out, out, iv, block);
	tde_xor(out + block, out + block, in, head - block);
	tde_wipe(stolen, sizeof(stolen));
	return TDE_OK;
}

/*
 * The reverse of PKCS#7 padding.  Looks at every byte whatever it finds, so that the time taken tells nothing.
 */
bool
tde_cipher_unpad(const uint8_t *last, size_t block, size_t *padding)
{
	unsigned	count = last[block - 1];
	TdePair		bytes = block == 16 ? tde_load128(last) : (TdePair) {0, tde_load64(last)};	/* ends at the end */
	TdePair		wrong = last_bytes(count) & (bytes ^ all_bytes(count));

	*padding = count;
	return (((count - 1) >= block) | ((wrong[0] | wrong[1]) != 0)) == 0;
}
