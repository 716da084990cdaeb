/*
 * stored_tree.c - expressions as catalogs store them.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_index.h"
#include "nodes/nodes.h"
#include "utils/builtins.h"
#include "utils/syscache.h"

#include "server/stored_tree.h"

void *
tde_stored_tree(int cache, HeapTuple tuple, AttrNumber column)
{
	bool		none;
	Datum		stored = SysCacheGetAttr(cache, tuple, column, &none);

	return none ? NULL : stringToNode(TextDatumGetCString(stored));
}

List *
tde_stored_index_trees(Oid index)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	List	   *trees;

	if (!HeapTupleIsValid(tuple))
		return NIL;
	trees = list_make2(tde_stored_tree(INDEXRELID, tuple, Anum_pg_index_indexprs), tde_stored_tree(INDEXRELID, tuple, Anum_pg_index_indpred));
	ReleaseSysCache(tuple);
	return trees;
}
