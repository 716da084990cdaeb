/*
 * ciphertext_form.c - fuzzing of the ciphertext form, in base64 and in bytes, as dumps have it and as pg_upgrade does.
 *
 * The first byte of an input says which, and whether the checksum is made right, without which nothing gets far.
 */
#include "backend.h"

#include "common/base64.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "port/pg_crc32c.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/uuid.h"

#include "check.h"
#include "server/error.h"
#include "type/ciphertext_form.h"

#define CRC_SIZE	4

#define FIX_CHECKSUM	1
#define AS_TEXT			2
#define IN_UPGRADE		4
#define AS_SUSPECT		8

typedef struct Input
{
	uint8_t		how;
	const uint8_t *bytes;
	size_t		size;
} Input;

static TdeType type = {.oid = 100000, .base = 25, .tag = "tag of this type"};

/* ---- what the forms meet in a database ---- */

bool		IsBinaryUpgrade = false;

/* The one key here, and the one that pg_upgrade brought. */
static const TdeDataKey here = {.id = 300, .slot = 0, .version = 1, .kind = 'm', .state = 'a', .uuid = "uuid of the key."};
static TdeDataKey offered;

void
tde_key_offer(const TdeDataKey *row)
{
	CHECK(row->wrapped_size <= TDE_MAX_WRAPPED);
	offered = *row;
}

const TdeDataKey *
tde_key_row(uint32 id, TdeSpec spec)
{
	const TdeDataKey *row = IsBinaryUpgrade ? &offered : &here;

	if (row->id != id || (row->kind == 'm' && spec.mac == TDE_NOMAC))
		ereport(ERROR, (errcode(ERRCODE_TDE_KEY_NOT_FOUND), errmsg("no key %u", id)));
	return row;
}

const TdeDataKey *
tde_key_row_of_uuid(const uint8 uuid[16])
{
	return memcmp(uuid, here.uuid, 16) == 0 ? &here : NULL;
}

void
tde_error_throw(TdeStatus status)
{
	ereport(ERROR, (errcode(ERRCODE_TDE_NOT_AUTHENTIC), errmsg("status %d", status)));
}

char
get_typtype(Oid oid)
{
	return 'b';
}

char *
format_type_be(Oid oid)
{
	return pstrdup("a type");
}

Datum
uuid_out(PG_FUNCTION_ARGS)
{
	return CStringGetDatum("a UUID");
}

Datum
DirectFunctionCall1Coll(PGFunction function, Oid collation, Datum arg)
{
	return function(NULL);
}

/* ---- the input ---- */

/* Its bytes, with a checksum behind them if that is to be made right. */
static StringInfo
bytes_of(const Input *input)
{
	StringInfo	buf = palloc(sizeof(StringInfoData));
	pg_crc32c	crc;

	buf->maxlen = (int) input->size + CRC_SIZE;
	buf->data = palloc(buf->maxlen);
	buf->len = (int) input->size;
	buf->cursor = 0;
	memcpy(buf->data, input->bytes, input->size);
	if (input->how & FIX_CHECKSUM)
	{
		INIT_CRC32C(crc);
		COMP_CRC32C(crc, buf->data, buf->len);
		FIN_CRC32C(crc);
		for (int shift = 24; shift >= 0; shift -= 8)
			buf->data[buf->len++] = (char) (crc >> shift);
	}
	return buf;
}

/* In base64 if bytes are given, else the very input. */
static char *
text_of(const Input *input)
{
	StringInfo	buf;
	int			room,
				length;
	char	   *text;

	if ((input->how & FIX_CHECKSUM) == 0)
	{
		text = palloc(input->size + 5);
		memcpy(text, "tde:", 4);
		memcpy(text + 4, input->bytes, input->size);
		text[input->size + 4] = '\0';
		return text;
	}
	buf = bytes_of(input);
	room = pg_b64_enc_len(buf->len);
	text = palloc(room + 5);
	memcpy(text, "tde:", 4);
	length = pg_b64_encode((void *) buf->data, buf->len, text + 4, room);
	CHECK(length >= 0);
	text[length + 4] = '\0';
	return text;
}

/* ---- claims ---- */

/* A value that was read gives the bytes that it was read from. */
static void
send_again(Datum value, const Input *input)
{
	StringInfo	expected = bytes_of(input);
	bytea	   *sent = tde_ciphertext_send(&type, value);

	CHECK(VARSIZE(sent) - VARHDRSZ == (size_t) expected->len);
	CHECK(memcmp(VARDATA(sent), expected->data, expected->len) == 0);
}

static void
read_value(void *arg)
{
	Input	   *input = arg;

	if (input->how & AS_SUSPECT)
		tde_ciphertext_suspect(text_of(input));
	else if (input->how & AS_TEXT)
	{
		char	   *text = text_of(input);
		Datum		value = tde_ciphertext_in(&type, text);

		/* which other texts mean the same is base64's business */
		if (input->how & FIX_CHECKSUM)
			CHECK(strcmp(tde_ciphertext_out(&type, value), text) == 0);
		else
			(void) tde_ciphertext_out(&type, value);
	}
	else
		send_again(tde_ciphertext_recv(&type, bytes_of(input)), input);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input		input;

	if (size < 2)
		return 0;
	input = (Input) {data[0], data + 1, size - 1};
	IsBinaryUpgrade = (input.how & IN_UPGRADE) != 0;
	backend_try(read_value, &input);
	return 0;
}
