/*
 * container_mac.c - the outer layer of a PKCS#12 file, and the MAC that vouches for what is inside.
 *
 * OpenSSL writes and verifies PBMAC1 from 3.4 on, and lets nobody change the MAC of its own structure.  So the structure is
 * declared here, with OpenSSL's types for its parts, and one way does for all versions.
 *
 * A file is attacker-controlled until its MAC was verified, so only the few MAC algorithms that we write ourselves, or have
 * written, are computed at all: parameters from the file could ask for hours of work, or for a key so short that it is guessed.
 */
#include "crypto/container_mac.h"

#include <stdbool.h>
#include <string.h>

#include <openssl/asn1.h>
#include <openssl/asn1t.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/objects.h>
#include <openssl/rand.h>
#include <openssl/x509.h>

#include "crypto/internal.h"
#include "crypto/primitives.h"

#define PFX_VERSION		3

/* Room for later versions to ask for more, yet a file can keep a server busy for seconds at most. */
#define MAX_MAC_ITERATIONS	20000000

#define SALT_SIZE		16		/* what NIST SP 800-132 asks for; OpenSSL's default was 8 */
#define MAC_KEY_SIZE	32
#define MAC_SIZE		32

/* With PBMAC1 this salt means nothing, and must be there (RFC 9579, 5).  The RFC's own examples say the same. */
#define UNUSED_SALT		"NOT USED"

/* RFC 7292, 4 */
typedef struct MacData
{
	X509_SIG   *mac;			/* algorithm and value */
	ASN1_OCTET_STRING *salt;
	ASN1_INTEGER *iterations;	/* NULL means 1 */
} MacData;

typedef struct Pfx
{
	ASN1_INTEGER *version;
	PKCS7	   *content;
	MacData    *mac;			/* NULL: none */
} Pfx;
/* INDENT OFF */
ASN1_SEQUENCE(MacData) = {
	ASN1_SIMPLE(MacData, mac, X509_SIG),
	ASN1_SIMPLE(MacData, salt, ASN1_OCTET_STRING),
	ASN1_OPT(MacData, iterations, ASN1_INTEGER)
} static_ASN1_SEQUENCE_END(MacData)

ASN1_SEQUENCE(Pfx) = {
	ASN1_SIMPLE(Pfx, version, ASN1_INTEGER),
	ASN1_SIMPLE(Pfx, content, PKCS7),
	ASN1_OPT(Pfx, mac, MacData)
} static_ASN1_SEQUENCE_END(Pfx)
/* INDENT ON */

TdeStatus
tde_container_failure(TdeStatus otherwise)
{
	TdeStatus	status = otherwise;
	unsigned long error;

	while ((error = ERR_get_error()) != 0)
	{
		if (ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE)
			status = TDE_E_NOMEM;
	}
	ERR_clear_error();
	return status;
}

static Pfx *
pfx_new(void)
{
	return (Pfx *) ASN1_item_new(ASN1_ITEM_rptr(Pfx));
}

static void
pfx_free(Pfx *pfx)
{
	ASN1_item_free((ASN1_VALUE *) pfx, ASN1_ITEM_rptr(Pfx));
}

/* ---- the MAC's algorithm ---- */

static int
algorithm_nid(const X509_ALGOR *algorithm)
{
	const ASN1_OBJECT *oid = NULL;

	if (algorithm == NULL)
		return NID_undef;
	X509_ALGOR_get0(&oid, NULL, NULL, algorithm);
	return OBJ_obj2nid(oid);
}

/* This algorithm, which has no parameters: NULL, or none. */
static bool
is_plain(const X509_ALGOR *algorithm, int nid)
{
	int			type = V_ASN1_UNDEF;

	if (algorithm == NULL)
		return false;
	X509_ALGOR_get0(NULL, &type, NULL, algorithm);
	return algorithm_nid(algorithm) == nid && (type == V_ASN1_NULL || type == V_ASN1_UNDEF);
}

static bool
integer_within(const ASN1_INTEGER *number, int64_t low, int64_t high)
{
	int64_t		value;

	return number != NULL && ASN1_INTEGER_get_int64(&value, number) == 1 && value >= low && value <= high;
}

/*
 * PBMAC1 with these parameters.  Its own are declared like those of PBES2 (RFC 8018, A.4 and A.5): two algorithms.
 */
static bool
set_pbmac1(X509_ALGOR *algorithm, const uint8_t salt[SALT_SIZE], int iterations)
{
	PBE2PARAM  *param = PBE2PARAM_new();
	ASN1_STRING *packed = NULL;
	bool		ok = param != NULL;

	if (ok)
	{
		X509_ALGOR_free(param->keyfunc);
		param->keyfunc = PKCS5_pbkdf2_set(iterations, (uint8_t *) (uintptr_t) salt, SALT_SIZE, NID_hmacWithSHA256, MAC_KEY_SIZE);
		ok = param->keyfunc != NULL &&
			X509_ALGOR_set0(param->encryption, OBJ_nid2obj(NID_hmacWithSHA256), V_ASN1_NULL, NULL) == 1 &&
			(packed = ASN1_item_pack(param, ASN1_ITEM_rptr(PBE2PARAM), NULL)) != NULL &&
			X509_ALGOR_set0(algorithm, OBJ_nid2obj(NID_pbmac1), V_ASN1_SEQUENCE, packed) == 1;
	}
	if (!ok)
		ASN1_STRING_free(packed);
	PBE2PARAM_free(param);
	return ok;
}

/*
 * The derivation of a PBMAC1 as we write it, NULL for others.  Every parameter is looked at: the key length comes from the file
 * too, and a MAC under a key of one byte is forged by trying 256 files.  Some OpenSSL would trust its upper end and the type of the
 * salt (CVE-2025-11187).
 */
static PBKDF2PARAM *
known_pbmac1(const X509_ALGOR *algorithm)
{
	PBE2PARAM  *outer = ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBE2PARAM), algorithm->parameter);
	PBKDF2PARAM *inner = NULL;

	if (outer != NULL && algorithm_nid(outer->keyfunc) == NID_id_pbkdf2 &&
		is_plain(outer->encryption, NID_hmacWithSHA256))
		inner = ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBKDF2PARAM), outer->keyfunc->parameter);
	if (inner != NULL && !(is_plain(inner->prf, NID_hmacWithSHA256) &&
						   inner->salt->type == V_ASN1_OCTET_STRING &&
						   integer_within(inner->keylength, MAC_KEY_SIZE, MAC_KEY_SIZE) &&
						   integer_within(inner->iter, 1, MAX_MAC_ITERATIONS)))
	{
		PBKDF2PARAM_free(inner);
		inner = NULL;
	}
	PBE2PARAM_free(outer);
	return inner;
}

/*
 * No MAC covers what MacData has besides it, so it is to be what we write, or what OpenSSL does: that of the derivation once more.  Whoever
 * changes a wallet is noticed.
 */
static bool
is_unused(const MacData *mac, const PBKDF2PARAM *param)
{
	if (mac->iterations == NULL)
		return ASN1_STRING_length(mac->salt) == (int) strlen(UNUSED_SALT) &&
			memcmp(ASN1_STRING_get0_data(mac->salt), UNUSED_SALT, strlen(UNUSED_SALT)) == 0;
	return ASN1_INTEGER_cmp(mac->iterations, param->iter) == 0 &&
		ASN1_OCTET_STRING_cmp(mac->salt, param->salt->value.octet_string) == 0;
}

/* ---- its value ---- */

static TdeStatus
hmac(const uint8_t key[MAC_KEY_SIZE], const ASN1_OCTET_STRING *content, uint8_t mac[MAC_SIZE])
{
	unsigned	size = 0;

	if (HMAC(EVP_sha256(), key, MAC_KEY_SIZE, ASN1_STRING_get0_data(content), (size_t) ASN1_STRING_length(content),
			 mac, &size) == NULL || size != MAC_SIZE)
		return TDE_E_CRYPTO;
	return TDE_OK;
}

static TdeStatus
pbmac1(const ASN1_OCTET_STRING *content, const char *passphrase, const uint8_t *salt, size_t salt_size, int64_t iterations,
	   uint8_t mac[MAC_SIZE])
{
	uint8_t		key[MAC_KEY_SIZE];
	TdeStatus	status = tde_crypto_stretch(passphrase, salt, salt_size, (uint32_t) iterations, key, sizeof(key));

	if (status == TDE_OK)
		status = hmac(key, content, mac);
	tde_wipe(key, sizeof(key));
	return status;
}

/* The MAC that the file should have, of its own parameters; TDE_E_AUTH if they are none that we write. */
static TdeStatus
expected_pbmac1(const Pfx *pfx, const X509_ALGOR *algorithm, const char *passphrase, uint8_t mac[MAC_SIZE])
{
	PBKDF2PARAM *param = known_pbmac1(algorithm);
	const ASN1_OCTET_STRING *salt;
	int64_t		iterations = 0;
	TdeStatus	status = TDE_E_AUTH;

	if (param != NULL && is_unused(pfx->mac, param) && ASN1_INTEGER_get_int64(&iterations, param->iter) == 1)
	{
		salt = param->salt->value.octet_string;
		status = pbmac1(pfx->content->d.data, passphrase, ASN1_STRING_get0_data(salt), (size_t) ASN1_STRING_length(salt),
						iterations, mac);
	}
	PBKDF2PARAM_free(param);
	return status;
}

/*
 * The traditional MAC.  To tell a lack of its derivation from a wrong passphrase gives nothing away: it does not depend on the
 * passphrase.
 */
static TdeStatus
expected_traditional(const Pfx *pfx, const char *passphrase, uint8_t mac[MAC_SIZE])
{
	const ASN1_OCTET_STRING *salt = pfx->mac->salt;
	EVP_KDF    *kdf;
	uint8_t		key[MAC_KEY_SIZE];
	int64_t		iterations = 1;
	TdeStatus	status;

	if (pfx->mac->iterations != NULL && (!integer_within(pfx->mac->iterations, 1, MAX_MAC_ITERATIONS) ||
										 ASN1_INTEGER_get_int64(&iterations, pfx->mac->iterations) != 1))
		return TDE_E_AUTH;
	kdf = EVP_KDF_fetch(NULL, "PKCS12KDF", NULL);
	if (kdf == NULL)
		return tde_container_failure(TDE_E_UNAVAILABLE);
	EVP_KDF_free(kdf);

	/* takes the passphrase as UTF-16, where PBKDF2 takes its bytes */
	status = PKCS12_key_gen_utf8(passphrase, -1, (uint8_t *) (uintptr_t) ASN1_STRING_get0_data(salt), ASN1_STRING_length(salt),
								 PKCS12_MAC_ID, (int) iterations, MAC_KEY_SIZE, key, EVP_sha256()) == 1 ? TDE_OK : TDE_E_CRYPTO;
	if (status == TDE_OK)
		status = hmac(key, pfx->content->d.data, mac);
	tde_wipe(key, sizeof(key));
	return status;
}

/* Returns TDE_OK if the MAC of a file is right.  All that is wrong with it is TDE_E_AUTH, as a wrong passphrase is. */
static TdeStatus
verify(const Pfx *pfx, const char *passphrase)
{
	const X509_ALGOR *algorithm = NULL;
	const ASN1_OCTET_STRING *found = NULL;
	uint8_t		expected[MAC_SIZE];
	TdeStatus	status;

	if (pfx->mac == NULL || !PKCS7_type_is_data(pfx->content) || pfx->content->d.data == NULL)
		return TDE_E_AUTH;
	X509_SIG_get0(pfx->mac->mac, &algorithm, &found);
	if (algorithm_nid(algorithm) == NID_pbmac1)
		status = expected_pbmac1(pfx, algorithm, passphrase, expected);
	else if (is_plain(algorithm, NID_sha256))
		status = expected_traditional(pfx, passphrase, expected);
	else
		return TDE_E_AUTH;
	if (status == TDE_OK && (ASN1_STRING_length(found) != MAC_SIZE ||
							 CRYPTO_memcmp(ASN1_STRING_get0_data(found), expected, MAC_SIZE) != 0))
		status = TDE_E_AUTH;
	/* with it, whoever sees our memory could pass another file off as authentic */
	tde_wipe(expected, sizeof(expected));
	return status;
}

/* ---- whole files ---- */

/* Sets a MAC over the content, under a fresh salt. */
static TdeStatus
seal(Pfx *pfx, const char *passphrase, int iterations)
{
	X509_ALGOR *algorithm = NULL;
	ASN1_OCTET_STRING *value = NULL;
	uint8_t		salt[SALT_SIZE];
	uint8_t		mac[MAC_SIZE];
	TdeStatus	status;

	if ((pfx->mac = (MacData *) ASN1_item_new(ASN1_ITEM_rptr(MacData))) == NULL ||
		ASN1_STRING_set(pfx->mac->salt, UNUSED_SALT, -1) != 1 ||
		RAND_bytes(salt, SALT_SIZE) != 1)
		return TDE_E_CRYPTO;
	X509_SIG_getm(pfx->mac->mac, &algorithm, &value);
	if (!set_pbmac1(algorithm, salt, iterations))
		return TDE_E_CRYPTO;
	status = pbmac1(pfx->content->d.data, passphrase, salt, SALT_SIZE, iterations, mac);
	if (status == TDE_OK && ASN1_STRING_set(value, mac, MAC_SIZE) != 1)
		status = TDE_E_CRYPTO;
	return status;
}

TdeStatus
tde_container_write(const STACK_OF(PKCS7) *safes, const char *passphrase, int iterations, uint8_t **der, size_t *size)
{
	Pfx		   *pfx = pfx_new();
	int			written = 0;
	TdeStatus	status = TDE_E_CRYPTO;

	*der = NULL;
	*size = 0;
	if (pfx != NULL && ASN1_INTEGER_set(pfx->version, PFX_VERSION) == 1 &&
		PKCS7_set_type(pfx->content, NID_pkcs7_data) == 1 &&
		ASN1_item_pack((void *) (uintptr_t) safes, ASN1_ITEM_rptr(PKCS12_AUTHSAFES), &pfx->content->d.data) != NULL)
		status = seal(pfx, passphrase, iterations);
	if (status == TDE_OK && (written = ASN1_item_i2d((ASN1_VALUE *) pfx, der, ASN1_ITEM_rptr(Pfx))) <= 0)
		status = TDE_E_CRYPTO;
	if (status == TDE_OK)
		*size = (size_t) written;
	else
		status = tde_container_failure(status);
	pfx_free(pfx);
	return status;
}

/*
 * Returns true if these are the bytes that such a structure is written as.  No MAC covers how it is written, and ASN.1 can be in many ways, which
 * mean the same.
 */
static bool
is_der(const Pfx *pfx, const uint8_t *bytes, size_t size)
{
	uint8_t    *der = NULL;
	int			written = ASN1_item_i2d((const ASN1_VALUE *) pfx, &der, ASN1_ITEM_rptr(Pfx));
	bool		same = written > 0 && (size_t) written == size && memcmp(der, bytes, size) == 0;

	OPENSSL_free(der);
	return same;
}

TdeStatus
tde_container_read(const uint8_t *der, size_t size, const char *passphrase, STACK_OF(PKCS7) **safes)
{
	const uint8_t *end = der;
	Pfx		   *pfx = (Pfx *) ASN1_item_d2i(NULL, &end, (long) size, ASN1_ITEM_rptr(Pfx));
	TdeStatus	status;

	*safes = NULL;
	if (pfx == NULL || end != der + size || !integer_within(pfx->version, PFX_VERSION, PFX_VERSION) || !is_der(pfx, der, size))
		status = tde_container_failure(TDE_E_AUTH);
	else if ((status = verify(pfx, passphrase)) != TDE_OK)
		status = tde_container_failure(status);
	else if ((*safes = ASN1_item_unpack(pfx->content->d.data, ASN1_ITEM_rptr(PKCS12_AUTHSAFES))) == NULL)
		status = tde_container_failure(TDE_E_FORMAT);
	pfx_free(pfx);
	return status;
}
