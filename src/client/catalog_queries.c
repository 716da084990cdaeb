/*
 * catalog_queries.c - stored queries on encrypted columns, as they would be on plain ones: what views, rules and subselects consist of.
 *
 * Their expressions are shown by catalog_trees.c; here are the nodes that only queries have.  As there, what comes out is to be printed, not to
 * be executed: what no definition says, such as operators that group rows, stays as it is.
 */
#include "postgres.h"

#include "access/transam.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "client/catalog_queries.h"
#include "client/catalog_trees.h"
#include "operators/opclass.h"
#include "type/type.h"

Node *
tde_catalog_show_query(Query *query, TdeShowing *showing)
{
	bool		in_query = showing->in_query;
	Query	   *shown;

	showing->in_query = true;
	shown = query_tree_mutator(query, tde_catalog_show_tree, showing, QTW_EXAMINE_SORTGROUP);
	showing->in_query = in_query;
	return (Node *) shown;
}

/* A definition names an operator that sorts unless it is one of the two that the type has for this. */
static void
show_order(SortGroupClause *clause, TdeShowing *showing)
{
	Oid			left;
	Oid			right;
	Oid			base;
	TypeCacheEntry *from;
	TypeCacheEntry *to;

	if (!OidIsValid(clause->sortop))
		return;
	op_input_types(clause->sortop, &left, &right);
	base = tde_catalog_shown_type(left);
	if (base == left)
		return;
	from = lookup_type_cache(left, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
	to = lookup_type_cache(base, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
	if (clause->sortop == from->lt_opr)
		clause->sortop = to->lt_opr;
	else if (clause->sortop == from->gt_opr)
		clause->sortop = to->gt_opr;
	else
		clause->sortop = tde_catalog_shown_operator(clause->sortop, base, base);
	showing->failed |= !OidIsValid(clause->sortop);
}

/*
 * Returns the function for arguments that are shown already; they become what it takes.  The old one is returned, with failed set, if there is none.
 */
static Oid
show_aggregated(Oid function, List *args, TdeShowing *showing)
{
	Oid			found = tde_catalog_shown_function(function, args);

	return OidIsValid(tde_catalog_show_passed(found, args, showing)) ? found : function;
}

/*
 * Direct arguments and the others are looked up together, as the parser does, and put back afterwards.  resjunk entries only sort, and are shown
 * already.
 */
static Node *
show_aggregate(Aggref *aggregate, TdeShowing *showing)
{
	List	   *args = list_copy(aggregate->aggdirectargs);
	int			direct = list_length(args);
	ListCell   *cell;

	foreach(cell, aggregate->args)
		if (!((TargetEntry *) lfirst(cell))->resjunk)
			args = lappend(args, ((TargetEntry *) lfirst(cell))->expr);
	aggregate->aggfnoid = show_aggregated(aggregate->aggfnoid, args, showing);
	aggregate->aggtype = tde_catalog_shown_type(aggregate->aggtype);
	aggregate->aggargtypes = NIL;
	foreach(cell, args)
		aggregate->aggargtypes = lappend_oid(aggregate->aggargtypes, exprType(lfirst(cell)));
	aggregate->aggdirectargs = list_copy_head(args, direct);
	foreach(cell, aggregate->args)
		if (!((TargetEntry *) lfirst(cell))->resjunk)
			((TargetEntry *) lfirst(cell))->expr = list_nth(args, direct++);
	return (Node *) aggregate;
}

static Node *
show_window_function(WindowFunc *call, TdeShowing *showing)
{
	call->winfnoid = show_aggregated(call->winfnoid, call->args, showing);
	call->wintype = tde_catalog_shown_type(call->wintype);
	return (Node *) call;
}

/* (a, b) < (1, 2): an operator for each pair, which may be of plain values only. */
static void
show_row_comparison(RowCompareExpr *comparison, TdeShowing *showing)
{
	ListCell   *operator;
	ListCell   *left;
	ListCell   *right;

	comparison->opnos = list_copy(comparison->opnos);
	forthree(operator, comparison->opnos, left, comparison->largs, right, comparison->rargs)
	{
		Oid			types[2];

		op_input_types(lfirst_oid(operator), &types[0], &types[1]);
		if (tde_catalog_shown_type(types[0]) == types[0] && tde_catalog_shown_type(types[1]) == types[1])
			continue;
		lfirst_oid(operator) = tde_catalog_shown_operator(lfirst_oid(operator), exprType(lfirst(left)), exprType(lfirst(right)));
		showing->failed |= !OidIsValid(lfirst_oid(operator));
		if (showing->failed)
			return;
		op_input_types(lfirst_oid(operator), &types[0], &types[1]);
		lfirst(left) = tde_catalog_show_coerced(lfirst(left), types[0], -1, COERCE_IMPLICIT_CAST, showing);
		lfirst(right) = tde_catalog_show_coerced(lfirst(right), types[1], -1, COERCE_IMPLICIT_CAST, showing);
	}
}

/* The column definition list of a function that returns record: FROM f() AS t(a encrypted_text). */
static void
show_column_list(RangeTblFunction *function)
{
	ListCell   *cell;

	function->funccoltypes = list_copy(function->funccoltypes);
	foreach(cell, function->funccoltypes)
		lfirst_oid(cell) = tde_catalog_shown_type(lfirst_oid(cell));
}

static void
show_subscripts(SubscriptingRef *subscripted)
{
	subscripted->refcontainertype = tde_catalog_shown_type(subscripted->refcontainertype);
	subscripted->refelemtype = tde_catalog_shown_type(subscripted->refelemtype);
	subscripted->refrestype = tde_catalog_shown_type(subscripted->refrestype);
}

/* The nodes without a case of their own have no type, or only hold others.  default: one that a later version of PostgreSQL has is not guessed at. */
Node *
tde_catalog_show_in_query(Node *node, Node *shown, TdeShowing *showing)
{
	switch (nodeTag(shown))
	{
		case T_Aggref:
			return showing->failed ? node : show_aggregate((Aggref *) shown, showing);
		case T_WindowFunc:
			return showing->failed ? node : show_window_function((WindowFunc *) shown, showing);
		case T_SortGroupClause:
			show_order((SortGroupClause *) shown, showing);
			break;
		case T_RowCompareExpr:
			show_row_comparison((RowCompareExpr *) shown, showing);
			break;
		case T_RangeTblFunction:
			show_column_list((RangeTblFunction *) shown);
			break;
		case T_SubscriptingRef:
			show_subscripts((SubscriptingRef *) shown);
			break;
		case T_InferenceElem:
			((InferenceElem *) shown)->inferopclass = tde_opclass_plain(((InferenceElem *) shown)->inferopclass);
			break;
		case T_Param:
			((Param *) shown)->paramtype = tde_catalog_shown_type(((Param *) shown)->paramtype);
			break;
		case T_TargetEntry:
		case T_FromExpr:
		case T_JoinExpr:
		case T_RangeTblRef:
		case T_SetOperationStmt:
		case T_CommonTableExpr:
		case T_SubLink:
		case T_GroupingFunc:
		case T_WindowClause:
		case T_OnConflictExpr:
		case T_TableSampleClause:
		case T_SetToDefault:
			break;
		default:
			showing->failed = true;
	}
	return shown;
}

/* ---- what definitions name besides expressions, as it would be of plain columns; and an expression where a definition prints it ---- */

int32
tde_catalog_shown_typmod(Oid oid, int32 typmod)
{
	Oid			element = oid < FirstNormalObjectId ? InvalidOid : get_element_type(oid);
	TdeType    *type = oid < FirstNormalObjectId ? NULL : tde_type_find(OidIsValid(element) ? element : oid);

	return type ? tde_type_base_typmod(type, typmod) : typmod;
}

Node *
tde_catalog_shown_tree(Node *tree)
{
	TdeShowing	showing = {.query = tde_catalog_show_query, .other = tde_catalog_show_in_query};
	Node	   *shown = tde_catalog_show_tree(tree, &showing);

	return showing.failed ? NULL : shown;
}

char *
tde_catalog_replace_first(char *definition, const char *from, const char *to)
{
	char	   *found = strstr(definition, from);

	return found ? psprintf("%.*s%s%s", (int) (found - definition), definition, to, found + strlen(from)) : definition;
}

/* Prints an expression as PostgreSQL has printed it in the definition, to be found there. */
static char *
printed(Node *expr, Oid relation, bool pretty)
{
	Datum		tree = CStringGetTextDatum(nodeToString(expr));

	return TextDatumGetCString(DirectFunctionCall3(pg_get_expr_ext, tree, ObjectIdGetDatum(relation), BoolGetDatum(pretty)));
}

/* Where a call is printed without parentheses, anything else needs them. */
char *
tde_catalog_show_expression(char *definition, Node *expr, Oid relation, bool pretty)
{
	Node	   *shown = tde_catalog_shown_tree(expr);
	char	   *to;

	if (shown == NULL || equal(shown, expr))
		return definition;
	to = printed(shown, relation, pretty);
	if (IsA(expr, FuncExpr) && !IsA(shown, FuncExpr))
		to = psprintf("(%s)", to);
	return tde_catalog_replace_first(definition, printed(expr, relation, pretty), to);
}
