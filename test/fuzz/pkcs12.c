/*
 * pkcs12.c - fuzzing of the wallet's reader: whole files, containers as behind their MAC, what is decrypted of them, and records.
 *
 * The first byte of an input says which.  An input reaches the code behind the MAC and behind the encryption without having to
 * find either; the reader itself is the library's, compiled in here with one iteration.
 */
#include "check.h"

#define TDE_PKCS12_ITERATIONS	1
#include "../../src/crypto/container.c"
#include "../../src/crypto/container_mac.c"

#define PASSPHRASE	"fuzz"

/* More are allowed in a file, and cost seconds. */
#define MOST_ITERATIONS	64

static bool
is_cheap(const ASN1_INTEGER *iterations)
{
	return !integer_within(iterations, MOST_ITERATIONS + 1, INT64_MAX);
}

/* The iterations of PBES2, if that is what encrypts this. */
static bool
safe_is_cheap(PKCS7 *safe)
{
	const X509_ALGOR *algorithm;
	PBE2PARAM  *outer;
	PBKDF2PARAM *inner = NULL;
	PBEPARAM   *old;
	bool		cheap = true;

	if (!PKCS7_type_is_encrypted(safe) || safe->d.encrypted == NULL || safe->d.encrypted->enc_data == NULL ||
		(algorithm = safe->d.encrypted->enc_data->algorithm) == NULL)
		return true;
	if ((outer = ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBE2PARAM), algorithm->parameter)) != NULL)
	{
		if (outer->keyfunc != NULL)
			inner = ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBKDF2PARAM), outer->keyfunc->parameter);
		/* scrypt asks for memory, too */
		cheap = algorithm_nid(outer->keyfunc) == NID_id_pbkdf2 && (inner == NULL || is_cheap(inner->iter));
	}
	if ((old = ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBEPARAM), algorithm->parameter)) != NULL)
		cheap = cheap && is_cheap(old->iter);
	PBEPARAM_free(old);
	PBKDF2PARAM_free(inner);
	PBE2PARAM_free(outer);
	return cheap;
}

static bool
mac_is_cheap(const MacData *data)
{
	const X509_ALGOR *algorithm = NULL;
	PBKDF2PARAM *param;
	bool		cheap;

	if (data == NULL)
		return true;
	/* what the reader refuses costs nothing */
	if (!is_cheap(data->iterations) && !integer_within(data->iterations, MAX_MAC_ITERATIONS + 1, INT64_MAX))
		return false;
	X509_SIG_get0(data->mac, &algorithm, NULL);
	param = known_pbmac1(algorithm);
	cheap = param == NULL || is_cheap(param->iter);
	PBKDF2PARAM_free(param);
	return cheap;
}

static STACK_OF(PKCS7) *
unpack(const Pfx *pfx)
{
	if (!PKCS7_type_is_data(pfx->content) || pfx->content->d.data == NULL)
		return NULL;
	return ASN1_item_unpack(pfx->content->d.data, ASN1_ITEM_rptr(PKCS12_AUTHSAFES));
}

static bool
safes_are_cheap(const STACK_OF(PKCS7) *safes)
{
	bool		cheap = true;

	for (int i = 0; i < sk_PKCS7_num(safes); i++)
		cheap = cheap && safe_is_cheap(sk_PKCS7_value(safes, i));
	return cheap;
}

static Pfx *
parse(const uint8_t *der, size_t size)
{
	return (Pfx *) ASN1_item_d2i(NULL, &der, (long) size, ASN1_ITEM_rptr(Pfx));
}

/* What was read can be written, and is the same then. */
static void
write_again(const TdeMasterKeys *keys)
{
	TdeMasterKeys again;
	uint8_t    *der;
	size_t		size;

	CHECK(tde_container_encode(keys, PASSPHRASE, &der, &size) == TDE_OK);
	CHECK(tde_container_decode(der, size, PASSPHRASE, &again) == TDE_OK);
	CHECK(again.count == keys->count && memcmp(again.keys, keys->keys, keys->count * sizeof(TdeMasterKey)) == 0);
	OPENSSL_clear_free(der, size);
}

static void
check_result(TdeStatus status, const TdeMasterKeys *keys)
{
	CHECK(status == TDE_OK || status == TDE_E_AUTH || status == TDE_E_FORMAT || status == TDE_E_UNAVAILABLE);
	if (status == TDE_OK)
		write_again(keys);
	ERR_clear_error();
}

static void
file(const uint8_t *bytes, size_t size)
{
	static const TdeMasterKeys none;
	uint8_t    *der = copy_of(bytes, size);
	Pfx		   *pfx = parse(der, size);
	STACK_OF(PKCS7) *safes = pfx != NULL ? unpack(pfx) : NULL;
	TdeMasterKeys keys;
	TdeStatus	status;

	ERR_clear_error();
	if (pfx == NULL || (mac_is_cheap(pfx->mac) && safes_are_cheap(safes)))
	{
		status = tde_container_decode(der, size, PASSPHRASE, &keys);
		CHECK(ERR_peek_error() == 0);
		CHECK(status == TDE_OK || memcmp(&keys, &none, sizeof(none)) == 0);
		check_result(status, &keys);
	}
	sk_PKCS7_pop_free(safes, PKCS7_free);
	pfx_free(pfx);
	free(der);
}

/* The MAC is computed, and it does not matter whether it is right. */
static void
behind_the_mac(const uint8_t *bytes, size_t size)
{
	uint8_t    *der = copy_of(bytes, size);
	Pfx		   *pfx = parse(der, size);
	STACK_OF(PKCS7) *safes = pfx != NULL ? unpack(pfx) : NULL;
	TdeMasterKeys keys = {0};
	TdeStatus	status;

	ERR_clear_error();
	if (safes != NULL && mac_is_cheap(pfx->mac) && safes_are_cheap(safes))
	{
		status = verify(pfx, PASSPHRASE);
		CHECK(status == TDE_OK || status == TDE_E_AUTH || status == TDE_E_UNAVAILABLE);
		ERR_clear_error();
		check_result(read_safes(safes, PASSPHRASE, &keys), &keys);
	}
	sk_PKCS7_pop_free(safes, PKCS7_free);
	pfx_free(pfx);
	free(der);
}

static void
behind_the_encryption(const uint8_t *bytes, size_t size)
{
	uint8_t    *der = copy_of(bytes, size);
	const uint8_t *end = der;
	STACK_OF(PKCS12_SAFEBAG) *bags = (STACK_OF(PKCS12_SAFEBAG) *) ASN1_item_d2i(NULL, &end, (long) size,
																				ASN1_ITEM_rptr(PKCS12_SAFEBAGS));
	TdeMasterKeys keys = {0};

	ERR_clear_error();
	if (bags != NULL)
		check_result(read_bags(bags, &keys), &keys);
	free_bags(bags);
	free(der);
}

/* A file that somebody who knows the passphrase has made of records, whose sizes are of one byte before each. */
static void
records(const uint8_t *bytes, size_t size)
{
	STACK_OF(PKCS12_SAFEBAG) *bags = NULL;
	TdeMasterKeys keys = {0};

	for (size_t length; size > 0; bytes += length, size -= length)
	{
		length = *bytes++;
		if (length > --size)
			length = size;
		CHECK(PKCS12_add_secret(&bags, secret_type_nid(), bytes, (int) length) != NULL);
	}
	check_result(read_bags(bags, &keys), &keys);
	free_bags(bags);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	switch (data[0] & 3)
	{
		case 0:
			file(data + 1, size - 1);
			break;
		case 1:
			behind_the_mac(data + 1, size - 1);
			break;
		case 2:
			behind_the_encryption(data + 1, size - 1);
			break;
		case 3:
			records(data + 1, size - 1);
			break;
	}
	return 0;
}
