/*
 * export.c - the SQL functions that take data keys to another database: for reading what is encrypted here, or as its own; and that
 * tell whether two databases have the same.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "libpq/pqformat.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/uuid.h"

#include "functions/adopt.h"
#include "functions/exported.h"
#include "server/compat.h"
#include "wallet/passphrase.h"

PG_FUNCTION_INFO_V1(tde_export_keys);
PG_FUNCTION_INFO_V1(tde_import_keys);
PG_FUNCTION_INFO_V1(tde_key_fingerprint);

typedef struct Export
{
	TdeExportFormat format;
	text	   *result;
} Export;

static void
export_under(const char *secret, void *arg)
{
	Export	   *export = arg;

	tde_passphrase_require_strength(secret, "secret");
	/* so that those who adopt the keys need not make any, which would be others */
	if (export->format == TDE_EXPORT_ADOPTABLE)
		tde_keystore_ensure_all();
	export->result = tde_exported_write(export->format, secret);
}

/* tde_export_keys(secret text, adoptable boolean DEFAULT false) returns text - all data keys of this database under a secret. */
Datum
tde_export_keys(PG_FUNCTION_ARGS)
{
	Export		export = {TDE_EXPORT_READABLE};

	if (PG_NARGS() > 1 && PG_GETARG_BOOL(1))
		export.format = TDE_EXPORT_ADOPTABLE;
	tde_passphrase_use(PG_GETARG_DATUM(0), "secret", export_under, &export);
	PG_RETURN_TEXT_P(export.result);
}

typedef struct Import
{
	const text *exported;
	bool		adopt;
	int			count;
} Import;

static void
import_keys(const TdeExportedKeys *exported, void *arg)
{
	TdeSlotMap	map = {TDE_NO_SLOT, TDE_NO_SLOT};

	for (int i = 0; i < exported->count; i++)
	{
		const TdeExportedKey *key = &exported->keys[i];

		if (key->row.state != TDE_STATE_DESTROYED && tde_keystore_import(&key->row, key->data_key, &map))
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
 * tde_import_keys(exported text, secret text, adopt boolean DEFAULT false) returns int4 - add exported keys that are not here, for reading;
 * or make this database's keys those that were exported.  How many were added, or changed.
 */
Datum
tde_import_keys(PG_FUNCTION_ARGS)
{
	Import		import = {.exported = PG_GETARG_TEXT_PP(0)};

	import.adopt = PG_NARGS() > 2 && PG_GETARG_BOOL(2);
	tde_passphrase_use(PG_GETARG_DATUM(1), "secret", import_under, &import);
	PG_RETURN_INT32(import.count);
}

/* ---- a short value that two databases have in common if, and only if, they have the same keys ---- */

#define SHOWN_BYTES	16

static int
by_uuid(const ListCell *a, const ListCell *b)
{
	return memcmp(((const TdeDataKey *) lfirst(a))->uuid, ((const TdeDataKey *) lfirst(b))->uuid, UUID_LEN);
}

/*
 * What keys have in common wherever they are.  Their numbers and what wraps them are this database's own.  The check value stands for
 * the key itself, of which it tells nothing.
 */
static void
append_key(StringInfo bytes, const TdeDataKey *row)
{
	pq_sendbytes(bytes, (void *) row->uuid, UUID_LEN);
	pq_sendint32(bytes, row->slot);
	pq_sendint32(bytes, row->version);
	pq_sendbyte(bytes, row->kind);
	pq_sendbyte(bytes, row->state);
	pq_sendbyte(bytes, row->erasable);
	pq_sendbytes(bytes, (void *) row->kcv, TDE_KCV_SIZE);
	pq_sendbytes(bytes, (void *) row->name, NAMEDATALEN);
}

/* tde_key_fingerprint() returns text - the same in two databases that have the same keys. */
Datum
tde_key_fingerprint(PG_FUNCTION_ARGS)
{
	List	   *rows = tde_keystore_rows();
	StringInfoData bytes;
	ListCell   *cell;
	bytea	   *digest;
	char		shown[2 * SHOWN_BYTES];

	list_sort(rows, by_uuid);
	pq_begintypsend(&bytes);
	foreach(cell, rows)
		append_key(&bytes, lfirst(cell));
	digest = DatumGetByteaPP(DirectFunctionCall1(sha256_bytea, PointerGetDatum(pq_endtypsend(&bytes))));
	hex_encode(VARDATA_ANY(digest), SHOWN_BYTES, shown);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(shown, sizeof(shown)));
}
