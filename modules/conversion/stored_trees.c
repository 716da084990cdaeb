/*
 * stored_trees.c - the expressions and queries that the catalogs keep of an object, what is asked of them in SQL, and their text.
 *
 * Nothing is evaluated here.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_index.h"
#include "catalog/pg_policy.h"
#include "catalog/pg_rewrite.h"
#include "catalog/pg_statistic_ext.h"
#include "catalog/pg_trigger.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/primnodes.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteSupport.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"
#include "utils/syscache.h"

#include "conversion/stored_trees.h"
#include "maintenance/owner.h"
#include "operators/opclass.h"
#include "server/compat.h"
#include "server/stored_tree.h"
#include "type/inside.h"

PG_FUNCTION_INFO_V1(tde_conversion_relation_of);
PG_FUNCTION_INFO_V1(tde_conversion_tree_uses);
PG_FUNCTION_INFO_V1(tde_conversion_tree_null_test);
PG_FUNCTION_INFO_V1(tde_conversion_index_expression);
PG_FUNCTION_INFO_V1(tde_conversion_definition);

/* A catalog whose rows have trees: where in a row its OID stands, and the relation. */
typedef struct TreeCatalog
{
	Oid			class;
	AttrNumber	oid;
	Oid			oid_index;
	AttrNumber	relation;
} TreeCatalog;

static const TreeCatalog catalogs[] = {
	{RelationRelationId, Anum_pg_class_oid, ClassOidIndexId, Anum_pg_class_oid},
	{AttrDefaultRelationId, Anum_pg_attrdef_oid, AttrDefaultOidIndexId, Anum_pg_attrdef_adrelid},
	{ConstraintRelationId, Anum_pg_constraint_oid, ConstraintOidIndexId, Anum_pg_constraint_conrelid},
	{PolicyRelationId, Anum_pg_policy_oid, PolicyOidIndexId, Anum_pg_policy_polrelid},
	{RewriteRelationId, Anum_pg_rewrite_oid, RewriteOidIndexId, Anum_pg_rewrite_ev_class},
	{StatisticExtRelationId, Anum_pg_statistic_ext_oid, StatisticExtOidIndexId, Anum_pg_statistic_ext_stxrelid},
	{TriggerRelationId, Anum_pg_trigger_oid, TriggerOidIndexId, Anum_pg_trigger_tgrelid},
};

static const TreeCatalog *
find_catalog(Oid class)
{
	for (int i = 0; i < lengthof(catalogs); i++)
		if (catalogs[i].class == class)
			return &catalogs[i];
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("objects of catalog %u have no expressions", class)));
}

/* Returns a copy of the object's row; NULL if it is not there. */
static HeapTuple
stored_row(Relation catalog, Oid object)
{
	const TreeCatalog *known = find_catalog(RelationGetRelid(catalog));
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	row;

	ScanKeyInit(&key, known->oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(object));
	scan = systable_beginscan(catalog, known->oid_index, true, NULL, 1, &key);
	row = systable_getnext(scan);
	if (HeapTupleIsValid(row))
		row = heap_copytuple(row);
	systable_endscan(scan);
	return row;
}

Oid
tde_stored_relation(Oid class, Oid object)
{
	AttrNumber	column = find_catalog(class)->relation;
	Relation	catalog = table_open(class, AccessShareLock);
	HeapTuple	row = stored_row(catalog, object);
	bool		isnull = true;
	Datum		relation = row ? heap_getattr(row, column, RelationGetDescr(catalog), &isnull) : (Datum) 0;

	table_close(catalog, AccessShareLock);
	return isnull ? InvalidOid : DatumGetObjectId(relation);
}

/* tde_relation_of(class regclass, object oid) - the table, view or index that an object is, or belongs to; NULL if it is not there */
Datum
tde_conversion_relation_of(PG_FUNCTION_ARGS)
{
	Oid			relation = tde_stored_relation(PG_GETARG_OID(0), PG_GETARG_OID(1));

	if (!OidIsValid(relation))
		PG_RETURN_NULL();
	PG_RETURN_OID(relation);
}

/* ---- trees ---- */

static List *
add_tree(List *trees, const char *text)
{
	return lappend(trees, stringToNode(text));
}

/* Adds all columns of the row that are trees. */
static List *
add_trees_of_row(List *trees, Relation catalog, HeapTuple row)
{
	TupleDesc	desc = RelationGetDescr(catalog);

	for (int i = 0; i < desc->natts; i++)
	{
		Datum		stored;
		bool		isnull;

		if (TupleDescAttr(desc, i)->atttypid != PG_NODE_TREEOID)
			continue;
		stored = heap_getattr(row, i + 1, desc, &isnull);
		if (!isnull)
			trees = add_tree(trees, TextDatumGetCString(stored));
	}
	return trees;
}

static List *
add_trees_of_object(List *trees, Oid class, Oid object)
{
	Relation	catalog = table_open(class, AccessShareLock);
	HeapTuple	row = stored_row(catalog, object);

	if (HeapTupleIsValid(row))
		trees = add_trees_of_row(trees, catalog, row);
	table_close(catalog, AccessShareLock);
	return trees;
}

/* Adds its query, and what its columns have for defaults. */
static List *
add_trees_of_view(List *trees, Oid view)
{
	Relation	rel = relation_open(view, AccessShareLock);
	TupleConstr *constr = RelationGetDescr(rel)->constr;
	Oid			rule = get_rewrite_oid(view, ViewSelectRuleName, true);

	if (OidIsValid(rule))
		trees = add_trees_of_object(trees, RewriteRelationId, rule);
	for (int i = 0; constr && i < constr->num_defval; i++)
		trees = add_tree(trees, constr->defval[i].adbin);
	relation_close(rel, AccessShareLock);
	return trees;
}

List *
tde_stored_trees(Oid class, Oid object)
{
	(void) find_catalog(class);
	if (class != RelationRelationId)
		return add_trees_of_object(NIL, class, object);
	switch (get_rel_relkind(object))
	{
		case RELKIND_INDEX:
		case RELKIND_PARTITIONED_INDEX:
			return tde_stored_index_trees(object);
		case RELKIND_VIEW:
		case RELKIND_MATVIEW:
			return add_trees_of_view(NIL, object);
		default:
			return NIL;
	}
}

Node *
tde_stored_expression(Oid class, Oid object, AttrNumber column)
{
	Relation	catalog = table_open(class, AccessShareLock);
	HeapTuple	row = stored_row(catalog, object);
	bool		isnull = true;
	Datum		stored = row ? heap_getattr(row, column, RelationGetDescr(catalog), &isnull) : (Datum) 0;

	table_close(catalog, AccessShareLock);
	return isnull ? NULL : stringToNode(TextDatumGetCString(stored));
}

/* ---- what SQL asks of expressions of a single table ---- */

/* tde_tree_uses(tree pg_node_tree, column_number int2) - whether the expression reads the column; false if there is none */
Datum
tde_conversion_tree_uses(PG_FUNCTION_ARGS)
{
	Bitmapset  *columns = NULL;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_BOOL(false);
	pull_varattnos((Node *) stringToNode(text_to_cstring(PG_GETARG_TEXT_PP(0))), 1, &columns);
	/* or the whole row */
	PG_RETURN_BOOL(bms_is_member(PG_GETARG_INT16(1) - FirstLowInvalidHeapAttributeNumber, columns) ||
				   bms_is_member(0 - FirstLowInvalidHeapAttributeNumber, columns));
}

/*
 * tde_tree_null_test(tree pg_node_tree, column_number int2) - 'IS NULL' or 'IS NOT NULL' if the condition asks nothing but that of the
 * column; otherwise NULL
 */
Datum
tde_conversion_tree_null_test(PG_FUNCTION_ARGS)
{
	NullTest   *test = stringToNode(text_to_cstring(PG_GETARG_TEXT_PP(0)));

	if (!IsA(test, NullTest) || test->argisrow || !IsA(test->arg, Var) || ((Var *) test->arg)->varattno != PG_GETARG_INT16(1))
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(test->nulltesttype == IS_NULL ? "IS NULL" : "IS NOT NULL"));
}

/*
 * ---- the text of what belongs to a table or view, printed with no more than its owner's rights ----
 *
 * Expressions of the user's, as text: read for the new type of a column they find the operators that belong to it.
 */

/* Returns the text of an expression, with the columns' names alone; NULL if the object has no such expression. */
static char *
print_expression(Oid class, Oid object, AttrNumber column)
{
	Node	   *expression = tde_stored_expression(class, object, column);
	Oid			relation = tde_stored_relation(class, object);

	return expression ? deparse_expression(expression, deparse_context_for(get_rel_name(relation), relation), false, false) : NULL;
}

/* Returns what follows the policy's name and roles in CREATE POLICY. */
static char *
print_policy(Oid policy)
{
	char	   *condition = print_expression(PolicyRelationId, policy, Anum_pg_policy_polqual);
	char	   *check = print_expression(PolicyRelationId, policy, Anum_pg_policy_polwithcheck);
	StringInfoData text;

	initStringInfo(&text);
	if (condition)
		appendStringInfo(&text, "USING (%s)", condition);
	if (check)
		appendStringInfo(&text, " WITH CHECK (%s)", check);
	return text.data;
}

static char *
print(PGFunction function, Oid object)
{
	return TextDatumGetCString(DirectFunctionCall1(function, ObjectIdGetDatum(object)));
}

/* Prints an index with the classes that are named for a plain column: an encrypted one takes those that stand for them. */
static char *
print_index(Oid index)
{
	char	   *definition = print(pg_get_indexdef, index);
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	bool		isnull;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for index %u", index);
	definition = tde_opclass_plain_texts(definition, SysCacheGetAttr(INDEXRELID, tuple, Anum_pg_index_indclass, &isnull));
	ReleaseSysCache(tuple);
	return definition;
}

/* Returns the text of an object, by PostgreSQL's functions where there are some; NULL: it has none. */
static char *
print_definition(Oid class, Oid object)
{
	char		kind;

	switch (class)
	{
		case AttrDefaultRelationId:
			return print_expression(class, object, Anum_pg_attrdef_adbin);
		case ConstraintRelationId:
			return print(pg_get_constraintdef, object);
		case PolicyRelationId:
			return print_policy(object);
		case RewriteRelationId:
			return print(pg_get_ruledef, object);
		case StatisticExtRelationId:
			return print(pg_get_statisticsobjdef, object);
		case TriggerRelationId:
			return print(pg_get_triggerdef, object);
		default:
			kind = get_rel_relkind(object);
			if (kind == RELKIND_VIEW || kind == RELKIND_MATVIEW)
				return print(pg_get_viewdef, object);
			return kind == RELKIND_INDEX || kind == RELKIND_PARTITIONED_INDEX ? print_index(object) : NULL;
	}
}

/*
 * tde_definition(class regclass, object oid) - of a constraint, index, view (its query), rule, trigger, policy (its expressions), statistics
 * object or default.  NULL if the caller does not own the table or view: its constants may be encrypted, and are printed as its owner.
 */
Datum
tde_conversion_definition(PG_FUNCTION_ARGS)
{
	Oid			class = PG_GETARG_OID(0);
	Oid			object = PG_GETARG_OID(1);
	Oid			relation = tde_stored_relation(class, object);
	Oid			owner = InvalidOid;
	TdeCaller	caller;
	char	   *text;

	if (OidIsValid(relation) && TDE_OWNS_RELATION(relation))
		owner = GetSysCacheOid1(RELOID, Anum_pg_class_relowner, ObjectIdGetDatum(relation));
	if (!OidIsValid(owner))
		PG_RETURN_NULL();
	tde_owner_begin_as_on_path(&caller, owner);
	text = print_definition(class, object);
	tde_owner_end(&caller);
	if (text == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(text));
}

/* ---- expressions of an index, for another column of its table ---- */

typedef struct Exchange
{
	AttrNumber	source;
	AttrNumber	target;
} Exchange;

/* An expression_tree_walker that changes the tree, which is nobody else's. */
static bool
exchange_columns(Node *node, void *context)
{
	const Exchange *exchange = context;

	CHECK_FOR_INTERRUPTS();
	check_stack_depth();
	if (node == NULL)
		return false;
	if (IsA(node, Var) && ((Var *) node)->varattno == exchange->source)
		((Var *) node)->varattno = ((Var *) node)->varattnosyn = exchange->target;
	return expression_tree_walker(node, exchange_columns, context);
}

/* Returns the expression of a key, counted from 0; NULL if that is a column.  indexprs has those of keys without a column, in their order. */
static Node *
index_expression(Form_pg_index index, List *expressions, int key)
{
	int			place = 0;

	if (key < 0 || key >= index->indnatts || index->indkey.values[key] != 0)
		return NULL;
	for (int i = 0; i < key; i++)
		place += index->indkey.values[i] == 0;
	return list_nth(expressions, place);
}

/*
 * tde_index_expression(index oid, key int4, source int2, target int2) - what an index has as this key, counted from 0, if that is an expression:
 * as text, with the second column in the place of the first.  NULL if it is none, or if the caller does not own the table.
 */
Datum
tde_conversion_index_expression(PG_FUNCTION_ARGS)
{
	Oid			index = PG_GETARG_OID(0);
	Exchange	exchange = {PG_GETARG_INT16(2), PG_GETARG_INT16(3)};
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	Oid			relation;
	Node	   *expression;
	char	   *text;
	TdeCaller	caller;

	if (!HeapTupleIsValid(tuple))
		PG_RETURN_NULL();
	relation = ((Form_pg_index) GETSTRUCT(tuple))->indrelid;
	expression = index_expression((Form_pg_index) GETSTRUCT(tuple), (List *) linitial(tde_stored_index_trees(index)), PG_GETARG_INT32(1));
	ReleaseSysCache(tuple);
	if (expression == NULL || !TDE_OWNS_RELATION(relation))
		PG_RETURN_NULL();
	(void) exchange_columns(expression, &exchange);
	tde_owner_begin_as_on_path(&caller, GetSysCacheOid1(RELOID, Anum_pg_class_relowner, ObjectIdGetDatum(relation)));
	text = deparse_expression(expression, deparse_context_for(get_rel_name(relation), relation), false, false);
	tde_owner_end(&caller);
	PG_RETURN_TEXT_P(cstring_to_text(text));
}
