/*
 * envelope_json.c - members of the JSON objects that applications keep encrypted values in, and base64.
 *
 * Not by PostgreSQL's functions, whose errors quote the text: where an application has left values unencrypted, that is the plaintext.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "import/envelope_json.h"

static void
skip_blanks(TdeBytes *in)
{
	while (in->size > 0 && strchr(" \t\r\n", *in->data) != NULL && *in->data != '\0')
	{
		in->data++;
		in->size--;
	}
}

/* Passes over blanks and this character.  Returns false if another one is next. */
static bool
skip(TdeBytes *in, char c)
{
	skip_blanks(in);
	if (in->size == 0 || *in->data != (uint8) c)
		return false;
	in->data++;
	in->size--;
	return true;
}

/* Takes a string, with its quotes, and goes behind it. */
static bool
read_string(TdeBytes *in, TdeBytes *value)
{
	size_t		i = 1;

	if (in->size == 0 || *in->data != '"')
		return false;
	while (i < in->size && in->data[i] != '"')
		i += in->data[i] == '\\' ? 2 : 1;
	if (i >= in->size)
		return false;
	*value = (TdeBytes) {in->data, i + 1};
	in->data += i + 1;
	in->size -= i + 1;
	return true;
}

/* Takes a string, a number or word, or an object or array with all that is in it.  What is in it need not be right. */
static bool
read_value(TdeBytes *in, TdeBytes *value)
{
	TdeBytes	start;
	TdeBytes	string;
	int			depth = 0;

	skip_blanks(in);
	start = *in;
	if (in->size > 0 && *in->data == '"')
		return read_string(in, value);
	while (in->size > 0)
	{
		uint8		c = *in->data;

		CHECK_FOR_INTERRUPTS();
		if (depth == 0 && (c == ',' || c == '}' || c == ']'))
			break;
		if (c == '"')
		{
			if (!read_string(in, &string))
				return false;
			continue;
		}
		depth += (c == '{' || c == '[') - (c == '}' || c == ']');
		in->data++;
		in->size--;
		if (depth == 0 && (c == '}' || c == ']'))
			break;
	}
	*value = (TdeBytes) {start.data, in->data - start.data};
	return depth == 0 && value->size > 0;
}

/* Objects and arrays within are passed over, so that a name in them is not taken for one of this object. */
bool
tde_envelope_member(TdeBytes object, const char *name, TdeBytes *value)
{
	TdeBytes	found;

	if (!skip(&object, '{'))
		return false;
	do
	{
		CHECK_FOR_INTERRUPTS();
		skip_blanks(&object);
		if (!read_string(&object, &found) || !skip(&object, ':') || !read_value(&object, value))
			return false;
		if (found.size == strlen(name) + 2 && memcmp(found.data + 1, name, strlen(name)) == 0)
			return true;
	} while (skip(&object, ','));
	return false;
}

bool
tde_envelope_string(TdeBytes json, TdeBytes *value)
{
	uint8	   *out = palloc(json.size);
	size_t		size = 0;

	if (json.size < 2 || *json.data != '"')
		return false;
	for (size_t i = 1; i < json.size - 1; i++)
	{
		if (json.data[i] == '\\' && json.data[++i] != '/')
			return false;
		out[size++] = json.data[i];
	}
	*value = (TdeBytes) {out, size};
	return true;
}

/* Returns the value of a digit of either alphabet, that of RFC 4648's section 4 or 5; -1: it is none. */
static int
base64_digit(uint8 c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+' || c == '-')
		return 62;
	return c == '/' || c == '_' ? 63 : -1;
}

bool
tde_envelope_base64(TdeBytes text, TdeBytes *value)
{
	uint8	   *out = palloc(text.size + 1);
	size_t		size = 0;
	uint32		bits = 0;
	int			count = 0;
	size_t		padding = 0;

	while (padding < 2 && padding < text.size && text.data[text.size - 1 - padding] == '=')
		padding++;
	if (padding > 0 && text.size % 4 != 0)
		return false;
	text.size -= padding;
	for (size_t i = 0; i < text.size; i++)
	{
		int			digit = base64_digit(text.data[i]);

		CHECK_FOR_INTERRUPTS();
		if (digit < 0)
			return false;
		bits = bits << 6 | (uint32) digit;
		count += 6;
		if (count < 8)
			continue;
		count -= 8;
		out[size++] = (uint8) (bits >> count);
		bits &= (1U << count) - 1;
	}
	*value = (TdeBytes) {out, size};
	return bits == 0 && text.size % 4 != 1;
}
