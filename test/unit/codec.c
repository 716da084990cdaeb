/*
 * codec.c - every specification: values come back, sizes are as foretold, and what was changed is refused.
 */
#include "specs.h"
#include "crypto/internal.h"
#include "crypto/polyval.h"
#include "crypto/value.h"

#define LARGE	70000

static const uint32_t key_ids[] = {1, 127, 128, 16383, 16384, 2097151, 2097152, 268435455, 268435456, 4294967295u};

#define KEY_IDS		(sizeof(key_ids) / sizeof(key_ids[0]))

static uint8_t data_key[TDE_DATA_KEY_SIZE];
static uint8_t type_tag[TDE_TYPE_TAG_SIZE];
static uint8_t plain[LARGE];

static TdeValueKey *
make_key(TdeSpec spec, const uint8_t *data, const uint8_t *tag)
{
	TdeValueKey *key;

	must(tde_value_key_new(&key, data, spec, tag) == TDE_OK, "cannot make a value key");
	return key;
}

/* Seal into memory of exactly the size foretold. */
static uint8_t *
seal(TdeValueKey *key, TdeSpec spec, uint32_t id, bool compressed, size_t size, size_t *sealed)
{
	uint8_t    *value;
	uint8_t    *in = exact(size);

	*sealed = tde_header_sealed_size(spec, id, padded_size(spec, size));
	value = exact(*sealed);
	memcpy(in, plain, size);
	must(seal_any(key, spec, id, compressed, in, size, value) == TDE_OK, "a value cannot be sealed");
	free(in);
	return value;
}

/* Open into memory of exactly the room asked for; is it the plaintext?  On failure: is the memory clean? */
static TdeStatus
try_open(TdeValueKey *key, const TdeHeader *header, const uint8_t *value, size_t sealed, size_t size, bool *right)
{
	size_t		room = tde_header_open_room(header, sealed);
	uint8_t    *out = exact(room);
	size_t		opened = SIZE_MAX;
	TdeStatus	status;

	memset(out, 0xa5, room);
	status = tde_value_open(key, header, value, sealed, out, &opened);
	if (status == TDE_OK)
		*right = opened == size && opened <= room &&
			(header->spec.mode == TDE_PADDED ? room == padded_size(header->spec, size) : room <= opened + TDE_MAX_BLOCK) && memcmp(out, plain, size) == 0;
	else
	{
		*right = true;
		for (size_t i = 0; i < room; i++)
			*right = *right && out[i] == 0;
	}
	free(out);
	return status;
}

static bool
round_trip(TdeValueKey *key, TdeSpec spec, uint32_t id, bool compressed, size_t size)
{
	size_t		sealed;
	uint8_t    *value = seal(key, spec, id, compressed, size, &sealed);
	TdeHeader	header;
	bool		right = false;
	bool		flag = compressed;
	bool		good;

	if (!spec.salted && spec.mode == TDE_CBC)
		flag = size < tde_spec_block(spec);
	good = tde_header_parse(value, sealed, &header) && tde_spec_equal(header.spec, spec) && header.key_id == id &&
		header.flag == flag && header.spec_byte == value[0] &&
		try_open(key, &header, value, sealed, size, &right) == TDE_OK && right;
	free(value);
	return good;
}

static void
test_round_trips(TdeSpec spec)
{
	TdeValueKey *key = make_key(spec, data_key, type_tag);
	bool		good = true;

	for (size_t size = 0; size <= 200 && good; size++)
	{
		good = round_trip(key, spec, key_ids[size % KEY_IDS], false, size);
		if (spec.salted)
			good = good && round_trip(key, spec, key_ids[(size + 3) % KEY_IDS], true, size);
	}
	good = good && round_trip(key, spec, 1, false, LARGE) && round_trip(key, spec, 1, false, 65536);
	ok(good, "%s: 0-200, 65536 and 70000 bytes come back", spec_name(spec));
	tde_value_key_free(key);
}

/* The same value twice: the same bytes without salt, others with it. */
static void
test_determinism(TdeSpec spec)
{
	TdeValueKey *key = make_key(spec, data_key, type_tag);
	TdeValueKey *again = make_key(spec, data_key, type_tag);
	bool		good = true;

	for (size_t size = 1; size <= 60 && good; size++)
	{
		size_t		sealed;
		uint8_t    *one = seal(key, spec, 7, false, size, &sealed);
		uint8_t    *two = seal(key, spec, 7, false, size, &sealed);
		uint8_t    *three = seal(again, spec, 7, false, size, &sealed);

		good = (memcmp(one, two, sealed) == 0) == !spec.salted && (memcmp(one, three, sealed) == 0) == !spec.salted;
		free(one);
		free(two);
		free(three);
	}
	ok(good, "%s: %s", spec_name(spec), spec.salted ? "never the same bytes twice" : "always the same bytes");
	tde_value_key_free(key);
	tde_value_key_free(again);
}

/*
 * Flip each bit.  A flip in the key id leads to another key or to none; elsewhere the value has to be refused if it
 * has a MAC, and must do no harm if it has none.
 */
static void
test_flips(TdeSpec spec)
{
	TdeValueKey *key = make_key(spec, data_key, type_tag);
	const uint32_t id = 300;	/* two bytes */
	bool		good = true,
				spec_byte_safe = true;

	for (size_t size = 0; size <= 50 && good; size += size < 36 ? 1 : 7)
	{
		size_t		sealed;
		uint8_t    *value = seal(key, spec, id, false, size, &sealed);

		for (size_t bit = 0; bit < sealed * 8; bit++)
		{
			TdeHeader	header;
			bool		right = true;
			TdeStatus	status = TDE_E_AUTH;
			bool		parsed;

			value[bit / 8] ^= (uint8_t) (1 << bit % 8);
			parsed = tde_header_parse(value, sealed, &header);
			if (parsed)
				status = try_open(key, &header, value, sealed, size, &right);
			value[bit / 8] ^= (uint8_t) (1 << bit % 8);

			if (bit < 8)
				spec_byte_safe = spec_byte_safe && !parsed;
			else if (bit < 24)
				good = good && (!parsed || header.key_id != id);
			else if (spec.mac != TDE_NOMAC)
				good = good && status == TDE_E_AUTH && right;
			else
				good = good && (status == TDE_OK || (status == TDE_E_AUTH && right));
		}
		free(value);
	}
	ok(spec_byte_safe, "%s: every flipped bit of the spec byte is refused", spec_name(spec));
	ok(good, "%s: %s", spec_name(spec),
	   spec.mac != TDE_NOMAC ? "every other flipped bit is refused, output clean" : "no flipped bit does harm");
	tde_value_key_free(key);
}

/* A value cut short, at every length, from either end of its body. */
static void
test_truncation(TdeSpec spec)
{
	TdeValueKey *key = make_key(spec, data_key, type_tag);
	bool		good = true;

	for (size_t size = 0; size <= 70 && good; size += 5)
	{
		size_t		sealed;
		uint8_t    *value = seal(key, spec, 300, false, size, &sealed);

		for (size_t cut = 0; cut < sealed && good; cut++)
		{
			uint8_t    *shorter = exact(cut);
			TdeHeader	header;
			bool		right;

			memcpy(shorter, value, cut);
			if (tde_header_parse(shorter, cut, &header))
			{
				TdeStatus	status = try_open(key, &header, shorter, cut, size, &right);

				good = spec.mac == TDE_NOMAC ? (status == TDE_OK || status == TDE_E_AUTH) : status == TDE_E_AUTH;
			}
			free(shorter);
		}
		free(value);
	}
	ok(good, "%s: truncated values are %s", spec_name(spec), spec.mac != TDE_NOMAC ? "refused" : "harmless");
	tde_value_key_free(key);
}

/* Does the key refuse all values that another one made? */
static bool
refuses(TdeValueKey *key, TdeValueKey *other, TdeSpec spec)
{
	bool		good = true;

	for (size_t size = 0; size <= 50 && good; size++)
	{
		size_t		sealed;
		uint8_t    *value = seal(other, spec, 1, false, size, &sealed);
		TdeHeader	header;
		bool		right = false;

		good = tde_header_parse(value, sealed, &header) &&
			try_open(key, &header, value, sealed, size, &right) == TDE_E_AUTH && right;
		free(value);
	}
	return good;
}

static void
test_wrong_key(TdeSpec spec)
{
	TdeValueKey *key = make_key(spec, data_key, type_tag);
	TdeValueKey *other;
	uint8_t		changed[TDE_DATA_KEY_SIZE];

	memcpy(changed, data_key, sizeof(changed));
	changed[31] ^= 1;
	other = make_key(spec, changed, type_tag);
	ok(refuses(key, other, spec), "%s: another data key's values are refused", spec_name(spec));
	tde_value_key_free(other);

	memcpy(changed, type_tag, TDE_TYPE_TAG_SIZE);
	changed[0] ^= 0x80;
	other = make_key(spec, data_key, changed);
	ok(refuses(key, other, spec), "%s: another type's values are refused", spec_name(spec));
	tde_value_key_free(other);
	tde_value_key_free(key);
}

/* Values of every other spec, by its header and with the header relabelled. */
static void
test_wrong_spec(TdeSpec spec, const TdeSpec *specs, int count)
{
	TdeValueKey *key = make_key(spec, data_key, type_tag);
	bool		good = true;

	for (int i = 0; i < count && good; i++)
	{
		TdeValueKey *other = make_key(specs[i], data_key, type_tag);

		for (size_t size = 0; size <= 40 && good && !tde_spec_equal(spec, specs[i]); size++)
		{
			size_t		sealed;
			uint8_t    *value = seal(other, specs[i], 1, false, size, &sealed);
			TdeHeader	header;
			bool		right;

			good = tde_header_parse(value, sealed, &header) &&
				try_open(key, &header, value, sealed, size, &right) == TDE_E_AUTH && right;
			value[0] = tde_spec_byte(spec, !spec.salted && spec.mode == TDE_CBC && size < tde_spec_block(spec));
			if (spec.mac != TDE_NOMAC && tde_header_parse(value, sealed, &header))
				good = good && try_open(key, &header, value, sealed, size, &right) == TDE_E_AUTH && right;
			free(value);
		}
		tde_value_key_free(other);
	}
	ok(good, "%s: values of other specifications are refused, relabelled ones too", spec_name(spec));
	tde_value_key_free(key);
}

/* The flag of salted values says "compressed" and is authenticated. */
static void
test_flag(TdeSpec spec)
{
	TdeValueKey *key = make_key(spec, data_key, type_tag);
	uint8_t		out[100];
	size_t		sealed;
	TdeHeader	header;
	bool		right;

	if (spec.salted && spec.mac != TDE_NOMAC)
	{
		uint8_t    *value = seal(key, spec, 1, true, 30, &sealed);

		value[0] = tde_spec_byte(spec, false);
		ok(tde_header_parse(value, sealed, &header) &&
		   try_open(key, &header, value, sealed, 30, &right) == TDE_E_AUTH && right,
		   "%s: the flag cannot be taken away", spec_name(spec));
		free(value);
	}
	if (!spec.salted)
	{
		memset(out, 0xa5, sizeof(out));
		sealed = tde_header_sealed_size(spec, 1, padded_size(spec, 30));
		right = seal_any(key, spec, 1, true, plain, 30, out) == TDE_E_CRYPTO;
		for (size_t i = 0; i < sealed; i++)
			right = right && out[i] == 0;
		ok(right && out[sealed] == 0xa5, "%s: cannot be compressed; output clean", spec_name(spec));
	}
	ok(seal_any(key, spec, 0, false, plain, 30, out) == TDE_E_CRYPTO, "%s: no value for key id 0", spec_name(spec));
	tde_value_key_free(key);
}

/* Does a plaintext come back that was padded to so many bytes? */
static bool
unpads(TdeValueKey *key, TdeSpec spec, const uint8_t *in, size_t size, size_t padded)
{
	size_t		sealed = tde_header_sealed_size(spec, 1, padded);
	uint8_t    *value = exact(sealed);
	uint8_t    *out = exact(padded);
	TdeHeader	header;
	size_t		opened = SIZE_MAX;
	bool		good;

	good = tde_value_seal_padded(key, 1, false, in, size, padded, value) == TDE_OK && tde_header_parse(value, sealed, &header) &&
		tde_header_open_room(&header, sealed) == padded && tde_value_open(key, &header, value, sealed, out, &opened) == TDE_OK &&
		opened == size && memcmp(out, in, size) == 0;
	free(value);
	free(out);
	return good;
}

static void
test_padding(TdeSpec spec)
{
	TdeValueKey *key = make_key(spec, data_key, type_tag);
	uint8_t		in[50];
	uint8_t		out[150];
	bool		good = true;
	bool		refused = true;

	/* plaintexts that look like padding themselves */
	for (size_t size = 0; size <= sizeof(in) && good; size++)
		for (int kind = 0; kind < 4; kind++)
		{
			memset(in, kind % 2 == 0 ? 0 : 0x80, sizeof(in));
			if (kind >= 2 && size > 0)
				in[size - 1] ^= 0x80;
			for (size_t padded = size + 1; padded <= size + 70; padded++)
				good = good && unpads(key, spec, in, size, padded);
		}
	ok(good, "%s: plaintexts come back, however many bytes of padding they have", spec_name(spec));

	for (size_t padded = 0; padded <= 30; padded++)
	{
		memset(out, 0xa5, sizeof(out));
		refused = refused && tde_value_seal_padded(key, 1, false, plain, 30, padded, out) == TDE_E_CRYPTO;
		for (size_t i = 0; i < tde_header_sealed_size(spec, 1, padded); i++)
			refused = refused && out[i] == 0;
	}
	ok(refused && tde_value_seal(key, 1, false, plain, 30, out) == TDE_E_CRYPTO, "%s: none without padding; output clean", spec_name(spec));
	tde_value_key_free(key);
}

static void
test_no_padding(TdeSpec spec)
{
	TdeValueKey *key = make_key(spec, data_key, type_tag);
	uint8_t		out[150];

	ok(tde_value_seal_padded(key, 1, false, plain, 30, 40, out) == TDE_E_CRYPTO, "%s: is not padded", spec_name(spec));
	tde_value_key_free(key);
}

/* How keys work that are made from then on. */
enum Way
{
	OURS, EVP, PORTABLE
};
static const char *const way_names[] = {"our modes and the default MAC", "EVP's own modes and EVP_MAC", "no carry-less multiplication"};

int
main(void)
{
	TdeSpec		specs[MAX_SPECS];
	int			count = all_specs(specs);

	random_fill(data_key, sizeof(data_key));
	random_fill(type_tag, sizeof(type_tag));
	random_fill(plain, sizeof(plain));
	for (int way = OURS; way <= PORTABLE; way++)
	{
		diag("%s", way_names[way]);
		tde_crypto_use_evp(way == EVP);
		tde_polyval_use_portable(way == PORTABLE);
		for (int i = 0; i < count; i++)
		{
			if (way == PORTABLE && specs[i].mac != TDE_GCM)
				continue;
			if (way == EVP && (specs[i].cipher == TDE_3DES168 || (specs[i].mac == TDE_GCM && !specs[i].salted)))
			{
				TdeValueKey *key = NULL;

				ok(tde_value_key_new(&key, data_key, specs[i], type_tag) == TDE_E_UNAVAILABLE && key == NULL,
				   "%s: refused where EVP has to do whole modes", spec_name(specs[i]));
				continue;
			}
			test_round_trips(specs[i]);
			test_determinism(specs[i]);
			test_flips(specs[i]);
			test_truncation(specs[i]);
			test_flag(specs[i]);
			if (specs[i].mode == TDE_PADDED)
				test_padding(specs[i]);
			else
				test_no_padding(specs[i]);
			if (specs[i].mac != TDE_NOMAC)
				test_wrong_key(specs[i]);
			if (way == OURS)
				test_wrong_spec(specs[i], specs, count);
		}
	}
	return tap_done();
}
