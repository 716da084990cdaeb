/*
 * export.c - data keys as a text under a secret, for encrypted dumps and for servers that share keys.
 *
 *	tdekeys:base64([format 1 byte][iterations 4][salt 16][wrapped records])
 *
 * The records are wrapped as a whole (RFC 5649, which also authenticates them) under PBKDF2-HMAC-SHA256 of the secret.  A record:
 *
 *	[UUID 16][slot 4][version 4][kind 1][state 1][created 8][size of name 1][name][key 32]
 *
 * Numbers are big-endian.
 */
#include "postgres.h"

#include <openssl/crypto.h>

#include "common/base64.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/uuid.h"

#include "crypto/primitives.h"
#include "keys/table.h"
#include "server/compat.h"
#include "server/error.h"
#include "wallet/passphrase.h"

PG_FUNCTION_INFO_V1(tde_export_keys);
PG_FUNCTION_INFO_V1(tde_import_keys);

#define PREFIX			"tdekeys:"
#define PREFIX_SIZE		(sizeof(PREFIX) - 1)
#define FORMAT			1
#define ITERATIONS		1000000 /* what is written; OWASP asks for 600,000 */
#define MIN_ITERATIONS	600000	/* what is read: neither weak nor a way to keep the server busy */
#define MAX_ITERATIONS	20000000
#define SALT_SIZE		16
#define HEAD_SIZE		(1 + 4 + SALT_SIZE)
#define RECORD_SIZE		(UUID_LEN + 4 + 4 + 1 + 1 + 8 + 1 + TDE_DATA_KEY_SIZE)	/* without the name */

/* ---- bytes ---- */

static uint64
get_number(const uint8 *from, int bytes)
{
	uint64		number = 0;

	for (int i = 0; i < bytes; i++)
		number = number << 8 | from[i];
	return number;
}

/* The key that the secret and the head's salt make. */
static void
derive(const char *secret, const uint8 *head, uint8 kek[32])
{
	tde_check(tde_stretch(secret, head + 1 + 4, SALT_SIZE, get_number(head + 1, 4), kek, 32));
}

/* ---- export ---- */

typedef struct Export
{
	uint8	   *records;
	size_t		size;
	size_t		room;
} Export;

static void
make_room(const TdeDataKey *row, void *arg)
{
	((Export *) arg)->room += RECORD_SIZE + NAMEDATALEN;
}

static void
put_record(const TdeDataKey *row, void *arg)
{
	Export	   *export = arg;
	uint8	   *to = export->records + export->size;
	size_t		name_size = strlen(row->name);

	if (row->state == TDE_STATE_DESTROYED)
		return;
	/* one that was made since: the next export has it */
	if (export->size + RECORD_SIZE + name_size > export->room)
		return;
	memcpy(to, row->uuid, UUID_LEN);
	to = tde_keywrap_put(to + UUID_LEN, (uint32) row->slot, 4);
	to = tde_keywrap_put(to, (uint32) row->version, 4);
	*to++ = row->kind;
	*to++ = row->state;
	to = tde_keywrap_put(to, (uint64) row->created, 8);
	*to++ = (uint8) name_size;
	memcpy(to, row->name, name_size);
	to += name_size;
	tde_keywrap_unwrap(row, to);
	export->size = to + TDE_DATA_KEY_SIZE - export->records;
}

static text *
as_text(const uint8 *bytes, size_t size)
{
	int			room = pg_b64_enc_len(size);
	text	   *result = palloc(VARHDRSZ + PREFIX_SIZE + room);
	int			length;

	memcpy(VARDATA(result), PREFIX, PREFIX_SIZE);
	length = pg_b64_encode((void *) bytes, size, VARDATA(result) + PREFIX_SIZE, room);
	if (length < 0)
		elog(ERROR, "could not encode keys in base64");
	SET_VARSIZE(result, VARHDRSZ + PREFIX_SIZE + length);
	return result;
}

static text *
wrap_records(const Export *export, const char *secret)
{
	size_t		wrapped = export->size + 2 * TDE_WRAP_OVERHEAD;
	uint8	   *bytes = palloc(HEAD_SIZE + wrapped);
	uint8		kek[32];
	TdeStatus	status;

	tde_keywrap_put(bytes, FORMAT, 1);
	tde_keywrap_put(bytes + 1, ITERATIONS, 4);
	tde_check(tde_random_salt(bytes + 1 + 4, SALT_SIZE));
	derive(secret, bytes, kek);
	status = tde_wrap_key(kek, export->records, export->size, bytes + HEAD_SIZE, &wrapped);
	OPENSSL_cleanse(kek, sizeof(kek));
	tde_check(status);
	return as_text(bytes, HEAD_SIZE + wrapped);
}

static text *
export_keys(const char *secret)
{
	Export		export = {0};
	text	   *volatile result = NULL;

	tde_keystore_scan(make_room, &export);
	if (export.room == 0)
		ereport(ERROR,
				(errcode(ERRCODE_TDE_KEY_NOT_FOUND),
				 errmsg("this database has no data keys to export")));
	export.records = palloc(export.room);
	PG_TRY();
	{
		tde_keystore_scan(put_record, &export);
		result = wrap_records(&export, secret);
	}
	PG_FINALLY();
	{
		OPENSSL_cleanse(export.records, export.room);
	}
	PG_END_TRY();
	return result;
}

/* ---- import ---- */

static void
not_exported_error(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("text does not contain keys that tde_export_keys() has exported"),
			 errdetail("It may be truncated, or of a later version of the extension.")));
}

/* The bytes of an exported text, no fewer than a head and the least that can be wrapped. */
static uint8 *
from_text(const text *exported, int *size)
{
	const char *chars = VARDATA_ANY(exported);
	int			length = VARSIZE_ANY_EXHDR(exported);
	int			room;
	uint8	   *bytes;
	uint64		iterations;

	if (length < PREFIX_SIZE || memcmp(chars, PREFIX, PREFIX_SIZE) != 0)
		not_exported_error();
	room = pg_b64_dec_len(length - PREFIX_SIZE);
	bytes = palloc(room + 1);
	*size = pg_b64_decode(chars + PREFIX_SIZE, length - PREFIX_SIZE, (void *) bytes, room);
	if (*size < HEAD_SIZE + 2 * TDE_WRAP_OVERHEAD || bytes[0] != FORMAT)
		not_exported_error();
	iterations = get_number(bytes + 1, 4);
	if (iterations < MIN_ITERATIONS || iterations > MAX_ITERATIONS)
		not_exported_error();
	return bytes;
}

/* The bytes of the record at from; 0 if there is no whole one. */
static size_t
record_size(const uint8 *from, size_t left)
{
	size_t		name_size;

	if (left < RECORD_SIZE)
		return 0;
	name_size = from[UUID_LEN + 4 + 4 + 1 + 1 + 8];
	return name_size < NAMEDATALEN && RECORD_SIZE + name_size <= left ? RECORD_SIZE + name_size : 0;
}

/* May a key of this kind be in this slot? */
static bool
is_sane(const TdeDataKey *row)
{
	switch (row->kind)
	{
		case TDE_KIND_CATALOG:
			return row->slot == TDE_SLOT_CATALOG;
		case TDE_KIND_HASH:
			return row->slot == TDE_SLOT_HASH;
		case TDE_KIND_MAC:
		case TDE_KIND_NOMAC:
			return row->slot >= 0;
		default:
			return false;
	}
}

static bool
import_record(const uint8 *from, TdeSlotMap *map)
{
	TdeDataKey	row;
	size_t		name_size;

	memset(&row, 0, sizeof(row));
	memcpy(row.uuid, from, UUID_LEN);
	row.slot = (int32) get_number(from + 16, 4);
	row.kind = (char) from[24];
	row.created = (int64) get_number(from + 26, 8);
	name_size = from[34];
	memcpy(row.name, from + 35, name_size);
	if (!is_sane(&row))
		not_exported_error();
	return tde_keystore_import(&row, from + 35 + name_size, map);
}

static int
import_records(const uint8 *records, size_t size)
{
	TdeSlotMap	map = {TDE_NO_SLOT, TDE_NO_SLOT};
	size_t		step;
	int			count = 0;

	for (size_t at = 0; at < size; at += step)
	{
		step = record_size(records + at, size - at);
		if (step == 0)
			not_exported_error();
		if (import_record(records + at, &map))
			count++;
	}
	return count;
}

static int
import_keys(const text *exported, const char *secret)
{
	int			size;
	uint8	   *bytes = from_text(exported, &size);
	uint8	   *records = palloc(size);
	size_t		records_size = size;
	uint8		kek[32];
	TdeStatus	status;
	volatile int count = 0;

	derive(secret, bytes, kek);
	status = tde_unwrap_key(kek, bytes + HEAD_SIZE, size - HEAD_SIZE, records, &records_size);
	OPENSSL_cleanse(kek, sizeof(kek));
	if (status == TDE_E_AUTH)
		ereport(ERROR,
				(errcode(ERRCODE_TDE_NOT_AUTHENTIC),
				 errmsg("could not unwrap exported keys"),
				 errdetail("The secret is wrong, or the text was changed.")));
	tde_check(status);
	PG_TRY();
	{
		count = import_records(records, records_size);
	}
	PG_FINALLY();
	{
		OPENSSL_cleanse(records, size);
	}
	PG_END_TRY();
	return count;
}

/* ---- SQL ---- */

static void
export_under(const char *secret, void *result)
{
	tde_passphrase_require_strength(secret, "secret");
	*(text **) result = export_keys(secret);
}

/* tde_export_keys(secret text) returns text - all data keys of this database under a secret. */
Datum
tde_export_keys(PG_FUNCTION_ARGS)
{
	text	   *result;

	tde_passphrase_use(PG_GETARG_DATUM(0), "secret", export_under, &result);
	PG_RETURN_TEXT_P(result);
}

typedef struct Import
{
	const text *exported;
	int			count;
} Import;

static void
import_under(const char *secret, void *arg)
{
	Import	   *import = arg;

	import->count = import_keys(import->exported, secret);
}

/* tde_import_keys(exported text, secret text) returns int4 - add exported keys that are not here; returns how many. */
Datum
tde_import_keys(PG_FUNCTION_ARGS)
{
	Import		import = {.exported = PG_GETARG_TEXT_PP(0)};

	tde_passphrase_use(PG_GETARG_DATUM(1), "secret", import_under, &import);
	PG_RETURN_INT32(import.count);
}
