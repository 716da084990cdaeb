/*
 * container.c - master keys to and from the bytes of a PKCS#12 container.
 *
 * One safe, encrypted under the passphrase, holds one secret bag per master key.  The bag's value is an octet string
 * with a record of ours, numbers in network byte order:
 *
 *		0	format, 3
 *		1	state (TdeMasterState)
 *		2	id, 16 bytes
 *		18	created, int64
 *		26	key, 32 bytes
 *		58	backed up, int64; not in format 1, which is read
 *
 * One more bag, of the same type, may say which server may change the wallet:
 *
 *		0	format, 2
 *		1	id, 32 bytes
 *		33	name, UTF-8 without a terminating zero
 *
 * Neither names nor attributes of a bag are read back; they are for whoever looks at the file with other tools.
 *
 * The layer around it, with the MAC, is crypto/container_mac.c's.  OpenSSL's free functions do not cleanse; free_bags() does.
 */
#include "crypto/container.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <openssl/asn1.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/objects.h>
#include <openssl/pkcs12.h>
#include <openssl/rand.h>

#include "crypto/container_mac.h"

/*
 * Two derivations stand between a stolen file and its passphrase, and the thief attacks the cheaper one, so both take as
 * many rounds.  OpenSSL's default of 2,048 would make the MAC the way in.  Tests lower this, to try a file often; a library that was
 * built so says it in the log (functions/hooks.c).
 */
#ifndef TDE_PKCS12_ITERATIONS
#define TDE_PKCS12_ITERATIONS	600000
#endif

#define SALT_SIZE		16		/* what NIST SP 800-132 asks for; OpenSSL's default was 8 */
#define MAX_FILE_SIZE	(1024 * 1024)	/* TDE_MAX_MASTER_KEYS need less than a tenth */

/*
 * The type of our secrets: 2.25 and the random UUID c9011960-d89f-4906-82ba-e005f3a66f8b as a number (ITU-T X.667),
 * which needs no registration authority.
 */
#define SECRET_TYPE_OID		"2.25.267180534182811644122013819970634805131"
#define SECRET_TYPE_NAME	"tdeColumnMasterKey"

#define OWNER_FORMAT	2
#define OWNER_SIZE		(1 + TDE_SERVER_ID_SIZE)	/* and the name */
#define RECORD_FORMAT	3
#define RECORD_SIZE		(OLD_RECORD_SIZE + 8)
#define OLD_RECORD_FORMAT	1
#define OLD_RECORD_SIZE		(2 + TDE_MASTER_ID_SIZE + 8 + TDE_MASTER_KEY_SIZE)

/*
 * Both directions ask the same of a wallet, so that nothing is written that cannot be read again.
 */
static bool
valid_keys(const TdeMasterKeys *keys)
{
	int			number[TDE_MASTER_ERASABLE + 1] = {0};

	if (keys->count < 1 || keys->count > TDE_MAX_MASTER_KEYS)
		return false;
	for (int i = 0; i < keys->count; i++)
	{
		if (keys->keys[i].state < TDE_MASTER_CURRENT || keys->keys[i].state > TDE_MASTER_ERASABLE)
			return false;
		number[keys->keys[i].state]++;
		for (int j = 0; j < i; j++)
		{
			if (memcmp(keys->keys[i].id, keys->keys[j].id, TDE_MASTER_ID_SIZE) == 0)
				return false;
		}
	}
	return number[TDE_MASTER_CURRENT] == 1 && number[TDE_MASTER_PREPARED] <= 1;
}

static uint8_t *
pack_time(uint8_t *p, int64_t time)
{
	for (int shift = 56; shift >= 0; shift -= 8)
		*p++ = (uint8_t) ((uint64_t) time >> shift);
	return p;
}

static int64_t
unpack_time(const uint8_t *p)
{
	uint64_t	time = 0;

	for (int i = 0; i < 8; i++)
		time = time << 8 | *p++;
	return (int64_t) time;
}

static void
pack_record(const TdeMasterKey *key, uint8_t record[RECORD_SIZE])
{
	uint8_t    *p = record;

	*p++ = RECORD_FORMAT;
	*p++ = key->state;
	memcpy(p, key->id, TDE_MASTER_ID_SIZE);
	p += TDE_MASTER_ID_SIZE;
	p = pack_time(p, key->created);
	memcpy(p, key->key, TDE_MASTER_KEY_SIZE);
	(void) pack_time(p + TDE_MASTER_KEY_SIZE, key->backed_up);
}

/*
 * False if the record is not of a format that is known; valid_keys() judges the fields.
 */
static bool
unpack_record(const uint8_t *p, int size, TdeMasterKey *key)
{
	bool		old = size == OLD_RECORD_SIZE && *p == OLD_RECORD_FORMAT;

	if (!old && (size != RECORD_SIZE || *p != RECORD_FORMAT))
		return false;
	p++;
	key->state = *p++;
	memcpy(key->id, p, TDE_MASTER_ID_SIZE);
	p += TDE_MASTER_ID_SIZE;
	key->created = unpack_time(p);
	p += 8;
	memcpy(key->key, p, TDE_MASTER_KEY_SIZE);
	key->backed_up = old ? 0 : unpack_time(p + TDE_MASTER_KEY_SIZE);
	return true;
}

/* Reads the record of a server; false if it is none, or a second one.  A record of a key has another format, so that the two are told apart. */
static bool
unpack_owner(const uint8_t *p, int size, TdeServer *owner)
{
	int			length = size - OWNER_SIZE;

	if (length < 1 || length >= TDE_SERVER_NAME_SIZE || p[0] != OWNER_FORMAT || owner->name[0] != '\0' ||
		memchr(p + OWNER_SIZE, '\0', (size_t) length) != NULL)
		return false;
	memcpy(owner->id, p + 1, TDE_SERVER_ID_SIZE);
	memcpy(owner->name, p + OWNER_SIZE, (size_t) length);
	owner->name[length] = '\0';
	return true;
}

/*
 * The octet string in a secret bag, NULL if the bag holds anything else.
 */
static const ASN1_OCTET_STRING *
secret_value(const PKCS12_SAFEBAG *bag)
{
	const ASN1_TYPE *value;

	if (PKCS12_SAFEBAG_get_nid(bag) != NID_secretBag)
		return NULL;
	value = PKCS12_SAFEBAG_get0_bag_obj(bag);
	if (value == NULL || value->type != V_ASN1_OCTET_STRING)
		return NULL;
	return value->value.octet_string;
}

static void
free_bags(STACK_OF(PKCS12_SAFEBAG) *bags)
{
	for (int i = 0; i < sk_PKCS12_SAFEBAG_num(bags); i++)
	{
		const ASN1_OCTET_STRING *secret = secret_value(sk_PKCS12_SAFEBAG_value(bags, i));

		/* the bag is ours to destroy, though its accessors only lend a const pointer */
		if (secret != NULL)
			OPENSSL_cleanse((void *) (uintptr_t) ASN1_STRING_get0_data(secret),
							(size_t) ASN1_STRING_length(secret));
	}
	sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free);
}

/*
 * OpenSSL names the type of a new secret bag by number only, which an OID from outside its table gets by being
 * registered.  That is once per process, and reading needs no number.
 */
static int
secret_type_nid(void)
{
	int			nid = OBJ_txt2nid(SECRET_TYPE_OID);

	return nid != NID_undef ? nid : OBJ_create(SECRET_TYPE_OID, SECRET_TYPE_NAME, SECRET_TYPE_NAME);
}

/* Adds a bag with a master key.  PKCS12_add_secret() copies the record, so ours is cleansed.  The name is for openssl pkcs12 -info. */
static bool
add_bag(STACK_OF(PKCS12_SAFEBAG) **bags, int type, const TdeMasterKey *key)
{
	char		name[64] = "tde_column master key ";
	size_t		used = strlen(name);
	uint8_t		record[RECORD_SIZE];
	PKCS12_SAFEBAG *bag;

	for (int i = 0; i < TDE_MASTER_ID_SIZE; i++)
		used += (size_t) snprintf(name + used, sizeof(name) - used, "%02x", key->id[i]);

	pack_record(key, record);
	bag = PKCS12_add_secret(bags, type, record, RECORD_SIZE);
	OPENSSL_cleanse(record, RECORD_SIZE);
	return bag != NULL && PKCS12_add_friendlyname_utf8(bag, name, -1) == 1;
}

/* Adds a bag with the server that may change the wallet.  It holds no secret. */
static bool
add_owner(STACK_OF(PKCS12_SAFEBAG) **bags, int type, const TdeServer *owner)
{
	uint8_t		record[OWNER_SIZE + TDE_SERVER_NAME_SIZE];
	size_t		length = strnlen(owner->name, TDE_SERVER_NAME_SIZE - 1);
	PKCS12_SAFEBAG *bag;

	record[0] = OWNER_FORMAT;
	memcpy(record + 1, owner->id, TDE_SERVER_ID_SIZE);
	memcpy(record + OWNER_SIZE, owner->name, length);
	bag = PKCS12_add_secret(bags, type, record, (int) (OWNER_SIZE + length));
	return bag != NULL && PKCS12_add_friendlyname_utf8(bag, "tde_column server", -1) == 1;
}

/*
 * The encrypted safe.  PBKDF2's hash is not an argument; OpenSSL 3 takes HMAC-SHA256 with this cipher.
 */
static PKCS7 *
encrypt_keys(const TdeMasterKeys *keys, const char *passphrase)
{
	STACK_OF(PKCS12_SAFEBAG) *bags = NULL;
	PKCS7	   *safe = NULL;
	uint8_t		salt[SALT_SIZE];
	int			type = secret_type_nid();
	bool		ok = type != NID_undef && RAND_bytes(salt, SALT_SIZE) == 1;

	for (int i = 0; ok && i < keys->count; i++)
		ok = add_bag(&bags, type, &keys->keys[i]);
	if (ok && keys->owner.name[0] != '\0')
		ok = add_owner(&bags, type, &keys->owner);
	if (ok)
		safe = PKCS12_pack_p7encdata(NID_aes_256_cbc, passphrase, -1, salt, SALT_SIZE, TDE_PKCS12_ITERATIONS, bags);
	free_bags(bags);
	return safe;
}

TdeStatus
tde_container_encode(const TdeMasterKeys *keys, const char *passphrase, uint8_t **der, size_t *size)
{
	STACK_OF(PKCS7) *safes;
	PKCS7	   *safe = NULL;
	TdeStatus	status;

	*der = NULL;
	*size = 0;
	if (passphrase == NULL || *passphrase == '\0')
		return TDE_E_AUTH;
	if (!valid_keys(keys))
		return TDE_E_FORMAT;

	ERR_clear_error();
	if ((safes = sk_PKCS7_new_null()) == NULL ||
		(safe = encrypt_keys(keys, passphrase)) == NULL ||
		sk_PKCS7_push(safes, safe) <= 0)
		status = tde_container_failure(TDE_E_CRYPTO);
	else
		status = tde_container_write(safes, passphrase, TDE_PKCS12_ITERATIONS, der, size);
	sk_PKCS7_free(safes);
	PKCS7_free(safe);
	ERR_clear_error();
	return status;
}

static bool
read_secret(const ASN1_OCTET_STRING *secret, TdeMasterKeys *keys)
{
	const uint8_t *bytes = ASN1_STRING_get0_data(secret);
	int			size = ASN1_STRING_length(secret);

	if (unpack_owner(bytes, size, &keys->owner))
		return true;
	return keys->count < TDE_MAX_MASTER_KEYS && unpack_record(bytes, size, &keys->keys[keys->count++]);
}

/* Reads all bags, of which each must be one of ours: a wallet with something unknown is not rewritten without it. */
static TdeStatus
read_bags(const STACK_OF(PKCS12_SAFEBAG) *bags, TdeMasterKeys *keys)
{
	int			count = sk_PKCS12_SAFEBAG_num(bags);
	ASN1_OBJECT *type;
	bool		known = count >= 1 && count <= TDE_MAX_MASTER_KEYS + 1;

	if ((type = OBJ_txt2obj(SECRET_TYPE_OID, 1)) == NULL)
		return tde_container_failure(TDE_E_CRYPTO);
	for (int i = 0; known && i < count; i++)
	{
		const PKCS12_SAFEBAG *bag = sk_PKCS12_SAFEBAG_value(bags, i);
		const ASN1_OCTET_STRING *secret = secret_value(bag);

		known = secret != NULL && OBJ_cmp(PKCS12_SAFEBAG_get0_bag_type(bag), type) == 0 && read_secret(secret, keys);
	}
	ASN1_OBJECT_free(type);
	return known && valid_keys(keys) ? TDE_OK : TDE_E_FORMAT;
}

/*
 * Read authentic safes.  Keys outside an encrypted one are none of ours.  The traditional MAC takes the passphrase as
 * UTF-16 and encryption takes its bytes, so a passphrase in another character set can pass the one and fail the other:
 * that is a wrong passphrase as well.
 */
static TdeStatus
read_safes(const STACK_OF(PKCS7) *safes, const char *passphrase, TdeMasterKeys *keys)
{
	STACK_OF(PKCS12_SAFEBAG) *bags;
	TdeStatus	status;

	if (sk_PKCS7_num(safes) != 1 || !PKCS7_type_is_encrypted(sk_PKCS7_value(safes, 0)))
		return TDE_E_FORMAT;
	bags = PKCS12_unpack_p7encdata(sk_PKCS7_value(safes, 0), passphrase, -1);
	status = bags == NULL ? tde_container_failure(TDE_E_AUTH) : read_bags(bags, keys);
	free_bags(bags);
	return status;
}

TdeStatus
tde_container_decode(const uint8_t *der, size_t size, const char *passphrase, TdeMasterKeys *keys)
{
	STACK_OF(PKCS7) *safes;
	TdeStatus	status;

	OPENSSL_cleanse(keys, sizeof(*keys));
	if (passphrase == NULL || *passphrase == '\0' || size > MAX_FILE_SIZE)
		return TDE_E_AUTH;

	ERR_clear_error();
	status = tde_container_read(der, size, passphrase, &safes);
	if (status == TDE_OK)
		status = read_safes(safes, passphrase, keys);
	sk_PKCS7_pop_free(safes, PKCS7_free);
	ERR_clear_error();
	if (status != TDE_OK)
		OPENSSL_cleanse(keys, sizeof(*keys));
	return status;
}
