/*
 * value.c - fuzzing of the value format: reading headers, decryption of whole values and of slices, what encryption gives.
 *
 * The first byte of an input says what is done with the rest.
 */
#include <openssl/crypto.h>

#include "check.h"
#include "crypto/value.h"

#define FLAG_AND_PARITY	0xc0

/* One key per specification, made once. */
static TdeValueKey *
key_for(TdeSpec spec)
{
	static TdeValueKey *keys[256];
	static const uint8_t data_key[TDE_DATA_KEY_SIZE] = {1, 2, 3};
	static const uint8_t type_tag[TDE_TYPE_TAG_SIZE] = {4, 5, 6};
	uint8_t		byte = tde_spec_byte(spec, false) & ~FLAG_AND_PARITY;

	if (keys[byte] == NULL)
		CHECK(tde_value_key_new(&keys[byte], data_key, spec, type_tag) == TDE_OK);
	return keys[byte];
}

/* Some specification; false if there is none of this number. */
static bool
choose_spec(uint8_t number, TdeSpec *spec)
{
	bool		flag;

	number &= (uint8_t) ~FLAG_AND_PARITY;
	return tde_spec_from_byte(__builtin_parity(number) ? number : number | TDE_SPEC_PARITY, spec, &flag);
}

static TdeStatus
seal(TdeValueKey *key, TdeSpec spec, uint32_t key_id, bool compressed, const uint8_t *plain, size_t plain_size, size_t padded, uint8_t *out)
{
	return spec.mode == TDE_PADDED ? tde_value_seal_padded(key, key_id, compressed, plain, plain_size, padded, out)
		: tde_value_seal(key, key_id, compressed, plain, plain_size, out);
}

/* What was opened has the size that it is sealed to, and without salt the very bytes. */
static void
seal_again(TdeValueKey *key, const TdeHeader *header, const uint8_t *value, size_t size, const uint8_t *plain, size_t plain_size)
{
	uint8_t    *sealed = malloc(size);
	size_t		padded = header->spec.mode == TDE_PADDED ? tde_header_open_room(header, size) : plain_size;

	CHECK(sealed != NULL && tde_header_sealed_size(header->spec, header->key_id, padded) == size);
	CHECK(seal(key, header->spec, header->key_id, header->spec.salted && header->flag, plain, plain_size, padded, sealed) == TDE_OK);
	CHECK(memcmp(sealed, value, header->spec.salted ? header->size : size) == 0);
	free(sealed);
}

static TdeStatus
open_with(TdeValueKey *key, const TdeHeader *header, const uint8_t *value, size_t size, bool again)
{
	size_t		room = tde_header_open_room(header, size);
	size_t		plain_size = SIZE_MAX;
	uint8_t    *plain = malloc(room);
	TdeStatus	status;

	CHECK(plain != NULL && room <= size);
	status = tde_value_open(key, header, value, size, plain, &plain_size);
	if (status == TDE_OK)
	{
		CHECK(plain_size <= room);
		if (again)
			seal_again(key, header, value, size, plain, plain_size);
	}
	else
	{
		CHECK(status == TDE_E_AUTH && plain_size == 0);
		for (size_t i = 0; i < room; i++)
			CHECK(plain[i] == 0);
	}
	free(plain);
	return status;
}

/* A slice is what the whole has there. */
static void
slice(TdeValueKey *key, const TdeHeader *header, const uint8_t *value, size_t size, uint8_t where)
{
	size_t		whole_size,
				offset,
				length;
	const uint8_t *salt = value + header->size;
	uint8_t    *whole,
			   *ciphertext,
			   *part;

	if (!tde_sliceable(header))
		return;
	whole = malloc(tde_header_open_room(header, size));
	CHECK(whole != NULL && tde_value_open(key, header, value, size, whole, &whole_size) == TDE_OK);
	offset = (size_t) (where & 15) * 16;
	if (offset <= whole_size)
	{
		length = (where >> 4) * 5u;
		if (length > whole_size - offset)
			length = whole_size - offset;
		ciphertext = copy_of(salt + TDE_CTR_SALT + offset, length);
		part = malloc(length);
		CHECK(part != NULL && tde_value_open_slice(key, header, salt, offset, ciphertext, length, part) == TDE_OK);
		CHECK(length == 0 || memcmp(part, whole + offset, length) == 0);
		free(ciphertext);
		free(part);
	}
	free(whole);
}

/* Bytes that somebody put into a column. */
static void
foreign_value(uint8_t how, const uint8_t *bytes, size_t size)
{
	uint8_t    *value = copy_of(bytes, size);
	uint8_t		head[TDE_MAX_HEADER];
	TdeHeader	header;
	TdeSpec		other;

	if (tde_header_parse(value, size, &header))
	{
		CHECK(header.size <= size && header.size <= TDE_MAX_HEADER && header.key_id != 0);
		CHECK(tde_header_write(head, header.spec_byte, header.key_id) == header.size);
		CHECK(memcmp(head, value, header.size) == 0);
		open_with(key_for(header.spec), &header, value, size, true);
		slice(key_for(header.spec), &header, value, size, how);
		/* under the key of another specification */
		if (choose_spec(how, &other) && !tde_spec_equal(other, header.spec))
			CHECK(open_with(key_for(other), &header, value, size, false) == TDE_E_AUTH);
	}
	free(value);
}

/* A value of ours gives back its plaintext; changed in one bit, with a MAC, never anything. */
static void
own_value(uint8_t number, uint8_t changed, const uint8_t *bytes, size_t plain_size)
{
	uint8_t    *plain = copy_of(bytes, plain_size);
	uint32_t	key_id = (uint32_t) changed * 0x10203u + 1;
	size_t		padded = plain_size,
				size,
				read_size;
	uint8_t    *value,
			   *read;
	TdeHeader	header;
	TdeSpec		spec;

	if (choose_spec(number, &spec))
	{
		if (spec.mode == TDE_PADDED)
			padded += 1 + changed % 50;
		size = tde_header_sealed_size(spec, key_id, padded);
		value = malloc(size);
		CHECK(value != NULL && seal(key_for(spec), spec, key_id, false, plain, plain_size, padded, value) == TDE_OK);
		CHECK(tde_header_parse(value, size, &header) && header.key_id == key_id && tde_spec_equal(header.spec, spec));
		read = malloc(tde_header_open_room(&header, size));
		CHECK(read != NULL && tde_value_open(key_for(spec), &header, value, size, read, &read_size) == TDE_OK);
		CHECK(read_size == plain_size && (plain_size == 0 || memcmp(read, plain, plain_size) == 0));
		free(read);

		/* all but the key id, which whoever calls has looked the key up by */
		if (changed % size == 0 || changed % size >= header.size)
		{
			value[changed % size] ^= (uint8_t) (1 << (number >> 5 & 7));
			if (tde_header_parse(value, size, &header))
			{
				TdeStatus	status = open_with(key_for(spec), &header, value, size, false);

				CHECK(status == TDE_E_AUTH || spec.mac == TDE_NOMAC);
			}
		}
		free(value);
	}
	free(plain);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 3)
		return 0;
	if (data[0] & 1)
		own_value(data[1], data[2], data + 3, size - 3);
	else
		foreign_value(data[1], data + 2, size - 2);
	return 0;
}
