/*
 * index_conditions.c - conditions that decrypt although an index serves them: lower(email) = 'x', ON CONFLICT (lower(email)), WHERE ok,
 * name::text LIKE 'a%'.
 *
 * PostgreSQL finds an index by the expression that a query has.  So before a query is planned, an expression that one of its tables
 * has in an index is put in the form that it has there (operators/computed_form.c), and its comparison becomes that of the encrypted
 * type, which gives the same.  What a table's indexes have is remembered, so that other queries cost a lookup for each of their tables.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_partitioned_table.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "rewrite/rewriteManip.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "operators/arrays.h"
#include "operators/computed.h"
#include "operators/index_conditions.h"
#include "operators/opclass.h"
#include "server/compat.h"
#include "server/memory.h"
#include "type/inside.h"

/* ---- what the indexes of a table hold ---- */

typedef struct IndexedTable
{
	TdeRelationMemo memo;
	MemoryContext context;		/* of what follows; NULL: there is nothing */
	Bitmapset  *columns;		/* encrypted ones in keys and conditions */
	List	   *computed;		/* calls of tde_computed() and encrypted COALESCE() there, with varno 1 */
} IndexedTable;

static HTAB *tables = NULL;
static MemoryContext tables_context = NULL;

static void
relation_changed(Oid relid)
{
	tde_relation_memos_invalidate(tables, relid);
}

/* An expression_tree_walker, of keys and conditions. */
static bool
collect(Node *node, void *context)
{
	IndexedTable *table = context;

	if (node == NULL)
		return false;
	if (IsA(node, Var) && ((Var *) node)->varattno > 0 && tde_type_find(((Var *) node)->vartype))
		table->columns = bms_add_member(table->columns, ((Var *) node)->varattno);
	if (tde_is_computed(node) || (IsA(node, CoalesceExpr) && tde_type_find(exprType(node))))
	{
		table->computed = lappend(table->computed, eval_const_expressions(NULL, node));
		return false;
	}
	return expression_tree_walker(node, collect, context);
}

/* A value, or an array of such. */
static bool
is_encrypted(Oid type)
{
	return tde_type_find(type) || tde_type_find(get_base_element_type(type));
}

static void
collect_index(Oid index, Relation rel, IndexedTable *table)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	Form_pg_index form;

	if (!HeapTupleIsValid(tuple))
		return;
	form = (Form_pg_index) GETSTRUCT(tuple);
	for (int i = 0; i < form->indnkeyatts; i++)
	{
		AttrNumber	column = form->indkey.values[i];

		if (column > 0 && is_encrypted(TupleDescAttr(RelationGetDescr(rel), column - 1)->atttypid))
			table->columns = bms_add_member(table->columns, column);
	}
	ReleaseSysCache(tuple);
	(void) collect((Node *) tde_index_trees(index), table);
}

/* Partitions are pruned by the key. */
static void
collect_partition_key(Oid relid, IndexedTable *table)
{
	HeapTuple	tuple = SearchSysCache1(PARTRELID, ObjectIdGetDatum(relid));

	if (!HeapTupleIsValid(tuple))
		return;
	(void) collect((Node *) tde_stored_tree(PARTRELID, tuple, Anum_pg_partitioned_table_partexprs), table);
	ReleaseSysCache(tuple);
}

/* In this memory context. */
static void
read_indexes(IndexedTable *table)
{
	Relation	rel = table_open(table->memo.relation, AccessShareLock);
	ListCell   *cell;

	if (rel->rd_rel->relhasindex)
		foreach(cell, RelationGetIndexList(rel))
			collect_index(lfirst_oid(cell), rel, table);
	if (rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
		collect_partition_key(RelationGetRelid(rel), table);
	table_close(rel, AccessShareLock);
}

/* In a memory context of its own, since a tree is freed no other way. */
static void
remember(IndexedTable *table, const IndexedTable *read)
{
	MemoryContext old;

	if (read->columns == NULL && read->computed == NIL)
		return;
	table->context = AllocSetContextCreate(tables_context, "indexed expressions of a table", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(table->context);
	table->columns = bms_copy(read->columns);
	table->computed = copyObject(read->computed);
	MemoryContextSwitchTo(old);
}

static pg_noinline IndexedTable *
look_up_table(Oid relid)
{
	IndexedTable *table = hash_search(tables, &relid, HASH_FIND, NULL);
	IndexedTable read = {.memo.relation = relid};
	bool		found;

	if (table && table->memo.valid)
		return table;
	read_indexes(&read);
	table = hash_search(tables, &relid, HASH_ENTER, &found);
	if (found && table->context)
		MemoryContextDelete(table->context);
	*table = (IndexedTable) {.memo.relation = relid};
	remember(table, &read);
	table->memo.valid = true;
	return table;
}

/* Tables remembered before the hash table is asked: every statement comes here. */
#define TABLE_MEMOS	64

/* NULL if the indexes of a table have nothing that is encrypted.  Good until something else is looked up. */
static inline IndexedTable *
indexed_table(Oid relid)
{
	static IndexedTable *found_before[TABLE_MEMOS]; /* entries stay where they are */
	IndexedTable *table = found_before[relid % TABLE_MEMOS];

	if (unlikely(table == NULL || table->memo.relation != relid || !table->memo.valid))
		found_before[relid % TABLE_MEMOS] = table = look_up_table(relid);
	return table->columns == NULL && table->computed == NIL ? NULL : table;
}

void
tde_index_conditions_init(void)
{
	HASHCTL		info = {.keysize = sizeof(Oid), .entrysize = sizeof(IndexedTable)};

	tables_context = AllocSetContextCreate(TopMemoryContext, "tde_column indexed expressions", ALLOCSET_SMALL_SIZES);
	info.hcxt = tables_context;
	tables = hash_create("tde_column indexed expressions", 64, &info, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	tde_when_relation_changes(relation_changed);
}

/* ---- what a query can use ---- */

/* A mutator's context. */
typedef struct Usable
{
	List	   *range_table;	/* of a query; NIL: no matter what the indexes have */
	bool		computed;		/* do they have something computed? */
} Usable;

static inline bool
is_table(RangeTblEntry *entry)
{
	return entry->rtekind == RTE_RELATION && entry->relid >= FirstNormalObjectId && entry->relkind != RELKIND_VIEW;
}

/* An expression_tree_mutator: without the specifications of what is computed. */
static Node *
without_specification(Node *node, void *context)
{
	Node	   *copy = node ? expression_tree_mutator(node, without_specification, context) : NULL;

	if (copy && tde_is_computed(copy) && IsA(linitial(((FuncExpr *) copy)->args), Const))
		linitial_node(Const, ((FuncExpr *) copy)->args)->consttypmod = -1;
	return copy;
}

/* What is computed as an index has it, whose column may have got another specification since; NULL: none has it. */
static Node *
find_computed(Node *form, int place, Oid relid)
{
	IndexedTable *table;
	ListCell   *cell;

	/* may call users' functions, whose queries look up tables, too */
	form = eval_const_expressions(NULL, form);
	ChangeVarNodes(form, place, 1, 0);
	form = without_specification(form, NULL);
	table = indexed_table(relid);
	if (table == NULL)
		return NULL;
	foreach(cell, table->computed)
	{
		Node	   *found = lfirst(cell);

		if (!equal(without_specification(found, NULL), form))
			continue;
		found = copyObject(found);
		ChangeVarNodes(found, 1, place, 0);
		return found;
	}
	return NULL;
}

/* This as an index has it, a column or what is computed; NULL: none has it. */
static Node *
find_indexed(Node *form, List *range_table)
{
	int			place;
	RangeTblEntry *entry;
	IndexedTable *table;

	/* no index has a subquery, which the query's would share with what is made of it here */
	if (checkExprHasSubLink(form) || !bms_get_singleton_member(pull_varnos(NULL, form), &place) || place > list_length(range_table))
		return NULL;
	entry = list_nth(range_table, place - 1);
	if (!is_table(entry))
		return NULL;
	if (!IsA(form, Var))
		return find_computed(form, place, entry->relid);
	table = indexed_table(entry->relid);
	return table && bms_is_member(((Var *) form)->varattno, table->columns) ? form : NULL;
}

/* An expression as an index has it; NULL if none does.  COLLATE stays: the definition of a condition is written with it. */
static Node *
indexed_form(Node *node, const Usable *usable)
{
	Node	   *form;

	if (IsA(node, CollateExpr))
	{
		CollateExpr *collate = copyObject((CollateExpr *) node);

		collate->arg = (Expr *) indexed_form((Node *) collate->arg, usable);
		return collate->arg ? (Node *) collate : NULL;
	}
	form = usable->computed ? tde_encrypted_form(node) : tde_encrypted_operand(node);
	return form == NULL || usable->range_table == NIL ? form : find_indexed(form, usable->range_table);
}

/* The operator of the same name beside an encrypted type, which takes what is encrypted as it is; *left and *right: what it takes. */
static Oid
encrypted_operator(Oid operator, Oid *left, Oid *right)
{
	TdeType    *encrypted[] = {tde_type_find(*left), tde_type_find(*right)};
	HeapTuple	tuple = tde_is_base_operator(operator) ? SearchSysCache1(TYPEOID, ObjectIdGetDatum(encrypted[0] ? *left : *right)) : NULL;
	Oid			found;

	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	found = tde_operator_for(((Form_pg_type) GETSTRUCT(tuple))->typnamespace, get_opname(operator), left, right);
	ReleaseSysCache(tuple);
	if (!OidIsValid(found))
		return InvalidOid;
	return tde_type_find(*left) == encrypted[0] && tde_type_find(*right) == encrypted[1] && get_op_rettype(found) == BOOLOID ? found : InvalidOid;
}

/* An operand of the type that the operator takes, which differs from its own at most by a name. */
static Node *
as_operand(Node *node, Oid type)
{
	return coerce_to_target_type(NULL, node, exprType(node), type, -1, COERCION_IMPLICIT, COERCE_IMPLICIT_CAST, -1);
}

/* A comparison of what an index has, with anything; NULL if it is none. */
static Node *
compare_encrypted(OpExpr *op, const Usable *usable)
{
	Node	   *left = indexed_form(linitial(op->args), usable);
	Node	   *right = indexed_form(lsecond(op->args), usable);
	Oid			left_type;
	Oid			right_type;
	Oid			operator;

	if (left == NULL && right == NULL)
		return NULL;
	left = left ? left : linitial(op->args);
	right = right ? right : lsecond(op->args);
	left_type = exprType(left);
	right_type = exprType(right);
	operator = encrypted_operator(op->opno, &left_type, &right_type);
	if (!OidIsValid(operator))
		return NULL;
	op = copyObject(op);
	op->opno = operator;
	op->opfuncid = get_opcode(operator);
	op->args = list_make2(as_operand(left, left_type), as_operand(right, right_type));
	return (Node *) op;
}

/* lower(email) = ANY (...) */
static Node *
compare_any_encrypted(ScalarArrayOpExpr *op, const Usable *usable)
{
	Node	   *form = indexed_form(linitial(op->args), usable);
	Oid			type = form ? exprType(form) : InvalidOid;
	Oid			element = get_element_type(exprType(lsecond(op->args)));
	Oid			operator = form && OidIsValid(element) ? encrypted_operator(op->opno, &type, &element) : InvalidOid;

	if (!OidIsValid(operator))
		return NULL;
	op = copyObject(op);
	op->opno = operator;
	op->opfuncid = get_opcode(operator);
	op->hashfuncid = op->negfuncid = InvalidOid;
	op->args = list_make2(form, as_operand(lsecond(op->args), get_array_type(element)));
	return (Node *) op;
}

/* ok, or NOT ok, as a comparison. */
static Node *
compare_boolean(Node *node, bool value, const Usable *usable)
{
	Node	   *form = exprType(node) == BOOLOID ? indexed_form(node, usable) : NULL;
	Oid			left = form ? exprType(form) : InvalidOid;
	Oid			right = BOOLOID;
	Oid			operator = form ? encrypted_operator(BooleanEqualOperator, &left, &right) : InvalidOid;
	OpExpr	   *op;

	if (!OidIsValid(operator))
		return NULL;
	op = (OpExpr *) make_opclause(operator, BOOLOID, false, (Expr *) form, (Expr *) makeBoolConst(value, false), InvalidOid, InvalidOid);
	op->opfuncid = get_opcode(operator);
	return (Node *) op;
}

static Node *
infer_encrypted(InferenceElem *element, const Usable *usable)
{
	Node	   *form = indexed_form(element->expr, usable);

	if (form == NULL)
		return NULL;
	element = copyObject(element);
	element->expr = form;
	return (Node *) element;
}

static Node *
encrypted_condition(Node *node, const Usable *usable)
{
	Node	   *changed;
	Node	   *array;

	switch (nodeTag(node))
	{
		case T_OpExpr:
			if (list_length(((OpExpr *) node)->args) != 2 || ((OpExpr *) node)->opresulttype != BOOLOID)
				return NULL;
			array = usable->range_table == NIL ? NULL : tde_array_column((OpExpr *) node);
			if (array)
				return find_indexed(array, usable->range_table) ? tde_array_comparison((OpExpr *) node) : NULL;
			changed = compare_encrypted((OpExpr *) node, usable);
			/* what it says, may itself be indexed */
			return changed == NULL && usable->range_table != NIL ? compare_boolean(node, true, usable) : changed;
		case T_ScalarArrayOpExpr:
			return compare_any_encrypted((ScalarArrayOpExpr *) node, usable);
		case T_BoolExpr:
			if (((BoolExpr *) node)->boolop != NOT_EXPR)
				return NULL;
			return compare_boolean(linitial(((BoolExpr *) node)->args), false, usable);
		case T_FuncExpr:
			return compare_boolean(node, true, usable);
		case T_InferenceElem:
			return infer_encrypted((InferenceElem *) node, usable);
		default:
			return NULL;
	}
}

/* An expression_tree_mutator. */
static Node *
use_indexes(Node *node, void *usable)
{
	Node	   *changed;

	/* subqueries in expressions have their turn */
	if (node == NULL || IsA(node, Query))
		return node;
	changed = encrypted_condition(node, usable);
	return changed ? changed : expression_tree_mutator(node, use_indexes, usable);
}

Node *
tde_index_condition_form(Node *condition)
{
	Usable		usable = {NIL, true};

	return use_indexes(condition, &usable);
}

/* ON CONFLICT (id) WHERE ok: PostgreSQL makes no boolean of this condition, as it does of all others. */
static void
make_boolean(OnConflictExpr *conflict)
{
	TdeType    *type = conflict->arbiterWhere ? tde_type_find(exprType(conflict->arbiterWhere)) : NULL;

	if (type && type->base == BOOLOID)
		conflict->arbiterWhere = as_operand(conflict->arbiterWhere, BOOLOID);
}

/* Subqueries that stand in expressions. */
static bool
prepare_sublinks(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		tde_index_conditions_prepare((Query *) node);
		return false;
	}
	return expression_tree_walker(node, prepare_sublinks, context);
}

static pg_noinline void
prepare_query(Query *query)
{
	bool		compares = query->jointree->fromlist != NIL || query->onConflict;
	bool		any = false;
	Usable		usable = {query->rtable, false};
	ListCell   *cell;

	foreach(cell, query->rtable)
	{
		RangeTblEntry *entry = lfirst(cell);
		IndexedTable *table = compares && is_table(entry) ? indexed_table(entry->relid) : NULL;

		if (entry->rtekind == RTE_SUBQUERY)
			tde_index_conditions_prepare(entry->subquery);
		if (table)
		{
			any = true;
			usable.computed |= table->computed != NIL;
		}
	}
	if (unlikely(any))
	{
		query->jointree = (FromExpr *) use_indexes((Node *) query->jointree, &usable);
		if (query->onConflict)
		{
			make_boolean(query->onConflict);
			query->onConflict = (OnConflictExpr *) use_indexes((Node *) query->onConflict, &usable);
		}
	}
	if (query->onConflict)
		tde_opclass_infer(query->onConflict);
	foreach(cell, query->cteList)
		tde_index_conditions_prepare((Query *) lfirst_node(CommonTableExpr, cell)->ctequery);
	if (query->hasSubLinks)
		(void) query_tree_walker(query, prepare_sublinks, NULL, QTW_IGNORE_RT_SUBQUERIES | QTW_IGNORE_CTE_SUBQUERIES);
}

void
tde_index_conditions_prepare(Query *query)
{
	/* not INSERT ... VALUES */
	if (query->jointree->fromlist != NIL || query->onConflict || query->setOperations || query->cteList != NIL || query->hasSubLinks)
		prepare_query(query);
}
