/*
 * header.c - the spec byte and the header of a value, and the sizes that follow from them.
 */
#include "crypto/cipher.h"
#include "crypto/header.h"
#include "crypto/spec.h"
#include "crypto/value.h"

#define SPEC_MAC_SHIFT	4

/* Returns true if the number of one bits is odd. */
static bool
odd_parity(uint8_t byte)
{
	return __builtin_parity(byte) == 1;
}

uint8_t
tde_spec_byte(TdeSpec spec, bool flag)
{
	uint8_t		byte = (uint8_t) (spec.cipher - TDE_AES128);

	if (spec.mode != TDE_CTR)
		byte |= TDE_SPEC_MODE;
	if (spec.salted)
		byte |= TDE_SPEC_SALT;
	byte |= (uint8_t) (spec.mac << SPEC_MAC_SHIFT);
	if (flag)
		byte |= TDE_SPEC_FLAG;
	if (!odd_parity(byte))
		byte |= TDE_SPEC_PARITY;
	return byte;
}

/*
 * Read a spec byte that nothing vouches for yet.  False if no writer of this version can have written it.
 */
bool
tde_spec_from_byte(uint8_t byte, TdeSpec *spec, bool *flag)
{
	if (!odd_parity(byte))
		return false;
	spec->cipher = (uint8_t) ((byte & 0x03) + TDE_AES128);
	spec->mode = tde_spec_byte_is_padded(byte) ? TDE_PADDED : (byte & TDE_SPEC_MODE) ? TDE_CBC : TDE_CTR;
	spec->salted = (byte & TDE_SPEC_SALT) != 0;
	spec->mac = (byte >> SPEC_MAC_SHIFT) & 0x03;
	*flag = (byte & TDE_SPEC_FLAG) != 0;
	if (*flag && !spec->salted && spec->mode != TDE_CBC)
		return false;
	return tde_spec_refused(*spec) == NULL;
}

const char *
tde_spec_refused(TdeSpec spec)
{
	if (spec.cipher < TDE_AES128 || spec.cipher > TDE_3DES168)
		return "This cipher is not known to this version";
	if (spec.mac > TDE_GCM)
		return "This MAC is not known to this version";
	if (spec.cipher == TDE_3DES168 && spec.mac == TDE_GCM)
		return "GCM is defined for AES only";
	if (spec.mode == TDE_PADDED && spec.mac != TDE_GCM)
		return "Only values with gcm can be padded";
	if (spec.mode == TDE_CBC && spec.mac == TDE_GCM)
		return "GCM is a mode of its own, which cbc contradicts";
	if (spec.cipher == TDE_3DES168 && spec.mode != TDE_CBC)
		return "Triple DES is available in cbc mode only";
	if (spec.mode == TDE_CTR && !spec.salted && spec.mac == TDE_NOMAC)
		return "In ctr mode without salt and without MAC every value would be encrypted with the same key stream";
	return NULL;
}

bool
tde_spec_equal(TdeSpec a, TdeSpec b)
{
	return tde_spec_byte(a, false) == tde_spec_byte(b, false);
}

size_t
tde_spec_key(TdeSpec spec)
{
	static const uint8_t bytes[] = {0, 16, 24, 32, 24};

	return bytes[spec.cipher];
}

const char *
tde_spec_cipher_word(TdeSpec spec)
{
	static const char *const words[] = {"", "aes128", "aes192", "aes256", "3des168"};

	return words[spec.cipher];
}

const char *
tde_spec_mode_word(TdeSpec spec)
{
	return spec.mode == TDE_CBC ? "cbc" : "ctr";
}

const char *
tde_spec_salt_word(TdeSpec spec)
{
	return spec.salted ? "salt" : "nosalt";
}

const char *
tde_spec_mac_word(TdeSpec spec)
{
	static const char *const words[] = {"nomac", "mac", "sha256", "gcm"};

	return words[spec.mac];
}

/* Bytes of the minimal varint. */
static inline size_t
varint_size(uint32_t id)
{
	return id < 1u << 7 ? 1 : id < 1u << 14 ? 2 : id < 1u << 21 ? 3 : id < 1u << 28 ? 4 : 5;
}

static inline uint8_t *
varint_write(uint8_t *out, uint32_t id)
{
	for (; id >= 0x80; id >>= 7)
		*out++ = (uint8_t) (id | 0x80);
	*out++ = (uint8_t) id;
	return out;
}

/*
 * Read the varint at in, which has size bytes.  Returns the bytes it takes, 0 if it is longer than there are bytes or
 * than 32 bits, is not minimal, or is the id 0, which no key has.
 */
static inline size_t
varint_read(const uint8_t *in, size_t size, uint32_t *id)
{
	uint64_t	value = 0;

	if (size > 0 && in[0] > 0 && in[0] < 0x80)	/* nearly always */
	{
		*id = in[0];
		return 1;
	}
	for (size_t i = 0; i < size && i < TDE_MAX_HEADER - 1; i++)
	{
		value |= (uint64_t) (in[i] & 0x7f) << (7 * i);
		if ((in[i] & 0x80) == 0)
		{
			/* a zero last byte adds nothing: not minimal, or the id 0 */
			if (in[i] == 0 || value > UINT32_MAX)
				return 0;
			*id = (uint32_t) value;
			return i + 1;
		}
	}
	return 0;
}

/*
 * What a spec byte says, asked once per process: deriving it for each value would cost half as much as an AES
 * block does.
 */
typedef struct Shape
{
	TdeSpec		spec;
	bool		valid;
	bool		flag;
	uint8_t		block;
	uint8_t		overhead;		/* salt and tag */
} Shape;

static Shape shapes[256];
static bool shapes_ready = false;

/* Fills the table, at the first header that the process reads. */
static void
make_shapes(void)
{
	for (unsigned byte = 0; byte < 256; byte++)
	{
		Shape	   *shape = &shapes[byte];

		shape->valid = tde_spec_from_byte((uint8_t) byte, &shape->spec, &shape->flag);
		if (shape->valid)
		{
			shape->block = (uint8_t) tde_spec_block(shape->spec);
			shape->overhead = (uint8_t) (tde_spec_salt(shape->spec) + tde_spec_tag(shape->spec));
		}
	}
	shapes_ready = true;
}

bool
tde_header_parse(const uint8_t *value, size_t size, TdeHeader *header)
{
	const Shape *shape;
	size_t		id_size;

	if (!shapes_ready)
		make_shapes();
	if (size < 2)
		return false;
	shape = &shapes[value[0]];
	if (!shape->valid)
		return false;
	id_size = varint_read(value + 1, size - 1, &header->key_id);
	if (id_size == 0)
		return false;
	header->spec = shape->spec;
	header->flag = shape->flag;
	header->spec_byte = value[0];
	header->size = (uint8_t) (1 + id_size);

	size -= header->size;
	return size >= shape->overhead &&
		tde_ciphertext_possible(shape->spec.salted, shape->spec.mode, shape->flag, shape->block, size - shape->overhead);
}

size_t
tde_header_write(uint8_t *out, uint8_t spec_byte, uint32_t key_id)
{
	out[0] = spec_byte;
	return varint_write(out + 1, key_id) - out;
}

size_t
tde_header_sealed_size(TdeSpec spec, uint32_t key_id, size_t plain_size)
{
	size_t		block = tde_spec_block(spec);
	size_t		ciphertext = plain_size;

	if (spec.mode == TDE_CBC && spec.salted)
		ciphertext = tde_padded_size(plain_size, block);
	else if (spec.mode == TDE_CBC && plain_size < block)
		ciphertext = block;
	return 1 + varint_size(key_id) + tde_spec_salt(spec) + ciphertext + tde_spec_tag(spec);
}

size_t
tde_header_open_room(const TdeHeader *header, size_t size)
{
	size_t		overhead = header->size + tde_spec_salt(header->spec) + tde_spec_tag(header->spec);

	/* padding and ciphertext stealing are undone in place */
	return size > overhead ? size - overhead : 0;
}
