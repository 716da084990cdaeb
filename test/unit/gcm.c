/*
 * gcm.c - AES-GCM and AES-GCM-SIV against published vectors and against OpenSSL, in each of the ways in which we make them.
 */
#include "tap.h"
#include "crypto/gcm.h"
#include "crypto/internal.h"

#define MAX_SIZE	700

/* Those of Wycheproof's aes_gcm_test.json and aes_gcm_siv_test.json that have one byte of associated data; most of the latter are RFC 8452's. */
static const struct
{
	int			number;
	bool		salted;
	TdeCipher	cipher;
	uint8_t		associated;
	const char *key,
			   *nonce,
			   *plain,
			   *sealed;
}			vectors[] = {
	{11, true, TDE_AES128, 0xc3, "28ff3def08179311e2734c6d1c4e2871", "32bcb9b569e3b852d37c766a",
		"dfc61a20df8505b53e3cd59f25770d5018add3d6",
	"f58d453212c2c8a436e9283672f579f1191229785901131d0760c8715901d881fdfd3bc0"},
	{100, true, TDE_AES256, 0xc0, "b279f57e19c8f53f2f963f5f2519fdb7c1779be2ca2b3ae8e1128b7d6c627fc4", "98bc2c7438d5cd7665d76f6e",
		"fcc515b294408c8645c9183e3f4ecee5127846d1",
	"eb5500e3825952866d911253f8de860c00831c81ecb660e1fb0541ec41e8d68a64141b3a"},
	{185, true, TDE_AES192, 0xcb, "969fed5068541d65418c2c1de8fe1f845e036030496e1272", "817fe51c31f2879141a34335",
		"3d8233191a2823bf767e99167b1d4af4f4848458",
	"0d2c3a3c0cc4b40e70ed45e188e356a0e1533b3192909a80e90540e1878ab59ef300072b"},
	{8, false, TDE_AES128, 0x01, "01000000000000000000000000000000", "030000000000000000000000",
		"0200000000000000",
	"1e6daba35669f4273b0a1a2560969cdf790d99759abd1508"},
	{9, false, TDE_AES128, 0x01, "01000000000000000000000000000000", "030000000000000000000000",
		"020000000000000000000000",
	"296c7889fd99f41917f4462008299c5102745aaa3a0c469fad9e075a"},
	{10, false, TDE_AES128, 0x01, "01000000000000000000000000000000", "030000000000000000000000",
		"02000000000000000000000000000000",
	"e2b0c5da79a901c1745f700525cb335b8f8936ec039e4e4bb97ebd8c4457441f"},
	{11, false, TDE_AES128, 0x01, "01000000000000000000000000000000", "030000000000000000000000",
		"0200000000000000000000000000000003000000000000000000000000000000",
	"620048ef3c1e73e57e02bb8562c416a319e73e4caac8e96a1ecb2933145a1d71e6af6a7f87287da059a71684ed3498e1"},
	{12, false, TDE_AES128, 0x01, "01000000000000000000000000000000", "030000000000000000000000",
		"020000000000000000000000000000000300000000000000000000000000000004000000000000000000000000000000",
	"50c8303ea93925d64090d07bd109dfd9515a5a33431019c17d93465999a8b0053201d723120a8562b838cdff25bf9d1e6a8cc3865f76897c2e4b245cf31c51f2"},
	{13, false, TDE_AES128, 0x01, "01000000000000000000000000000000", "030000000000000000000000",
		"02000000000000000000000000000000030000000000000000000000000000000400000000000000000000000000000005000000000000000000000000000000",
	"2f5c64059db55ee0fb847ed513003746aca4e61c711b5de2e7a77ffd02da42feec601910d3467bb8b36ebbaebce5fba30d36c95f48a3e7980f0e7ac299332a80cdc46ae475563de037001ef84ae21744"},
	{33, false, TDE_AES128, 0x30, "a5b5b6bae45b741fe4663890098f326a", "4bad10c6d84fd43fd13ad36f",
		"127b150080ec0bc7704e26f4ab11abb6",
	"173ba6370171be47dbb6163a63a3b72553aefed6e971d5a1f435f0730a6dd0fd"},
	{107, false, TDE_AES256, 0x01, "0100000000000000000000000000000000000000000000000000000000000000", "030000000000000000000000",
		"0200000000000000",
	"1de22967237a813291213f267e3b452f02d01ae33e4ec854"},
	{108, false, TDE_AES256, 0x01, "0100000000000000000000000000000000000000000000000000000000000000", "030000000000000000000000",
		"020000000000000000000000",
	"163d6f9cc1b346cd453a2e4cc1a4a19ae800941ccdc57cc8413c277f"},
	{109, false, TDE_AES256, 0x01, "0100000000000000000000000000000000000000000000000000000000000000", "030000000000000000000000",
		"02000000000000000000000000000000",
	"c91545823cc24f17dbb0e9e807d5ec17b292d28ff61189e8e49f3875ef91aff7"},
	{110, false, TDE_AES256, 0x01, "0100000000000000000000000000000000000000000000000000000000000000", "030000000000000000000000",
		"0200000000000000000000000000000003000000000000000000000000000000",
	"07dad364bfc2b9da89116d7bef6daaaf6f255510aa654f920ac81b94e8bad365aea1bad12702e1965604374aab96dbbc"},
	{111, false, TDE_AES256, 0x01, "0100000000000000000000000000000000000000000000000000000000000000", "030000000000000000000000",
		"020000000000000000000000000000000300000000000000000000000000000004000000000000000000000000000000",
	"c67a1f0f567a5198aa1fcc8e3f21314336f7f51ca8b1af61feac35a86416fa47fbca3b5f749cdf564527f2314f42fe2503332742b228c647173616cfd44c54eb"},
	{112, false, TDE_AES256, 0x01, "0100000000000000000000000000000000000000000000000000000000000000", "030000000000000000000000",
		"02000000000000000000000000000000030000000000000000000000000000000400000000000000000000000000000005000000000000000000000000000000",
	"67fd45e126bfb9a79930c43aad2d36967d3f0e4d217c1e551f59727870beefc98cb933a8fce9de887b1e40799988db1fc3f91880ed405b2dd298318858467c895bde0285037c5de81e5b570a049b62a0"},
	{134, false, TDE_AES256, 0x02, "7d00b48095adfa3272050607b264185002ba99957c498be022770f2ce2f3143c", "87345f1055fd9e2102d50656",
		"e5ccaa441bc814688f8f6e8f28b500b2",
	"12fffdccd1e5a9708fa30ccf99137067688e0b634f51c4f6d983629c8a63c1c0"},
};

#define VECTORS	(sizeof(vectors) / sizeof(vectors[0]))

enum Way
{
	OURS, EVP, PORTABLE
};
static const char *const way_names[] = {"ours", "EVP's", "without carry-less multiplication"};

static void
use(enum Way way)
{
	tde_crypto_use_evp(way == EVP);
	tde_polyval_use_portable(way == PORTABLE);
}

static void
test_vectors(enum Way way)
{
	for (size_t i = 0; i < VECTORS; i++)
	{
		TdeSpec		spec = {(uint8_t) vectors[i].cipher, TDE_CTR, TDE_GCM, vectors[i].salted};
		TdeGcmKey	key = {0};
		uint8_t		secret[32],
					nonce[TDE_GCM_NONCE],
					plain[128],
					sealed[160],
					out[160];
		size_t		start = vectors[i].salted ? TDE_GCM_NONCE : 0;
		size_t		size = unhex(vectors[i].plain, plain);

		if (way == EVP && !vectors[i].salted)
			continue;
		unhex(vectors[i].key, secret);
		unhex(vectors[i].nonce, nonce);
		memcpy(sealed, nonce, sizeof(nonce));
		unhex(vectors[i].sealed, sealed + start);
		must(tde_gcm_init(&key, spec, secret, nonce) == TDE_OK, "no key");
		ok(tde_gcm_seal_under(&key, nonce, vectors[i].associated, plain, size, out) == TDE_OK &&
		   memcmp(out, sealed, start + size + 16) == 0 &&
		   tde_gcm_open(&key, vectors[i].associated, sealed, size, out) == TDE_OK && memcmp(out, plain, size) == 0 &&
		   tde_gcm_open(&key, vectors[i].associated ^ 1, sealed, size, out) == TDE_E_AUTH,
		   "%s vector %d, %s", vectors[i].salted ? "AES-GCM" : "AES-GCM-SIV", vectors[i].number, way_names[way]);
		tde_gcm_free(&key);
	}
}

/* Do both ways give the same bytes for one key, at each size?  What one has sealed the other opens. */
static void
test_same(TdeSpec spec, enum Way one, enum Way other)
{
	TdeGcmKey	first = {0},
				second = {0};
	uint8_t		secret[32],
				nonce[TDE_GCM_NONCE],
				plain[MAX_SIZE];
	bool		good = true;

	random_fill(secret, sizeof(secret));
	random_fill(nonce, sizeof(nonce));
	random_fill(plain, sizeof(plain));
	use(one);
	must(tde_gcm_init(&first, spec, secret, nonce) == TDE_OK, "no key");
	use(other);
	must(tde_gcm_init(&second, spec, secret, nonce) == TDE_OK, "no key");
	for (size_t size = 0; size <= MAX_SIZE && good; size++)
	{
		uint8_t    *a = exact(TDE_GCM_NONCE + size + 16),
				   *b = exact(TDE_GCM_NONCE + size + 16),
				   *out = exact(size);
		size_t		sealed = (spec.salted ? TDE_GCM_NONCE : 0) + size + 16;

		must(tde_gcm_seal_under(&first, nonce, (uint8_t) size, plain, size, a) == TDE_OK, "not sealed");
		must(tde_gcm_seal_under(&second, nonce, (uint8_t) size, plain, size, b) == TDE_OK, "not sealed");
		good = memcmp(a, b, sealed) == 0 && tde_gcm_seal(&first, 7, plain, size, a) == TDE_OK &&
			tde_gcm_open(&second, 7, a, size, out) == TDE_OK && memcmp(out, plain, size) == 0;
		free(a);
		free(b);
		free(out);
	}
	ok(good, "%s: %s and %s give the same, 0-%d bytes", spec.salted ? "AES-GCM" : "AES-GCM-SIV", way_names[one], way_names[other], MAX_SIZE);
	tde_gcm_free(&first);
	tde_gcm_free(&second);
}

/* Of many nonces none comes twice, and none is what was used before a fork or a refill. */
static void
test_nonces(void)
{
	TdeSpec		spec = {TDE_AES256, TDE_CTR, TDE_GCM, true};
	TdeGcmKey	key = {0};
	uint8_t		secret[32];
	static uint8_t seen[2000][TDE_GCM_NONCE];
	bool		good = true;

	random_fill(secret, sizeof(secret));
	must(tde_gcm_init(&key, spec, secret, secret) == TDE_OK, "no key");
	for (int i = 0; i < 2000; i++)
	{
		uint8_t		body[TDE_GCM_NONCE + 40 + 16];

		/* drawn ahead, and drawn for itself */
		must(tde_gcm_seal(&key, 1, secret, i % 2 == 0 ? 10 : 0, body) == TDE_OK, "not sealed");
		memcpy(seen[i], body, TDE_GCM_NONCE);
		for (int j = 0; j < i && good; j++)
			good = memcmp(seen[i], seen[j], TDE_GCM_NONCE) != 0;
	}
	ok(good, "no nonce comes twice");
	tde_gcm_free(&key);
}

int
main(void)
{
	diag("this processor has %scarry-less multiplication", tde_polyval_has_fast() ? "" : "no ");
	for (enum Way way = OURS; way <= PORTABLE; way++)
	{
		use(way);
		test_vectors(way);
	}
	for (uint8_t cipher = TDE_AES128; cipher <= TDE_AES256; cipher++)
		for (int salted = 0; salted <= 1; salted++)
		{
			TdeSpec		spec = {cipher, TDE_CTR, TDE_GCM, salted == 1};

			test_same(spec, OURS, PORTABLE);
			if (salted)
				test_same(spec, OURS, EVP);
		}
	use(OURS);
	test_nonces();
	return tap_done();
}
