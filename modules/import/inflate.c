/*
 * inflate.c - what zlib has compressed (RFC 1950 and 1951), bit by bit: values are short, and PostgreSQL need not have been built with zlib.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "import/inflate.h"

#define MAX_BITS	15
#define MAX_LENGTHS 320			/* of both codes of a block: 288 and 32 */

typedef struct Input
{
	const uint8 *next;
	const uint8 *end;
	uint32		bits;
	int			count;
	bool		failed;			/* asked for more than there is */
} Input;

/* A Huffman code: how many of its words have each length, and the symbols in the order of their words. */
typedef struct Code
{
	uint16		counts[MAX_BITS + 1];
	uint16		symbols[MAX_LENGTHS];
} Code;

static uint32
read_bits(Input *in, int count)
{
	uint32		result;

	while (in->count < count)
	{
		if (in->next == in->end)
		{
			in->failed = true;
			return 0;
		}
		in->bits |= (uint32) *in->next++ << in->count;
		in->count += 8;
	}
	result = in->bits & ((1U << count) - 1);
	in->bits >>= count;
	in->count -= count;
	return result;
}

/* false if these lengths are none of a code: more words than there is room for. */
static bool
make_code(Code *code, const uint8 *lengths, int count)
{
	uint16		offsets[MAX_BITS + 2] = {0};
	int			room = 1;

	memset(code->counts, 0, sizeof(code->counts));
	for (int i = 0; i < count; i++)
		code->counts[lengths[i]]++;
	code->counts[0] = 0;
	for (int bits = 1; bits <= MAX_BITS; bits++)
	{
		room = 2 * room - code->counts[bits];
		if (room < 0)
			return false;
		offsets[bits + 1] = offsets[bits] + code->counts[bits];
	}
	for (int i = 0; i < count; i++)
		if (lengths[i] != 0)
			code->symbols[offsets[lengths[i]]++] = (uint16) i;
	return true;
}

/* The next symbol; -1 if no word of the code is there. */
static int
read_symbol(Input *in, const Code *code)
{
	int			word = 0;
	int			first = 0;
	int			index = 0;

	for (int bits = 1; bits <= MAX_BITS && !in->failed; bits++)
	{
		word |= (int) read_bits(in, 1);
		if (word - first < code->counts[bits])
			return in->failed ? -1 : code->symbols[index + word - first];
		index += code->counts[bits];
		first = (first + code->counts[bits]) << 1;
		word <<= 1;
	}
	return -1;
}

static bool
has_room(StringInfo out, size_t size)
{
	return size < MaxAllocSize / 2 && (size_t) out->len < MaxAllocSize / 2 - size;
}

static bool
copy_earlier(StringInfo out, size_t distance, int length)
{
	if (distance > (size_t) out->len || !has_room(out, length))
		return false;
	enlargeStringInfo(out, length);
	for (; length > 0; length--)
		appendStringInfoCharMacro(out, out->data[out->len - distance]);
	return true;
}

static bool
read_copy(Input *in, int symbol, const Code *distances, StringInfo out)
{
	static const uint16 lengths[] = {3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
	int			more = symbol <265 || symbol == 285 ? 0 : (symbol -261) /4;
	int			length;
	int			step;
	size_t		distance;

	if (symbol >285)
		return false;
	length = lengths[symbol -257] + (int) read_bits(in, more);
	step = read_symbol(in, distances);
	if (step < 0 || step > 29)
		return false;
	more = step < 4 ? 0 : step / 2 - 1;
	distance = step < 4 ? step + 1 : ((2 + (size_t) (step & 1)) << more) + 1;
	distance += read_bits(in, more);
	return !in->failed && copy_earlier(out, distance, length);
}

static bool
read_coded(Input *in, const Code *literals, const Code *distances, StringInfo out)
{
	for (;;)
	{
		int symbol = read_symbol(in, literals);

		CHECK_FOR_INTERRUPTS();
		if (symbol <0 || !has_room(out, 1))
			return false;
		if (symbol == 256)
			return true;
		if (symbol <256)
			appendStringInfoChar(out, (char) symbol);
		else if (!read_copy(in, symbol, distances, out))
			return false;
	}
}

static bool
read_fixed(Input *in, StringInfo out)
{
	uint8		lengths[MAX_LENGTHS];
	Code		literals;
	Code		distances;

	for (int i = 0; i < 288; i++)
		lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
	memset(lengths + 288, 5, 30);
	return make_code(&literals, lengths, 288) && make_code(&distances, lengths + 288, 30) && read_coded(in, &literals, &distances, out);
}

/* The lengths of a block's two codes, which a third code has. */
static bool
read_lengths(Input *in, const Code *code, uint8 *lengths, int count)
{
	for (int i = 0; i < count;)
	{
		int symbol = read_symbol(in, code);
		int			times = 1;
		uint8		length = 0;

		if (symbol <0 || (symbol == 16 && i == 0))
			return false;
		if (symbol <16)
			length = (uint8) symbol;

		else if (symbol == 16)
		{
			length = lengths[i - 1];
			times = 3 + (int) read_bits(in, 2);
		}
		else
			times = symbol == 17 ? 3 + (int) read_bits(in, 3) : 11 + (int) read_bits(in, 7);

		if (in->failed || times > count - i)
			return false;
		memset(lengths + i, length, times);
		i += times;
	}
	return true;
}

static bool
read_dynamic(Input *in, StringInfo out)
{
	static const uint8 order[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
	int			literal_count = 257 + (int) read_bits(in, 5);
	int			distance_count = 1 + (int) read_bits(in, 5);
	int			length_count = 4 + (int) read_bits(in, 4);
	uint8		lengths[MAX_LENGTHS] = {0};
	Code		code;
	Code		distances;

	for (int i = 0; i < length_count; i++)
		lengths[order[i]] = (uint8) read_bits(in, 3);
	if (in->failed || literal_count > 286 || !make_code(&code, lengths, 19) ||
		!read_lengths(in, &code, lengths, literal_count + distance_count))
		return false;
	return make_code(&code, lengths, literal_count) && make_code(&distances, lengths + literal_count, distance_count) &&
		read_coded(in, &code, &distances, out);
}

static bool
read_stored(Input *in, StringInfo out)
{
	size_t		size;

	in->bits = in->count = 0;
	if (in->end - in->next < 4)
		return false;
	size = in->next[0] | in->next[1] << 8;
	if ((size ^ 0xFFFF) != (size_t) (in->next[2] | in->next[3] << 8) || (size_t) (in->end - in->next - 4) < size || !has_room(out, size))
		return false;
	appendBinaryStringInfo(out, (const char *) in->next + 4, (int) size);
	in->next += 4 + size;
	return true;
}

static bool
read_block(Input *in, StringInfo out)
{
	switch (read_bits(in, 2))
	{
		case 0:
			return !in->failed && read_stored(in, out);
		case 1:
			return read_fixed(in, out);
		case 2:
			return read_dynamic(in, out);
		default:
			return false;
	}
}

static uint32
adler32(const StringInfoData *out)
{
	uint32		a = 1;
	uint32		b = 0;

	for (int i = 0; i < out->len; i++)
	{
		CHECK_FOR_INTERRUPTS();
		a = (a + (uint8) out->data[i]) % 65521;
		b = (b + a) % 65521;
	}
	return b << 16 | a;
}

bool
tde_inflate(const uint8 *data, size_t size, StringInfo out)
{
	Input		in = {0};
	bool		last = false;

	/* deflate, no dictionary */
	if (size < 6 || (data[0] & 0x0F) != 8 || (data[1] & 0x20) != 0 || (data[0] << 8 | data[1]) % 31 != 0)
		return false;
	in.next = data + 2;
	in.end = data + size - 4;
	while (!last)
	{
		CHECK_FOR_INTERRUPTS();
		last = read_bits(&in, 1) == 1;
		if (in.failed || !read_block(&in, out))
			return false;
	}
	data = in.end;
	return in.next == in.end && adler32(out) == ((uint32) data[0] << 24 | data[1] << 16 | data[2] << 8 | data[3]);
}
