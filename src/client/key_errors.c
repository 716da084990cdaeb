/*
 * key_errors.c - errors about the key of an index or a partition name its expressions as they were declared.
 *
 * "Key (lower(email))=(x) already exists." is what tells users, and programs that look for it, which key it is; PostgreSQL would print
 * the call of tde_computed() that the index holds.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_partitioned_table.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "client/catalog_queries.h"
#include "client/key_errors.h"
#include "server/stored_tree.h"
#include "type/inside.h"

/*
 * Returns the expressions of the index, or of the partition key, that an error is about; NIL if it has none.  The error names an index by its
 * constraint's name, and for a partition key the table alone.
 */
static List *
key_expressions(const ErrorData *error, Oid table)
{
	HeapTuple	key;
	List	   *expressions;

	if (error->constraint_name)
	{
		expressions = tde_stored_index_trees(get_relname_relid(error->constraint_name, get_rel_namespace(table)));
		return expressions ? linitial(expressions) : NIL;
	}
	key = SearchSysCache1(PARTRELID, ObjectIdGetDatum(table));
	if (!HeapTupleIsValid(key))
		return NIL;
	expressions = tde_stored_tree(PARTRELID, key, Anum_pg_partitioned_table_partexprs);
	ReleaseSysCache(key);
	return expressions;
}

/* Each expression of the key is looked for in the detail, in the order in which the key has them. */
static void
explain(const ErrorData *error)
{
	Oid			table = get_relname_relid(error->table_name, get_namespace_oid(error->schema_name, true));
	char	   *detail = error->detail;
	ListCell   *cell;

	if (!OidIsValid(table))
		return;
	foreach(cell, key_expressions(error, table))
		detail = tde_catalog_show_expression(detail, lfirst(cell), table, true);
	errdetail_internal("%s", detail);
}

void
tde_key_errors_explain(void *arg)
{
	int			code = geterrcode();
	MemoryContext context;
	ErrorData  *error;

	if (code != ERRCODE_UNIQUE_VIOLATION && code != ERRCODE_CHECK_VIOLATION && code != ERRCODE_EXCLUSION_VIOLATION)
		return;
	context = MemoryContextSwitchTo(CurTransactionContext);
	error = CopyErrorData();
	if (error->detail && error->table_name && error->schema_name && strstr(error->detail, "tde_computed("))
		explain(error);
	MemoryContextSwitchTo(context);
}
