/*
 * export.c - the SQL functions that take data keys to another database: for reading what is encrypted here, or as its own.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "functions/adopt.h"
#include "functions/exported.h"
#include "server/compat.h"
#include "wallet/passphrase.h"

PG_FUNCTION_INFO_V1(tde_export_keys);
PG_FUNCTION_INFO_V1(tde_import_keys);

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
