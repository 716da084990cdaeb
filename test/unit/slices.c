/*
 * slices.c - a slice of a value in CTR mode is that part of the whole; the keyed hash is the head of a block.
 */
#include "specs.h"
#include "crypto/primitives.h"
#include "crypto/value.h"

/* So many blocks that a counter that ends in two bytes of zeros carries out of its lower half. */
#define BLOCKS	(65536 + 300)
#define SIZE	(BLOCKS * 16)
#define LARGEST	5000

/* Slices of all alignments, under a random salt and under one whose counter carries through all of its bytes. */
static void
test_slices(TdeValueKey *key, TdeSpec spec, bool carry)
{
	static uint8_t value[2 + 14 + SIZE],
				whole[SIZE];
	TdeHeader	header;
	size_t		size;
	bool		same = true;

	random_fill(value, sizeof(value));
	value[0] = tde_spec_byte(spec, false);
	value[1] = 1;
	if (carry)
		memset(value + 2, 0xff, 14);
	must(tde_header_parse(value, sizeof(value), &header), "the value has no header");
	must(tde_value_open(key, &header, value, sizeof(value), whole, &size) == TDE_OK && size == SIZE, "the value cannot be opened");
	for (int i = 0; i < 2000; i++)
	{
		size_t		offset = (carry ? BLOCKS - 1 - random64() % 600 : random64() % BLOCKS) * 16;
		size_t		count = random64() % (i % 2 ? 40 : LARGEST + 1);
		uint8_t    *ciphertext;
		uint8_t    *out;

		if (count > SIZE - offset)
			count = SIZE - offset;
		ciphertext = exact(count);
		out = exact(count);
		memcpy(ciphertext, value + 16 + offset, count);
		same = same && tde_value_open_slice(key, &header, value + 2, offset, ciphertext, count, out) == TDE_OK &&
			memcmp(out, whole + offset, count) == 0;
		free(ciphertext);
		free(out);
	}
	ok(same, "%s: slices%s are parts of the whole", spec_name(spec), carry ? " across the counter's carry" : "");
	ok(tde_value_open_slice(key, &header, value + 2, 8, value + 24, 16, whole) == TDE_E_AUTH, "a slice begins at a block");
}

/* Many numbers at once, also more than one call of OpenSSL takes. */
static void
test_hashes(TdePrf *prf)
{
	static const size_t counts[] = {0, 1, 2, 31, 32, 33, 64, 100};
	uint64_t	numbers[100];
	uint64_t	single;
	int			same = 1;

	for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++)
	{
		for (size_t i = 0; i < 100; i++)
			numbers[i] = i * 0x0123456789abcdef;
		must(tde_crypto_prf_all(prf, 2, numbers, counts[c]) == TDE_OK, "no hashes");
		for (size_t i = 0; i < 100; i++)
		{
			must(tde_crypto_prf(prf, 2, i * 0x0123456789abcdef, &single) == TDE_OK, "no hash");
			same &= numbers[i] == (i < counts[c] ? single : i * 0x0123456789abcdef);
		}
	}
	ok(same, "many numbers hash as each alone, and no others are touched");
}

static void
test_hash(void)
{
	uint8_t		secret[32];
	TdePrf	   *one,
			   *two;
	uint64_t	a,
				b,
				c;
	int			same = 0,
				other = 0;

	random_fill(secret, sizeof(secret));
	must(tde_crypto_prf_new(&one, secret) == TDE_OK, "no keyed hash");
	secret[31] ^= 1;
	must(tde_crypto_prf_new(&two, secret) == TDE_OK, "no keyed hash");
	for (uint32_t i = 0; i < 1000; i++)
	{
		must(tde_crypto_prf(one, 0, i, &a) == TDE_OK && tde_crypto_prf(one, 0, i, &b) == TDE_OK && tde_crypto_prf(two, 0, i, &c) == TDE_OK, "no hash");
		same += a == b;
		other += a == c;
	}
	ok(same == 1000 && other < 3, "the same number hashes alike under one key, and otherwise under another");
	tde_crypto_prf_free(one);
	tde_crypto_prf_free(two);

	/* the block 00 01 02 03 and zeros, through "openssl enc -aes-256-ecb -nopad -K 000102...1f"; its head, little-endian */
	for (int i = 0; i < 32; i++)
		secret[i] = (uint8_t) i;
	must(tde_crypto_prf_new(&one, secret) == TDE_OK && tde_crypto_prf(one, 0, 0x03020100, &a) == TDE_OK, "no keyed hash");
	ok(a == 0x265742cf1fe9a5f9, "the hash is the head of the block that AES-256 makes of the number");
	must(tde_crypto_prf(one, 1, 0x0706050403020100, &a) == TDE_OK, "no keyed hash");
	ok(a == 0x02600efc3a155bdf, "... and of its purpose, which is the block's last byte");
	test_hashes(one);
	tde_crypto_prf_free(one);
}

int
main(void)
{
	static const uint8_t data_key[TDE_DATA_KEY_SIZE] = {1};
	static const uint8_t type_tag[TDE_TYPE_TAG_SIZE] = {2};
	TdeSpec		specs[MAX_SPECS];
	int			count = all_specs(specs);

	for (int i = 0; i < count; i++)
	{
		TdeValueKey *key;

		if (specs[i].mode != TDE_CTR || specs[i].mac != TDE_NOMAC)
			continue;
		must(tde_value_key_new(&key, data_key, specs[i], type_tag) == TDE_OK, "cannot make a value key");
		test_slices(key, specs[i], false);
		test_slices(key, specs[i], true);
		tde_value_key_free(key);
	}
	test_hash();
	return tap_done();
}
