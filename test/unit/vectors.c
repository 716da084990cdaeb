/*
 * vectors.c - published test vectors, in full tables, over both ways (our modes and pad states; EVP's).
 */
#include "tap.h"
#include "crypto/cipher.h"
#include "crypto/internal.h"
#include "crypto/mac.h"
#include "crypto/primitives.h"

#define PLAIN \
	"6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51" \
	"30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"

/* NIST SP 800-38A, appendix F: the key, and the ciphertext of the same four blocks in ECB, CBC and CTR. */
static const struct
{
	TdeCipher	cipher;
	const char *key,
			   *ecb,
			   *cbc,
			   *ctr;
}			sp800_38a[] = {
	{TDE_AES128, "2b7e151628aed2a6abf7158809cf4f3c",
		"3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf"
		"43b1cd7f598ece23881b00e3ed0306887b0c785e27e8ad3f8223207104725dd4",
		"7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"
		"73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7",
		"874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"
	"5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee"},
	{TDE_AES192, "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b",
		"bd334f1d6e45f25ff712a214571fa5cc974104846d0ad3ad7734ecb3ecee4eef"
		"ef7afd2270e2e60adce0ba2face6444e9a4b41ba738d6c72fb16691603c18e0e",
		"4f021db243bc633d7178183a9fa071e8b4d9ada9ad7dedf4e5e738763f69145a"
		"571b242012fb7ae07fa9baac3df102e008b0e27988598881d920a9e64f5615cd",
		"1abc932417521ca24f2b0459fe7e6e0b090339ec0aa6faefd5ccc2c6f4ce8e94"
	"1e36b26bd1ebc670d1bd1d665620abf74f78a7f6d29809585a97daec58c6b050"},
	{TDE_AES256, "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
		"f3eed1bdb5d2a03c064b5a7e3db181f8591ccb10d410ed26dc5ba74a31362870"
		"b6ed21b99ca6f4f9f153e7b1beafed1d23304b7a39f9f3ff067d8d8f9e24ecc7",
		"f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d"
		"39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b",
		"601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
	"2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6"},
};

/* RFC 3962, appendix B: plaintexts are the beginnings of one sentence. */
static const struct
{
	size_t		size;
	const char *sealed;
}			rfc3962[] = {
	{17, "c6353568f2bf8cb4d8a580362da7ff7f97"},
	{31, "fc00783e0efdb2c1d445d4c8eff7ed2297687268d6ecccc0c07b25e25ecfe5"},
	{32, "39312523a78662d5be7fcbcc98ebf5a897687268d6ecccc0c07b25e25ecfe584"},
	{47, "97687268d6ecccc0c07b25e25ecfe584b3fffd940c16a18c1b5549d2f838029e39312523a78662d5be7fcbcc98ebf5"},
	{48, "97687268d6ecccc0c07b25e25ecfe5849dad8bbb96c4cdc03bc103e1a194bbd839312523a78662d5be7fcbcc98ebf5a8"},
	{64, "97687268d6ecccc0c07b25e25ecfe58439312523a78662d5be7fcbcc98ebf5a8"
	"4807efe836ee89a526730dbc2f7bc8409dad8bbb96c4cdc03bc103e1a194bbd8"},
};

#define AA80 \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define AA131 AA80 AA80			/* the first 131 bytes of it */

/* RFC 2202 (cases 1 to 7) and RFC 4231 (cases 1 to 4, 6, 7; case 5 is about truncation). */
static const struct
{
	TdeMac		mac;
	int			number;
	size_t		key_size;		/* 0: as long as the digits */
	const char *key,
			   *message,
			   *tag;
}			hmac[] = {
	{TDE_SHA1, 1, 0, "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "4869205468657265",
	"b617318655057264e28bc0b6fb378c8ef146be00"},
	{TDE_SHA1, 2, 0, "4a656665", "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
	"effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"},
	{TDE_SHA1, 3, 0, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		"dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd",
	"125d7342b9ac11cd91a39af48aa17b4f63f175d3"},
	{TDE_SHA1, 4, 0, "0102030405060708090a0b0c0d0e0f10111213141516171819",
		"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd",
	"4c9007f4026250c6bc8414f9bf50c86c2d7235da"},
	{TDE_SHA1, 5, 0, "0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c", "546573742057697468205472756e636174696f6e",
	"4c1a03424b55e07fe7f27be1d58bb9324a9a5a04"},
	{TDE_SHA1, 6, 0, AA80,
		"54657374205573696e67204c6172676572205468616e20426c6f636b2d53697a65204b6579202d2048617368204b6579204669727374",
	"aa4ae5e15272d00e95705637ce8a3b55ed402112"},
	{TDE_SHA1, 7, 0, AA80,
		"54657374205573696e67204c6172676572205468616e20426c6f636b2d53697a65204b657920616e64204c6172676572"
		"205468616e204f6e6520426c6f636b2d53697a652044617461",
	"e8e99d0f45237d786d6bbaa7965c7808bbff1a91"},
	{TDE_SHA256, 1, 0, "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "4869205468657265",
	"b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
	{TDE_SHA256, 2, 0, "4a656665", "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
	"5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
	{TDE_SHA256, 3, 0, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		"dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd",
	"773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
	{TDE_SHA256, 4, 0, "0102030405060708090a0b0c0d0e0f10111213141516171819",
		"cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd",
	"82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"},
	{TDE_SHA256, 6, 131, AA131,
		"54657374205573696e67204c6172676572205468616e20426c6f636b2d53697a65204b6579202d2048617368204b6579204669727374",
	"60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
	{TDE_SHA256, 7, 131, AA131,
		"5468697320697320612074657374207573696e672061206c6172676572207468616e20626c6f636b2d73697a65206b6579"
		"20616e642061206c6172676572207468616e20626c6f636b2d73697a6520646174612e20546865206b6579206e65656473"
		"20746f20626520686173686564206265666f7265206265696e6720757365642062792074686520484d414320616c676f72"
		"6974686d2e",
	"9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"},
};

/* NIST CAVP, KWP_AE_256. */
static const struct
{
	const char *kek,
			   *plain,
			   *wrapped;
}			kwp[] = {
	{"2800f18237cf8d2ba1dfe361784fd7519b0fdb0ec73e2ab1c0b966b9173fc5b5", "ad",
	"c1eccf2d077a385e67aaeb35552c893c"},
	{"1c997c2bb5a15a4593e337b3249675d557467417917f6bc5165c9af6a3e29504", "3e3eafc50cd4e939",
	"163eb9e7dbc8ed0086dffbc6ab00e329"},
	{"8df1533f99be6fe60f951057fed1daccd14bd4e34118f24af677bbf46bf11fe7", "fb36b1f3907fb5edce",
	"6974d7bae0221b4ed91336c26af77e32761f6024d8bbf292"},
	{"dea4667d911b5c9ec996cdb35da0e29bc996cbfb0e0a56bac12fccc334d732eb",
		"25d58d437a56a7332a18541333201f9929fccde11b06844c19ba1ca224cfd6",
	"86d4e258391f15d7d4f0ab3e15d6f45e65dd2f8caf4c6720963bb8970fc2f3a4a58dc74674347ec9"},
};

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

static void
make_cipher(TdeCipherKey *key, TdeCipher cipher, TdeMode mode, const char *hex)
{
	TdeSpec		spec = {(uint8_t) cipher, (uint8_t) mode, TDE_NOMAC, false};
	uint8_t		secret[32];

	memset(key, 0, sizeof(*key));
	unhex(hex, secret);
	must(tde_cipher_init(key, spec, secret) == TDE_OK, "cannot make a cipher key");
}

static void
test_38a(const char *way)
{
	uint8_t		plain[64],
				expected[64],
				out[64],
				counter[16],
				iv[16];
	static const uint8_t zeros[16] = {0};
	TdeCipherKey key;

	unhex(PLAIN, plain);
	unhex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", counter);
	unhex("000102030405060708090a0b0c0d0e0f", iv);
	for (size_t i = 0; i < COUNT(sp800_38a); i++)
	{
		bool		good = true;

		make_cipher(&key, sp800_38a[i].cipher, TDE_CTR, sp800_38a[i].key);
		unhex(sp800_38a[i].ecb, expected);
		for (int block = 0; block < 4; block++)
			good = good && tde_cipher_ctr(&key, plain + 16 * block, zeros, 16, out + 16 * block) == TDE_OK;
		ok(good && memcmp(out, expected, 64) == 0, "SP 800-38A F.1, AES with key %zu (%s)", i, way);

		unhex(sp800_38a[i].ctr, expected);
		good = tde_cipher_ctr(&key, counter, plain, 64, out) == TDE_OK && memcmp(out, expected, 64) == 0;
		ok(good, "SP 800-38A F.5, encrypt with key %zu (%s)", i, way);
		good = tde_cipher_ctr(&key, counter, expected, 64, out) == TDE_OK && memcmp(out, plain, 64) == 0;
		ok(good, "SP 800-38A F.5, decrypt with key %zu (%s)", i, way);
		tde_cipher_free(&key);

		make_cipher(&key, sp800_38a[i].cipher, TDE_CBC, sp800_38a[i].key);
		unhex(sp800_38a[i].cbc, expected);
		good = tde_cipher_cbc_encrypt(&key, iv, plain, 64, out) == TDE_OK && memcmp(out, expected, 64) == 0;
		ok(good, "SP 800-38A F.2, encrypt with key %zu (%s)", i, way);
		good = tde_cipher_cbc_decrypt(&key, iv, expected, 64, out) == TDE_OK && memcmp(out, plain, 64) == 0;
		ok(good, "SP 800-38A F.2, decrypt with key %zu (%s)", i, way);
		tde_cipher_free(&key);
	}
}

static void
test_3962(const char *way)
{
	static const char *const text = "I would like the General Gau's Chicken, please, and wonton soup.";
	static const uint8_t iv[16] = {0};
	TdeCipherKey key;

	make_cipher(&key, TDE_AES128, TDE_CBC, "636869636b656e207465726979616b69");
	for (size_t i = 0; i < COUNT(rfc3962); i++)
	{
		uint8_t		expected[64],
					out[64];
		size_t		size = rfc3962[i].size;

		must(unhex(rfc3962[i].sealed, expected) == size, "a vector has the wrong size");
		ok(tde_cipher_cs3_encrypt(&key, iv, (const uint8_t *) text, size, out) == TDE_OK &&
		   memcmp(out, expected, size) == 0, "RFC 3962, encrypt %zu bytes (%s)", size, way);
		ok(tde_cipher_cs3_decrypt(&key, iv, expected, size, out) == TDE_OK &&
		   memcmp(out, text, size) == 0, "RFC 3962, decrypt %zu bytes (%s)", size, way);
	}
	tde_cipher_free(&key);
}

static void
test_3des(void)
{
	static const char *const plain[] = {"5468652071756663", "6b2062726f776e20", "666f78206a756d70"};
	static const char *const sealed[] = {"a826fd8ce53b855f", "cce21c8112256fe6", "68d5c05dd9b6b900"};
	static const uint8_t iv[8] = {0};
	TdeCipherKey key;

	make_cipher(&key, TDE_3DES168, TDE_CBC, "0123456789abcdef23456789abcdef01456789abcdef0123");
	for (int i = 0; i < 3; i++)
	{
		uint8_t		clear[8],
					expected[8],
					out[8];

		unhex(plain[i], clear);
		unhex(sealed[i], expected);
		ok(tde_cipher_cbc_encrypt(&key, iv, clear, 8, out) == TDE_OK && memcmp(out, expected, 8) == 0,
		   "SP 800-67 B.1, encrypt block %d", i + 1);
		ok(tde_cipher_cbc_decrypt(&key, iv, expected, 8, out) == TDE_OK && memcmp(out, clear, 8) == 0,
		   "SP 800-67 B.1, decrypt block %d", i + 1);
	}
	tde_cipher_free(&key);
}

static void
test_hmac(const char *way)
{
	for (size_t i = 0; i < COUNT(hmac); i++)
	{
		TdeMacKey	key = {0};
		uint8_t		secret[200],
					message[200],
					expected[TDE_MAX_DIGEST],
					digest[TDE_MAX_DIGEST];
		size_t		key_size = unhex(hmac[i].key, secret);
		size_t		size = unhex(hmac[i].message, message);
		size_t		tag_size = unhex(hmac[i].tag, expected);
		bool		good;

		if (hmac[i].key_size > 0)
			key_size = hmac[i].key_size;
		must(tde_mac_init(&key, hmac[i].mac, secret, key_size) == TDE_OK, "cannot make a MAC key");
		good = tde_mac_digest(&key, message[0], message + 1, size - 1, digest) == TDE_OK &&
			memcmp(digest, expected, tag_size) == 0;
		ok(good, "RFC %s, case %d (%s)", hmac[i].mac == TDE_SHA1 ? "2202" : "4231", hmac[i].number, way);
		tde_mac_free(&key);
	}
}

static void
test_wrap(void)
{
	for (size_t i = 0; i < COUNT(kwp); i++)
	{
		uint8_t		kek[32],
					plain[40],
					wrapped[48],
					out[48];
		size_t		plain_size = unhex(kwp[i].plain, plain);
		size_t		wrapped_size = unhex(kwp[i].wrapped, wrapped);
		size_t		size = wrapped_size;

		unhex(kwp[i].kek, kek);
		ok(tde_crypto_wrap_key(kek, plain, plain_size, out, &size) == TDE_OK && size == wrapped_size &&
		   memcmp(out, wrapped, size) == 0, "KWP_AE_256, wrap %zu bytes", plain_size);
		size = plain_size;
		ok(tde_crypto_unwrap_key(kek, wrapped, wrapped_size, out, &size) == TDE_OK && size == plain_size &&
		   memcmp(out, plain, size) == 0, "KWP_AE_256, unwrap %zu bytes into just enough room", plain_size);
	}
}

static void
test_hkdf(void)
{
	uint8_t		ikm[22],
				expected[42],
				out[42];

	memset(ikm, 0x0b, sizeof(ikm));
	unhex("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8", expected);
	ok(tde_crypto_hkdf(ikm, sizeof(ikm), NULL, 0, out, sizeof(out)) == TDE_OK && memcmp(out, expected, sizeof(out)) == 0,
	   "RFC 5869, A.3");
}

int
main(void)
{
	const char *failed = NULL;

	for (int evp = 0; evp <= 1; evp++)
	{
		const char *way = evp ? "EVP's modes" : "our modes";

		tde_crypto_use_evp(evp == 1);
		ok(tde_selftest(&failed) == TDE_OK && failed == NULL, "the self-test passes (%s)", way);
		test_38a(way);
		test_3962(way);
		test_hmac(evp ? "EVP_MAC" : "default");
	}
	tde_crypto_use_evp(false);
	test_3des();
	test_wrap();
	test_hkdf();
	return tap_done();
}
