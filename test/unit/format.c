/*
 * format.c - the bytes on disk, against a second writer made from the description in crypto/value.h alone.
 *
 * The second writer uses one-shot calls of OpenSSL only: HMAC() for HKDF and MACs, EVP's CTR, CBC, GCM and (for AES) CTS.  AES-GCM-SIV, which
 * OpenSSL before 3.2 has not, is made here bit by bit, and compared with OpenSSL's where there is one.
 * It keeps the format from changing unnoticed.  "format.t --vectors" prints test vectors as Markdown.
 */
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/params.h>

#include "specs.h"
#include "crypto/value.h"

#define LARGE	(1024 * 1024 + 100)		/* CTR carries out of the 16 bits that start at zero */

static uint8_t data_key[TDE_DATA_KEY_SIZE];
static uint8_t type_tag[TDE_TYPE_TAG_SIZE];

/* HKDF-SHA256 by its definition, for at most 32 bytes: one round of Expand. */
static void
hkdf(const char *purpose, TdeSpec spec, uint8_t *out, size_t size)
{
	static const uint8_t zeros[32] = {0};
	uint8_t		prk[32],
				okm[32],
				info[64];
	size_t		n = 0;

	must(HMAC(EVP_sha256(), zeros, 32, data_key, sizeof(data_key), prk, NULL) != NULL, "HMAC fails");
	n += (size_t) sprintf((char *) info, "tde_column/1%s", purpose);
	info[n++] = (uint8_t) ((spec.cipher - 1) | (spec.mode != TDE_CTR ? 4 : 0) | (spec.salted ? 8 : 0) | spec.mac << 4);
	memcpy(info + n, type_tag, TDE_TYPE_TAG_SIZE);
	n += TDE_TYPE_TAG_SIZE;
	info[n++] = 1;
	must(HMAC(EVP_sha256(), prk, 32, info, n, okm, NULL) != NULL, "HMAC fails");
	memcpy(out, okm, size);
}

static void
evp_encrypt(TdeSpec spec, const char *mode, const uint8_t *iv, const uint8_t *in, size_t size, bool padding,
			uint8_t *out)
{
	EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
	EVP_CIPHER *cipher;
	char		name[32];
	char		cs3[] = OSSL_CIPHER_CTS_MODE_CS3;
	OSSL_PARAM	params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_CIPHER_PARAM_CTS_MODE, cs3, 0),
		OSSL_PARAM_construct_end()
	};
	uint8_t		key[32];
	int			written = 0,
				final = 0;

	hkdf("enc", spec, key, tde_spec_key(spec));
	if (spec.cipher == TDE_3DES168)
		snprintf(name, sizeof(name), "DES-EDE3-%s", mode);
	else
		snprintf(name, sizeof(name), "AES-%zu-%s", 8 * tde_spec_key(spec), mode);
	cipher = EVP_CIPHER_fetch(NULL, name, NULL);
	must(cipher != NULL &&
		 EVP_EncryptInit_ex2(context, cipher, key, iv, strcmp(mode, "CBC-CTS") == 0 ? params : NULL) == 1 &&
		 EVP_CIPHER_CTX_set_padding(context, padding) == 1 &&
		 EVP_EncryptUpdate(context, out, &written, in, (int) size) == 1 &&
		 (strcmp(mode, "CBC-CTS") == 0 || EVP_EncryptFinal_ex(context, out + written, &final) == 1),
		 "OpenSSL does not encrypt");
	EVP_CIPHER_free(cipher);
	EVP_CIPHER_CTX_free(context);
}

/* CBC-CS3 from a zero-padded CBC; unlike OpenSSL's it takes triple DES too. */
static void
encrypt_cs3(TdeSpec spec, const uint8_t *iv, const uint8_t *in, size_t size, uint8_t *out)
{
	size_t		block = tde_spec_block(spec);
	size_t		padded = (size + block - 1) / block * block;
	uint8_t    *all;
	uint8_t    *cbc;

	if (spec.cipher != TDE_3DES168)
	{
		evp_encrypt(spec, "CBC-CTS", iv, in, size, false, out);
		return;
	}
	all = calloc(1, padded);
	cbc = exact(padded + block);
	memcpy(all, in, size);
	evp_encrypt(spec, "CBC", iv, all, padded, false, cbc);
	if (padded == block)
		memcpy(out, cbc, block);
	else
	{
		memcpy(out, cbc, padded - 2 * block);
		memcpy(out + padded - 2 * block, cbc + padded - block, block);
		memcpy(out + padded - block, cbc + padded - 2 * block, size - (padded - block));
	}
	free(all);
	free(cbc);
}

static void
mac(TdeSpec spec, const char *purpose, uint8_t spec_byte, const uint8_t *data, size_t size, uint8_t *tag)
{
	uint8_t		key[32],
				digest[32];
	uint8_t    *message = exact(size + 1);

	hkdf(purpose, spec, key, 32);
	message[0] = spec_byte;
	memcpy(message + 1, data, size);
	must(HMAC(spec.mac == TDE_SHA1 ? EVP_sha1() : EVP_sha256(), key, 32, message, size + 1, digest, NULL) != NULL,
		 "HMAC fails");
	memcpy(tag, digest, spec.mac == TDE_SHA1 ? 20 : 16);
	free(message);
}

/* EVP's AES-GCM, or where OpenSSL has it (3.2) AES-GCM-SIV; false if it has not. */
static bool
evp_aead(TdeSpec spec, const char *mode, uint8_t spec_byte, const uint8_t *nonce, const uint8_t *in, size_t size, uint8_t *out)
{
	EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
	EVP_CIPHER *cipher;
	char		name[32];
	uint8_t		key[32];
	int			written = 0,
				final = 0;

	hkdf("enc", spec, key, tde_spec_key(spec));
	snprintf(name, sizeof(name), "AES-%zu-%s", 8 * tde_spec_key(spec), mode);
	cipher = EVP_CIPHER_fetch(NULL, name, NULL);
	if (cipher != NULL)
		must(EVP_EncryptInit_ex2(context, cipher, key, nonce, NULL) == 1 &&
			 EVP_EncryptUpdate(context, NULL, &written, &spec_byte, 1) == 1 &&
			 EVP_EncryptUpdate(context, out, &written, in, (int) size) == 1 &&
			 EVP_EncryptFinal_ex(context, out + size, &final) == 1 && final == 0 &&
			 EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, out + size) == 1, "OpenSSL's AEAD does not encrypt");
	EVP_CIPHER_CTX_free(context);
	EVP_CIPHER_free(cipher);
	return cipher != NULL;
}

static void
aes_block(const uint8_t *key, size_t key_size, const uint8_t *in, uint8_t *out)
{
	EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
	const EVP_CIPHER *cipher = key_size == 16 ? EVP_aes_128_ecb() : key_size == 24 ? EVP_aes_192_ecb() : EVP_aes_256_ecb();
	int			written = 0;

	must(EVP_EncryptInit_ex(context, cipher, NULL, key, NULL) == 1 && EVP_CIPHER_CTX_set_padding(context, 0) == 1 &&
		 EVP_EncryptUpdate(context, out, &written, in, 16) == 1 && written == 16, "AES fails");
	EVP_CIPHER_CTX_free(context);
}

/* sum = (sum + block) * key * x^-128 in POLYVAL's field (RFC 8452, section 3), on bytes, as it is written there. */
static void
polyval_step(uint8_t *sum, const uint8_t *key, const uint8_t *block)
{
	uint8_t		product[33] = {0};

	for (int i = 0; i < 128; i++)
		if (((sum[i / 8] ^ block[i / 8]) >> i % 8) & 1)
			for (int j = 0; j < 128; j++)
				product[(i + j) / 8] ^= (uint8_t) (((key[j / 8] >> j % 8) & 1) << (i + j) % 8);
	/* x^-128: whatever is odd gets the polynomial added, then all is divided by x */
	for (int i = 0; i < 128; i++)
		if ((product[i / 8] >> i % 8) & 1)
		{
			static const int exponents[] = {0, 121, 126, 127, 128};

			for (int e = 0; e < 5; e++)
				product[(i + exponents[e]) / 8] ^= (uint8_t) (1 << (i + exponents[e]) % 8);
		}
	memcpy(sum, product + 16, 16);
}

/* AES-GCM-SIV by RFC 8452, section 4, under a nonce of zeros. */
static void
siv(TdeSpec spec, uint8_t spec_byte, const uint8_t *in, size_t size, uint8_t *out)
{
	uint8_t		key[32],
				derived[48],
				block[16] = {0},
				result[16],
				sum[16] = {0};
	size_t		key_size = tde_spec_key(spec);

	hkdf("enc", spec, key, key_size);
	for (size_t i = 0; i < 2 + key_size / 8; i++)
	{
		block[0] = (uint8_t) i;
		aes_block(key, key_size, block, result);
		memcpy(derived + 8 * i, result, 8);
	}
	block[0] = spec_byte;
	polyval_step(sum, derived, block);
	for (size_t i = 0; i < size; i += 16)
	{
		memset(block, 0, 16);
		memcpy(block, in + i, size - i < 16 ? size - i : 16);
		polyval_step(sum, derived, block);
	}
	memset(block, 0, 16);
	block[0] = 8;
	for (int i = 0; i < 8; i++)
		block[8 + i] = (uint8_t) ((uint64_t) size * 8 >> 8 * i);
	polyval_step(sum, derived, block);
	sum[15] &= 0x7f;
	aes_block(derived + 16, key_size, sum, out + size);

	memcpy(block, out + size, 16);
	block[15] |= 0x80;
	for (size_t i = 0; i < size; i += 16)
	{
		aes_block(derived + 16, key_size, block, result);
		for (size_t j = i; j < size && j < i + 16; j++)
			out[j] = in[j] ^ result[j - i];
		for (int byte = 0; byte < 4 && ++block[byte] == 0; byte++)
			;
	}
}

/* Plaintext, 0x80 and zeros. */
static uint8_t *
pad(const uint8_t *plain, size_t size, size_t padded)
{
	uint8_t    *result = calloc(1, padded);

	memcpy(result, plain, size);
	result[size] = 0x80;
	return result;
}

/* What follows the header of a value with gcm; returns its size. */
static size_t
write_gcm(TdeSpec spec, uint8_t spec_byte, const uint8_t *plain, size_t size, const uint8_t *nonce, uint8_t *out)
{
	static const uint8_t zeros[12] = {0};
	uint8_t    *again;

	if (spec.salted)
	{
		memcpy(out, nonce, 12);
		must(evp_aead(spec, "GCM", spec_byte, nonce, plain, size, out + 12), "OpenSSL has no AES-GCM");
		return 12 + size + 16;
	}
	/* the bits on bytes take a millisecond for each hundred bytes */
	if (size > 2000)
	{
		if (!evp_aead(spec, "GCM-SIV", spec_byte, zeros, plain, size, out))
			return 0;
		return size + 16;
	}
	siv(spec, spec_byte, plain, size, out);
	again = exact(size + 16);
	must(!evp_aead(spec, "GCM-SIV", spec_byte, zeros, plain, size, again) || memcmp(out, again, size + 16) == 0,
		 "OpenSSL's AES-GCM-SIV differs");
	free(again);
	return size + 16;
}

/* The second writer, of bytes that are padded already.  Returns the size; a salted value gets the salt given. */
static size_t
write_bytes(TdeSpec spec, uint32_t id, bool compressed, const uint8_t *plain, size_t size, const uint8_t *salt,
			uint8_t *out)
{
	size_t		block = tde_spec_block(spec);
	bool		small = !spec.salted && spec.mode == TDE_CBC && size < block;
	size_t		tag_size = spec.mac == TDE_SHA1 ? 20 : spec.mac == TDE_SHA256 ? 16 : 0;
	size_t		ciphertext = size;
	uint8_t		iv[32] = {0};
	uint8_t    *body,
			   *next;

	out[0] = tde_spec_byte(spec, compressed || small);
	next = out + 1;
	do
	{
		*next++ = (uint8_t) ((id & 0x7f) | (id > 0x7f ? 0x80 : 0));
		id >>= 7;
	} while (id > 0);
	body = next;
	if (spec.mac == TDE_GCM)
	{
		size_t		written = write_gcm(spec, out[0], plain, size, salt, next);

		return written > 0 ? (size_t) (next - out) + written : 0;
	}

	if (spec.salted)
	{
		size_t		salt_size = spec.mode == TDE_CTR ? 14 : block;

		memcpy(next, salt, salt_size);
		memcpy(iv, salt, salt_size);
		next += salt_size;
	}
	else if (spec.mac != TDE_NOMAC)
		mac(spec, "siv", out[0], plain, size, iv);
	else
		hkdf("iv", spec, iv, block);

	if (spec.mode == TDE_CTR)
		evp_encrypt(spec, "CTR", iv, plain, size, false, next);
	else if (spec.salted || small)
	{
		ciphertext = (size / block + 1) * block;
		evp_encrypt(spec, "CBC", iv, plain, size, true, next);
	}
	else
		encrypt_cs3(spec, iv, plain, size, next);
	next += ciphertext;

	if (spec.salted && spec.mac != TDE_NOMAC)
		mac(spec, "mac", out[0], body, (size_t) (next - body), next);
	else if (spec.mac != TDE_NOMAC)
		memcpy(next, iv, tag_size);
	return (size_t) (next - out) + tag_size;
}

/* The same, padded to so many bytes if the specification says that it is. */
static size_t
write_value(TdeSpec spec, uint32_t id, bool compressed, const uint8_t *plain, size_t size, size_t padded, const uint8_t *salt,
			uint8_t *out)
{
	uint8_t    *all = spec.mode == TDE_PADDED ? pad(plain, size, padded) : NULL;
	size_t		written = all ? write_bytes(spec, id, compressed, all, padded, salt, out)
		: write_bytes(spec, id, compressed, plain, size, salt, out);

	free(all);
	return written;
}

/* Does our value equal the second writer's (with the salt that ours drew), if that can write it? */
static bool
same_value(TdeValueKey *key, TdeSpec spec, uint32_t id, bool compressed, const uint8_t *plain, size_t size)
{
	size_t		sealed = tde_header_sealed_size(spec, id, padded_size(spec, size));
	uint8_t    *ours = exact(sealed);
	uint8_t    *theirs = exact(sealed + 64);
	TdeHeader	header;
	size_t		written;
	bool		good;

	must(seal_any(key, spec, id, compressed, plain, size, ours) == TDE_OK, "a value cannot be sealed");
	must(tde_header_parse(ours, sealed, &header), "a sealed value has no good header");
	written = write_value(spec, id, compressed, plain, size, padded_size(spec, size), ours + header.size, theirs);
	good = written == 0 || (written == sealed && memcmp(ours, theirs, sealed) == 0);
	free(ours);
	free(theirs);
	return good;
}

static void
test_format(TdeSpec spec)
{
	TdeValueKey *key;
	bool		good = true;
	uint8_t    *plain = exact(LARGE);

	random_fill(plain, LARGE);
	must(tde_value_key_new(&key, data_key, spec, type_tag) == TDE_OK, "cannot make a value key");
	for (size_t size = 0; size <= 130 && good; size++)
	{
		good = same_value(key, spec, (uint32_t) (1 + size * size * 1000), false, plain, size);
		if (spec.salted)
			good = good && same_value(key, spec, 1, true, plain, size);
	}
	good = good && same_value(key, spec, 9, false, plain, 1030) && same_value(key, spec, 9, false, plain, LARGE);
	ok(good, "%s: the bytes are as described", spec_name(spec));
	tde_value_key_free(key);
	free(plain);
}

/* What says that it is padded, and is not, only somebody with the key can have made. */
static void
test_unpadded(TdeSpec spec)
{
	static const struct
	{
		const char *hex;
		bool		padded;
	}			plains[] = {
		{"80", true}, {"00", false}, {"0000000000000000000000", false}, {"41", false}, {"4142", false}, {"8001", false}, {"4100", false}, {"7f00", false},
		{"418000", true}, {"41800000000000000000000000000000000000", true}, {"8000800000000000000000000001", false},
	};
	TdeValueKey *key;
	bool		good = true;

	must(tde_value_key_new(&key, data_key, spec, type_tag) == TDE_OK, "cannot make a value key");
	for (size_t i = 0; i < sizeof(plains) / sizeof(plains[0]); i++)
	{
		uint8_t		plain[32],
					value[100],
					out[32];
		size_t		size = unhex(plains[i].hex, plain),
					opened,
					written = write_bytes(spec, 1, false, plain, size, data_key, value);
		TdeHeader	header;

		good = good && tde_header_parse(value, written, &header) &&
			tde_value_open(key, &header, value, written, out, &opened) == (plains[i].padded ? TDE_OK : TDE_E_AUTH);
		for (size_t j = 0; j < size; j++)
			good = good && (plains[i].padded || out[j] == 0);
	}
	ok(good, "%s: an authentic value without its padding is refused, output clean", spec_name(spec));
	tde_value_key_free(key);
}

/* The test vectors of the documentation: padded to multiples of 16, fixed keys and salts, a short and a longer plaintext. */
static void
print_vectors(const TdeSpec *specs, int count)
{
	static const char *const texts[] = {"4111111111", "The quick brown fox jumps"};
	uint8_t		salt[16];
	uint8_t		value[128];

	for (int i = 0; i < 16; i++)
		salt[i] = (uint8_t) (0xa0 + i);
	printf("| specification | plaintext | value |\n|---|---|---|\n");
	for (int i = 0; i < count; i++)
		for (int j = 0; j < 2; j++)
		{
			const uint8_t *plain = (const uint8_t *) texts[j];
			size_t		size = write_value(specs[i], 1, false, plain, strlen(texts[j]), (strlen(texts[j]) / 16 + 1) * 16, salt, value);

			printf("| %s | `%s` | `", spec_name(specs[i]), texts[j]);
			for (size_t k = 0; k < size; k++)
				printf("%02x", value[k]);
			printf("` |\n");
		}
}

int
main(int argc, char **argv)
{
	TdeSpec		specs[MAX_SPECS];
	int			count = all_specs(specs);

	for (int i = 0; i < TDE_DATA_KEY_SIZE; i++)
		data_key[i] = (uint8_t) i;
	for (int i = 0; i < TDE_TYPE_TAG_SIZE; i++)
		type_tag[i] = (uint8_t) (0xf0 + i);
	if (argc > 1 && strcmp(argv[1], "--vectors") == 0)
	{
		print_vectors(specs, count);
		return 0;
	}
	for (int i = 0; i < count; i++)
	{
		test_format(specs[i]);
		if (specs[i].mode == TDE_PADDED)
			test_unpadded(specs[i]);
	}
	return tap_done();
}
