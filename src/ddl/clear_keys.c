/*
 * clear_keys.c - foreign keys whose columns hold in clear what is encrypted elsewhere.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_constraint.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "ddl/clear_keys.h"
#include "ddl/declared_type.h"
#include "server/compat.h"
#include "type/inside.h"

static void
report_foreign_key(Relation rel, AttrNumber column, Oid key_table, AttrNumber key)
{
	const char *table = quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)), RelationGetRelationName(rel));
	const char *name = get_attname(RelationGetRelid(rel), column, false);

	ereport(TDE_PLAINTEXT_ALTER == TDE_ALTER_ERROR ? ERROR : WARNING,
			(errcode(TDE_PLAINTEXT_ALTER == TDE_ALTER_ERROR ? ERRCODE_INVALID_TABLE_DEFINITION : ERRCODE_WARNING),
			 errmsg("column \"%s\" is stored in clear", name),
			 errdetail("It references column \"%s\" of table \"%s\", which is encrypted, and has the same values.",
					   get_attname(key_table, key, false), get_rel_name(key_table)),
			 errhint("To encrypt it, too: CALL tde_encrypt_column(%s, %s).", quote_literal_cstr(table), quote_literal_cstr(name))));
}

/* Made in this transaction, and not because a parent has it. */
static bool
is_new_constraint(Oid constraint)
{
	HeapTuple	tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(constraint));
	bool		result;

	if (!HeapTupleIsValid(tuple))
		return false;
	result = !OidIsValid(((Form_pg_constraint) GETSTRUCT(tuple))->conparentid) &&
		TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetRawXmin(tuple->t_data));
	ReleaseSysCache(tuple);
	return result;
}

void
tde_clear_keys_check(Relation rel)
{
	ListCell   *cell;

	if (TDE_PLAINTEXT_ALTER == TDE_ALTER_ALLOW)
		return;
	foreach(cell, RelationGetFKeyList(rel))
	{
		ForeignKeyCacheInfo *key = lfirst(cell);

		if (!is_new_constraint(key->conoid))
			continue;
		for (int i = 0; i < key->nkeys; i++)
			if (!tde_type_holds_encrypted(get_atttype(key->conrelid, key->conkey[i])) &&
				tde_type_holds_encrypted(get_atttype(key->confrelid, key->confkey[i])))
				report_foreign_key(rel, key->conkey[i], key->confrelid, key->confkey[i]);
	}
}
