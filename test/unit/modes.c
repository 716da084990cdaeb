/*
 * modes.c - our CTR, CBC and CBC-CS3 against OpenSSL's own, and triple DES CS3 against a slow reference written here.
 */
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "tap.h"
#include "crypto/cipher.h"
#include "crypto/internal.h"
#include "crypto/primitives.h"

#define LARGE	(100 * 1024)

static uint8_t secret[32];
static uint8_t plain[LARGE];
static uint8_t expected[LARGE];
static uint8_t out[LARGE];

/* OpenSSL does it in one call, from a fresh context. */
static void
openssl_encrypt(const char *name, const uint8_t *iv, const uint8_t *in, size_t size, uint8_t *to)
{
	EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, name, NULL);
	EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
	char		cs3[] = OSSL_CIPHER_CTS_MODE_CS3;
	OSSL_PARAM	params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_CIPHER_PARAM_CTS_MODE, cs3, 0),
		OSSL_PARAM_construct_end()
	};
	int			written = 0;

	must(cipher != NULL && context != NULL &&
		 EVP_EncryptInit_ex2(context, cipher, secret, iv, strstr(name, "CTS") ? params : NULL) == 1 &&
		 EVP_CIPHER_CTX_set_padding(context, 0) == 1 &&
		 EVP_EncryptUpdate(context, to, &written, in, (int) size) == 1 && (size_t) written == size,
		 "OpenSSL does not encrypt");
	EVP_CIPHER_CTX_free(context);
	EVP_CIPHER_free(cipher);
}

static void
make_key(TdeCipherKey *key, TdeCipher cipher, TdeMode mode)
{
	TdeSpec		spec = {(uint8_t) cipher, (uint8_t) mode, TDE_NOMAC, false};

	memset(key, 0, sizeof(*key));
	must(tde_cipher_init(key, spec, secret) == TDE_OK, "cannot make a cipher key");
}

static bool
same_ctr(TdeCipherKey *key, const char *name, const uint8_t *counter, size_t size)
{
	if (size > 0)
		openssl_encrypt(name, counter, plain, size, expected);
	return tde_cipher_ctr(key, counter, plain, size, out) == TDE_OK && memcmp(out, expected, size) == 0 &&
		tde_cipher_ctr(key, counter, expected, size, out) == TDE_OK && memcmp(out, plain, size) == 0;
}

static void
test_ctr(TdeCipher cipher, int bits)
{
	/* carries: none; out of 16, 32, 64 bits; around 128; at the 3rd block; in a later chunk */
	static const char *const counters[] = {
		"000102030405060708090a0b0c0d0000", "0102030405060708090a0b0c0d0effff", "0102030405060708090a0b0cffffffff",
		"0102030405060708ffffffffffffffff", "ffffffffffffffffffffffffffffffff", "fffffffffffffffffffffffffffffffe",
		"0102030405060708ffffffffffffffd0", "01020304050607080000000000fffff0",
	};
	char		name[32];
	TdeCipherKey key;

	snprintf(name, sizeof(name), "AES-%d-CTR", bits);
	make_key(&key, cipher, TDE_CTR);
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
	{
		uint8_t		counter[16];
		bool		good = true;

		unhex(counters[i], counter);
		for (size_t size = 0; size <= 200 && good; size++)
			good = same_ctr(&key, name, counter, size);
		for (size_t size = 500; size <= 1100 && good; size++)
			good = same_ctr(&key, name, counter, size);
		good = good && same_ctr(&key, name, counter, LARGE) && same_ctr(&key, name, counter, LARGE - 5);
		ok(good, "AES-%d CTR from %s as EVP's, 0-200, 500-1100 bytes and 100 KB", bits, counters[i]);
	}
	tde_cipher_free(&key);
}

static bool
same_cbc(TdeCipherKey *key, const char *name, const uint8_t *iv, size_t size)
{
	openssl_encrypt(name, iv, plain, size, expected);
	return tde_cipher_cbc_encrypt(key, iv, plain, size, out) == TDE_OK && memcmp(out, expected, size) == 0 &&
		tde_cipher_cbc_decrypt(key, iv, expected, size, out) == TDE_OK && memcmp(out, plain, size) == 0;
}

static bool
same_cs3(TdeCipherKey *key, const char *name, const uint8_t *iv, size_t size)
{
	openssl_encrypt(name, iv, plain, size, expected);
	return tde_cipher_cs3_encrypt(key, iv, plain, size, out) == TDE_OK && memcmp(out, expected, size) == 0 &&
		tde_cipher_cs3_decrypt(key, iv, expected, size, out) == TDE_OK && memcmp(out, plain, size) == 0;
}

static void
test_cbc(TdeCipher cipher, const char *prefix, size_t block)
{
	char		name[32];
	uint8_t		iv[16];
	TdeCipherKey key;
	bool		good = true;

	snprintf(name, sizeof(name), "%s-CBC", prefix);
	make_key(&key, cipher, TDE_CBC);
	for (size_t size = block; size <= 400 && good; size += block)
	{
		random_fill(iv, block);
		good = same_cbc(&key, name, iv, size);
	}
	good = good && same_cbc(&key, name, iv, LARGE);
	ok(good, "%s as OpenSSL's, every number of blocks to 400 bytes and 100 KB", name);

	/* what a failure leaves behind: the chain is not known, the IV has to be set */
	key.chain_known = false;
	good = same_cbc(&key, name, iv, 3 * block) && same_cbc(&key, name, iv, block);
	ok(good, "%s after the chain was lost", name);

	ok(tde_cipher_cbc_encrypt(&key, iv, plain, block + 1, out) == TDE_E_CRYPTO &&
	   tde_cipher_cbc_encrypt(&key, iv, plain, 0, out) == TDE_E_CRYPTO &&
	   tde_cipher_cbc_decrypt(&key, iv, plain, block - 1, out) == TDE_E_CRYPTO &&
	   tde_cipher_cs3_encrypt(&key, iv, plain, block - 1, out) == TDE_E_CRYPTO &&
	   tde_cipher_cs3_decrypt(&key, iv, plain, block - 1, out) == TDE_E_CRYPTO, "%s refuses impossible sizes", name);
	tde_cipher_free(&key);
}

static void
test_cs3_aes(TdeCipher cipher, int bits)
{
	char		name[32];
	uint8_t		iv[16];
	TdeCipherKey key;
	bool		good = true;

	snprintf(name, sizeof(name), "AES-%d-CBC-CTS", bits);
	make_key(&key, cipher, TDE_CBC);
	for (size_t size = 16; size <= 400 && good; size++)
	{
		random_fill(iv, sizeof(iv));
		good = same_cs3(&key, name, iv, size);
	}
	good = good && same_cs3(&key, name, iv, LARGE) && same_cs3(&key, name, iv, LARGE - 7);
	ok(good, "AES-%d CBC-CS3 as OpenSSL's, 16-400 bytes and 100 KB", bits);
	tde_cipher_free(&key);
}

/* One block of triple DES, by a context of its own. */
static void
slow_3des(const uint8_t *in, uint8_t *to)
{
	openssl_encrypt("DES-EDE3-ECB", NULL, in, 8, to);
}

/*
 * CBC-CS3 with triple DES, block by block as the addendum to SP 800-38A describes it (CBC-CS3-Encrypt, by way of
 * CBC-CS1-Encrypt and an exchange of the last two blocks).
 */
static void
slow_cs3(const uint8_t *iv, const uint8_t *in, size_t size, uint8_t *to)
{
	uint8_t		chain[8],
				block[8];
	size_t		blocks = (size + 7) / 8;
	size_t		tail = size - (blocks - 1) * 8;
	uint8_t    *all = exact(blocks * 8);

	memcpy(chain, iv, 8);
	for (size_t i = 0; i < blocks; i++)
	{
		for (size_t j = 0; j < 8; j++)
			block[j] = chain[j] ^ (8 * i + j < size ? in[8 * i + j] : 0);
		slow_3des(block, chain);
		memcpy(all + 8 * i, chain, 8);
	}
	if (blocks == 1)
		memcpy(to, all, 8);
	else
	{
		memcpy(to, all, (blocks - 2) * 8);
		memcpy(to + (blocks - 2) * 8, all + (blocks - 1) * 8, 8);
		memcpy(to + (blocks - 1) * 8, all + (blocks - 2) * 8, tail);
	}
	free(all);
}

static void
test_cs3_3des(void)
{
	uint8_t		iv[8];
	TdeCipherKey key;
	bool		good = true;

	make_key(&key, TDE_3DES168, TDE_CBC);
	for (size_t size = 8; size <= 300 && good; size++)
	{
		random_fill(iv, sizeof(iv));
		slow_cs3(iv, plain, size, expected);
		good = tde_cipher_cs3_encrypt(&key, iv, plain, size, out) == TDE_OK && memcmp(out, expected, size) == 0 &&
			tde_cipher_cs3_decrypt(&key, iv, expected, size, out) == TDE_OK && memcmp(out, plain, size) == 0;
	}
	ok(good, "triple DES CBC-CS3 as the slow reference, 8-300 bytes");
	tde_cipher_free(&key);
}

static void
test_padding(void)
{
	uint8_t		last[16];
	size_t		padding;
	bool		good = true;

	for (unsigned count = 1; count <= 16; count++)
	{
		memset(last, 0xee, 16);
		memset(last + 16 - count, (int) count, count);
		good = good && tde_cipher_unpad(last, 16, &padding) && padding == count;
		for (unsigned i = 16 - count; i < 16; i++)
		{
			/* no other byte there can be right: 0xee is no padding length */
			last[i] ^= 0xe0;
			good = good && !tde_cipher_unpad(last, 16, &padding);
			last[i] ^= 0xe0;
		}
	}
	memset(last, 0, 16);
	good = good && !tde_cipher_unpad(last, 16, &padding);
	memset(last, 17, 16);
	good = good && !tde_cipher_unpad(last, 16, &padding);
	memset(last, 9, 16);
	good = good && !tde_cipher_unpad(last + 8, 8, &padding) && tde_cipher_unpad(last, 16, &padding);
	memset(last, 8, 16);
	good = good && tde_cipher_unpad(last + 8, 8, &padding) && padding == 8;
	ok(good, "PKCS#7 padding: all right ones accepted, all wrong ones refused");
}

int
main(void)
{
	static const int bits[] = {0, 128, 192, 256};
	TdeCipherKey key = {0};
	TdeSpec		triple = {TDE_3DES168, TDE_CBC, TDE_NOMAC, true};

	random_fill(secret, sizeof(secret));
	random_fill(plain, sizeof(plain));
	for (int evp = 0; evp <= 1; evp++)
	{
		diag("%s", evp ? "EVP's own modes" : "our modes");
		tde_crypto_use_evp(evp == 1);
		for (int cipher = TDE_AES128; cipher <= TDE_AES256; cipher++)
		{
			char		name[16];

			snprintf(name, sizeof(name), "AES-%d", bits[cipher]);
			test_ctr((TdeCipher) cipher, bits[cipher]);
			test_cbc((TdeCipher) cipher, name, 16);
			test_cs3_aes((TdeCipher) cipher, bits[cipher]);
		}
	}
	ok(tde_crypto_missing() == NULL, "no cipher was missing");
	ok(tde_cipher_init(&key, triple, secret) == TDE_E_UNAVAILABLE, "triple DES is refused where EVP has to do whole modes");
	ok(strcmp(tde_crypto_missing(), "3des168") == 0 && tde_crypto_missing() == NULL, "and named, once");
	tde_crypto_use_evp(false);
	test_cbc(TDE_3DES168, "DES-EDE3", 8);
	test_cs3_3des();
	test_padding();
	return tap_done();
}
