/*
 * names.c - names of keys, and keys that a declaration names and nobody has made.
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

bool
tde_keys_is_number(const char *name)
{
	return *name != '\0' && strspn(name, "0123456789") == strlen(name);
}

void
tde_keys_check_name(const char *name)
{
	if (*name == '\0' || strlen(name) >= NAMEDATALEN || tde_keys_is_number(name) ||
		strcmp(name, "default") == 0 || strcmp(name, "catalog") == 0 || strcmp(name, "hash") == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("invalid name for a key: \"%s\"", name),
				 errdetail("A name has 1 to %d bytes, is not a number and none of \"default\", \"catalog\" and \"hash\".",
						   NAMEDATALEN - 1)));
}

/* May the user make keys?  Whoever may call tde_create_key(), or owns the database and restores it. */
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
				 errmsg("key \"%s\" does not exist, and user \"%s\" may not make it", name, GetUserNameFromId(GetUserId(), false)),
				 errhint("Have it made: SELECT tde_create_key(%s);", quote_literal_cstr(name))));
	slot = tde_keystore_find_or_create(name, &created);
	if (!created)
		return slot;
	ereport(NOTICE,
			(errmsg("data key \"%s\" created", name),
			 errdetail("A declaration names it, and there was none of this name."),
			 errhint("The setting tde_column.create_missing_keys = off makes this an error.")));
	ereport(LOG_SERVER_ONLY,
			(errmsg("data key \"%s\" created by a declaration of user \"%s\"", name, GetUserNameFromId(GetUserId(), false))));
	return slot;
}
