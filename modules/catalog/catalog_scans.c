/*
 * catalog_scans.c - in a client's own statements the catalogs tell the base types of encrypted columns, as results do.
 *
 * Drivers, ORMs and schema browsers read the types of columns from pg_attribute, joined with pg_type, through format_type() or from
 * information_schema; likewise defaults, conditions and expressions of indexes.  All of these follow from a few columns of catalogs.  So
 * a scan of pg_attribute, say, becomes a subquery over this scan in which tde_catalog_type() and tde_catalog_typmod() stand for the type
 * and the modifier; everything else is what it was, its names, its types, the indexes that serve it and who may read it.  As the
 * type of a statement's result does not depend on it, this may be done when views have been expanded, right before the statement is planned.
 * Functions are left alone, and so are views of users and of this extension.
 *
 * Whoever copies tables by what the catalogs say must not be told that they are plain: see copies_tables().
 */
#include "postgres.h"

#include "access/table.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_index.h"
#include "catalog/pg_policy.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/rls.h"

#include "client/catalog.h"
#include "client/catalog_queries.h"
#include "client/catalog_trees.h"
#include "operators/opclass.h"
#include "server/compat.h"
#include "server/module.h"
#include "server/subquery.h"
#include "type/type.h"

PG_FUNCTION_INFO_V1(tde_catalog_catalog_typmod);
PG_FUNCTION_INFO_V1(tde_catalog_catalog_tree);
PG_FUNCTION_INFO_V1(tde_catalog_catalog_classes);

/* The core's, which the catalog has. */
extern PGDLLEXPORT Datum tde_catalog_type(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum tde_catalog_typmod(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum tde_catalog_tree(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum tde_catalog_classes(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum tde_catalog_indexdef(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum tde_catalog_constraintdef(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum tde_catalog_partkeydef(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum tde_catalog_viewdef(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum tde_catalog_viewdef_name(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum tde_catalog_ruledef(PG_FUNCTION_ARGS);

/* The functions by which columns of catalogs are shown, of the column itself or, for a modifier, of the type that it belongs to and it. */
typedef enum ShownBy
{
	SHOWN_TYPE,
	SHOWN_TYPMOD,
	SHOWN_TREE,
	SHOWN_CLASSES,
	SHOWN_INDEXDEF,				/* functions that are called in place of PostgreSQL's */
	SHOWN_INDEXDEF_COLUMN,
	SHOWN_CONSTRAINTDEF,
	SHOWN_CONSTRAINTDEF_PRETTY,
	SHOWN_PARTKEYDEF,
	SHOWN_VIEWDEF,
	SHOWN_VIEWDEF_PRETTY,
	SHOWN_VIEWDEF_NAME,
	SHOWN_VIEWDEF_NAME_PRETTY,
	SHOWN_RULEDEF,
	SHOWN_RULEDEF_PRETTY,
	SHOWN_COUNT
} ShownBy;

/* Where each of them is found; the order is that of ShownBy. */
static const struct
{
	const char *name;
	PGFunction	address;
	int			count;
	Oid			arg_types[3];
	Oid			replaces;		/* PostgreSQL's function of the same result; InvalidOid: it stands for a column */
}			shown_by[SHOWN_COUNT] = {
	{"tde_catalog_type", tde_catalog_type, 1, {OIDOID}},
	{"tde_catalog_typmod", tde_catalog_typmod, 2, {OIDOID, INT4OID}},
	{"tde_catalog_tree", tde_catalog_tree, 1, {PG_NODE_TREEOID}},
	{"tde_catalog_classes", tde_catalog_classes, 1, {OIDVECTOROID}},
	{"tde_catalog_indexdef", tde_catalog_indexdef, 1, {OIDOID}, F_PG_GET_INDEXDEF_OID},
	{"tde_catalog_indexdef", tde_catalog_indexdef, 3, {OIDOID, INT4OID, BOOLOID}, F_PG_GET_INDEXDEF_OID_INT4_BOOL},
	{"tde_catalog_constraintdef", tde_catalog_constraintdef, 1, {OIDOID}, F_PG_GET_CONSTRAINTDEF_OID},
	{"tde_catalog_constraintdef", tde_catalog_constraintdef, 2, {OIDOID, BOOLOID}, F_PG_GET_CONSTRAINTDEF_OID_BOOL},
	{"tde_catalog_partkeydef", tde_catalog_partkeydef, 1, {OIDOID}, F_PG_GET_PARTKEYDEF},
	{"tde_catalog_viewdef", tde_catalog_viewdef, 1, {OIDOID}, F_PG_GET_VIEWDEF_OID},
	{"tde_catalog_viewdef", tde_catalog_viewdef, 2, {OIDOID, BOOLOID}, F_PG_GET_VIEWDEF_OID_BOOL},
	{"tde_catalog_viewdef_name", tde_catalog_viewdef_name, 1, {TEXTOID}, F_PG_GET_VIEWDEF_TEXT},
	{"tde_catalog_viewdef_name", tde_catalog_viewdef_name, 2, {TEXTOID, BOOLOID}, F_PG_GET_VIEWDEF_TEXT_BOOL},
	{"tde_catalog_ruledef", tde_catalog_ruledef, 1, {OIDOID}, F_PG_GET_RULEDEF_OID},
	{"tde_catalog_ruledef", tde_catalog_ruledef, 2, {OIDOID, BOOLOID}, F_PG_GET_RULEDEF_OID_BOOL},
};

/* These functions, as they are in this database. */
typedef struct ShowingFunctions
{
	Oid			oid[SHOWN_COUNT];
} ShowingFunctions;

/* The columns of catalogs that tell of a type, and by which function each is shown. */
static const struct ShownColumn
{
	Oid			catalog;
	AttrNumber	number;
	ShownBy		by;
	AttrNumber	type;			/* of a modifier */
}			shown_columns[] = {
	{AttributeRelationId, Anum_pg_attribute_atttypid, SHOWN_TYPE},
	{AttributeRelationId, Anum_pg_attribute_atttypmod, SHOWN_TYPMOD, Anum_pg_attribute_atttypid},
	{TypeRelationId, Anum_pg_type_typbasetype, SHOWN_TYPE},
	{TypeRelationId, Anum_pg_type_typtypmod, SHOWN_TYPMOD, Anum_pg_type_typbasetype},
	{TypeRelationId, Anum_pg_type_typdefaultbin, SHOWN_TREE},
	{AttrDefaultRelationId, Anum_pg_attrdef_adbin, SHOWN_TREE},
	{ConstraintRelationId, Anum_pg_constraint_conbin, SHOWN_TREE},
	{IndexRelationId, Anum_pg_index_indclass, SHOWN_CLASSES},
	{IndexRelationId, Anum_pg_index_indexprs, SHOWN_TREE},
	{IndexRelationId, Anum_pg_index_indpred, SHOWN_TREE},
	{PolicyRelationId, Anum_pg_policy_polqual, SHOWN_TREE},
	{PolicyRelationId, Anum_pg_policy_polwithcheck, SHOWN_TREE},
};

/* ---- what is shown ---- */

/* tde_catalog_typmod(oid, int4) - the modifier of that type. */
Datum
tde_catalog_catalog_typmod(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(tde_catalog_shown_typmod(PG_GETARG_OID(0), PG_GETARG_INT32(1)));
}

/* tde_catalog_tree(pg_node_tree) - the expression as it would be of plain columns; itself if there is no such one. */
Datum
tde_catalog_catalog_tree(PG_FUNCTION_ARGS)
{
	Node	   *tree = stringToNode(TextDatumGetCString(PG_GETARG_DATUM(0)));
	Node	   *shown = tde_catalog_shown_tree(tree);

	if (shown == NULL || equal(shown, tree))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	PG_RETURN_TEXT_P(cstring_to_text(nodeToString(shown)));
}

/* tde_catalog_classes(oidvector) - operator classes of encrypted types as those of their base types. */
Datum
tde_catalog_catalog_classes(PG_FUNCTION_ARGS)
{
	oidvector  *classes = (oidvector *) PG_GETARG_POINTER(0);
	oidvector  *shown = buildoidvector(classes->values, classes->dim1);

	for (int i = 0; i < shown->dim1; i++)
		shown->values[i] = tde_opclass_plain(shown->values[i]);
	PG_RETURN_POINTER(shown);
}

/* ---- in a query ---- */

/* Looks up all of them.  Returns false if the extension is not in this database, or is of an earlier version there; then nothing is shown. */
static bool
find_functions(ShowingFunctions *functions)
{
	for (int i = 0; i < SHOWN_COUNT; i++)
	{
		functions->oid[i] = tde_type_internal_function(shown_by[i].name, shown_by[i].address, shown_by[i].arg_types, shown_by[i].count);
		if (!OidIsValid(functions->oid[i]))
			return false;
	}
	return true;
}

/* Returns how a column of a catalog is shown; number 0: any one, to know whether the catalog has one.  NULL: none is. */
static const struct ShownColumn *
shown_column(Oid catalog, AttrNumber number)
{
	for (int i = 0; i < lengthof(shown_columns); i++)
		if (shown_columns[i].catalog == catalog && (number == 0 || shown_columns[i].number == number))
			return &shown_columns[i];
	return NULL;
}

/* Returns the call that stands for a column.  Its type is the column's, so whatever reads it need not change. */
static Expr *
show_column(Form_pg_attribute attribute, Var *column, const struct ShownColumn *shown, const ShowingFunctions *functions)
{
	List	   *args = list_make1(column);

	if (shown->by == SHOWN_TYPMOD)
		args = lcons(makeVar(1, shown->type, OIDOID, -1, InvalidOid, 0), args);
	return (Expr *) makeFuncExpr(functions->oid[shown->by], attribute->atttypid, args, attribute->attcollation, InvalidOid, COERCE_EXPLICIT_CALL);
}

/* Returns target entries for all columns of the catalog, by their numbers.  The scan of the statement holds the lock. */
static List *
catalog_columns(Oid oid, const ShowingFunctions *functions)
{
	Relation	catalog = table_open(oid, NoLock);
	TupleDesc	descriptor = RelationGetDescr(catalog);
	List	   *columns = NIL;

	for (AttrNumber number = 1; number <= descriptor->natts; number++)
	{
		Form_pg_attribute attribute = TupleDescAttr(descriptor, number - 1);
		Var		   *var = makeVar(1, number, attribute->atttypid, attribute->atttypmod, attribute->attcollation, 0);
		const struct ShownColumn *shown = shown_column(oid, number);
		Expr	   *column = shown ? show_column(attribute, var, shown, functions) : (Expr *) var;

		columns = lappend(columns, makeTargetEntry(column, number, pstrdup(NameStr(attribute->attname)), false));
	}
	table_close(catalog, NoLock);
	return columns;
}

/* Returns true of a view's query whose scans are none of the client's.  The system's own views were made by initdb. */
static bool
is_users_view(RangeTblEntry *rte)
{
	return TDE_VIEW_OF(rte) >= FirstNormalObjectId;
}

/* Has a function of PostgreSQL's that prints a definition replaced by ours, which takes the same arguments. */
static void
show_text(FuncExpr *call, const ShowingFunctions *functions)
{
	for (int i = 0; i < SHOWN_COUNT; i++)
		if (shown_by[i].replaces == call->funcid)
			call->funcid = functions->oid[i];
}

/*
 * A query_or_expression_tree_walker.  Subqueries are gone into here, and not by query_tree_walker(): it would look into those that have just been
 * made.
 */
static bool
show_base_types(Node *node, void *context)
{
	Query	   *query = (Query *) node;
	ListCell   *cell;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (IsA(node, FuncExpr))
		show_text((FuncExpr *) node, context);
	if (!IsA(node, Query))
		return expression_tree_walker(node, show_base_types, context);
	foreach(cell, query->rtable)
	{
		RangeTblEntry *rte = lfirst(cell);

		if (rte->rtekind == RTE_SUBQUERY && !is_users_view(rte))
			(void) show_base_types((Node *) rte->subquery, context);
		else if (rte->rtekind == RTE_RELATION && shown_column(rte->relid, 0) && !tde_subquery_needs_table(query, foreach_current_index(cell) + 1))
			(void) tde_subquery_make(query, rte, catalog_columns(rte->relid, context));
	}
	return query_tree_walker(query, show_base_types, context, QTW_IGNORE_RT_SUBQUERIES);
}

/*
 * Returns true if the client seems to copy tables by what the catalogs say, as pg_dump does.  That must read all catalogs and tables as of one
 * moment, and changes nothing, so its transaction is READ ONLY and at least REPEATABLE READ.  It also switches off what would give it fewer rows, or
 * rows in another order.  What it is told, whoever restores the dump makes.  Each of the three is enough.
 */
static bool
copies_tables(void)
{
	return (XactReadOnly && IsolationUsesXactSnapshot()) || !row_security || !synchronize_seqscans;
}

/* TdeCatalogCalls.show: for a client's own SELECT, right before it is planned.  The query is the caller's to change. */
static void
show_catalogs(Query *query)
{
	ShowingFunctions functions;

	if (query->commandType == CMD_SELECT && !query->hasModifyingCTE && !copies_tables() && find_functions(&functions))
		(void) show_base_types((Node *) query, &functions);
}

static const TdeCatalogCalls calls = {.show = show_catalogs};

TDE_MODULE("catalog", NULL, &calls);
