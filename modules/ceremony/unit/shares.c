/*
 * shares.c - any k of n shares give the secret back, k - 1 say nothing, and no text that was mistyped is taken for a share.
 *
 * The vectors were made by another implementation, in Python, with tables of logarithms.
 */
#include "ceremony/shamir.h"

#include "tap.h"

typedef struct Vector
{
	const char *secret;
	int			count;
	const char *texts[5];
} Vector;

static const Vector vectors[] = {
	{"522b3a2b349cd061f535925d65db7b7b0ccd2c51aaa531db08d9b41aef7e7f92", 2, {
		"tde1-2atg-mx4n-9w10-3yq0-7pj0-nz95-ye9j-4jht-g1zb-v9p5-7sj9-0x83-c2dp-tesf-pwgh-k8ah-30dt-q90r",
		"tde1-2atg-mx4n-9w10-46d6-6gq4-gqh1-brwh-peck-pj5e-spm5-62yc-g3zj-jddw-41ms-bdmb-1p0f-x1x8-xtyk"}},
	{"e4bd860bfa133e44b058b92a4003fdfe9c0ea3326e336db02e8b4605ba244ebd", 3, {
		"tde1-yv2r-213z-841g-5c2h-v16a-9e1t-a3ws-s1dr-cshj-bjxf-s98y-hz2f-d492-w22q-e1j5-meph-n92s-gdyy",
		"tde1-yv2r-213z-841g-b201-tysa-xyh7-jj8n-qvtx-kc5a-azex-0aqc-jz2z-g4vh-kjnk-83aq-cw2c-zd4e-swcn",
		"tde1-yv2r-213z-841g-9f3p-ng6v-vck8-entd-4kjv-4d76-3s5b-6f21-mxry-tfnn-05kj-4qhh-djjy-ansb-z4fn"}},
	{"98c0e2972ab8f0d959b74d36d66b78a760ab98c4c04530077d618062d1ef5763", 5, {
		"tde1-4x5a-bwhh-j42z-z3b7-ct2n-dbe3-x2wf-b1g6-46g4-yf5p-n1ev-wsfh-qjqs-xdh9-a2fq-ewqr-dpz9-n93q",
		"tde1-4x5a-bwhh-j42g-3pk5-ew0j-vef0-4ycv-mng1-zr8m-qn3d-vsbf-k1b4-1ghc-a36e-q3qc-g9ch-8161-p9t9",
		"tde1-4x5a-bwhh-j42r-1yqv-d3gg-v37f-em0w-b1pd-bch8-a61d-s5hk-58wf-d668-3z6h-v964-zst2-ahwb-e1jf",
		"tde1-4x5a-bwhh-j42m-tcm4-awmm-1252-d4x1-3zxz-c50n-22qn-wpya-n5z2-7nd2-2fs5-4nny-qgc7-hjej-9x4j",
		"tde1-4x5a-bwhh-j42z-wg8f-1a3d-m4d4-ac22-nems-vq4a-qzm6-4xk8-9qyb-ea98-x228-7ctj-rarv-svhy-h5kb"}}
};

/* split id 00 to 05, k = 2, x = 1, y = 00 to 1f */
static const char counting[] =
	"tde1-000g-40r4-0m10-2001-081g-8186-0w40-j2gb-1g6g-w3rg-2491-650n-2rbh-g68t-3ce1-t7gz-eq7e-qsst";

static uint8_t secret[TDE_SHARE_SECRET_SIZE];

/* Is the text a share?  It is read from memory of exactly its size. */
static TdeShareFault
parse(const char *text, size_t size, TdeShare *share)
{
	char	   *copy = (char *) exact(size);
	TdeShareFault fault;

	memcpy(copy, text, size);
	must(tde_shamir_parse(copy, size, share, &fault) == TDE_OK, "tde_shamir_parse");
	free(copy);
	return fault;
}

static bool
gives(const TdeShare *shares, int count, const uint8_t expected[TDE_SHARE_SECRET_SIZE])
{
	uint8_t		found[TDE_SHARE_SECRET_SIZE];

	return tde_shamir_combine(shares, count, found) == TDE_OK && memcmp(found, expected, sizeof(found)) == 0;
}

static void
test_vectors(void)
{
	TdeShare	shares[5];
	char		text[TDE_SHARE_TEXT_SIZE];

	for (size_t v = 0; v < sizeof(vectors) / sizeof(vectors[0]); v++)
	{
		const Vector *vector = &vectors[v];
		uint8_t		expected[TDE_SHARE_SECRET_SIZE];
		char		passphrase[TDE_SHARE_PASSPHRASE_SIZE];
		bool		good = true;

		for (int i = 0; i < vector->count; i++)
		{
			good = parse(vector->texts[i], strlen(vector->texts[i]), &shares[i]) == TDE_SHARE_GOOD && good;
			good = tde_shamir_print(&shares[i], text) == TDE_OK && strcmp(text, vector->texts[i]) == 0 && good;
		}
		ok(good, "vector of %d shares: texts", vector->count);
		unhex(vector->secret, expected);
		ok(gives(shares, vector->count, expected), "vector of %d shares: secret", vector->count);
		tde_shamir_passphrase(expected, passphrase);
		ok(strcmp(passphrase, vector->secret) == 0, "vector of %d shares: passphrase", vector->count);
	}
	must(parse(counting, strlen(counting), &shares[0]) == TDE_SHARE_GOOD, "a share of counting bytes");
	ok(memcmp(shares[0].split, "\0\1\2\3\4\5", 6) == 0 && shares[0].k == 2 && shares[0].x == 1 &&
	   shares[0].y[0] == 0 && shares[0].y[17] == 17 && shares[0].y[31] == 31, "the fields of a share");
}

/* Two shares with every pair of numbers, against a multiplication by tables. */
static void
test_arithmetic(void)
{
	uint8_t		power[510];
	uint8_t		logarithm[256] = {0};
	uint8_t		value = 1;
	bool		good = true;

	for (int i = 0; i < 255; i++)
	{
		power[i] = power[i + 255] = value;
		logarithm[value] = (uint8_t) i;
		value = (uint8_t) (value ^ (value << 1) ^ (value & 0x80 ? 0x1b : 0));
	}
	for (int a = 1; a < 256; a++)
		for (int b = 1; b < 256; b++)
		{
			TdeShare	shares[2] = {{.k = 2, .x = (uint8_t) a}, {.k = 2, .x = (uint8_t) b}};
			uint8_t		expected[TDE_SHARE_SECRET_SIZE];

			if (a == b)
				continue;
			random_fill(shares[0].y, sizeof(shares[0].y));
			random_fill(shares[1].y, sizeof(shares[1].y));
			for (size_t i = 0; i < sizeof(expected); i++)
			{
				/* (y[0] b + y[1] a) / (a + b) */
				uint8_t		left = shares[0].y[i] ? power[logarithm[shares[0].y[i]] + logarithm[b]] : 0;
				uint8_t		right = shares[1].y[i] ? power[logarithm[shares[1].y[i]] + logarithm[a]] : 0;

				expected[i] = left == right ? 0 : power[logarithm[left ^ right] + 255 - logarithm[a ^ b]];
			}
			good = gives(shares, 2, expected) && good;
		}
	ok(good, "all pairs of numbers, against tables");
}

/* Every choice of k among n shares, in a turned order. */
static void
test_subsets(int k, int n)
{
	TdeShare	shares[8];
	TdeShare	chosen[8];
	bool		good = true;
	int			tried = 0;

	random_fill(secret, sizeof(secret));
	must(tde_shamir_split(secret, k, n, shares) == TDE_OK, "tde_shamir_split");
	for (int i = 0; i < n; i++)
		good = shares[i].x == i + 1 && shares[i].k == k && tde_shamir_same_split(&shares[i], &shares[0]) && good;
	for (unsigned set = 0; set < 1u << n; set++)
	{
		int			count = 0;

		if (__builtin_popcount(set) != k)
			continue;
		for (int i = 0; i < n; i++)
			if (set & 1u << (i + tried) % n)
				chosen[count++] = shares[(i + tried) % n];
		good = gives(chosen, k, secret) && good;
		tried++;
	}
	ok(good, "%d of %d: each of %d choices gives the secret", k, n, tried);
}

static void
test_many(int k)
{
	static TdeShare shares[TDE_MAX_SHARES];
	TdeShare	first;

	random_fill(secret, sizeof(secret));
	must(tde_shamir_split(secret, k, TDE_MAX_SHARES, shares) == TDE_OK, "tde_shamir_split");
	ok(gives(shares, k, secret) && gives(shares + TDE_MAX_SHARES - k, k, secret), "%d of 255: the first and the last", k);
	first = shares[0];
	first.y[31] ^= 1;
	shares[0] = first;
	ok(!gives(shares, k, secret), "%d of 255: a forged one gives another secret", k);
}

/*
 * With k - 1 shares fixed, each value of the missing one gives another secret: they fit to every secret.  And the missing
 * one, like each share, takes every value.
 */
static void
test_secrecy(int k, int n)
{
	TdeShare	shares[8];
	uint8_t		found[TDE_SHARE_SECRET_SIZE];
	bool		seen[TDE_SHARE_SECRET_SIZE][256] = {0};
	bool		good = true;

	must(tde_shamir_split(secret, k, n, shares) == TDE_OK, "tde_shamir_split");
	for (int value = 0; value < 256; value++)
	{
		memset(shares[k - 1].y, value, sizeof(shares[k - 1].y));
		must(tde_shamir_combine(shares, k, found) == TDE_OK, "tde_shamir_combine");
		for (int i = 0; i < TDE_SHARE_SECRET_SIZE; i++)
		{
			good = good && !seen[i][found[i]];
			seen[i][found[i]] = true;
		}
	}
	ok(good, "%d of %d: k - 1 shares fit to every value of every byte", k, n);
}

/*
 * What is seen of many splits of one secret is spread evenly: chi square of 255 degrees of freedom is above 420 once in
 * 10^9 times.
 */
static void
test_uniform(int k)
{
	enum {SPLITS = 4000};
	TdeShare	shares[4];
	long		counts[4][256] = {0};
	bool		fresh = true;
	uint8_t		last_split[TDE_SHARE_SPLIT_SIZE] = {0};

	memset(secret, 0xa5, sizeof(secret));
	for (int round = 0; round < SPLITS; round++)
	{
		must(tde_shamir_split(secret, k, 4, shares) == TDE_OK, "tde_shamir_split");
		fresh = fresh && memcmp(last_split, shares[0].split, sizeof(last_split)) != 0;
		memcpy(last_split, shares[0].split, sizeof(last_split));
		for (int i = 0; i < 4; i++)
			for (int byte = 0; byte < TDE_SHARE_SECRET_SIZE; byte++)
				counts[i][shares[i].y[byte]]++;
	}
	ok(fresh, "%d of 4: every split has an id of its own", k);
	for (int i = 0; i < 4; i++)
	{
		double		expected = SPLITS * TDE_SHARE_SECRET_SIZE / 256.0;
		double		chi = 0;

		for (int value = 0; value < 256; value++)
			chi += (counts[i][value] - expected) * (counts[i][value] - expected) / expected;
		ok(chi < 420, "%d of 4: share %d takes all values alike (chi square %.0f)", k, i + 1, chi);
	}
}

static void
test_refusals(void)
{
	TdeShare	shares[4];
	TdeShare	others[4];
	uint8_t		found[TDE_SHARE_SECRET_SIZE];

	ok(tde_shamir_split(secret, 1, 3, shares) == TDE_E_FORMAT, "one share cannot be enough");
	ok(tde_shamir_split(secret, 4, 3, shares) == TDE_E_FORMAT, "not more can be needed than there are");
	ok(tde_shamir_split(secret, 2, 256, shares) == TDE_E_FORMAT, "not more than 255");
	ok(tde_shamir_split(secret, -1, -1, shares) == TDE_E_FORMAT, "not fewer than none");
	must(tde_shamir_split(secret, 3, 4, shares) == TDE_OK && tde_shamir_split(secret, 3, 4, others) == TDE_OK,
		 "tde_shamir_split");
	ok(tde_shamir_combine(shares, 2, found) == TDE_E_FORMAT, "too few");
	ok(tde_shamir_combine(shares, 4, found) == TDE_E_FORMAT, "too many");
	ok(tde_shamir_combine(shares, 0, found) == TDE_E_FORMAT, "none");
	shares[3] = shares[1];
	ok(tde_shamir_combine(shares + 1, 3, found) == TDE_E_FORMAT, "the same one twice");
	shares[3].x = 0;
	ok(tde_shamir_combine(shares + 1, 3, found) == TDE_E_FORMAT, "number 0");
	shares[3] = others[3];
	ok(tde_shamir_combine(shares + 1, 3, found) == TDE_E_FORMAT, "of another split");
	shares[0].k = 1;
	ok(tde_shamir_combine(shares, 1, found) == TDE_E_FORMAT, "one that says that it is enough");
}

static void
same(const char *text, size_t size, const char *name)
{
	TdeShare	share;
	char		printed[TDE_SHARE_TEXT_SIZE];
	bool		good = parse(text, size, &share) == TDE_SHARE_GOOD;

	ok(good && tde_shamir_print(&share, printed) == TDE_OK && strcmp(printed, counting) == 0, "typed %s", name);
}

static void
test_typing(void)
{
	char		typed[400];
	size_t		used = 0;

	for (size_t i = 0; counting[i]; i++)
		typed[i] = (char) (counting[i] >= 'a' && counting[i] <= 'z' ? counting[i] - 32 : counting[i]);
	same(typed, strlen(counting), "in capitals");
	for (size_t i = 0; counting[i]; i++)
		typed[i] = (char) (counting[i] == '0' ? "oO"[i % 2] : counting[i] == '1' ? "iIlL"[i % 4] : counting[i]);
	same(typed, strlen(counting), "with letters for 0 and 1");
	for (size_t i = 0; counting[i]; i++)
		if (counting[i] != '-')
			typed[used++] = counting[i];
	same(typed, used, "without dashes");
	used = 0;
	for (size_t i = 0; counting[i]; i++)
	{
		typed[used++] = counting[i];
		for (size_t j = 0; j < i % 3; j++)
			typed[used++] = " \t\n-\r"[j];
	}
	same(typed, used, "with blanks and more dashes");
	used = (size_t) sprintf(typed, "  %s\n", counting);
	same(typed, used, "with blanks around");
}

static void
expect_fault(const char *text, TdeShareFault expected, const char *name)
{
	TdeShare	share;
	TdeShare	empty = {.k = 0};
	TdeShareFault fault;

	memset(&share, 0xff, sizeof(share));
	fault = parse(text, strlen(text), &share);
	ok(fault == expected && memcmp(&share, &empty, sizeof(share)) == 0, "fault: %s", name);
}

static void
test_faults(void)
{
	char		text[TDE_SHARE_TEXT_SIZE + 2];
	TdeShare	share;

	expect_fault("", TDE_SHARE_UNKNOWN, "nothing");
	expect_fault("--- ", TDE_SHARE_UNKNOWN, "nothing but dashes");
	expect_fault("tde", TDE_SHARE_UNKNOWN, "the beginning of the beginning");
	expect_fault("tde2-000g", TDE_SHARE_UNKNOWN, "another format");
	expect_fault("correct horse battery staple", TDE_SHARE_UNKNOWN, "a passphrase");
	expect_fault("tde1", TDE_SHARE_LENGTH, "the beginning");
	strcpy(text, counting);
	text[strlen(text) - 1] = '\0';
	expect_fault(text, TDE_SHARE_LENGTH, "a character less");
	strcpy(text, counting);
	strcat(text, "0");
	expect_fault(text, TDE_SHARE_LENGTH, "a character more");
	strcpy(text, counting);
	text[20] = 'u';
	expect_fault(text, TDE_SHARE_CHARACTER, "u");
	text[20] = '\x10';
	expect_fault(text, TDE_SHARE_CHARACTER, "a control character");
	text[20] = '\xb0';
	expect_fault(text, TDE_SHARE_CHARACTER, "a byte above 127");

	/* right checksums, but of shares that no split makes */
	must(parse(counting, strlen(counting), &share) == TDE_SHARE_GOOD, "a share");
	share.x = 0;
	must(tde_shamir_print(&share, text) == TDE_OK, "tde_shamir_print");
	expect_fault(text, TDE_SHARE_CHECKSUM, "number 0");
	share.x = 1;
	share.k = 1;
	must(tde_shamir_print(&share, text) == TDE_OK, "tde_shamir_print");
	expect_fault(text, TDE_SHARE_CHECKSUM, "one share needed");
}

/* Is each byte either no character of shares, a separator, or one whose neighbours are distinct? */
static void
test_alphabet(void)
{
	static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
	char		text[TDE_SHARE_TEXT_SIZE];
	bool		good = true;

	for (int c = 0; c < 256; c++)
	{
		TdeShare	share;
		bool		known = c != 0 && strchr("0123456789abcdefghijklmnopqrstvwxyzABCDEFGHIJKLMNOPQRSTVWXYZ", c) != NULL;
		bool		separates = c != 0 && strchr("- \t\n\v\f\r", c) != NULL;
		TdeShareFault fault;

		strcpy(text, counting);
		text[20] = (char) c;
		fault = parse(text, strlen(counting), &share);
		if (separates)
			good = fault == TDE_SHARE_LENGTH && good;
		else if (!known)
			good = fault == TDE_SHARE_CHARACTER && good;
		else
			good = (fault == TDE_SHARE_GOOD) == (c == counting[20] || c == counting[20] - 32) && good;
	}
	ok(good, "every byte in the place of a character");
	good = true;
	for (int digit = 0; digit < 32; digit++)
	{
		TdeShare	share = {.k = 2, .x = 1};

		/* the first five bits of the split id */
		share.split[0] = (uint8_t) (digit << 3);
		good = tde_shamir_print(&share, text) == TDE_OK && text[5] == digits[digit] && good;
	}
	ok(good, "the digits of base 32");
}

/* Wrong characters, exchanged ones, missing and doubled ones: all of the first two kinds. */
static void
test_mistakes(void)
{
	static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
	size_t		length = strlen(counting);
	char		text[TDE_SHARE_TEXT_SIZE + 1];
	TdeShare	share;
	int			accepted = 0;
	int			tried = 0;

	for (size_t i = 5; i < length; i++)
		for (int digit = 0; digit < 32 && counting[i] != '-'; digit++)
		{
			strcpy(text, counting);
			text[i] = digits[digit];
			if (text[i] == counting[i])
				continue;
			accepted += parse(text, length, &share) == TDE_SHARE_GOOD;
			tried++;
		}
	for (size_t i = 5; i < length; i++)
		for (size_t j = i + 1; j < length; j++)
		{
			strcpy(text, counting);
			text[i] = counting[j];
			text[j] = counting[i];
			if (counting[i] == counting[j] || counting[i] == '-' || counting[j] == '-')
				continue;
			accepted += parse(text, length, &share) == TDE_SHARE_GOOD;
			tried++;
		}
	ok(accepted == 0, "none of %d mistakes in typing is taken for a share", tried);
}

static void
test_fuzz(void)
{
	char		text[300];
	TdeShare	share;
	int			accepted = 0;

	for (int round = 0; round < 200000; round++)
	{
		size_t		size = random64() % 200;

		/* bytes; bytes after a share's beginning; a share with some bytes changed */
		random_fill((uint8_t *) text, sizeof(text));
		if (round % 3 == 1)
			memcpy(text, counting, (size_t) (random64() % 95));
		if (round % 3 == 2)
		{
			size = strlen(counting);
			memcpy(text, counting, size);
			for (int n = 1 + (int) (random64() % 4); n > 0; n--)
				text[random64() % size] ^= (char) (1 + random64() % 255);
		}
		if (parse(text, size, &share) == TDE_SHARE_GOOD)
		{
			char		printed[TDE_SHARE_TEXT_SIZE];

			/* changed from capital to small, or a dash to a blank: the same share */
			must(tde_shamir_print(&share, printed) == TDE_OK, "tde_shamir_print");
			accepted += strcmp(printed, counting) != 0;
		}
	}
	ok(accepted == 0, "no random text is taken for another share");
}

int
main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	test_vectors();
	test_arithmetic();
	for (int n = 2; n <= 6; n++)
		for (int k = 2; k <= n; k++)
			test_subsets(k, n);
	test_many(2);
	test_many(128);
	test_many(255);
	for (int k = 2; k <= 5; k++)
		test_secrecy(k, 5);
	for (int k = 2; k <= 4; k++)
		test_uniform(k);
	test_refusals();
	test_typing();
	test_faults();
	test_alphabet();
	test_mistakes();
	test_fuzz();
	return tap_done();
}
