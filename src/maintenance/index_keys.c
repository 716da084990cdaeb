/*
 * index_keys.c - which indexes cannot be built without a key.
 *
 * Those that compare or hash encrypted values, and those whose expressions or condition read them, whatever type comes out of it.  What is
 * only carried along (INCLUDE), or asked whether it is NULL, needs none.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "storage/bufmgr.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "maintenance/index_keys.h"
#include "server/stored_tree.h"
#include "type/inside.h"

/* ---- the catalogs ---- */

List *
tde_indexes_of(Oid table)
{
	Relation	catalog = table_open(IndexRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	List	   *indexes = NIL;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_index_indrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(table));
	scan = systable_beginscan(catalog, IndexIndrelidIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		CHECK_FOR_INTERRUPTS();
		indexes = lappend_oid(indexes, ((Form_pg_index) GETSTRUCT(tuple))->indexrelid);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return indexes;
}

/* Returns true if one of these columns is encrypted, in the index or in its table: a hash index has numbers in place of values. */
static bool
compares_encrypted(Form_pg_index index)
{
	for (AttrNumber i = 0; i < index->indnkeyatts; i++)
	{
		AttrNumber	column = index->indkey.values[i];
		Oid			type = get_atttype(index->indexrelid, i + 1);

		if ((OidIsValid(type) && tde_type_holds_encrypted(type)) ||
			(column > 0 && tde_type_holds_encrypted(get_atttype(index->indrelid, column))))
			return true;
	}
	return false;
}

/* ---- what needs a key ---- */

/* An expression_tree_walker.  Returns true at the first column that is encrypted and not only asked whether it is NULL. */
static bool
reads_encrypted(Node *node, void *context)
{
	CHECK_FOR_INTERRUPTS();
	check_stack_depth();
	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return tde_type_holds_encrypted(((Var *) node)->vartype);
	if (IsA(node, NullTest) && IsA(((NullTest *) node)->arg, Var))
		return false;
	return expression_tree_walker(node, reads_encrypted, context);
}

bool
tde_index_needs_key(Oid index)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	bool		compares;

	if (!HeapTupleIsValid(tuple))
		return false;			/* it is gone */
	compares = compares_encrypted((Form_pg_index) GETSTRUCT(tuple));
	ReleaseSysCache(tuple);
	return compares || reads_encrypted((Node *) tde_stored_index_trees(index), NULL);
}

bool
tde_indexes_need_key(Oid table)
{
	ListCell   *cell;

	foreach(cell, tde_indexes_of(table))
		if (tde_index_needs_key(lfirst_oid(cell)))
			return true;
	return false;
}

/*
 * Returns true if VACUUM needs no key for an index that needs one to be built.  VACUUM searches in a btree for the place of a page that it deletes,
 * and BRIN summarizes pages that nobody has.  GIN and hash indexes neither read rows nor compare anything then but what they have, which is numbers.
 */
static bool
is_vacuumed_without_key(Oid index)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(index));
	bool		without = false;

	if (!HeapTupleIsValid(tuple))
		return true;			/* it is gone */
	if (((Form_pg_class) GETSTRUCT(tuple))->relam == HASH_AM_OID || ((Form_pg_class) GETSTRUCT(tuple))->relam == GIN_AM_OID)
	{
		without = true;
		for (AttrNumber i = 1; i <= ((Form_pg_class) GETSTRUCT(tuple))->relnatts && without; i++)
			without = !tde_type_holds_encrypted(get_atttype(index, i));
	}
	ReleaseSysCache(tuple);
	return without;
}

bool
tde_indexes_need_key_for_vacuum(Oid table)
{
	ListCell   *cell;

	foreach(cell, tde_indexes_of(table))
		if (tde_index_needs_key(lfirst_oid(cell)) && !is_vacuumed_without_key(lfirst_oid(cell)))
			return true;
	return false;
}

/*
 * Of expressions only those that were analyzed are looked at (command->transformed): ddl/plaintext_guard.c has done that to all that name an
 * encrypted column.
 */
bool
tde_index_new_needs_key(IndexStmt *command, Oid table)
{
	ListCell   *cell;

	foreach(cell, command->indexParams)
	{
		IndexElem  *element = lfirst_node(IndexElem, cell);
		AttrNumber	column = element->name ? get_attnum(table, element->name) : InvalidAttrNumber;

		if (column > 0 && tde_type_holds_encrypted(get_atttype(table, column)))
			return true;
		if (command->transformed && reads_encrypted(element->expr, NULL))
			return true;
	}
	return command->transformed && reads_encrypted(command->whereClause, NULL);
}

/* ---- what has rows ---- */

/* Returns the table, or with it all tables that inherit from it if it is partitioned; no lock is taken. */
static List *
with_partitions(Oid table)
{
	return get_rel_relkind(table) == RELKIND_PARTITIONED_TABLE ? find_all_inheritors(table, NoLock, NULL) : list_make1_oid(table);
}

bool
tde_index_holds_rows(Oid table)
{
	ListCell   *cell;
	bool		found = false;

	foreach(cell, with_partitions(table))
	{
		Relation	rel = try_relation_open(lfirst_oid(cell), AccessShareLock);

		if (rel == NULL)
			continue;
		found = found || (RELKIND_HAS_STORAGE(rel->rd_rel->relkind) && RelationGetNumberOfBlocks(rel) > 0);
		relation_close(rel, AccessShareLock);
	}
	return found;
}

Oid
tde_index_in_need(Oid table)
{
	ListCell   *outer;
	ListCell   *cell;

	foreach(outer, with_partitions(table))
		foreach(cell, tde_indexes_of(lfirst_oid(outer)))
			if (tde_index_needs_key(lfirst_oid(cell)) && tde_index_holds_rows(lfirst_oid(outer)))
				return lfirst_oid(cell);
	return InvalidOid;
}
