/*
 * crypto.c - nanoseconds per value of the codec, beside the bare OpenSSL calls that it cannot do without.
 *
 * bench/crypto.sh builds and runs it.
 *
 * Every round measures every line once, so that a disturbance meets all of them; the table shows medians over the
 * rounds.  For a target each round's time is divided by the time allowed in the same round, and the median of these
 * ratios must not exceed 1.  "open" is tde_header_parse() and tde_value_open().  Exits 1 if a target is missed.
 */
#define OPENSSL_SUPPRESS_DEPRECATED		/* SHA_CTX is what we compare with */

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/modes.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "crypto/primitives.h"
#include "crypto/value.h"

#define ROUNDS		101
#define SLICE		200000.0	/* ns that a line gets in a round */
#define MAX_LINES	110
#define MAX_PLAIN	10000
#define HMAC_BYTES	25			/* spec byte, salt and ciphertext of a salted 10-byte value */

typedef struct Line
{
	const char *name;
	void		(*run) (struct Line *line, long count);
	TdeSpec		spec;
	size_t		size;			/* of the plaintext */
	TdeValueKey *key;
	uint8_t    *sealed;
	size_t		sealed_size;
	long		count;			/* calls in a slice */
	double		times[ROUNDS];
	double		median;
} Line;

static Line lines[MAX_LINES];
static int	line_count = 0;

/* what the targets are measured by */
static Line *block;
static Line *unblock;
static Line *hmac;
static Line *compressions;

static uint8_t plain[MAX_PLAIN];
static uint8_t out[MAX_PLAIN + 128];

static EVP_CIPHER_CTX *ecb;
static EVP_CIPHER_CTX *ecb_decrypt;
static EVP_CIPHER_CTX *ctr;
static EVP_CIPHER_CTX *gcm;
static GCM128_CONTEXT *gcm128;
static EVP_MAC_CTX *evp_mac;
static SHA_CTX inner;
static SHA_CTX outer;
static uint8_t mac_key[32];

const char	program_name[] = "crypto";

/*
 * The codec.
 */
static void
run_seal(Line *line, long count)
{
	while (count-- > 0)
		must(tde_value_seal(line->key, 1, false, plain, line->size, out) == TDE_OK);
}

static void
run_open(Line *line, long count)
{
	TdeHeader	header;
	size_t		size;

	while (count-- > 0)
	{
		must(tde_header_parse(line->sealed, line->sealed_size, &header));
		must(tde_value_open(line->key, &header, line->sealed, line->sealed_size, out, &size) == TDE_OK);
	}
}

/*
 * Bare OpenSSL.
 */
static void
run_ecb(Line *line, long count)
{
	int			written;

	(void) line;
	while (count-- > 0)
		must(EVP_EncryptUpdate(ecb, out, &written, plain, 16) == 1);
}

static void
run_ecb_decrypt(Line *line, long count)
{
	int			written;

	(void) line;
	while (count-- > 0)
		must(EVP_DecryptUpdate(ecb_decrypt, out, &written, plain, 16) == 1);
}

static void
run_pad_states(Line *line, long count)
{
	SHA_CTX		state;

	(void) line;
	while (count-- > 0)
	{
		state = inner;
		SHA1_Update(&state, plain, HMAC_BYTES);
		SHA1_Final(out, &state);
		state = outer;
		SHA1_Update(&state, out, SHA_DIGEST_LENGTH);
		SHA1_Final(out, &state);
	}
}

/* The least that an HMAC of a short message can take: the two compressions alone. */
static void
run_compressions(Line *line, long count)
{
	SHA_CTX		state = inner;

	(void) line;
	while (count-- > 0)
	{
		SHA1_Transform(&state, plain);
		SHA1_Transform(&state, plain);
	}
	memcpy(out, &state, 20);
}

static void
run_evp_mac(Line *line, long count)
{
	size_t		written;

	(void) line;
	while (count-- > 0)
		must(EVP_MAC_init(evp_mac, NULL, 0, NULL) == 1 && EVP_MAC_update(evp_mac, plain, HMAC_BYTES) == 1 &&
			 EVP_MAC_final(evp_mac, out, &written, sizeof(out)) == 1);
}

static void
run_ctr(Line *line, long count)
{
	int			written;

	while (count-- > 0)
		must(EVP_EncryptInit_ex2(ctr, NULL, NULL, plain, NULL) == 1 &&
			 EVP_EncryptUpdate(ctr, out, &written, plain, (int) line->size) == 1);
}

/* OpenSSL's AES-GCM: the key kept, the nonce set, one associated byte, the tag verified. */
static void
run_gcm(Line *line, long count)
{
	uint8_t		tag[16];
	int			written;

	while (count-- > 0)
	{
		must(EVP_DecryptInit_ex2(gcm, NULL, NULL, plain, NULL) == 1 &&
			 EVP_DecryptUpdate(gcm, NULL, &written, plain, 1) == 1 &&
			 EVP_DecryptUpdate(gcm, out, &written, plain, (int) line->size) == 1);
		/* what it makes of these bytes does not matter */
		memcpy(tag, plain, sizeof(tag));
		must(EVP_CIPHER_CTX_ctrl(gcm, EVP_CTRL_AEAD_SET_TAG, sizeof(tag), tag) == 1);
		(void) EVP_DecryptFinal_ex(gcm, out, &written);
	}
}

static void
encrypt_block(const unsigned char in[16], unsigned char block_out[16], const void *key)
{
	int			written;

	(void) key;
	must(EVP_EncryptUpdate(ecb, block_out, &written, in, 16) == 1);
}

/* OpenSSL's GHASH and counters over the kept ECB context. */
static void
run_gcm128(Line *line, long count)
{
	while (count-- > 0)
	{
		CRYPTO_gcm128_setiv(gcm128, plain, 12);
		must(CRYPTO_gcm128_aad(gcm128, plain, 1) == 0 && CRYPTO_gcm128_decrypt(gcm128, plain, out, line->size) == 0);
		(void) CRYPTO_gcm128_finish(gcm128, plain, 16);
	}
}

static void
run_hmac(Line *line, long count)
{
	unsigned	written;

	(void) line;
	while (count-- > 0)
		must(HMAC(EVP_sha1(), mac_key, sizeof(mac_key), plain, HMAC_BYTES, out, &written) != NULL);
}

static void
run_rand(Line *line, long count)
{
	(void) line;
	while (count-- > 0)
		must(RAND_bytes(out, 14) == 1);
}

static void
run_salt(Line *line, long count)
{
	(void) line;
	while (count-- > 0)
		must(tde_random_salt(out, 14) == TDE_OK);
}

static void
make_baselines(void)
{
	char		sha1[] = "SHA1";
	OSSL_PARAM	params[] = {
		OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, sha1, 0),
		OSSL_PARAM_construct_end()
	};
	EVP_MAC    *fetched = EVP_MAC_fetch(NULL, "HMAC", NULL);
	uint8_t		pad[64];

	ecb = aes_context(256, "ECB", mac_key, 1);
	ecb_decrypt = aes_context(256, "ECB", mac_key, 0);
	ctr = aes_context(256, "CTR", mac_key, 1);
	gcm = aes_context(256, "GCM", mac_key, 0);
	gcm128 = CRYPTO_gcm128_new(mac_key, encrypt_block);
	must(gcm128 != NULL);
	must(fetched != NULL);
	evp_mac = EVP_MAC_CTX_new(fetched);
	must(EVP_MAC_init(evp_mac, mac_key, sizeof(mac_key), params) == 1);
	EVP_MAC_free(fetched);

	memset(pad, 0x36, sizeof(pad));
	SHA1_Init(&inner);
	SHA1_Update(&inner, pad, sizeof(pad));
	memset(pad, 0x5c, sizeof(pad));
	SHA1_Init(&outer);
	SHA1_Update(&outer, pad, sizeof(pad));
}

static Line *
add_line(const char *name, void (*run) (Line *, long), size_t size)
{
	Line	   *line = &lines[line_count++];

	must(line_count <= MAX_LINES);
	line->name = name;
	line->run = run;
	line->size = size;
	return line;
}

/* Seal and open of one specification at one size; returns the first of the two lines. */
static Line *
add_value(const char *name, TdeSpec spec, size_t size)
{
	static const uint8_t type_tag[TDE_TYPE_TAG_SIZE] = {1};
	Line	   *first = &lines[line_count];

	for (int i = 0; i < 2; i++)
	{
		Line	   *line = add_line(name, i == 0 ? run_seal : run_open, size);

		line->spec = spec;
		line->sealed_size = tde_header_sealed_size(spec, 1, size);
		line->sealed = malloc(line->sealed_size);
		must(line->sealed != NULL);
		must(tde_value_key_new(&line->key, mac_key, spec, type_tag) == TDE_OK);
		must(tde_value_seal(line->key, 1, false, plain, size, line->sealed) == TDE_OK);
	}
	return first;
}

static int
compare(const void *a, const void *b)
{
	double		x = *(const double *) a,
				y = *(const double *) b;

	return x < y ? -1 : x > y;
}

static double
median(const double times[ROUNDS])
{
	double		sorted[ROUNDS];

	memcpy(sorted, times, sizeof(sorted));
	qsort(sorted, ROUNDS, sizeof(double), compare);
	return sorted[ROUNDS / 2];
}

static void
measure(void)
{
	for (int i = 0; i < line_count; i++)
	{
		double		start;

		lines[i].run(&lines[i], 100);
		start = now();
		lines[i].run(&lines[i], 200);
		lines[i].count = (long) (SLICE / ((now() - start) / 200)) + 1;
	}
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < line_count; i++)
		{
			double		start = now();

			lines[i].run(&lines[i], lines[i].count);
			lines[i].times[round] = (now() - start) / (double) lines[i].count;
		}
	for (int i = 0; i < line_count; i++)
		lines[i].median = median(lines[i].times);
}

/* May line take so many times what the bare calls took, and so many ns more? */
static int
target(const char *name, const Line *line, double factor, const Line *bare, const Line *also, double more)
{
	double		ratios[ROUNDS];
	double		ratio;

	for (int round = 0; round < ROUNDS; round++)
	{
		double		allowed = factor * (bare->times[round] + (also != NULL ? also->times[round] : 0)) + more;

		ratios[round] = line->times[round] / allowed;
	}
	ratio = median(ratios);
	printf("%-4s  %-27s %7.1f ns, %3.0f %% of what is allowed: %.1f x %s%s%s\n", ratio > 1 ? "MISS" : "PASS", name,
		   line->median, 100 * ratio, factor, bare == block ? "ECB" : bare == unblock ? "ECB decryption" : "nomac",
		   also != NULL ? " and HMAC" : "", more > 0 ? ", + 10 ns" : "");
	return ratio > 1;
}

int
main(void)
{
	static const struct
	{
		const char *name;
		TdeSpec		spec;
	}			specs[] = {
		{"aes256 salt nomac (CTR)", {TDE_AES256, TDE_CTR, TDE_NOMAC, true}},
		{"aes256 salt sha1 (CTR)", {TDE_AES256, TDE_CTR, TDE_SHA1, true}},
		{"aes256 nosalt sha1 (SIV)", {TDE_AES256, TDE_CTR, TDE_SHA1, false}},
		{"aes256 nosalt nomac (CS3)", {TDE_AES256, TDE_CBC, TDE_NOMAC, false}},
		{"aes256 salt sha256 (CTR)", {TDE_AES256, TDE_CTR, TDE_SHA256, true}},
		{"aes256 nosalt sha256 (SIV)", {TDE_AES256, TDE_CTR, TDE_SHA256, false}},
		{"aes256 salt nomac (CBC)", {TDE_AES256, TDE_CBC, TDE_NOMAC, true}},
		{"aes128 salt sha1 (CTR)", {TDE_AES128, TDE_CTR, TDE_SHA1, true}},
		{"aes256 salt gcm (GCM)", {TDE_AES256, TDE_CTR, TDE_GCM, true}},
		{"aes256 nosalt gcm (GCM-SIV)", {TDE_AES256, TDE_CTR, TDE_GCM, false}},
		{"3des168 salt sha1 (CBC)", {TDE_3DES168, TDE_CBC, TDE_SHA1, true}},
	};
	static const size_t sizes[] = {10, 100, 1000, 10000};
	const int	spec_count = (int) (sizeof(specs) / sizeof(specs[0]));
	Line	   *values[sizeof(specs) / sizeof(specs[0])][4];
	int			bare,
				missed = 0;

	memset(mac_key, 7, sizeof(mac_key));
	make_baselines();
	block = add_line("ECB of one block, context kept", run_ecb, 16);
	unblock = add_line("ECB decryption of one block", run_ecb_decrypt, 16);
	hmac = add_line("HMAC-SHA1, SHA_CTX pad states, 25 bytes", run_pad_states, HMAC_BYTES);
	compressions = add_line("two SHA-1 compressions (SHA1_Transform)", run_compressions, 128);
	add_line("HMAC-SHA1, EVP_MAC re-init, 25 bytes", run_evp_mac, HMAC_BYTES);
	add_line("HMAC-SHA1, one-shot HMAC(), 25 bytes", run_hmac, HMAC_BYTES);
	add_line("EVP CTR, IV re-init, 10 bytes", run_ctr, 10);
	add_line("EVP CTR, IV re-init, 10000 bytes", run_ctr, 10000);
	add_line("EVP GCM, nonce re-init, open, 10 bytes", run_gcm, 10);
	add_line("EVP GCM, nonce re-init, open, 10000 bytes", run_gcm, 10000);
	add_line("CRYPTO_gcm128, ECB kept, open, 10 bytes", run_gcm128, 10);
	add_line("RAND_bytes(14)", run_rand, 14);
	add_line("salt of 14 bytes from the pool", run_salt, 14);
	bare = line_count;
	for (int j = 0; j < 4; j++)	/* the shortest first: next to the bare calls that they are compared with */
		for (int i = 0; i < spec_count; i++)
			values[i][j] = add_value(specs[i].name, specs[i].spec, sizes[j]);
	measure();

	printf("Medians of %d rounds, ns.  Bare OpenSSL, AES-256:\n", ROUNDS);
	for (int i = 0; i < bare; i++)
		printf("  %-42s %8.1f\n", lines[i].name, lines[i].median);
	printf("\nValues, seal / open:\n  %-27s %15s %15s %17s %19s\n", "", "10 bytes", "100", "1000", "10000");
	for (int i = 0; i < spec_count; i++)
	{
		printf("  %-27s", specs[i].name);
		for (int j = 0; j < 4; j++)
			printf(" %*.1f / %*.1f", j < 2 ? 6 : 5 + j, values[i][j][0].median, j < 2 ? 6 : 5 + j,
				   values[i][j][1].median);
		printf("\n");
	}

	printf("\nTargets for a value of 10 bytes:\n");
	missed += target("aes256 salt nomac, open", &values[0][0][1], 2, block, NULL, 0);
	missed += target("aes256 salt nomac, seal", &values[0][0][0], 2, block, NULL, 10);
	missed += target("aes256 nosalt nomac, open", &values[3][0][1], 2, unblock, NULL, 0);
	missed += target("aes256 nosalt nomac, seal", &values[3][0][0], 2, block, NULL, 0);
	missed += target("aes256 salt gcm, open", &values[8][0][1], 1.3, &values[0][0][1], NULL, 0);
	missed += target("aes256 salt gcm, seal", &values[8][0][0], 1.3, &values[0][0][0], NULL, 10);
	missed += target("aes256 salt sha1, open", &values[1][0][1], 1.3, block, hmac, 0);
	missed += target("aes256 salt sha1, seal", &values[1][0][0], 1.3, block, hmac, 10);
	missed += target("aes256 nosalt sha1, open", &values[2][0][1], 1.3, block, hmac, 0);
	missed += target("aes256 nosalt sha1, seal", &values[2][0][0], 1.3, block, hmac, 0);
	printf("For comparison: aes256 salt sha1, open, is %.2f x (ECB + two bare compressions)\n",
		   values[1][0][1].median / (block->median + compressions->median));
	return missed > 0;
}
