/*
 * missing.c - keys that a declaration names and nobody has made.
 *
 * A declaration (CREATE TABLE ... 'key=NAME') calls tde_keys_make_missing() if tde_column.create_missing_keys is on and no key has this name, nor had
 * one that was destroyed.  So a dump can be restored where nobody has made its keys.
 */
#include "postgres.h"

#include "catalog/pg_database.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"

#include "keys/names.h"
#include "keys/table.h"
#include "server/compat.h"
#include "server/extension.h"

bool		tde_create_missing_keys = true;

/* The user may if he may call tde_create_key(), or owns the database and so restores it. */
static bool
may_make_keys(void)
{
	static const Oid types[] = {TEXTOID, BOOLOID};

	return TDE_OWNS_DATABASE() || tde_extension_may_execute("tde_create_key", types, lengthof(types), GetUserId());
}

int32
tde_keys_make_missing(const char *name)
{
	int32		slot;
	bool		created;

	tde_keys_check_name(name);
	if (!may_make_keys())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to create key \"%s\"", name),
				 errdetail("The key does not exist, and user \"%s\" has no right to create keys.", GetUserNameFromId(GetUserId(), false)),
				 errhint("Have it made: SELECT tde_create_key(%s);", quote_literal_cstr(name))));
	slot = tde_keys_find_or_create(name, &created);
	if (!created)
		return slot;
	ereport(NOTICE,
			(errmsg("data key \"%s\" created", name),
			 errdetail("A declaration names it, and no key had this name."),
			 errhint("The setting tde_column.create_missing_keys = off makes this an error.")));
	ereport(LOG_SERVER_ONLY,
			(errmsg("data key \"%s\" created by a declaration of user \"%s\"", name, GetUserNameFromId(GetUserId(), false))));
	return slot;
}
