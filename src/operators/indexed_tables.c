/*
 * indexed_tables.c - what is encrypted in the indexes of a table and in its partition key: columns, and what is computed.
 *
 * It is remembered, so that queries of other tables cost a lookup for each of these.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_partitioned_table.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "operators/blind_class.h"
#include "operators/computed.h"
#include "operators/computed_choice.h"
#include "operators/indexed_tables.h"
#include "operators/opclass.h"
#include "server/compat.h"
#include "server/stored_tree.h"
#include "type/inside.h"

Oid			tde_plain_tables[TDE_PLAIN_TABLES] = {InvalidOid};
static Oid	plain_row_types[TDE_PLAIN_TABLES] = {InvalidOid};	/* those of plain tables, each where its OID says */

static HTAB *tables = NULL;
static MemoryContext tables_context = NULL;

/*
 * A TdeRelationChanged.  Which row types a table has is not known here, so all of these are forgotten.  Nothing is freed: what is remembered of the
 * table may be in use.
 */
static void
indexed_table_changed(Oid relid)
{
	tde_memory_relation_memos_invalidate(tables, relid);
	memset(plain_row_types, 0, sizeof(plain_row_types));
	if (OidIsValid(relid))
		tde_plain_tables[relid % TDE_PLAIN_TABLES] = InvalidOid;
	else
		memset(tde_plain_tables, 0, sizeof(tde_plain_tables));
}

/*
 * An expression_tree_walker, of keys and conditions: the columns, and what is computed.  It does not look into the latter, since an index over
 * lower(email) does not serve a condition on email.
 */
static bool
collect(Node *node, void *context)
{
	TdeIndexedTable *table = context;

	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (IsA(node, Var) && ((Var *) node)->varattno > 0 && tde_type_find(((Var *) node)->vartype))
		table->columns = bms_add_member(table->columns, ((Var *) node)->varattno);
	if (tde_is_computed(node) || tde_choice_is_encrypted(node))
	{
		table->computed = lappend(table->computed, eval_const_expressions(NULL, node));
		return false;
	}
	return expression_tree_walker(node, collect, context);
}

/* An expression_tree_mutator. */
Node *
tde_indexed_without_specification(Node *node, void *context)
{
	Node	   *copy;

	CHECK_FOR_INTERRUPTS();
	copy = node ? expression_tree_mutator(node, tde_indexed_without_specification, context) : NULL;
	if (copy && tde_is_computed(copy) && IsA(linitial(((FuncExpr *) copy)->args), Const))
		linitial_node(Const, ((FuncExpr *) copy)->args)->consttypmod = -1;
	return copy;
}

/* A value, or an array of such. */
static bool
is_encrypted_index(Oid type)
{
	return tde_type_find(type) || tde_type_find(get_base_element_type(type));
}

/*
 * Adds what is encrypted in one index.  Columns that are only included are no keys.  An index that has gone since the list was made is passed over.
 */
static void
collect_index(Oid index, Relation rel, TdeIndexedTable *table)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	Form_pg_index form;

	if (!HeapTupleIsValid(tuple))
		return;
	form = (Form_pg_index) GETSTRUCT(tuple);
	for (int i = 0; i < form->indnkeyatts; i++)
	{
		AttrNumber	column = form->indkey.values[i];

		if (column > 0 && is_encrypted_index(TupleDescAttr(RelationGetDescr(rel), column - 1)->atttypid))
			table->columns = bms_add_member(table->columns, column);
	}
	ReleaseSysCache(tuple);
	(void) collect((Node *) tde_stored_index_trees(index), table);
}

/* Adds what is encrypted in the expressions of a partition key, since partitions are pruned by it. */
static void
collect_partition_key(Oid relid, TdeIndexedTable *table)
{
	HeapTuple	tuple = SearchSysCache1(PARTRELID, ObjectIdGetDatum(relid));

	if (!HeapTupleIsValid(tuple))
		return;
	(void) collect((Node *) tde_stored_tree(PARTRELID, tuple, Anum_pg_partitioned_table_partexprs), table);
	ReleaseSysCache(tuple);
}

/* Returns true if a column's type has a class of GIN.  Then its operators are put into conditions, for estimates, also where no index is. */
static bool
has_searched(TupleDesc columns)
{
	for (int i = 0; i < columns->natts; i++)
		if (tde_type_find(TupleDescAttr(columns, i)->atttypid) && tde_blind_serves(TupleDescAttr(columns, i)->atttypid))
			return true;
	return false;
}

/* Reads the catalogs into *table, in this memory context.  The relation may be a composite type, of which tde_table_type_is_plain() asks. */
static void
read_indexes(TdeIndexedTable *table)
{
	Relation	rel = relation_open(table->memo.relation, AccessShareLock); /* or a composite type */
	bool		may_hold = tde_may_hold_encrypted(RelationGetDescr(rel));
	ListCell   *cell;

	if (rel->rd_rel->relhasindex)
		foreach(cell, RelationGetIndexList(rel))
			collect_index(lfirst_oid(cell), rel, table);
	if (rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
		collect_partition_key(RelationGetRelid(rel), table);
	table->plain = table->columns == NULL && table->computed == NIL && !may_hold;
	table->searched = may_hold && has_searched(RelationGetDescr(rel));
	relation_close(rel, AccessShareLock);
}

/* In a memory context of its own, since a tree is freed no other way. */
static void
remember(TdeIndexedTable *table, const TdeIndexedTable *read)
{
	MemoryContext old;

	if (read->columns == NULL && read->computed == NIL)
		return;
	table->context = AllocSetContextCreate(tables_context, "indexed expressions of a table", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(table->context);
	table->columns = bms_copy(read->columns);
	table->computed = copyObject(read->computed);
	/* it shares constants with that one, which stays as long */
	table->unspecified = (List *) tde_indexed_without_specification((Node *) table->computed, NULL);
	MemoryContextSwitchTo(old);
}

/* Returns a table's entry, and fills it if need be.  Read first and entered afterwards: reading may accept invalidations, and may fail. */
static pg_noinline TdeIndexedTable *
look_up_table(Oid relid)
{
	TdeIndexedTable *table = hash_search(tables, &relid, HASH_FIND, NULL);
	TdeIndexedTable read = {.memo.relation = relid};
	bool		found;

	if (table && table->memo.valid)
		return table;
	read_indexes(&read);
	table = hash_search(tables, &relid, HASH_ENTER, &found);
	if (found && table->context)
		MemoryContextDelete(table->context);
	*table = (TdeIndexedTable) {.memo.relation = relid, .plain = read.plain, .searched = read.searched};
	remember(table, &read);
	table->memo.valid = true;
	return table;
}

/* Tables remembered before the hash table is asked: every statement on encrypted columns comes here. */
#define TABLE_MEMOS	64

/* Returns a table's entry, by way of the memos.  Being plain is noted in tde_plain_tables each time, where another table may have taken its place. */
static inline TdeIndexedTable *
find_table(Oid relid)
{
	static TdeIndexedTable *found_before[TABLE_MEMOS];	/* entries stay where they are */
	TdeIndexedTable *table = found_before[relid % TABLE_MEMOS];

	if (unlikely(table == NULL || table->memo.relation != relid || !table->memo.valid))
		found_before[relid % TABLE_MEMOS] = table = look_up_table(relid);
	if (table->plain)
		tde_plain_tables[relid % TDE_PLAIN_TABLES] = relid;
	return table;
}

const TdeIndexedTable *
tde_indexed_table(Oid relid)
{
	TdeIndexedTable *table = find_table(relid);

	return table->columns == NULL && table->computed == NIL && !table->searched ? NULL : table;
}

bool
tde_table_looks_plain(Oid relid)
{
	return find_table(relid)->plain;
}

bool
tde_table_type_is_plain(Oid type)
{
	Oid			relid;

	if (likely(plain_row_types[type % TDE_PLAIN_TABLES] == type))
		return true;
	relid = get_typ_typrelid(type);
	if (!OidIsValid(relid) || !tde_table_is_plain(relid))
		return false;
	plain_row_types[type % TDE_PLAIN_TABLES] = type;
	return true;
}

void
tde_indexed_tables_init(void)
{
	HASHCTL		info = {.keysize = sizeof(Oid), .entrysize = sizeof(TdeIndexedTable)};

	tables_context = AllocSetContextCreate(TopMemoryContext, "tde_column indexed expressions", ALLOCSET_SMALL_SIZES);
	info.hcxt = tables_context;
	tables = hash_create("tde_column indexed expressions", 64, &info, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	tde_memory_when_relation_changes(indexed_table_changed);
}
