/*
 * export.c - data keys for another database: the SQL functions that take them there, for reading what is encrypted here or as its own, and
 * the text under a secret that carries them.
 *
 *	tdekeys:base64([format 1 byte][iterations 4][salt 16][wrapped records])
 *
 * The records are wrapped as a whole (RFC 5649, which also authenticates them) under PBKDF2-HMAC-SHA256 of the secret.  A record:
 *
 *	[UUID 16][slot 4][version 4][kind 1][state 1][erasable 1][created 8][size of name 1][name][key 32]
 *
 * Numbers are big-endian.  Format 1 has no byte for erasable, and leaves out destroyed keys, whose key is zeros in format 2.  What format 2
 * takes for the salt of PBKDF2 is the whole head, so that nobody can have it read as format 1.
 */
#include "postgres.h"

#include <openssl/crypto.h>

#include "common/base64.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/uuid.h"

#include "crypto/primitives.h"
#include "server/compat.h"
#include "server/error.h"
#include "server/module.h"
#include "transfer/adopt.h"
#include "transfer/exported.h"
#include "wallet/passphrase.h"

PG_FUNCTION_INFO_V1(tde_transfer_export_keys);
PG_FUNCTION_INFO_V1(tde_transfer_import_keys);

TDE_MODULE("transfer", NULL, NULL);

#define PREFIX			"tdekeys:"
#define PREFIX_SIZE		(sizeof(PREFIX) - 1)
#define ITERATIONS		1000000 /* what is written; OWASP asks for 600,000 */
#define MIN_ITERATIONS	600000	/* what is read: neither weak nor a way to keep the server busy */
#define MAX_ITERATIONS	20000000
#define SALT_SIZE		16
#define HEAD_SIZE		(1 + 4 + SALT_SIZE)

/* ---- bytes ---- */

/* Reads a big-endian number, as tde_keywrap_put() writes it. */
static uint64
get_number(const uint8 *from, int bytes)
{
	uint64		number = 0;

	for (int i = 0; i < bytes; i++)
		number = number << 8 | from[i];
	return number;
}

/* Returns the size of a record before its name. */
static size_t
front_size(TdeExportFormat format)
{
	return UUID_LEN + 4 + 4 + 1 + 1 + (format == TDE_EXPORT_ADOPTABLE ? 1 : 0) + 8 + 1;
}

/* Derives the key that the secret and the head make. */
static void
derive(const char *secret, const uint8 *head, uint8 kek[32])
{
	size_t		from = head[0] == TDE_EXPORT_ADOPTABLE ? 0 : 1 + 4;

	tde_check(tde_crypto_stretch(secret, head + from, HEAD_SIZE - from, get_number(head + 1, 4), kek, 32));
}

/* ---- writing ---- */

/* Records that are being written.  room is found by a first pass, so the buffer never moves and leaves no copy of a key. */
typedef struct Export
{
	TdeExportFormat format;
	uint8	   *records;
	size_t		size;
	size_t		room;
} Export;

static void
make_room(const TdeDataKey *row, void *arg)
{
	Export	   *export = arg;

	export->room += front_size(export->format) + NAMEDATALEN + TDE_DATA_KEY_SIZE;
}

/* A visitor of tde.data_keys: adds a key, unwrapped, behind the others. */
static void
put_record(const TdeDataKey *row, void *arg)
{
	Export	   *export = arg;
	uint8	   *to = export->records + export->size;
	size_t		name_size = strlen(row->name);
	bool		destroyed = row->state == TDE_STATE_DESTROYED;

	if (destroyed && export->format == TDE_EXPORT_READABLE)
		return;
	/* one that was made since: the next export has it */
	if (export->size + front_size(export->format) + name_size + TDE_DATA_KEY_SIZE > export->room)
		return;
	memcpy(to, row->uuid, UUID_LEN);
	to = tde_keywrap_put(to + UUID_LEN, (uint32) row->slot, 4);
	to = tde_keywrap_put(to, (uint32) row->version, 4);
	*to++ = row->kind;
	*to++ = row->state;
	if (export->format == TDE_EXPORT_ADOPTABLE)
		*to++ = row->erasable;
	to = tde_keywrap_put(to, (uint64) row->created, 8);
	*to++ = (uint8) name_size;
	memcpy(to, row->name, name_size);
	to += name_size;
	if (destroyed)
		memset(to, 0, TDE_DATA_KEY_SIZE);
	else
		tde_keywrap_unwrap(row, to);
	export->size = to + TDE_DATA_KEY_SIZE - export->records;
}

/* Returns base64 in one line behind the prefix, palloc'd. */
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

/* Returns the text.  Key wrap rounds the records up to 8 bytes and adds as many. */
static text *
wrap_records(const Export *export, const char *secret)
{
	size_t		wrapped = export->size + 2 * TDE_WRAP_OVERHEAD;
	uint8	   *bytes = palloc(HEAD_SIZE + wrapped);
	uint8		kek[32];
	TdeStatus	status;

	tde_keywrap_put(bytes, export->format, 1);
	tde_keywrap_put(bytes + 1, ITERATIONS, 4);
	tde_check(tde_random_salt(bytes + 1 + 4, SALT_SIZE));
	derive(secret, bytes, kek);
	status = tde_crypto_wrap_key(kek, export->records, export->size, bytes + HEAD_SIZE, &wrapped);
	OPENSSL_cleanse(kek, sizeof(kek));
	tde_check(status);
	return as_text(bytes, HEAD_SIZE + wrapped);
}

text *
tde_exported_write(TdeExportFormat format, const char *secret)
{
	Export		export = {.format = format};
	text	   *volatile result = NULL;

	tde_keys_scan(make_room, &export);
	if (export.room == 0)
		ereport(ERROR,
				(errcode(ERRCODE_TDE_KEY_NOT_FOUND),
				 errmsg("this database has no data keys to export")));
	export.records = palloc(export.room);
	PG_TRY();
	{
		tde_keys_scan(put_record, &export);
		result = wrap_records(&export, secret);
	}
	PG_FINALLY();
	{
		OPENSSL_cleanse(export.records, export.room);
	}
	PG_END_TRY();
	return result;
}

/* ---- reading ---- */

static void
not_exported_error(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("text does not contain keys that tde_export_keys() has exported"),
			 errdetail("It may be truncated, or of a later version of the extension."),
			 errhint("Give the whole text that tde_export_keys() has returned.")));
}

/* Returns the bytes of an exported text, palloc'd: no fewer than a head and the least that can be wrapped.  Nothing of it is authenticated yet. */
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
	if (*size < HEAD_SIZE + 2 * TDE_WRAP_OVERHEAD || (bytes[0] != TDE_EXPORT_READABLE && bytes[0] != TDE_EXPORT_ADOPTABLE))
		not_exported_error();
	iterations = get_number(bytes + 1, 4);
	if (iterations < MIN_ITERATIONS || iterations > MAX_ITERATIONS)
		not_exported_error();
	return bytes;
}

/* Returns the size of the record at from.  Throws if there is no whole one. */
static size_t
record_size(TdeExportFormat format, const uint8 *from, size_t left)
{
	size_t		least = front_size(format) + TDE_DATA_KEY_SIZE;
	size_t		name_size = left < least ? NAMEDATALEN : from[front_size(format) - 1];

	if (name_size >= NAMEDATALEN || least + name_size > left)
		not_exported_error();
	return least + name_size;
}

/* Returns true if a key of this kind may be in this slot, in this state.  The text is authentic, but another version may have written it. */
static bool
is_sane(const TdeDataKey *row)
{
	if (row->version <= 0 || row->version == PG_INT32_MAX || row->slot == PG_INT32_MAX ||
		(row->state != TDE_STATE_ACTIVE && row->state != TDE_STATE_PREPARED && row->state != TDE_STATE_RETIRED &&
		 row->state != TDE_STATE_DESTROYED))
		return false;
	switch (row->kind)
	{
		case TDE_KIND_CATALOG:
			return row->slot == TDE_SLOT_CATALOG && row->state != TDE_STATE_DESTROYED;
		case TDE_KIND_HASH:
			return row->slot == TDE_SLOT_HASH && row->state != TDE_STATE_DESTROYED;
		case TDE_KIND_MAC:
		case TDE_KIND_NOMAC:
			return row->slot > TDE_SLOT_DEFAULT || (row->slot == TDE_SLOT_DEFAULT && row->state != TDE_STATE_DESTROYED);
		default:
			return false;
	}
}

/* Reads a record, of which there is a whole one. */
static void
get_record(TdeExportFormat format, const uint8 *from, TdeExportedKey *key)
{
	TdeDataKey *row = &key->row;
	size_t		name_size = from[front_size(format) - 1];
	const uint8 *name = from + front_size(format);

	memset(key, 0, sizeof(*key));
	memcpy(row->uuid, from, UUID_LEN);
	row->slot = (int32) get_number(from + 16, 4);
	row->version = (int32) get_number(from + 20, 4);
	row->kind = (char) from[24];
	row->state = (char) from[25];
	row->erasable = format == TDE_EXPORT_ADOPTABLE && from[26] != 0;
	row->created = (int64) get_number(name - 9, 8);
	memcpy(row->name, name, name_size);
	if (!is_sane(row))
		not_exported_error();
	memcpy(key->data_key, name + name_size, TDE_DATA_KEY_SIZE);
}

/* Reads all records into keys that have room for as many as the text can have. */
static void
get_records(const uint8 *records, size_t size, TdeExportedKeys *exported)
{
	for (size_t at = 0; at < size;)
	{
		size_t		whole = record_size(exported->format, records + at, size - at);

		CHECK_FOR_INTERRUPTS();
		get_record(exported->format, records + at, &exported->keys[exported->count++]);
		at += whole;
	}
}

void
tde_exported_read(const text *exported, const char *secret, TdeExportedUser use, void *arg)
{
	int			size;
	uint8	   *bytes = from_text(exported, &size);
	uint8	   *records = palloc(size);
	size_t		records_size = size;
	TdeExportedKeys keys = {.format = bytes[0]};
	size_t		most = size / (front_size(keys.format) + TDE_DATA_KEY_SIZE) + 1;
	uint8		kek[32];
	TdeStatus	status;

	derive(secret, bytes, kek);
	status = tde_crypto_unwrap_key(kek, bytes + HEAD_SIZE, size - HEAD_SIZE, records, &records_size);
	OPENSSL_cleanse(kek, sizeof(kek));
	if (status == TDE_E_AUTH)
		ereport(ERROR,
				(errcode(ERRCODE_TDE_NOT_AUTHENTIC),
				 errmsg("could not unwrap exported keys"),
				 errdetail("The secret is wrong, or the text was changed."),
				 errhint("Give the secret that tde_export_keys() was given, or export the keys again.")));
	tde_check(status);
	keys.keys = MemoryContextAllocHuge(CurrentMemoryContext, most * sizeof(TdeExportedKey));
	PG_TRY();
	{
		get_records(records, records_size, &keys);
		use(&keys, arg);
	}
	PG_FINALLY();
	{
		OPENSSL_cleanse(records, size);
		OPENSSL_cleanse(keys.keys, most * sizeof(TdeExportedKey));
	}
	PG_END_TRY();
}

/* ---- SQL functions ---- */

/* A call of tde_export_keys(). */
typedef struct ExportCall
{
	TdeExportFormat format;
	text	   *result;
} ExportCall;

/* A TdePassphraseUse.  Weak secrets are refused: whoever has the text can try them as fast as he likes. */
static void
export_under(const char *secret, void *arg)
{
	ExportCall *export = arg;

	tde_passphrase_require_strength(secret, "secret");
	/* so that those who adopt the keys need not make any, which would be others */
	if (export->format == TDE_EXPORT_ADOPTABLE)
		tde_keys_ensure_all();
	export->result = tde_exported_write(export->format, secret);
}

/*
 * tde_export_keys(secret text DEFAULT NULL [, adoptable boolean]) returns text - all data keys of this database under a secret; NULL: the
 * one that COPY has brought.
 */
Datum
tde_transfer_export_keys(PG_FUNCTION_ARGS)
{
	ExportCall	export = {TDE_EXPORT_READABLE};

	tde_log_call(fcinfo, NULL);
	if (PG_NARGS() > 1 && PG_ARGISNULL(1))
		PG_RETURN_NULL();
	if (PG_NARGS() > 1 && PG_GETARG_BOOL(1))
		export.format = TDE_EXPORT_ADOPTABLE;
	tde_passphrase_use(fcinfo, 0, "secret", export_under, &export);
	PG_RETURN_TEXT_P(export.result);
}

/* A call of tde_import_keys(). */
typedef struct Import
{
	const text *exported;
	bool		adopt;
	int			count;
} Import;

/* A TdeExportedUser: adds each key that is not here, for reading only. */
static void
import_keys(const TdeExportedKeys *exported, void *arg)
{
	TdeSlotMap	map = {TDE_NO_SLOT, TDE_NO_SLOT};

	for (int i = 0; i < exported->count; i++)
	{
		const TdeExportedKey *key = &exported->keys[i];

		CHECK_FOR_INTERRUPTS();
		if (key->row.state != TDE_STATE_DESTROYED && tde_keys_import(&key->row, key->data_key, &map))
			(*(int *) arg)++;
	}
}

static void
import_under(const char *secret, void *arg)
{
	Import	   *import = arg;

	tde_exported_read(import->exported, secret, import->adopt ? tde_adopt_keys : import_keys, &import->count);
}

/*
 * tde_import_keys(exported text, secret text DEFAULT NULL [, adopt boolean]) returns int4 - add exported keys that are not here, for reading;
 * or make this database's keys those that were exported.  How many were added, or changed.
 */
Datum
tde_transfer_import_keys(PG_FUNCTION_ARGS)
{
	Import		import = {0};

	tde_log_call(fcinfo, NULL);
	if (PG_ARGISNULL(0) || (PG_NARGS() > 2 && PG_ARGISNULL(2)))
		PG_RETURN_NULL();
	import.exported = PG_GETARG_TEXT_PP(0);
	import.adopt = PG_NARGS() > 2 && PG_GETARG_BOOL(2);
	tde_passphrase_use(fcinfo, 1, "secret", import_under, &import);
	PG_RETURN_INT32(import.count);
}
