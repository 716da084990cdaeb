/*
 * selftest.c - known-answer tests of every cipher, mode, MAC, of AES-GCM, HKDF and key wrap, run once at load.
 *
 * They run our own functions, not bare OpenSSL: a mistake in our counter or in our ciphertext stealing would be as
 * fatal as one in AES.  The vectors are published ones; test/unit has more of them.
 */
#include "crypto/primitives.h"

#include <string.h>

#include "crypto/cipher.h"
#include "crypto/gcm.h"
#include "crypto/mac.h"

#define MAX_VECTOR	80

typedef enum CipherOp
{
	OP_CTR, OP_CBC, OP_CS3
} CipherOp;

typedef struct CipherTest
{
	const char *name;
	uint8_t		cipher;			/* TdeCipher */
	CipherOp	op;
	const char *key;
	const char *iv;
	const char *plain;
	const char *sealed;
} CipherTest;

typedef struct MacTest
{
	const char *name;
	uint8_t		mac;			/* TdeMac */
	const char *key;
	const char *message;
	const char *tag;
} MacTest;

/* Keys, plaintext and initial values of NIST SP 800-38A, appendix F */
#define KEY_128		"2b7e151628aed2a6abf7158809cf4f3c"
#define KEY_192		"8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b"
#define KEY_256		"603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"
#define CBC_IV		"000102030405060708090a0b0c0d0e0f"
#define COUNTER		"f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"
#define ZERO_IV		"00000000000000000000000000000000"
#define PLAIN		"6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51" \
					"30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"

/* RFC 3962, appendix B: the key is "chicken teriyaki" */
#define TERIYAKI	"636869636b656e207465726979616b69"

/* NIST SP 800-67, appendix B.1 */
#define KEY_3DES	"0123456789abcdef23456789abcdef01456789abcdef0123"

static const CipherTest cipher_tests[] = {
	{"AES-128 CTR (SP 800-38A F.5.1)", TDE_AES128, OP_CTR, KEY_128, COUNTER, PLAIN,
		"874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff"
	"5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee"},
	{"AES-192 CTR (SP 800-38A F.5.3)", TDE_AES192, OP_CTR, KEY_192, COUNTER, PLAIN,
		"1abc932417521ca24f2b0459fe7e6e0b090339ec0aa6faefd5ccc2c6f4ce8e94"
	"1e36b26bd1ebc670d1bd1d665620abf74f78a7f6d29809585a97daec58c6b050"},
	{"AES-256 CTR (SP 800-38A F.5.5)", TDE_AES256, OP_CTR, KEY_256, COUNTER, PLAIN,
		"601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
	"2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6"},
	/* ECB: one counter block over zeros */
	{"AES-128 block (SP 800-38A F.1.1)", TDE_AES128, OP_CTR, KEY_128, "6bc1bee22e409f96e93d7e117393172a", ZERO_IV,
	"3ad77bb40d7a3660a89ecaf32466ef97"},
	{"AES-192 block (SP 800-38A F.1.3)", TDE_AES192, OP_CTR, KEY_192, "6bc1bee22e409f96e93d7e117393172a", ZERO_IV,
	"bd334f1d6e45f25ff712a214571fa5cc"},
	{"AES-256 block (SP 800-38A F.1.5)", TDE_AES256, OP_CTR, KEY_256, "6bc1bee22e409f96e93d7e117393172a", ZERO_IV,
	"f3eed1bdb5d2a03c064b5a7e3db181f8"},
	{"AES-128 CBC (SP 800-38A F.2.1)", TDE_AES128, OP_CBC, KEY_128, CBC_IV, PLAIN,
		"7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"
	"73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7"},
	{"AES-192 CBC (SP 800-38A F.2.3)", TDE_AES192, OP_CBC, KEY_192, CBC_IV, PLAIN,
		"4f021db243bc633d7178183a9fa071e8b4d9ada9ad7dedf4e5e738763f69145a"
	"571b242012fb7ae07fa9baac3df102e008b0e27988598881d920a9e64f5615cd"},
	{"AES-256 CBC (SP 800-38A F.2.5)", TDE_AES256, OP_CBC, KEY_256, CBC_IV, PLAIN,
		"f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d"
	"39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b"},
	{"AES-128 CBC-CS3, 17 bytes (RFC 3962)", TDE_AES128, OP_CS3, TERIYAKI, ZERO_IV,
		"4920776f756c64206c696b652074686520",
	"c6353568f2bf8cb4d8a580362da7ff7f97"},
	{"AES-128 CBC-CS3, 31 bytes (RFC 3962)", TDE_AES128, OP_CS3, TERIYAKI, ZERO_IV,
		"4920776f756c64206c696b65207468652047656e6572616c20476175277320",
	"fc00783e0efdb2c1d445d4c8eff7ed2297687268d6ecccc0c07b25e25ecfe5"},
	{"AES-128 CBC-CS3, 32 bytes (RFC 3962)", TDE_AES128, OP_CS3, TERIYAKI, ZERO_IV,
		"4920776f756c64206c696b65207468652047656e6572616c2047617527732043",
	"39312523a78662d5be7fcbcc98ebf5a897687268d6ecccc0c07b25e25ecfe584"},
	{"AES-128 CBC-CS3, 47 bytes (RFC 3962)", TDE_AES128, OP_CS3, TERIYAKI, ZERO_IV,
		"4920776f756c64206c696b65207468652047656e6572616c20476175277320436869636b656e2c20706c656173652c",
	"97687268d6ecccc0c07b25e25ecfe584b3fffd940c16a18c1b5549d2f838029e39312523a78662d5be7fcbcc98ebf5"},
	{"triple DES, block 1 (SP 800-67 B.1)", TDE_3DES168, OP_CBC, KEY_3DES, ZERO_IV, "5468652071756663",
	"a826fd8ce53b855f"},
	{"triple DES, block 2 (SP 800-67 B.1)", TDE_3DES168, OP_CBC, KEY_3DES, ZERO_IV, "6b2062726f776e20",
	"cce21c8112256fe6"},
	{"triple DES, block 3 (SP 800-67 B.1)", TDE_3DES168, OP_CBC, KEY_3DES, ZERO_IV, "666f78206a756d70",
	"68d5c05dd9b6b900"},
};

/* Keys of 20 bytes and more, because a FIPS provider may refuse shorter ones; one message is too long for one block. */
static const MacTest mac_tests[] = {
	{"HMAC-SHA1 (RFC 2202, case 1)", TDE_SHA1, "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "4869205468657265",
	"b617318655057264e28bc0b6fb378c8ef146be00"},
	{"HMAC-SHA1 (RFC 2202, case 7)", TDE_SHA1,
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		"54657374205573696e67204c6172676572205468616e20426c6f636b2d53697a65204b657920616e64204c6172676572"
		"205468616e204f6e6520426c6f636b2d53697a652044617461",
	"e8e99d0f45237d786d6bbaa7965c7808bbff1a91"},
	{"HMAC-SHA256 (RFC 4231, case 1)", TDE_SHA256, "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", "4869205468657265",
	"b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
	{"HMAC-SHA256 (RFC 4231, case 3)", TDE_SHA256, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		"dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd",
	"773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
};

typedef struct GcmTest
{
	const char *name;
	uint8_t		cipher;			/* TdeCipher */
	bool		salted;			/* AES-GCM, otherwise AES-GCM-SIV */
	uint8_t		associated;
	const char *key;
	const char *nonce;
	const char *plain;
	const char *sealed;			/* with the tag */
} GcmTest;

/* Those with one byte of associated data, as values have it, of Wycheproof (with their numbers there) and RFC 8452, appendix C. */
static const GcmTest gcm_tests[] = {
	{"AES-128-GCM (Wycheproof 11)", TDE_AES128, true, 0xc3, "28ff3def08179311e2734c6d1c4e2871", "32bcb9b569e3b852d37c766a",
	"dfc61a20df8505b53e3cd59f25770d5018add3d6", "f58d453212c2c8a436e9283672f579f1191229785901131d0760c8715901d881fdfd3bc0"},
	{"AES-192-GCM (Wycheproof 185)", TDE_AES192, true, 0xcb, "969fed5068541d65418c2c1de8fe1f845e036030496e1272",
		"817fe51c31f2879141a34335", "3d8233191a2823bf767e99167b1d4af4f4848458",
	"0d2c3a3c0cc4b40e70ed45e188e356a0e1533b3192909a80e90540e1878ab59ef300072b"},
	{"AES-256-GCM (Wycheproof 100)", TDE_AES256, true, 0xc0,
		"b279f57e19c8f53f2f963f5f2519fdb7c1779be2ca2b3ae8e1128b7d6c627fc4", "98bc2c7438d5cd7665d76f6e",
	"fcc515b294408c8645c9183e3f4ecee5127846d1", "eb5500e3825952866d911253f8de860c00831c81ecb660e1fb0541ec41e8d68a64141b3a"},
	{"AES-128-GCM-SIV (RFC 8452)", TDE_AES128, false, 0x01, "01000000000000000000000000000000", "030000000000000000000000",
	"020000000000000000000000", "296c7889fd99f41917f4462008299c5102745aaa3a0c469fad9e075a"},
	{"AES-256-GCM-SIV (RFC 8452)", TDE_AES256, false, 0x01,
		"0100000000000000000000000000000000000000000000000000000000000000", "030000000000000000000000",
		"02000000000000000000000000000000030000000000000000000000000000000400000000000000000000000000000005000000000000000000000000000000",
		"67fd45e126bfb9a79930c43aad2d36967d3f0e4d217c1e551f59727870beefc98cb933a8fce9de887b1e40799988db1f"
	"c3f91880ed405b2dd298318858467c895bde0285037c5de81e5b570a049b62a0"},
};

static size_t
unhex(const char *hex, uint8_t *out)
{
	size_t		size = strlen(hex) / 2;

	for (size_t i = 0; i < size * 2; i++)
	{
		unsigned	digit = (unsigned) (hex[i] <= '9' ? hex[i] - '0' : hex[i] - 'a' + 10);

		out[i / 2] = (uint8_t) (i % 2 == 0 ? digit << 4 : out[i / 2] | digit);
	}
	return size;
}

/* Both directions of one vector, in the mode it is for. */
static TdeStatus
run_mode(TdeCipherKey *key, CipherOp op, bool encrypt, const uint8_t *iv, const uint8_t *in, size_t size, uint8_t *out)
{
	switch (op)
	{
		case OP_CTR:
			return tde_cipher_ctr(key, iv, in, size, out);
		case OP_CBC:
			return encrypt ? tde_cipher_cbc_encrypt(key, iv, in, size, out) : tde_cipher_cbc_decrypt(key, iv, in, size, out);
		case OP_CS3:
			return encrypt ? tde_cipher_cs3_encrypt(key, iv, in, size, out) : tde_cipher_cs3_decrypt(key, iv, in, size, out);
	}
	return TDE_E_CRYPTO;
}

static TdeStatus
test_cipher(const CipherTest *test)
{
	/* unsalted, so that all contexts of CBC are made */
	TdeSpec		spec = {test->cipher, test->op == OP_CTR ? TDE_CTR : TDE_CBC, TDE_NOMAC, false};
	TdeCipherKey key = {0};
	uint8_t		secret[32],
				iv[16],
				plain[MAX_VECTOR],
				sealed[MAX_VECTOR],
				out[MAX_VECTOR];
	size_t		size = unhex(test->plain, plain);
	TdeStatus	status;

	unhex(test->key, secret);
	unhex(test->iv, iv);
	unhex(test->sealed, sealed);
	status = tde_cipher_init(&key, spec, secret);
	if (status == TDE_E_UNAVAILABLE && test->cipher == TDE_3DES168)
	{
		(void) tde_crypto_missing();
		return TDE_OK;			/* refused at its use */
	}

	/* twice, because the second value finds the contexts as the first one left them */
	for (int round = 0; round < 2 && status == TDE_OK; round++)
	{
		status = run_mode(&key, test->op, true, iv, plain, size, out);
		if (status == TDE_OK && memcmp(out, sealed, size) != 0)
			status = TDE_E_CRYPTO;
		if (status == TDE_OK)
			status = run_mode(&key, test->op, false, iv, sealed, size, out);
		if (status == TDE_OK && memcmp(out, plain, size) != 0)
			status = TDE_E_CRYPTO;
	}
	tde_cipher_free(&key);
	return status;
}

/* A vector twice: the second one finds the context as the first one left it. */
static TdeStatus
test_mac(const MacTest *test)
{
	TdeMacKey	key = {0};
	uint8_t		secret[MAX_VECTOR],
				message[MAX_VECTOR],
				expected[TDE_MAX_DIGEST],
				digest[TDE_MAX_DIGEST];
	size_t		size = unhex(test->message, message);
	size_t		expected_size = unhex(test->tag, expected);
	TdeStatus	status = tde_mac_init(&key, (TdeMac) test->mac, secret, unhex(test->key, secret));

	for (int round = 0; round < 2 && status == TDE_OK; round++)
	{
		status = tde_mac_digest(&key, message[0], message + 1, size - 1, digest);
		if (status == TDE_OK && !tde_mac_equal(digest, expected, expected_size))
			status = TDE_E_CRYPTO;
	}
	tde_mac_free(&key);
	return status;
}

/* Both directions of a vector, twice, and a ciphertext of which one bit is wrong.  Under FIPS AES-GCM-SIV is left out: it is refused at its use. */
static TdeStatus
test_gcm(const GcmTest *test)
{
	TdeSpec		spec = {test->cipher, TDE_CTR, TDE_GCM, test->salted};
	TdeGcmKey	key = {0};
	uint8_t		secret[32],
				nonce[TDE_GCM_NONCE],
				plain[MAX_VECTOR],
				sealed[TDE_GCM_NONCE + MAX_VECTOR],
				out[TDE_GCM_NONCE + MAX_VECTOR];
	size_t		start = test->salted ? TDE_GCM_NONCE : 0;
	size_t		size = unhex(test->plain, plain);
	TdeStatus	status;

	unhex(test->key, secret);
	unhex(test->nonce, nonce);
	memcpy(sealed, nonce, sizeof(nonce));
	unhex(test->sealed, sealed + start);
	status = tde_gcm_init(&key, spec, secret, nonce);
	if (status == TDE_E_UNAVAILABLE && !test->salted)
	{
		(void) tde_crypto_missing();
		return TDE_OK;			/* refused at its use */
	}
	for (int round = 0; round < 2 && status == TDE_OK; round++)
	{
		status = tde_gcm_seal_under(&key, nonce, test->associated, plain, size, out);
		if (status == TDE_OK && memcmp(out, sealed, start + size + 16) != 0)
			status = TDE_E_CRYPTO;
		if (status == TDE_OK)
			status = tde_gcm_open(&key, test->associated, sealed, size, out);
		if (status == TDE_OK && memcmp(out, plain, size) != 0)
			status = TDE_E_CRYPTO;
	}
	sealed[start] ^= 1;
	if (status == TDE_OK && tde_gcm_open(&key, test->associated, sealed, size, out) != TDE_E_AUTH)
		status = TDE_E_CRYPTO;
	tde_gcm_free(&key);
	return status;
}

/* What the processor multiplies, and what we do bit by bit, over messages of up to three groups of blocks. */
static TdeStatus
test_polyval(bool ghash)
{
	TdePolyval	key;
	uint8_t		message[16 * 3 * TDE_POLYVAL_POWERS];
	bool		same = true;

	for (size_t i = 0; i < sizeof(message); i++)
		message[i] = (uint8_t) (i * i + 0x9d);
	tde_polyval_init(&key, message + 100, ghash, 0xb5);
	for (size_t size = 0; key.fast && size <= sizeof(message); size += size < 32 ? 8 : 87)
	{
		TdePair		differ = tde_polyval(&key, 0xb5, message, size);

		key.fast = false;
		differ ^= tde_polyval(&key, 0xb5, message, size);
		key.fast = true;
		same = same && (differ[0] | differ[1]) == 0;
	}
	tde_polyval_free(&key);
	return same ? TDE_OK : TDE_E_CRYPTO;
}

/* RFC 5869, appendix A.3: the case with neither salt nor info. */
static TdeStatus
test_hkdf(void)
{
	uint8_t		ikm[22],
				expected[42],
				out[42];
	TdeStatus	status;

	memset(ikm, 0x0b, sizeof(ikm));
	unhex("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8", expected);
	status = tde_crypto_hkdf(ikm, sizeof(ikm), NULL, 0, out, sizeof(out));
	return status == TDE_OK && memcmp(out, expected, sizeof(out)) != 0 ? TDE_E_CRYPTO : status;
}

/*
 * RFC 5649 has examples for AES-192 only; this is from NIST's vectors for KWP with AES-256 (CAVP, KWP_AE_256), with a
 * plaintext that needs padding.
 */
static TdeStatus
test_wrap(void)
{
	uint8_t		kek[32],
				plain[9],
				wrapped[24],
				out[24];
	size_t		size = sizeof(out);
	TdeStatus	status;

	unhex("8df1533f99be6fe60f951057fed1daccd14bd4e34118f24af677bbf46bf11fe7", kek);
	unhex("fb36b1f3907fb5edce", plain);
	unhex("6974d7bae0221b4ed91336c26af77e32761f6024d8bbf292", wrapped);

	status = tde_crypto_wrap_key(kek, plain, sizeof(plain), out, &size);
	if (status == TDE_OK && (size != sizeof(wrapped) || memcmp(out, wrapped, size) != 0))
		status = TDE_E_CRYPTO;
	if (status != TDE_OK)
		return status;

	size = sizeof(out);
	status = tde_crypto_unwrap_key(kek, wrapped, sizeof(wrapped), out, &size);
	if (status == TDE_OK && (size != sizeof(plain) || memcmp(out, plain, size) != 0))
		status = TDE_E_CRYPTO;
	if (status != TDE_OK)
		return status;

	wrapped[0] ^= 1;
	size = sizeof(out);
	return tde_crypto_unwrap_key(kek, wrapped, sizeof(wrapped), out, &size) == TDE_E_AUTH ? TDE_OK : TDE_E_CRYPTO;
}

TdeStatus
tde_selftest(const char **failed)
{
	TdeStatus	status;

	/* evaluated here, before any fork(), for this process and its children */
	(void) tde_crypto_fips();

	for (size_t i = 0; i < sizeof(cipher_tests) / sizeof(cipher_tests[0]); i++)
	{
		*failed = cipher_tests[i].name;
		status = test_cipher(&cipher_tests[i]);
		if (status != TDE_OK)
			return status;
	}
	for (size_t i = 0; i < sizeof(mac_tests) / sizeof(mac_tests[0]); i++)
	{
		*failed = mac_tests[i].name;
		status = test_mac(&mac_tests[i]);
		if (status != TDE_OK)
			return status;
	}
	for (size_t i = 0; i < sizeof(gcm_tests) / sizeof(gcm_tests[0]); i++)
	{
		*failed = gcm_tests[i].name;
		status = test_gcm(&gcm_tests[i]);
		if (status != TDE_OK)
			return status;
	}
	*failed = "carry-less multiplication of the processor";
	status = test_polyval(false);
	if (status == TDE_OK)
		status = test_polyval(true);
	if (status != TDE_OK)
		return status;
	*failed = "HKDF-SHA256 (RFC 5869, A.3)";
	status = test_hkdf();
	if (status != TDE_OK)
		return status;
	*failed = "AES-256 key wrap with padding (NIST KWP_AE_256)";
	status = test_wrap();
	if (status != TDE_OK)
		return status;
	*failed = NULL;
	return TDE_OK;
}
