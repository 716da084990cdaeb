/*
 * header.c - tde_header_parse() refuses everything that no writer makes, and random bytes do no harm.
 */
#include "specs.h"
#include "crypto/internal.h"
#include "crypto/value.h"

#define GARBAGE		100000
#define MAX_GARBAGE	90

static TdeValueKey *keys[256];

/* Parse bytes in memory of exactly their size. */
static bool
parse(const uint8_t *bytes, size_t size, TdeHeader *header)
{
	uint8_t    *copy = exact(size);
	bool		good;

	memcpy(copy, bytes, size);
	good = tde_header_parse(copy, size, header);
	free(copy);
	return good;
}

static void
test_spec_bytes(void)
{
	TdeSpec		specs[MAX_SPECS];
	int			count = all_specs(specs);
	bool		known[256] = {false};
	bool		good = true;
	uint8_t		bytes[80] = {0};
	TdeHeader	header;

	for (int i = 0; i < count; i++)
	{
		known[tde_spec_byte(specs[i], false)] = true;
		if (specs[i].salted || specs[i].mode == TDE_CBC)
			known[tde_spec_byte(specs[i], true)] = true;
	}
	bytes[1] = 1;
	for (int byte = 0; byte < 256; byte++)
	{
		bool		parsed = false;

		bytes[0] = (uint8_t) byte;
		/* among so many sizes is one that is possible */
		for (size_t size = 0; size <= sizeof(bytes); size++)
			parsed = parse(bytes, size, &header) || parsed;
		good = good && parsed == known[byte];
		for (int bit = 0; bit < 8; bit++)
			good = good && !(known[byte] && known[byte ^ (1 << bit)]);
	}
	ok(good, "of all 256 spec bytes those of allowed specifications are accepted, no others");
	ok(!known[0] && !known[255], "0x00 and 0xff are no spec bytes");
}

static void
test_key_ids(void)
{
	static const struct
	{
		const char *hex;
		uint32_t	id;			/* 0: refused */
	}			ids[] = {
		{"01", 1}, {"7f", 127}, {"8001", 128}, {"ff7f", 16383}, {"808001", 16384}, {"80808001", 2097152},
		{"8080808001", 268435456}, {"ffffffff0f", 4294967295u},
		{"00", 0}, {"8000", 0}, {"8100", 0}, {"ff8000", 0}, {"80808000", 0}, {"8180808000", 0},
		{"ffffffff1f", 0}, {"8080808010", 0}, {"ffffffff7f", 0}, {"ffffffffff01", 0}, {"808080808001", 0},
		{"80", 0}, {"8080", 0}, {"80808080", 0}, {"8080808080", 0}, {"", 0},
	};
	TdeSpec		spec = {TDE_AES256, TDE_CTR, TDE_NOMAC, true};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
	{
		uint8_t		bytes[64];
		size_t		size = 1 + unhex(ids[i].hex, bytes + 1);
		TdeHeader	header;
		bool		parsed;

		bytes[0] = tde_spec_byte(spec, false);
		if (ids[i].id != 0)
		{
			memset(bytes + size, 1, 14);
			parsed = parse(bytes, size + 14, &header);
			ok(parsed && header.key_id == ids[i].id && header.size == size, "key id %s is %u", ids[i].hex, ids[i].id);
			ok(tde_header_sealed_size(spec, ids[i].id, 0) == size + 14, "key id %u takes %zu bytes", ids[i].id, size - 1);
		}
		else
		{
			/* bytes that follow would be the salt; ending here, the id may be cut off */
			memset(bytes + size, 1, 40);
			parsed = parse(bytes, size, &header) || (size > 6 && parse(bytes, size + 40, &header));
			if (size > 1 && bytes[size - 1] < 0x80)
				parsed = parsed || parse(bytes, size + 40, &header);
			ok(!parsed, "key id \"%s\" is refused", ids[i].hex);
		}
	}
}

/* Which sizes of ciphertext does a spec allow? */
static void
test_sizes(TdeSpec spec, bool flag)
{
	size_t		block = tde_spec_block(spec);
	size_t		overhead = 2 + tde_spec_salt(spec) + tde_spec_tag(spec);
	uint8_t		bytes[160] = {0};
	bool		good = true;

	bytes[0] = tde_spec_byte(spec, flag);
	bytes[1] = 5;
	for (size_t size = 0; size <= sizeof(bytes); size++)
	{
		size_t		ciphertext = size - overhead;
		TdeHeader	header;
		bool		possible = size >= overhead;

		if (possible && spec.mode == TDE_CBC)
		{
			if (spec.salted)
				possible = ciphertext > 0 && ciphertext % block == 0;
			else
				possible = flag ? ciphertext == block : ciphertext >= block;
		}
		if (possible && spec.mode == TDE_PADDED)
			possible = ciphertext > 0;
		good = good && parse(bytes, size, &header) == possible;
	}
	ok(good, "%s%s: only possible sizes are accepted", spec_name(spec), flag ? " with the flag" : "");
}

/*
 * Without salt every plaintext has exactly one encoding, on which comparing by bytes relies: what was opened, sealed
 * again, has to give the same bytes.
 */
static bool
only_encoding(TdeValueKey *key, const TdeHeader *header, const uint8_t *bytes, size_t size, const uint8_t *plain,
			  size_t plain_size)
{
	uint8_t    *again;
	bool		good;

	if (header->spec.salted)
		return true;
	if (tde_header_sealed_size(header->spec, header->key_id, plain_size) != size)
		return false;
	again = exact(size);
	good = tde_value_seal(key, header->key_id, false, plain, plain_size, again) == TDE_OK && memcmp(again, bytes, size) == 0;
	free(again);
	return good;
}

/* One random input, half of the time with a header that parses, so that the bytes reach tde_value_open(). */
static bool
try_garbage(const TdeSpec *specs, int count, long *reached, long *opened)
{
	size_t		size = random64() % MAX_GARBAGE;
	uint8_t    *bytes = exact(size);
	TdeHeader	header;
	bool		good = true;

	random_fill(bytes, size);
	if (size >= 2 && random64() % 2 == 0)
	{
		bytes[0] = tde_spec_byte(specs[random64() % (uint64_t) count], random64() % 4 == 0);
		bytes[1] = (uint8_t) (1 + random64() % 127);
	}
	if (tde_header_parse(bytes, size, &header))
	{
		TdeValueKey *key = keys[tde_spec_byte(header.spec, false)];
		size_t		room = tde_header_open_room(&header, size);
		uint8_t    *out = exact(room);
		size_t		plain_size = SIZE_MAX;
		TdeStatus	status;

		status = tde_value_open(key, &header, bytes, size, out, &plain_size);
		++*reached;
		if (status == TDE_OK)
		{
			++*opened;
			good = header.spec.mac == TDE_NOMAC && plain_size <= room &&
				only_encoding(key, &header, bytes, size, out, plain_size);
		}
		else
			good = status == TDE_E_AUTH && plain_size == 0;
		free(out);
	}
	free(bytes);
	return good;
}

int
main(void)
{
	TdeSpec		specs[MAX_SPECS];
	int			count = all_specs(specs);
	uint8_t		data_key[TDE_DATA_KEY_SIZE];
	uint8_t		type_tag[TDE_TYPE_TAG_SIZE];
	long		reached = 0,
				opened = 0;
	bool		good = true;

	random_fill(data_key, sizeof(data_key));
	random_fill(type_tag, sizeof(type_tag));
	for (int i = 0; i < count; i++)
		must(tde_value_key_new(&keys[tde_spec_byte(specs[i], false)], data_key, specs[i], type_tag) == TDE_OK,
			 "cannot make a value key");

	test_spec_bytes();
	test_key_ids();
	for (int i = 0; i < count; i++)
	{
		test_sizes(specs[i], false);
		if (specs[i].salted || specs[i].mode == TDE_CBC)
			test_sizes(specs[i], true);
	}
	for (long i = 0; i < GARBAGE && good; i++)
		good = try_garbage(specs, count, &reached, &opened);
	ok(good, "%d random inputs: none crashes, none opens with a MAC, unsalted ones have one encoding", GARBAGE);
	diag("%ld of them got past the header, %ld opened (without a MAC)", reached, opened);
	ok(reached > GARBAGE / 10 && opened > 0, "the random inputs reach what they are to test");

	for (int i = 0; i < 256; i++)
		tde_value_key_free(keys[i]);
	return tap_done();
}
