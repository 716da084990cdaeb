/*
 * pkcs12.c - tests the coding of the wallet file: round trips, and that no damaged file is ever read as another one.
 *
 * tde_container_encode() and _decode() are the library's own, at full cost.  cheap_encode() and cheap_decode() are the
 * same source compiled in here with almost no iterations, for what must be tried thousands of times.  They have names
 * of their own, so that both can be linked into one program.
 *
 * Full cost is for the variant "as it is" (FULL_COST).  The rounds are OpenSSL's: what other variants do to our own code shows with
 * few of them as well, and under the address sanitizer, which follows the allocations of each round, they take three times as long.
 */
#include "crypto/container.h"

#include <time.h>
#include <unistd.h>

#include "tap.h"
#include "wallets.h"

static TDE_MUST_CHECK TdeStatus cheap_encode(const TdeMasterKeys *keys, const char *passphrase,
											 uint8_t **der, size_t *size);
static TDE_MUST_CHECK TdeStatus cheap_decode(const uint8_t *der, size_t size, const char *passphrase,
											 TdeMasterKeys *keys);

#define TDE_PKCS12_ITERATIONS	3
#define tde_container_encode		cheap_encode
#define tde_container_decode		cheap_decode
#define tde_container_write			cheap_pfx_write
#define tde_container_read			cheap_pfx_read
#define tde_container_failure			cheap_pfx_failure
#include "../../src/crypto/container.c"
#include "../../src/crypto/container_mac.c"
#undef tde_container_encode
#undef tde_container_decode

#ifdef FULL_COST
#define COST				"full cost"
#define any_encode			tde_container_encode
#define any_decode			tde_container_decode
#else
#define COST				"few iterations"
#define any_encode			cheap_encode
#define any_decode			cheap_decode
#endif

static bool traditional;		/* are files to have the MAC of earlier versions? */

#define PASSPHRASE	"correct horse battery staple"

/*
 * OpenSSL's allocator is ours.  It can fail at will, and looks for key bytes in whatever is freed.  A block begins
 * with its size.
 */
#define BLOCK_HEADER	16

static const uint8_t marker[] = {'K', 'E', 'Y', 'K', 'E', 'Y', 'K', 'E', 'Y', 'K', 'E', 'Y'};	/* in every test key */
static long allocations_left = -1;
static bool look_for_keys = false;
static int	keys_found = 0;

static void *
test_malloc(size_t size, const char *file, int line)
{
	uint8_t    *block;

	(void) file;
	(void) line;
	if (size == 0 || allocations_left == 0)
		return NULL;
	if (allocations_left > 0)
		allocations_left--;
	if ((block = malloc(size + BLOCK_HEADER)) == NULL)
		return NULL;
	memcpy(block, &size, sizeof(size));
	return block + BLOCK_HEADER;
}

static void
test_free(void *memory, const char *file, int line)
{
	uint8_t    *block = memory;
	size_t		size;

	(void) file;
	(void) line;
	if (memory == NULL)
		return;
	memcpy(&size, block - BLOCK_HEADER, sizeof(size));
	for (size_t i = 0; look_for_keys && i + sizeof(marker) <= size; i++)
	{
		if (block[i] == marker[0] && memcmp(block + i, marker, sizeof(marker)) == 0)
			keys_found++;
	}
	free(block - BLOCK_HEADER);
}

static void *
test_realloc(void *memory, size_t size, const char *file, int line)
{
	void	   *moved = test_malloc(size, file, line);
	size_t		old = 0;

	if (size > 0 && moved == NULL)
		return NULL;
	if (memory != NULL)
		memcpy(&old, (uint8_t *) memory - BLOCK_HEADER, sizeof(old));
	if (moved != NULL && old > 0)
		memcpy(moved, memory, old < size ? old : size);
	test_free(memory, file, line);
	return moved;
}

static uint32_t
random_below(uint32_t limit)
{
	return (uint32_t) (random64() >> 32) % limit;
}

static void
make_keys(TdeMasterKeys *keys, int count)
{
	memset(keys, 0, sizeof(*keys));
	keys->count = count;
	for (int i = 0; i < count; i++)
	{
		TdeMasterKey *key = &keys->keys[i];

		random_fill(key->id, TDE_MASTER_ID_SIZE);
		random_fill(key->key, TDE_MASTER_KEY_SIZE);
		memcpy(key->key + 10, marker, sizeof(marker));
		key->created = INT64_C(1700000000123456) - i * INT64_C(4000000000000000);
		key->state = i == count - 1 ? TDE_MASTER_CURRENT : TDE_MASTER_RETIRED;
	}
}

static bool
same_keys(const TdeMasterKeys *a, const TdeMasterKeys *b)
{
	if (a->count != b->count)
		return false;
	for (int i = 0; i < a->count; i++)
	{
		const TdeMasterKey *x = &a->keys[i];
		const TdeMasterKey *y = &b->keys[i];

		if (memcmp(x->id, y->id, sizeof(x->id)) != 0 || memcmp(x->key, y->key, sizeof(x->key)) != 0 ||
			x->created != y->created || x->state != y->state)
			return false;
	}
	return true;
}

static bool
is_cleansed(const TdeMasterKeys *keys)
{
	const uint8_t *p = (const uint8_t *) keys;

	for (size_t i = 0; i < sizeof(*keys); i++)
	{
		if (p[i] != 0)
			return false;
	}
	return true;
}

/* Refused with this status, nothing left behind in the keys or in OpenSSL's error queue? */
static bool
refused(const uint8_t *der, size_t size, const char *passphrase, TdeStatus expected)
{
	static TdeMasterKeys found;
	TdeStatus	status;

	memset(&found, 0xff, sizeof(found));
	status = cheap_decode(der, size, passphrase, &found);
	if (status != expected)
		diag("status %d instead of %d", (int) status, (int) expected);
	return status == expected && is_cleansed(&found) && ERR_peek_error() == 0;
}

/* Either refused, or read as exactly these keys? */
static bool
refused_or_same(const uint8_t *der, size_t size, const TdeMasterKeys *keys, int *accepted)
{
	static TdeMasterKeys found;
	TdeStatus	status = cheap_decode(der, size, PASSPHRASE, &found);

	if (status == TDE_OK)
	{
		(*accepted)++;
		return same_keys(keys, &found);
	}
	return is_cleansed(&found) && ERR_peek_error() == 0;
}

static double
seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

static void
test_sets(const TdeMasterKeys *keys, const char *what)
{
	static TdeMasterKeys found;
	uint8_t    *der;
	size_t		size;
	double		start = seconds();
	double		middle;
	TdeStatus	status;

	look_for_keys = true;
	keys_found = 0;
	status = any_encode(keys, PASSPHRASE, &der, &size);
	middle = seconds();
	ok(status == TDE_OK && size > 0 && size < MAX_FILE_SIZE / 10, COST ", %s: encode", what);
	status = any_decode(der, size, PASSPHRASE, &found);
	diag("%s: %zu bytes, encode %.3f s, decode %.3f s", what, size, middle - start, seconds() - middle);
	ok(status == TDE_OK && same_keys(keys, &found), COST ", %s: decode gives the same", what);
	status = any_decode(der, size, PASSPHRASE " ", &found);
	ok(status == TDE_E_AUTH && is_cleansed(&found), COST ", %s: wrong passphrase", what);
	look_for_keys = false;
	ok(keys_found == 0, COST ", %s: no key bytes in freed memory", what);
	OPENSSL_clear_free(der, size);
}

#ifdef FULL_COST
/*
 * What other people's tool says of the file.  Same passphrase, full cost.
 */
static void
test_openssl_command(const TdeMasterKeys *keys)
{
	/* before 3.4 it does not know PBMAC1, but reads on if it is not to verify it */
	bool		knows = OpenSSL_version_num() >= 0x30400000L;
	const char *expected[] = {
		knows ? "MAC: PBMAC1 using PBKDF2, Iteration 600000\n" : "MAC: PBMAC1, Iteration 1\n",
		knows ? "Key length: 32, Salt length: 16\n" : "MAC length: 32, salt length: 8\n",
		"PKCS7 Encrypted data: PBES2, PBKDF2, AES-256-CBC, Iteration 600000, PRF hmacWithSHA256\n",
		"Secret bag\n"
	};
	char		path[] = "/tmp/tde_pkcs12_test_XXXXXX";
	char		command[256];
	char		said[8192];
	size_t		length = 0;
	uint8_t    *der = NULL;
	size_t		size = 0;
	int			fd = mkstemp(path);
	FILE	   *output = NULL;

	if (fd >= 0 && tde_container_encode(keys, PASSPHRASE, &der, &size) == TDE_OK &&
		write(fd, der, size) == (ssize_t) size)
	{
		snprintf(command, sizeof(command), "openssl pkcs12 -info -noout %s -in %s -passin 'pass:%s' 2>&1",
				 knows ? "" : "-nomacver", path, PASSPHRASE);
		output = popen(command, "r");
	}
	if (output != NULL)
		length = fread(said, 1, sizeof(said) - 1, output);
	said[length] = '\0';
	ok(output != NULL && pclose(output) == 0, "the openssl command accepts the file");
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		ok(strstr(said, expected[i]) != NULL, "the openssl command says %.*s", (int) strcspn(expected[i], "\n"),
		   expected[i]);
	if (fd >= 0)
	{
		close(fd);
		unlink(path);
	}
	OPENSSL_clear_free(der, size);
}
#endif

static PKCS12 *
container_with(STACK_OF(PKCS7) *safes, bool with_mac, int iterations, const EVP_MD *digest, const char *passphrase)
{
	uint8_t		salt[SALT_SIZE] = {0};
	PKCS12	   *container = PKCS12_add_safes(safes, NID_pkcs7_data);

	must(container != NULL, "PKCS12_add_safes");
	if (with_mac)
		must(PKCS12_set_mac(container, passphrase, -1, salt, SALT_SIZE, iterations, digest) == 1, "PKCS12_set_mac");
	return container;
}

/*
 * A file whose MAC is right, around these safes.  Frees what it is given.
 */
static uint8_t *
authentic_under(STACK_OF(PKCS7) *safes, const char *passphrase, size_t *size)
{
	uint8_t    *der = NULL;

	if (traditional)
	{
		PKCS12	   *container = container_with(safes, true, 3, EVP_sha256(), passphrase);
		int			written = i2d_PKCS12(container, &der);

		*size = written > 0 ? (size_t) written : 0;
		PKCS12_free(container);
	}
	else
		must(cheap_pfx_write(safes, passphrase, 3, &der, size) == TDE_OK, "tde_container_write");
	sk_PKCS7_pop_free(safes, PKCS7_free);
	return der;
}

static uint8_t *
authentic(STACK_OF(PKCS7) *safes, size_t *size)
{
	return authentic_under(safes, PASSPHRASE, size);
}

/* A wallet in the form that is asked for. */
static TdeStatus
encode(const TdeMasterKeys *keys, const char *passphrase, uint8_t **der, size_t *size)
{
	STACK_OF(PKCS7) *safes;

	if (!traditional)
		return cheap_encode(keys, passphrase, der, size);
	safes = sk_PKCS7_new_null();
	sk_PKCS7_push(safes, encrypt_keys(keys, passphrase));
	*der = authentic_under(safes, passphrase, size);
	return TDE_OK;
}

static void
test_passphrases(void)
{
	static const char *const good[] = {
		"x", "with \"quotes' and spaces ", "p\303\244ssphr\303\244se \342\202\254", "\360\237\224\221 key",
		"\351 is not UTF-8"
	};
	static TdeMasterKeys keys;
	static TdeMasterKeys found;
	uint8_t    *der;
	size_t		size;

	make_keys(&keys, 2);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
	{
		bool		fine = encode(&keys, good[i], &der, &size) == TDE_OK;

		ok(fine && cheap_decode(der, size, good[i], &found) == TDE_OK && same_keys(&keys, &found) &&
		   refused(der, size, PASSPHRASE, TDE_E_AUTH) && refused(der, size, "", TDE_E_AUTH) &&
		   refused(der, size, NULL, TDE_E_AUTH), "passphrase number %zu", i + 1);
		OPENSSL_clear_free(der, size);
	}

	/* the same in UTF-16, so that the traditional MAC accepts it; the contents do not */
	ok(encode(&keys, "caf\303\251", &der, &size) == TDE_OK &&
	   refused(der, size, "caf\351", TDE_E_AUTH), "passphrase in another character set");
	OPENSSL_clear_free(der, size);

	ok(cheap_encode(&keys, "", &der, &size) == TDE_E_AUTH && der == NULL && size == 0 &&
	   cheap_encode(&keys, NULL, &der, &size) == TDE_E_AUTH && der == NULL, "no wallet without a passphrase");
}

static void
test_damage(const char *mac)
{
	static TdeMasterKeys keys;
	uint8_t    *der;
	size_t		size;
	uint8_t    *copy;
	bool		good = true;
	int			accepted = 0;

	make_keys(&keys, 1);
	must(encode(&keys, PASSPHRASE, &der, &size) == TDE_OK, "encode");
	copy = exact(size + 1);
	for (size_t length = 0; length < size; length++)
	{
		uint8_t    *cut = exact(length);

		memcpy(cut, der, length);
		good = refused(cut, length, PASSPHRASE, TDE_E_AUTH) && good;
		free(cut);
	}
	ok(good, "%s: all %zu truncations are refused", mac, size);

	memcpy(copy, der, size);
	copy[size] = 0;
	ok(refused(copy, size + 1, PASSPHRASE, TDE_E_AUTH), "%s: a trailing byte is refused", mac);

	good = true;
	for (size_t bit = 0; bit < size * 8; bit++)
	{
		memcpy(copy, der, size);
		copy[bit / 8] ^= (uint8_t) (1 << bit % 8);
		if (!refused(copy, size, PASSPHRASE, TDE_E_AUTH))
		{
			diag("bit %zu of byte %zu", bit % 8, bit / 8);
			good = false;
		}
	}
	ok(good, "%s: each flipped bit of %zu is refused", mac, size * 8);

	/* the outer length in more bytes than it needs: what is inside is the same */
	must(der[0] == 0x30 && der[1] == 0x82, "outer length");
	copy[1] = 0x83;
	copy[2] = 0;
	memcpy(copy + 3, der + 2, size - 2);
	ok(refused(copy, size + 1, PASSPHRASE, TDE_E_AUTH), "%s: what is not DER is refused", mac);

	good = true;
	accepted = 0;
	for (int round = 0; round < 5000; round++)
	{
		memcpy(copy, der, size);
		for (uint32_t n = 2 + random_below(6); n > 0; n--)
			copy[random_below((uint32_t) size)] = (uint8_t) random_below(256);
		good = refused_or_same(copy, size, &keys, &accepted) && good;
	}
	ok(good, "%s: several changed bytes give no other contents", mac);

	good = true;
	for (int round = 0; round < 5000; round++)
	{
		size_t		length = random_below((uint32_t) size);

		random_fill(copy, length);
		memcpy(copy, der, round % 64 < (int) length ? (size_t) (round % 64) : 0);
		good = refused(copy, length, PASSPHRASE, TDE_E_AUTH) && good;
	}
	ok(good, "%s: garbage is refused", mac);
	free(copy);
	OPENSSL_clear_free(der, size);
}

/* Whichever allocation fails, the answer is a failure or the right one. */
static void
test_no_memory_encode(void)
{
	static TdeMasterKeys keys;
	uint8_t    *der = NULL;
	size_t		size;
	TdeStatus	status = TDE_E_NOMEM;
	int			reported = 0;
	bool		good = true;
	long		n;

	make_keys(&keys, 2);
	for (n = 0; status != TDE_OK && n < 100000; n++)
	{
		allocations_left = n;
		status = cheap_encode(&keys, PASSPHRASE, &der, &size);
		allocations_left = -1;
		good = (status == TDE_OK || (der == NULL && size == 0)) && ERR_peek_error() == 0 && good;
		reported += status == TDE_E_NOMEM;
	}
	diag("encode makes %ld allocations, %d said to be lack of memory", n - 1, reported);
	ok(good && status == TDE_OK && reported > 0, "encode with each allocation failing");
	OPENSSL_clear_free(der, size);
}

static void
test_no_memory_decode(const char *mac)
{
	static TdeMasterKeys keys;
	static TdeMasterKeys found;
	uint8_t    *der;
	size_t		size;
	TdeStatus	status = TDE_E_NOMEM;
	int			reported = 0;
	bool		good = true;
	long		n;

	make_keys(&keys, 2);
	must(encode(&keys, PASSPHRASE, &der, &size) == TDE_OK, "encode");
	for (n = 0; status != TDE_OK && n < 100000; n++)
	{
		allocations_left = n;
		status = cheap_decode(der, size, PASSPHRASE, &found);
		allocations_left = -1;
		good = (status == TDE_OK || is_cleansed(&found)) && ERR_peek_error() == 0 && good;
		reported += status == TDE_E_NOMEM;
	}
	diag("%s: decode makes %ld allocations, %d said to be lack of memory", mac, n - 1, reported);
	ok(good && status == TDE_OK && reported > 0 && same_keys(&keys, &found),
	   "%s: decode with each allocation failing", mac);
	OPENSSL_clear_free(der, size);
}

static PKCS7 *
encrypt_bags(STACK_OF(PKCS12_SAFEBAG) *bags)
{
	uint8_t		salt[SALT_SIZE] = {0};

	return PKCS12_pack_p7encdata(NID_aes_256_cbc, PASSPHRASE, -1, salt, SALT_SIZE, 3, bags);
}

static void
expect_safes(STACK_OF(PKCS7) *safes, TdeStatus expected, const char *what)
{
	size_t		size;
	uint8_t    *der = authentic(safes, &size);

	ok(der != NULL && refused(der, size, PASSPHRASE, expected), "authentic file with %s", what);
	OPENSSL_clear_free(der, size);
}

static void
expect_bags(STACK_OF(PKCS12_SAFEBAG) *bags, TdeStatus expected, const char *what)
{
	STACK_OF(PKCS7) *safes = sk_PKCS7_new_null();

	sk_PKCS7_push(safes, encrypt_bags(bags));
	free_bags(bags);
	expect_safes(safes, expected, what);
}

static void
expect_keys(TdeMasterKeys *keys, const char *what)
{
	STACK_OF(PKCS7) *safes = sk_PKCS7_new_null();
	uint8_t    *der;
	size_t		size;

	ok(cheap_encode(keys, PASSPHRASE, &der, &size) == TDE_E_FORMAT && der == NULL, "encode refuses %s", what);
	sk_PKCS7_push(safes, encrypt_keys(keys, PASSPHRASE));
	expect_safes(safes, TDE_E_FORMAT, what);
}

static void
test_authentic_sets(void)
{
	static TdeMasterKeys keys;
	uint8_t    *der;
	size_t		size;
	STACK_OF(PKCS12_SAFEBAG) *bags;

	make_keys(&keys, 2);
	keys.keys[1].state = TDE_MASTER_RETIRED;
	expect_keys(&keys, "no current key");
	make_keys(&keys, 2);
	keys.keys[0].state = TDE_MASTER_CURRENT;
	expect_keys(&keys, "two current keys");
	make_keys(&keys, 2);
	keys.keys[0].state = TDE_MASTER_ERASABLE + 1;
	expect_keys(&keys, "an unknown state");
	make_keys(&keys, 3);
	keys.keys[0].state = keys.keys[1].state = TDE_MASTER_PREPARED;
	expect_keys(&keys, "two prepared keys");
	make_keys(&keys, 3);
	memcpy(keys.keys[2].id, keys.keys[0].id, TDE_MASTER_ID_SIZE);
	expect_keys(&keys, "the same id twice");

	make_keys(&keys, 1);
	keys.count = 0;
	ok(cheap_encode(&keys, PASSPHRASE, &der, &size) == TDE_E_FORMAT, "encode refuses no keys");
	keys.count = -1;
	ok(cheap_encode(&keys, PASSPHRASE, &der, &size) == TDE_E_FORMAT, "encode refuses fewer than no keys");
	keys.count = TDE_MAX_MASTER_KEYS + 1;
	ok(cheap_encode(&keys, PASSPHRASE, &der, &size) == TDE_E_FORMAT, "encode refuses too many keys");

	expect_bags(sk_PKCS12_SAFEBAG_new_null(), TDE_E_FORMAT, "no bags");
	make_keys(&keys, TDE_MAX_MASTER_KEYS);
	bags = NULL;
	for (int i = 0; i < keys.count; i++)
	{
		keys.keys[i].id[0] ^= 1;
		must(add_bag(&bags, secret_type_nid(), &keys.keys[i]), "add_bag");
	}
	make_keys(&keys, 1);
	keys.keys[0].state = TDE_MASTER_RETIRED;
	must(add_bag(&bags, secret_type_nid(), &keys.keys[0]), "add_bag");
	expect_bags(bags, TDE_E_FORMAT, "too many keys");
}

/* A bag with a record of an owner, as given. */
static void
add_owner_record(STACK_OF(PKCS12_SAFEBAG) **bags, const char *name, int length)
{
	uint8_t		record[OWNER_SIZE + 2 * TDE_SERVER_NAME_SIZE] = {OWNER_FORMAT};

	memcpy(record + OWNER_SIZE, name, (size_t) length);
	must(PKCS12_add_secret(bags, secret_type_nid(), record, OWNER_SIZE + length) != NULL, "PKCS12_add_secret");
}

static void
expect_owners(const char *const *names, const int *lengths, int count, const char *what)
{
	static TdeMasterKeys keys;
	STACK_OF(PKCS12_SAFEBAG) *bags = NULL;

	make_keys(&keys, 1);
	must(add_bag(&bags, secret_type_nid(), &keys.keys[0]), "add_bag");
	for (int i = 0; i < count; i++)
		add_owner_record(&bags, names[i], lengths[i]);
	expect_bags(bags, TDE_E_FORMAT, what);
}

static void
test_owner(void)
{
	static TdeMasterKeys keys;
	static TdeMasterKeys found;
	static char long_name[TDE_SERVER_NAME_SIZE];
	uint8_t    *der;
	size_t		size;

	for (int count = 1; count <= TDE_MAX_MASTER_KEYS; count += TDE_MAX_MASTER_KEYS - 1)
	{
		make_keys(&keys, count);
		random_fill(keys.owner.id, TDE_SERVER_ID_SIZE);
		strcpy(keys.owner.name, "/data \303\244 on host");
		ok(cheap_encode(&keys, PASSPHRASE, &der, &size) == TDE_OK && cheap_decode(der, size, PASSPHRASE, &found) == TDE_OK &&
		   same_keys(&keys, &found) && memcmp(&keys.owner, &found.owner, sizeof(keys.owner)) == 0, "an owner beside %d keys", count);
		OPENSSL_clear_free(der, size);
	}
	make_keys(&keys, 2);
	ok(cheap_encode(&keys, PASSPHRASE, &der, &size) == TDE_OK && cheap_decode(der, size, PASSPHRASE, &found) == TDE_OK &&
	   found.owner.name[0] == '\0', "no owner");
	OPENSSL_clear_free(der, size);

	memset(long_name, 'x', sizeof(long_name));
	expect_owners((const char *[]) {"one", "two"}, (const int[]) {3, 3}, 2, "two owners");
	expect_owners((const char *[]) {""}, (const int[]) {0}, 1, "an owner without a name");
	expect_owners((const char *[]) {long_name}, (const int[]) {TDE_SERVER_NAME_SIZE}, 1, "an owner with too long a name");
	expect_owners((const char *[]) {"a\0b"}, (const int[]) {3}, 1, "an owner with a zero in its name");
}

static void
test_authentic_bags(void)
{
	static TdeMasterKeys keys;
	uint8_t		record[RECORD_SIZE + 1] = {0};
	STACK_OF(PKCS12_SAFEBAG) *bags;
	EVP_PKEY   *private_key = EVP_RSA_gen(2048);

	make_keys(&keys, 1);
	pack_record(&keys.keys[0], record);

	bags = NULL;
	PKCS12_add_secret(&bags, secret_type_nid(), record, RECORD_SIZE + 1);
	expect_bags(bags, TDE_E_FORMAT, "a record that is too long");
	bags = NULL;
	PKCS12_add_secret(&bags, secret_type_nid(), record, RECORD_SIZE - 1);
	expect_bags(bags, TDE_E_FORMAT, "a record that is too short");
	bags = NULL;
	PKCS12_add_secret(&bags, secret_type_nid(), record, 0);
	expect_bags(bags, TDE_E_FORMAT, "an empty record");
	bags = NULL;
	PKCS12_add_secret(&bags, NID_pkcs7_data, record, RECORD_SIZE);
	expect_bags(bags, TDE_E_FORMAT, "a secret of another type");
	record[0] = RECORD_FORMAT + 1;
	bags = NULL;
	PKCS12_add_secret(&bags, secret_type_nid(), record, RECORD_SIZE);
	expect_bags(bags, TDE_E_FORMAT, "a record of a later format");

	bags = NULL;
	must(add_bag(&bags, secret_type_nid(), &keys.keys[0]), "add_bag");
	PKCS12_add_key(&bags, private_key, 0, 0, -1, NULL);
	ok(sk_PKCS12_SAFEBAG_num(bags) == 2, "a private key beside a master key");
	expect_bags(bags, TDE_E_FORMAT, "a private key beside a master key");
	EVP_PKEY_free(private_key);
}

static void
test_authentic_safes(void)
{
	static TdeMasterKeys keys;
	STACK_OF(PKCS12_SAFEBAG) *bags = NULL;
	STACK_OF(PKCS7) *safes = sk_PKCS7_new_null();

	make_keys(&keys, 1);
	must(add_bag(&bags, secret_type_nid(), &keys.keys[0]), "add_bag");
	sk_PKCS7_push(safes, PKCS12_pack_p7data(bags));
	free_bags(bags);
	expect_safes(safes, TDE_E_FORMAT, "keys that are not encrypted");

	safes = sk_PKCS7_new_null();
	sk_PKCS7_push(safes, encrypt_keys(&keys, PASSPHRASE));
	sk_PKCS7_push(safes, encrypt_keys(&keys, PASSPHRASE));
	expect_safes(safes, TDE_E_FORMAT, "two safes");
	expect_safes(sk_PKCS7_new_null(), TDE_E_FORMAT, "no safe");

	safes = sk_PKCS7_new_null();
	sk_PKCS7_push(safes, encrypt_keys(&keys, "another passphrase"));
	expect_safes(safes, TDE_E_AUTH, "contents under another passphrase");
}

/*
 * Ciphertext is changed before the MAC is made: what reads the decrypted contents sees damage that the MAC otherwise
 * keeps from it.
 */
static void
test_authentic_garbage(void)
{
	static TdeMasterKeys keys;
	static TdeMasterKeys found;
	int			counts[TDE_E_FORMAT + 1] = {0};

	for (int round = 0; round < 3000; round++)
	{
		STACK_OF(PKCS7) *safes = sk_PKCS7_new_null();
		ASN1_OCTET_STRING *ciphertext;
		PKCS7	   *safe;
		uint8_t    *der;
		size_t		size;
		uint8_t		bytes[4096];
		int			length;

		make_keys(&keys, 2);
		safe = encrypt_keys(&keys, PASSPHRASE);
		ciphertext = safe->d.encrypted->enc_data->enc_data;
		length = ASN1_STRING_length(ciphertext);
		must(length <= (int) sizeof(bytes), "room for the ciphertext");
		memcpy(bytes, ASN1_STRING_get0_data(ciphertext), (size_t) length);
		bytes[random_below((uint32_t) length)] ^= (uint8_t) (1 << random_below(8));
		if (round % 4 == 0)
			length -= 16 * (int) random_below(4);
		must(ASN1_STRING_set(ciphertext, bytes, length) == 1, "ASN1_STRING_set");
		sk_PKCS7_push(safes, safe);
		der = authentic(safes, &size);
		counts[cheap_decode(der, size, PASSPHRASE, &found)]++;
		OPENSSL_clear_free(der, size);
	}
	diag("ok %d, auth %d, format %d", counts[TDE_OK], counts[TDE_E_AUTH], counts[TDE_E_FORMAT]);
	ok(counts[TDE_OK] + counts[TDE_E_AUTH] + counts[TDE_E_FORMAT] == 3000, "authentic garbage is survived");
}

/*
 * A file with this many iterations in its MAC, or without MAC (0), is refused at once.  The MAC is empty unless it
 * is to be right.
 */
static void
expect_mac(int iterations, const EVP_MD *digest, bool right, bool negative, const char *what)
{
	static TdeMasterKeys keys;
	STACK_OF(PKCS7) *safes = sk_PKCS7_new_null();
	uint8_t		salt[SALT_SIZE] = {0};
	uint8_t    *der = NULL;
	PKCS12	   *container;
	int			size;
	double		start;
	bool		good;

	make_keys(&keys, 1);
	sk_PKCS7_push(safes, encrypt_keys(&keys, PASSPHRASE));
	container = container_with(safes, right, iterations, digest, PASSPHRASE);
	if (!right && iterations > 0)
		must(PKCS12_setup_mac(container, iterations, salt, SALT_SIZE, digest) == 1, "PKCS12_setup_mac");
	size = i2d_PKCS12(container, &der);
	must(size > 0, "i2d_PKCS12");
	/* the iterations are the last number in the file, of four bytes here */
	if (negative)
		der[size - 4] |= 0x80;
	start = seconds();
	good = refused(der, (size_t) size, PASSPHRASE, TDE_E_AUTH);
	ok(good && seconds() - start < 0.5, "MAC: %s", what);
	OPENSSL_clear_free(der, (size_t) size);
	PKCS12_free(container);
	sk_PKCS7_pop_free(safes, PKCS7_free);
}

static void
test_macs(void)
{
	expect_mac(0, NULL, false, false, "absent");
	expect_mac(5, EVP_sha256(), false, false, "empty");
	expect_mac(MAX_MAC_ITERATIONS + 1, EVP_sha256(), false, false, "one iteration too many is refused unseen");
	expect_mac(0x7fffffff, EVP_sha256(), false, false, "2^31 - 1 iterations are refused unseen");
	expect_mac(0x7fffffff, EVP_sha256(), false, true, "negative iterations");
	expect_mac(5, EVP_sha1(), true, false, "right, but of SHA-1");
	expect_mac(5, EVP_sha512(), true, false, "right, but of SHA-512");
}

/* Parameters of PBMAC1, for files that we do not write; NID_undef and -1 leave one out. */
typedef struct Pbmac1
{
	int64_t		iterations;
	int			key_length;
	int			prf;
	int			hmac;
	int			derivation;
	int			salt_type;
} Pbmac1;

static const Pbmac1 ours = {3, MAC_KEY_SIZE, NID_hmacWithSHA256, NID_hmacWithSHA256, NID_id_pbkdf2, V_ASN1_OCTET_STRING};

/* The parameters as the file has them. */
static void
set_parameters(X509_ALGOR *algorithm, const Pbmac1 *p, const uint8_t salt[SALT_SIZE])
{
	PBKDF2PARAM *inner = PBKDF2PARAM_new();
	PBE2PARAM  *outer = PBE2PARAM_new();
	ASN1_STRING *bytes = ASN1_STRING_type_new(p->salt_type);

	must(inner != NULL && outer != NULL && bytes != NULL && ASN1_STRING_set(bytes, salt, SALT_SIZE) == 1, "parameters");
	ASN1_TYPE_set(inner->salt, p->salt_type, bytes);
	must(ASN1_INTEGER_set_int64(inner->iter, p->iterations) == 1, "iterations");
	if (p->key_length >= 0)
	{
		inner->keylength = ASN1_INTEGER_new();
		must(ASN1_INTEGER_set(inner->keylength, p->key_length) == 1, "key length");
	}
	if (p->prf != NID_undef)
	{
		inner->prf = X509_ALGOR_new();
		X509_ALGOR_set0(inner->prf, OBJ_nid2obj(p->prf), V_ASN1_NULL, NULL);
	}
	X509_ALGOR_set0(outer->keyfunc, OBJ_nid2obj(p->derivation), V_ASN1_SEQUENCE,
					ASN1_item_pack(inner, ASN1_ITEM_rptr(PBKDF2PARAM), NULL));
	X509_ALGOR_set0(outer->encryption, OBJ_nid2obj(p->hmac), V_ASN1_NULL, NULL);
	X509_ALGOR_set0(algorithm, OBJ_nid2obj(NID_pbmac1), V_ASN1_SEQUENCE,
					ASN1_item_pack(outer, ASN1_ITEM_rptr(PBE2PARAM), NULL));
	PBE2PARAM_free(outer);
	PBKDF2PARAM_free(inner);
}

static Pfx *
parse(const uint8_t *der, size_t size)
{
	Pfx		   *pfx = (Pfx *) ASN1_item_d2i(NULL, &der, (long) size, ASN1_ITEM_rptr(Pfx));

	must(pfx != NULL, "a wallet is a PFX");
	return pfx;
}

static uint8_t *
unparse(const Pfx *pfx, size_t *size)
{
	uint8_t    *der = NULL;
	int			written = ASN1_item_i2d((const ASN1_VALUE *) pfx, &der, ASN1_ITEM_rptr(Pfx));

	must(written > 0, "i2d");
	*size = (size_t) written;
	return der;
}

/*
 * A wallet that says PBMAC1 with these parameters.  Its MAC is right by them, unless that would cost something, or right by the
 * method of the parameters that we write: what is refused is refused for the parameters.
 */
static uint8_t *
pbmac1_file(const Pbmac1 *p, const Pbmac1 *method, size_t *size)
{
	static TdeMasterKeys keys;
	/* SHA-1 is that of RFC 8018, if it is left out */
	const EVP_MD *prf = method->prf == NID_hmacWithSHA256 ? EVP_sha256() : EVP_sha1();
	const EVP_MD *hash = method->hmac == NID_hmacWithSHA256 ? EVP_sha256() : EVP_sha1();
	uint8_t		salt[SALT_SIZE] = {1, 2, 3};
	uint8_t		key[2000];
	uint8_t		mac[EVP_MAX_MD_SIZE];
	unsigned	mac_size = 0;
	int			length = method->key_length < 0 ? MAC_KEY_SIZE : method->key_length;
	uint8_t    *der;
	Pfx		   *pfx;
	X509_ALGOR *algorithm;
	ASN1_OCTET_STRING *value;

	make_keys(&keys, 1);
	must(cheap_encode(&keys, PASSPHRASE, &der, size) == TDE_OK, "encode");
	pfx = parse(der, *size);
	OPENSSL_clear_free(der, *size);
	X509_SIG_getm(pfx->mac->mac, &algorithm, &value);
	set_parameters(algorithm, p, salt);
	if (p->iterations > 0 && p->iterations < 1000)
	{
		must(PKCS5_PBKDF2_HMAC(PASSPHRASE, -1, salt, SALT_SIZE, (int) p->iterations, prf, length, key) == 1, "PBKDF2");
		must(HMAC(hash, key, length, ASN1_STRING_get0_data(pfx->content->d.data),
				  (size_t) ASN1_STRING_length(pfx->content->d.data), mac, &mac_size) != NULL, "HMAC");
		ASN1_STRING_set(value, mac, (int) mac_size);
	}
	der = unparse(pfx, size);
	pfx_free(pfx);
	return der;
}

static void
expect_pbmac1(Pbmac1 p, TdeStatus expected, const char *what)
{
	const Pbmac1 *methods[] = {&p, &ours};
	static TdeMasterKeys found;

	for (int i = 0; i < 2; i++)
	{
		size_t		size;
		uint8_t    *der = pbmac1_file(&p, methods[i], &size);
		double		start = seconds();
		bool		good = expected == TDE_OK ? cheap_decode(der, size, PASSPHRASE, &found) == TDE_OK
			: refused(der, size, PASSPHRASE, expected);

		ok(good && seconds() - start < 0.5, "PBMAC1: %s, the MAC by %s", what, i == 0 ? "that" : "our method");
		OPENSSL_clear_free(der, size);
	}
}

/* Each bit of the MAC's value counts, and it is as long as it has to be. */
static void
test_mac_value(const char *mac)
{
	static TdeMasterKeys keys;
	uint8_t    *der;
	size_t		size;
	bool		good = true;

	make_keys(&keys, 1);
	must(encode(&keys, PASSPHRASE, &der, &size) == TDE_OK, "encode");
	for (int bit = -2; bit < MAC_SIZE * 8; bit++)
	{
		Pfx		   *pfx = parse(der, size);
		ASN1_OCTET_STRING *value;
		uint8_t		bytes[MAC_SIZE + 1] = {0};
		uint8_t    *changed;
		size_t		changed_size;

		X509_SIG_getm(pfx->mac->mac, NULL, &value);
		memcpy(bytes, ASN1_STRING_get0_data(value), MAC_SIZE);
		if (bit >= 0)
			bytes[bit / 8] ^= (uint8_t) (1 << bit % 8);
		ASN1_STRING_set(value, bytes, bit == -2 ? MAC_SIZE - 1 : bit == -1 ? MAC_SIZE + 1 : MAC_SIZE);
		changed = unparse(pfx, &changed_size);
		good = refused(changed, changed_size, PASSPHRASE, TDE_E_AUTH) && good;
		OPENSSL_clear_free(changed, changed_size);
		pfx_free(pfx);
	}
	ok(good, "%s: a MAC with any bit flipped, too short and too long is refused", mac);
	OPENSSL_clear_free(der, size);
}

static Pbmac1
other(size_t offset, int value)
{
	Pbmac1		p = ours;

	memcpy((char *) &p + offset, &value, sizeof(value));
	return p;
}

static Pbmac1
iterations_of(int64_t iterations)
{
	Pbmac1		p = ours;

	p.iterations = iterations;
	return p;
}

static void
test_pbmac1_parameters(void)
{
	expect_pbmac1(ours, TDE_OK, "as we write it");
	expect_pbmac1(iterations_of(1), TDE_OK, "one iteration");
	expect_pbmac1(iterations_of(0), TDE_E_AUTH, "no iterations");
	expect_pbmac1(iterations_of(-3), TDE_E_AUTH, "negative iterations");
	expect_pbmac1(iterations_of(MAX_MAC_ITERATIONS + 1), TDE_E_AUTH, "one iteration too many is refused unseen");
	expect_pbmac1(iterations_of(0x7fffffff), TDE_E_AUTH, "2^31 - 1 iterations are refused unseen");
	expect_pbmac1(iterations_of(INT64_C(1) << 32 | 3), TDE_E_AUTH, "2^32 + 3 iterations are not 3");
	expect_pbmac1(other(offsetof(Pbmac1, key_length), 1), TDE_E_AUTH, "key of one byte");
	expect_pbmac1(other(offsetof(Pbmac1, key_length), 31), TDE_E_AUTH, "key of 31 bytes");
	expect_pbmac1(other(offsetof(Pbmac1, key_length), 1000), TDE_E_AUTH, "key of a thousand bytes");
	expect_pbmac1(other(offsetof(Pbmac1, key_length), -1), TDE_E_AUTH, "key length absent");
	expect_pbmac1(other(offsetof(Pbmac1, prf), NID_hmacWithSHA1), TDE_E_AUTH, "another PRF");
	expect_pbmac1(other(offsetof(Pbmac1, prf), NID_undef), TDE_E_AUTH, "PRF absent");
	expect_pbmac1(other(offsetof(Pbmac1, hmac), NID_hmacWithSHA1), TDE_E_AUTH, "another MAC");
	expect_pbmac1(other(offsetof(Pbmac1, derivation), NID_id_scrypt), TDE_E_AUTH, "another derivation");
	expect_pbmac1(other(offsetof(Pbmac1, salt_type), V_ASN1_UTF8STRING), TDE_E_AUTH, "salt of another type");
}

/*
 * Files that others have made: wallets.h tells who.
 */
static void
test_known_files(void)
{
	static const struct
	{
		const char *name;
		const char *base64;
		TdeStatus	status;
	}			files[] = {
		{"wallet with OpenSSL 3.5's PBMAC1", wallet_pbmac1, TDE_OK},
		{"wallet of an earlier version", wallet_traditional, TDE_OK},
		{"certificate under the PBMAC1 of OpenSSL 3.5's command", certificate_pbmac1, TDE_E_FORMAT}
	};
	static TdeMasterKeys found;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
	{
		uint8_t		der[1000];
		int			size = EVP_DecodeBlock(der, (const uint8_t *) files[i].base64, (int) strlen(files[i].base64));
		TdeStatus	status;

		for (const char *p = strchr(files[i].base64, '='); p != NULL && *p == '='; p++)
			size--;
		status = tde_container_decode(der, (size_t) size, "secret", &found);
		ok(status == files[i].status, "%s: read", files[i].name);
		ok(status != TDE_OK || (found.count == 1 && found.keys[0].id[15] == 7 && found.keys[0].key[31] == 9 &&
								found.keys[0].created == INT64_C(1700000000000000)), "%s: contents", files[i].name);
#ifndef FULL_COST
		if (files[i].status == TDE_OK)
			continue;
#endif
		ok(tde_container_decode(der, (size_t) size, "Secret", &found) == TDE_E_AUTH, "%s: another passphrase", files[i].name);
		der[100] ^= 1;
		ok(tde_container_decode(der, (size_t) size, "secret", &found) == TDE_E_AUTH, "%s: a flipped bit", files[i].name);
	}
}

/*
 * What does not depend on the kind of MAC in the code, but might in OpenSSL.
 */
static void
test_with_mac(const char *mac)
{
	test_passphrases();
	test_damage(mac);
	test_mac_value(mac);
	test_no_memory_decode(mac);
	test_authentic_sets();
	test_owner();
	test_authentic_bags();
	test_authentic_safes();
}

int
main(void)
{
	static TdeMasterKeys keys;

	setvbuf(stdout, NULL, _IOLBF, 0);
	must(CRYPTO_set_mem_functions(test_malloc, test_realloc, test_free) == 1, "CRYPTO_set_mem_functions");
	make_keys(&keys, 1);
	test_sets(&keys, "1 key");
#ifdef FULL_COST
	test_openssl_command(&keys);
#endif
	make_keys(&keys, TDE_MAX_MASTER_KEYS);
	test_sets(&keys, "256 keys");
	test_known_files();
	test_pbmac1_parameters();
	test_no_memory_encode();
	test_authentic_garbage();
	test_with_mac("PBMAC1");
	traditional = true;
	test_macs();
	test_with_mac("traditional MAC");
	return tap_done();
}
