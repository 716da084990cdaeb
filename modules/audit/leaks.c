/*
 * leaks.c - what tde_audit() asks of expressions and queries that catalogs keep: what stands there in clear.
 *
 * Nothing is evaluated here.
 *
 * tde_audit() finds the trees in SQL (sql/69_audit_leaks.sql), and asks of each.  What a tree computes is judged by its parts: ddl/in_clear.h says
 * how.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "ddl/in_clear.h"
#include "server/module.h"
#include "type/inside.h"
#include "type/type.h"

PG_FUNCTION_INFO_V1(tde_audit_tree_in_clear);
PG_FUNCTION_INFO_V1(tde_audit_tree_has_constant);

TDE_MODULE("audit", NULL, NULL);

/* ---- what is computed of encrypted values, and stored in clear ---- */

/*
 * Returns true if an output column of a query, or one that a command stores, holds such values in clear; 0: any column.  MERGE's actions count as
 * columns that follow the query's own.  The tree is this call's own, and is changed.
 */
static bool
query_in_clear(Query *query, AttrNumber column)
{
	ListCell   *cell;

	if (query->commandType == CMD_UTILITY)
		return false;
	foreach(cell, query->mergeActionList)
	{
		ListCell   *entry;

		foreach(entry, lfirst_node(MergeAction, cell)->targetList)
		{
			query->targetList = lappend(query->targetList, lfirst(entry));
			lfirst_node(TargetEntry, entry)->resno = list_length(query->targetList);
		}
	}
	/* what a command puts into a table is what a query would return */
	query->commandType = CMD_SELECT;
	query->returningList = NIL;
	foreach(cell, query->targetList)
	{
		TargetEntry *entry = lfirst(cell);

		if (!entry->resjunk && (column == 0 || column == entry->resno) && tde_in_clear_output(query, entry->resno))
			return true;
	}
	return false;
}

/* Looks at an expression, a query, or a list of them.  A function's SELECT stores nothing (commands_only). */
static bool
node_in_clear(Node *node, AttrNumber column, bool commands_only)
{
	ListCell   *cell;

	CHECK_FOR_INTERRUPTS();
	check_stack_depth();
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return !(commands_only && ((Query *) node)->commandType == CMD_SELECT) && query_in_clear((Query *) node, column);
	if (!IsA(node, List))
		return !commands_only && tde_in_clear(node);
	foreach(cell, (List *) node)
		if (node_in_clear(lfirst(cell), column, commands_only))
			return true;
	return false;
}

/*
 * tde_tree_in_clear(tree pg_node_tree, column int2, commands_only boolean) returns boolean - whether what it computes, if it is stored, would hold in
 * clear what is computed of encrypted columns.  column: of a query; 0: any.
 */
Datum
tde_audit_tree_in_clear(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(node_in_clear(stringToNode(TextDatumGetCString(PG_GETARG_DATUM(0))), PG_GETARG_INT16(1), PG_GETARG_BOOL(2)));
}

/* ---- constants of base types ---- */

/* Returns what a cast is made of; NULL: it is none. */
static Node *
cast_argument(Node *node)
{
	switch (nodeTag(node))
	{
		case T_FuncExpr:
			if (((FuncExpr *) node)->funcformat == COERCE_EXPLICIT_CALL || ((FuncExpr *) node)->args == NIL)
				return NULL;
			return linitial(((FuncExpr *) node)->args);
		case T_RelabelType:
			return (Node *) ((RelabelType *) node)->arg;
		case T_CoerceViaIO:
			return (Node *) ((CoerceViaIO *) node)->arg;
		case T_ArrayCoerceExpr:
			return (Node *) ((ArrayCoerceExpr *) node)->arg;
		case T_CollateExpr:
			return (Node *) ((CollateExpr *) node)->arg;
		default:
			return NULL;
	}
}

/* Returns true of a constant in clear, or an array of them, whatever it is cast to. */
static bool
is_plain_constant(Node *node)
{
	Node	   *inner;
	ListCell   *cell;

	CHECK_FOR_INTERRUPTS();
	check_stack_depth();
	while ((inner = cast_argument(node)) != NULL)
		node = inner;
	if (IsA(node, Const))
		return !((Const *) node)->constisnull && !tde_type_holds_encrypted(((Const *) node)->consttype);
	if (!IsA(node, ArrayExpr))
		return false;
	foreach(cell, ((ArrayExpr *) node)->elements)
		if (IsA(lfirst(cell), Const) && is_plain_constant(lfirst(cell)))
			return true;
	return false;
}

/* Returns true of an encrypted value, whatever it is cast to. */
static bool
is_encrypted(Node *node)
{
	for (; node != NULL; node = cast_argument(node))
		if (tde_type_holds_encrypted(exprType(node)))
			return true;
	return false;
}

/*
 * Returns true if of expressions that are compared, or of which one becomes the value, one is encrypted, and one a constant in clear.  Example: a
 * view WHERE pan::text = '4111...'.
 */
static bool
has_both(List *exprs)
{
	bool		encrypted = false;
	bool		constant = false;
	ListCell   *cell;

	foreach(cell, exprs)
	{
		encrypted = encrypted || is_encrypted(lfirst(cell));
		constant = constant || is_plain_constant(lfirst(cell));
	}
	return encrypted && constant;
}

/* An expression_tree_walker, through queries, too. */
static bool
has_constant(Node *node, void *context)
{
	CHECK_FOR_INTERRUPTS();
	check_stack_depth();
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, has_constant, context, 0);
	if (IsA(node, OpExpr) && ((OpExpr *) node)->opresulttype == BOOLOID && has_both(((OpExpr *) node)->args))
		return true;
	if (IsA(node, DistinctExpr) && has_both(((DistinctExpr *) node)->args))
		return true;
	if (IsA(node, ScalarArrayOpExpr) && has_both(((ScalarArrayOpExpr *) node)->args))
		return true;
	if (IsA(node, CoalesceExpr) && has_both(((CoalesceExpr *) node)->args))
		return true;
	if (cast_argument(node) != NULL && is_encrypted(node) && is_plain_constant(node))
		return true;
	return expression_tree_walker(node, has_constant, context);
}

/*
 * tde_tree_has_constant(tree pg_node_tree) returns boolean - whether a constant stands in clear where it is compared with an encrypted value, or
 * becomes one.
 */
Datum
tde_audit_tree_has_constant(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(has_constant(stringToNode(TextDatumGetCString(PG_GETARG_DATUM(0))), NULL));
}
