/*
 * primitives.c - the few primitives that are used outside the value codec: HKDF, PBKDF2, key wrap, a keyed hash.
 */
#include "crypto/primitives.h"

#include <limits.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include "crypto/internal.h"
#include "crypto/spec.h"

static enum
{
	FIPS_UNKNOWN, FIPS_OFF, FIPS_ON
}			fips_state = FIPS_UNKNOWN;

static const char *missing = NULL;

/*
 * HKDF (RFC 5869, 2.2 and 2.3).  Without a salt parameter OpenSSL uses the string of zeros that the RFC demands.
 */
TdeStatus
tde_crypto_hkdf(const uint8_t *ikm, size_t ikm_size, const uint8_t *info, size_t info_size, uint8_t *out, size_t out_size)
{
	char		sha256[] = "SHA256";
	OSSL_PARAM	params[4];
	int			n = 0;
	EVP_KDF    *hkdf;
	EVP_KDF_CTX *context;
	TdeStatus	status = TDE_OK;

	ERR_clear_error();
	hkdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
	if (hkdf == NULL)
		return TDE_E_UNAVAILABLE;
	context = EVP_KDF_CTX_new(hkdf);
	EVP_KDF_free(hkdf);
	if (context == NULL)
		return TDE_E_NOMEM;

	params[n++] = OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, sha256, 0);
	params[n++] = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *) ikm, ikm_size);
	if (info_size > 0)
		params[n++] = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *) info, info_size);
	params[n] = OSSL_PARAM_construct_end();
	if (EVP_KDF_derive(context, out, out_size, params) != 1)
	{
		OPENSSL_cleanse(out, out_size);
		status = TDE_E_CRYPTO;
	}
	EVP_KDF_CTX_free(context);
	return status;
}

TdeStatus
tde_crypto_stretch(const char *secret, const uint8_t *salt, size_t salt_size, uint32_t iterations, uint8_t *out, size_t out_size)
{
	ERR_clear_error();
	if (iterations > INT_MAX || PKCS5_PBKDF2_HMAC(secret, (int) strlen(secret), salt, (int) salt_size, (int) iterations,
												  EVP_sha256(), (int) out_size, out) != 1)
	{
		OPENSSL_cleanse(out, out_size);
		return TDE_E_CRYPTO;
	}
	return TDE_OK;
}

/*
 * AES-256 key wrap with padding (RFC 5649; KWP of NIST SP 800-38F, 6.3) in either direction.  OpenSSL wants room for as
 * many bytes as it reads, and for 8 more when it wraps.  *written is 0 where it says that the input is not authentic.
 */
static TdeStatus
wrap_pad(const uint8_t kek[32], int encrypt, const uint8_t *in, size_t in_size, uint8_t *out, size_t *written)
{
	EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, "id-aes256-wrap-pad", NULL);
	EVP_CIPHER_CTX *context;
	int			size = 0;
	TdeStatus	status = TDE_OK;

	*written = 0;
	if (cipher == NULL)
		return TDE_E_UNAVAILABLE;
	context = EVP_CIPHER_CTX_new();
	if (context == NULL)
	{
		EVP_CIPHER_free(cipher);
		return TDE_E_NOMEM;
	}
	EVP_CIPHER_CTX_set_flags(context, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW);
	if (EVP_CipherInit_ex2(context, cipher, kek, NULL, encrypt, NULL) != 1)
		status = TDE_E_CRYPTO;
	else if (EVP_CipherUpdate(context, out, &size, in, (int) in_size) == 1 && size > 0)
		*written = (size_t) size;
	EVP_CIPHER_CTX_free(context);
	EVP_CIPHER_free(cipher);
	return status;
}

TdeStatus
tde_crypto_wrap_key(const uint8_t kek[32], const uint8_t *in, size_t in_size, uint8_t *out, size_t *out_size)
{
	size_t		room = *out_size;
	size_t		wrapped = (in_size + 7) / 8 * 8 + TDE_WRAP_OVERHEAD;
	TdeStatus	status;

	ERR_clear_error();
	*out_size = 0;
	if (in_size == 0 || in_size > INT_MAX / 2 || room < wrapped)
		return TDE_E_CRYPTO;
	status = wrap_pad(kek, 1, in, in_size, out, out_size);
	if (status == TDE_OK && *out_size != wrapped)
		status = TDE_E_CRYPTO;
	if (status != TDE_OK)
	{
		OPENSSL_cleanse(out, wrapped);
		*out_size = 0;
	}
	return status;
}

/*
 * Goes through a buffer of its own: OpenSSL writes the padding too, for which the caller need not have room.
 */
TdeStatus
tde_crypto_unwrap_key(const uint8_t kek[32], const uint8_t *in, size_t in_size, uint8_t *out, size_t *out_size)
{
	size_t		room = *out_size;
	size_t		size;
	uint8_t    *plain;
	TdeStatus	status;

	ERR_clear_error();
	*out_size = 0;
	/* the shortest wrapped key is two semiblocks: RFC 5649, 4.2 */
	if (in_size < 16 || in_size % 8 != 0 || in_size > INT_MAX / 2)
		return TDE_E_AUTH;
	plain = OPENSSL_malloc(in_size);
	if (plain == NULL)
		return TDE_E_NOMEM;
	status = wrap_pad(kek, 0, in, in_size, plain, &size);
	if (status == TDE_OK && (size == 0 || size > in_size - TDE_WRAP_OVERHEAD || size > room))
	{
		ERR_clear_error();		/* what it left there is about the bytes, which TDE_E_AUTH says already */
		status = TDE_E_AUTH;
	}
	if (status == TDE_OK)
	{
		memcpy(out, plain, size);
		*out_size = size;
	}
	OPENSSL_clear_free(plain, in_size);
	return status;
}

bool
tde_crypto_fips(void)
{
	if (fips_state == FIPS_UNKNOWN)
		fips_state = EVP_default_properties_is_fips_enabled(NULL) == 1 ? FIPS_ON : FIPS_OFF;
	return fips_state == FIPS_ON;
}

#ifdef TDE_UNIT_TEST
void
tde_crypto_use_evp(bool on)
{
	fips_state = on ? FIPS_ON : FIPS_OFF;
}
#endif

TdeStatus
tde_crypto_unavailable(const char *cipher)
{
	missing = cipher;
	return TDE_E_UNAVAILABLE;
}

const char *
tde_crypto_missing(void)
{
	const char *cipher = missing;

	/* the next one may be about something else */
	missing = NULL;
	return cipher;
}

/*
 * The newest entry of OpenSSL's error queue is about the last failure; older ones may be somebody else's.  The queue is
 * emptied, so that they do not turn up in the next report.
 */
const char *
tde_crypto_reason(void)
{
	static char text[256];
	unsigned long code = ERR_peek_last_error();

	if (code == 0)
		return "OpenSSL gave no reason";
	ERR_error_string_n(code, text, sizeof(text));
	ERR_clear_error();
	return text;
}

/* ---- keyed hash ---- */

struct TdePrf
{
	EVP_CIPHER_CTX *context;	/* AES-256-ECB without padding, the key set once */
};

TdeStatus
tde_crypto_prf_new(TdePrf **prf, const uint8_t key[32])
{
	TdePrf	   *new = OPENSSL_zalloc(sizeof(*new));

	*prf = NULL;
	ERR_clear_error();
	if (new == NULL)
		return TDE_E_NOMEM;
	new->context = EVP_CIPHER_CTX_new();
	if (new->context == NULL || EVP_EncryptInit_ex2(new->context, EVP_aes_256_ecb(), key, NULL, NULL) != 1 ||
		EVP_CIPHER_CTX_set_padding(new->context, 0) != 1)
	{
		tde_crypto_prf_free(new);
		return TDE_E_CRYPTO;
	}
	*prf = new;
	return TDE_OK;
}

#define PRF_BLOCK	16
#define PRF_BLOCKS	32			/* for one call of OpenSSL */

/* Hashes up to PRF_BLOCKS numbers in their places: each becomes the first half of its encrypted block. */
static inline TdeStatus
prf_blocks(TdePrf *prf, uint8_t purpose, uint64_t *numbers, size_t count)
{
	uint8_t		blocks[PRF_BLOCKS * PRF_BLOCK];
	int			size = (int) count * PRF_BLOCK;
	int			written = 0;

	/* little-endian on every machine: the result is stored in indexes, and orders others */
	for (size_t i = 0; i < count; i++)
	{
		uint8_t    *block = blocks + i * PRF_BLOCK;
		uint64_t	number = numbers[i];

		for (int byte = 0; byte < 8; byte++)
			block[byte] = (uint8_t) (number >> 8 * byte);
		memset(block + 8, 0, 7);
		block[15] = purpose;
	}
	if (EVP_EncryptUpdate(prf->context, blocks, &written, blocks, size) != 1 || written != size)
		return TDE_E_CRYPTO;
	for (size_t i = 0; i < count; i++)
	{
		uint64_t	result = 0;

		for (int byte = 0; byte < 8; byte++)
			result |= (uint64_t) blocks[i * PRF_BLOCK + byte] << 8 * byte;
		numbers[i] = result;
	}
	return TDE_OK;
}

TdeStatus
tde_crypto_prf_all(TdePrf *prf, uint8_t purpose, uint64_t *numbers, size_t count)
{
	TdeStatus	status = TDE_OK;

	for (size_t done = 0; status == TDE_OK && done < count; done += PRF_BLOCKS)
		status = prf_blocks(prf, purpose, numbers + done, count - done < PRF_BLOCKS ? count - done : PRF_BLOCKS);
	return status;
}

TdeStatus
tde_crypto_prf(TdePrf *prf, uint8_t purpose, uint64_t number, uint64_t *result)
{
	*result = number;
	return prf_blocks(prf, purpose, result, 1);
}

void
tde_crypto_prf_free(TdePrf *prf)
{
	if (prf == NULL)
		return;
	EVP_CIPHER_CTX_free(prf->context);
	OPENSSL_clear_free(prf, sizeof(*prf));
}
