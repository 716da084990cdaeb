/*
 * in_clear.c - finds expressions whose values, if they are stored, would hold in clear what is computed of encrypted values.
 *
 * A value has parts: fields of rows, elements of arrays, to any depth.  Those of an encrypted type are stored as ciphertext.  Each other
 * part is followed to what it is computed of: through whatever only passes values on, CASE, COALESCE, ARRAY, rows in rows, subqueries and
 * views, set operations, functions such as array_agg().  All else may put into any part of its result what it is given.
 *
 * What decides within the expression goes into its result, too: comparisons, the conditions of CASE and FILTER, and what decides which rows
 * a subquery under EXISTS, IN, ANY or ALL has, since that is what these tell.  What elsewhere chooses, joins, groups or orders the rows that
 * are stored does not: WHERE, ON, HAVING, PARTITION BY, ORDER BY, LIMIT, set operations.  Whether a value is NULL is no secret.  What a
 * function of users' reads without being given it is not known.
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "ddl/in_clear.h"
#include "ddl/in_clear_search.h"
#include "type/inside.h"

/* Asks each expression for the same part: elements of an array, or what COALESCE chooses among. */
static bool
any_reads(List *exprs, const TdeScope *scope)
{
	ListCell   *cell;

	foreach(cell, exprs)
		if (tde_in_clear_part_reads(lfirst(cell), scope))
			return true;
	return false;
}

/* ---- expressions ---- */

/*
 * (SELECT x ...) and ARRAY(SELECT x ...) pass the part on.  x IN (SELECT y ...) and EXISTS give a boolean that tells which rows there are, and what
 * was compared: all of it goes in.
 */
static bool
sublink_reads(SubLink *sublink, const TdeScope *scope)
{
	Query	   *query = (Query *) sublink->subselect;
	bool		tells_rows = sublink->subLinkType == ANY_SUBLINK || sublink->subLinkType == ALL_SUBLINK;
	bool		passes = sublink->subLinkType == EXPR_SUBLINK || sublink->subLinkType == ARRAY_SUBLINK;
	TdeScope	inner = passes ? *scope : tde_in_clear_of_whole(scope, true);
	ListCell   *cell;

	if ((tells_rows || sublink->subLinkType == EXISTS_SUBLINK) && tde_in_clear_rows_read(query, scope))
		return true;
	if (sublink->subLinkType == EXISTS_SUBLINK)
		return false;
	foreach(cell, tde_output_columns(query))
		if (!lfirst_node(TargetEntry, cell)->resjunk && tde_in_clear_output_reads(query, lfirst_node(TargetEntry, cell)->resno, &inner))
			return true;
	return tde_in_clear_goes_in(sublink->testexpr, (void *) scope);
}

/* Returns true for a function of PostgreSQL's whose result is of the type that it is given: what it returns, it has got so. */
static bool
passes_on(Oid function)
{
	return function < FirstUnpinnedObjectId && IsPolymorphicType(get_func_rettype(function));
}

/* array_append(a, x) passes the part on that is asked for; length(x) may put anything into its result. */
static bool
call_reads(Node *call, Oid function, List *args, const TdeScope *scope)
{
	return passes_on(function) ? any_reads(args, scope) : tde_in_clear_any_goes_in(call, scope);
}

/* The call is of an aggregate or a window function.  The condition of FILTER decides what comes out; count(x) tells only what is NULL. */
static bool
aggregate_reads(Node *call, Oid function, List *args, Node *filter, const TdeScope *scope)
{
	return tde_in_clear_goes_in(filter, (void *) scope) || (function != F_COUNT_ANY && call_reads(call, function, args, scope));
}

/* (row).field asks the row for one of its parts.  A path that is too deep asks for all that goes in. */
static bool
field_reads(FieldSelect *field, const TdeScope *scope)
{
	TdeScope	inner = *scope;

	if (!tde_in_clear_enter_field(&inner, field->fieldnum, field->resulttype))
		return tde_in_clear_goes_in((Node *) field->arg, (void *) scope);
	return tde_in_clear_part_reads((Node *) field->arg, &inner);
}

/* ROW(a, b) is asked for one field alone, or as a whole for each of them. */
static bool
row_expression_reads(RowExpr *row, const TdeScope *scope)
{
	TdeScope	inner = *scope;
	AttrNumber	field = scope->part.depth > 0 ? tde_in_clear_leave_field(&inner) : 0;

	if (field == 0)
		return any_reads(row->args, scope);
	return field <= list_length(row->args) && tde_in_clear_part_reads(list_nth(row->args, field - 1), &inner);
}

/* A row becomes one of a parent table, whose columns of the same names may stand elsewhere: the field is looked for by its name. */
static bool
converted_row_reads(ConvertRowtypeExpr *convert, const TdeScope *scope)
{
	TdeScope	inner = *scope;
	Oid			type = scope->part.type;
	char	   *name;

	if (scope->part.depth == 0)
		return tde_in_clear_part_reads((Node *) convert->arg, scope);
	name = get_attname(get_typ_typrelid(getBaseType(convert->resulttype)), tde_in_clear_leave_field(&inner), true);
	if (name == NULL || !tde_in_clear_enter_field(&inner, get_attnum(get_typ_typrelid(getBaseType(exprType((Node *) convert->arg))), name), type))
		return tde_in_clear_goes_in((Node *) convert->arg, (void *) scope);
	return tde_in_clear_part_reads((Node *) convert->arg, &inner);
}

/* A condition tells itself by the result that it chooses: CASE WHEN secret > 5 THEN 'a' ELSE 'b' END. */
static bool
case_reads(CaseExpr *expr, const TdeScope *scope)
{
	ListCell   *cell;

	foreach(cell, expr->args)
		if (tde_in_clear_goes_in((Node *) lfirst_node(CaseWhen, cell)->expr, (void *) scope) || tde_in_clear_part_reads((Node *) lfirst_node(CaseWhen, cell)->result, scope))
			return true;
	return tde_in_clear_goes_in((Node *) expr->arg, (void *) scope) || tde_in_clear_part_reads((Node *) expr->defresult, scope);
}

/* a[i] asks the array for the same part of its elements, and i tells which one.  Of other containers, jsonb among them, all goes in. */
static bool
subscript_reads(SubscriptingRef *ref, const TdeScope *scope)
{
	if (!OidIsValid(get_element_type(getBaseType(ref->refcontainertype))))
		return tde_in_clear_any_goes_in((Node *) ref, scope);
	return tde_in_clear_goes_in((Node *) ref->refupperindexpr, (void *) scope) || tde_in_clear_goes_in((Node *) ref->reflowerindexpr, (void *) scope) ||
		tde_in_clear_part_reads((Node *) ref->refexpr, scope) || tde_in_clear_part_reads((Node *) ref->refassgnexpr, scope);
}

/*
 * What each element becomes tells, where elements have the same parts.  The array is asked for whole elements, since a cast may have put anything
 * anywhere.
 */
static bool
array_coercion_reads(ArrayCoerceExpr *coerce, const TdeScope *scope)
{
	TdeScope	whole = tde_in_clear_of_whole(scope, scope->part.any);

	return tde_in_clear_part_reads((Node *) coerce->elemexpr, scope) || tde_in_clear_part_reads((Node *) coerce->arg, &whole);
}

/*
 * Only nodes whose result has parts that are known to come from a part of something are here.  default: whatever goes in may come out, as of nodes
 * that a later version of PostgreSQL has.
 */
static bool
expression_reads(Node *node, const TdeScope *scope)
{
	switch (nodeTag(node))
	{
		case T_Var:
			return tde_in_clear_var_reads((Var *) node, scope);
		case T_Param:
		case T_CaseTestExpr:
			return tde_in_clear_part_is_encrypted(scope, exprType(node));
		case T_FieldSelect:
			return field_reads((FieldSelect *) node, scope);
		case T_RowExpr:
			return row_expression_reads((RowExpr *) node, scope);
		case T_ConvertRowtypeExpr:
			return converted_row_reads((ConvertRowtypeExpr *) node, scope);
		case T_RelabelType:
			return tde_in_clear_part_reads((Node *) ((RelabelType *) node)->arg, scope);
		case T_CollateExpr:
			return tde_in_clear_part_reads((Node *) ((CollateExpr *) node)->arg, scope);
		case T_CoerceToDomain:
			return tde_in_clear_part_reads((Node *) ((CoerceToDomain *) node)->arg, scope);
		case T_NamedArgExpr:
			return tde_in_clear_part_reads((Node *) ((NamedArgExpr *) node)->arg, scope);
		case T_ArrayExpr:
			return any_reads(((ArrayExpr *) node)->elements, scope);
		case T_CoalesceExpr:
			return any_reads(((CoalesceExpr *) node)->args, scope);
		case T_ArrayCoerceExpr:
			return array_coercion_reads((ArrayCoerceExpr *) node, scope);
		case T_SubscriptingRef:
			return subscript_reads((SubscriptingRef *) node, scope);
		case T_CaseExpr:
			return case_reads((CaseExpr *) node, scope);
		case T_SubLink:
			return sublink_reads((SubLink *) node, scope);
		case T_NullTest:
			return false;
		case T_FuncExpr:
			return tde_in_clear_part_is_encrypted(scope, ((FuncExpr *) node)->funcresulttype) ||
				call_reads(node, ((FuncExpr *) node)->funcid, ((FuncExpr *) node)->args, scope);
		case T_OpExpr:
			return call_reads(node, get_opcode(((OpExpr *) node)->opno), ((OpExpr *) node)->args, scope);
		case T_Aggref:
			return aggregate_reads(node, ((Aggref *) node)->aggfnoid, ((Aggref *) node)->args, (Node *) ((Aggref *) node)->aggfilter, scope);
		case T_WindowFunc:
			return aggregate_reads(node, ((WindowFunc *) node)->winfnoid, ((WindowFunc *) node)->args,
								   (Node *) ((WindowFunc *) node)->aggfilter, scope);
		default:
			return tde_in_clear_any_goes_in(node, scope);
	}
}

/* TdeSearch's part(): where each step of the search begins.  A whole value of a type that is encrypted throughout is not followed. */
static bool
part_reads(Node *node, const TdeScope *scope)
{
	TdeScope	unknown;
	Oid			type;

	if (node == NULL)
		return false;
	CHECK_FOR_INTERRUPTS();
	check_stack_depth();
	if (IsA(node, TargetEntry))
		return part_reads((Node *) ((TargetEntry *) node)->expr, scope);
	if (scope->part.any || scope->part.depth > 0)
		return expression_reads(node, scope);
	type = exprType(node);
	if (!tde_type_holds_plain(type))
		return false;
	/* which fields it has, and so which of them are encrypted, its type does not tell */
	unknown = tde_in_clear_of_whole(scope, type == RECORDOID || type == RECORDARRAYOID);
	return expression_reads(node, &unknown);
}

/* ---- what is asked ---- */

bool
tde_in_clear(Node *expr)
{
	TdeSearch	search = {.part = part_reads};
	TdeScope	scope = {.search = &search};

	return tde_in_clear_part_reads(expr, &scope);
}

bool
tde_in_clear_any(List *exprs)
{
	ListCell   *cell;

	foreach(cell, exprs)
		if (tde_in_clear(lfirst(cell)))
			return true;
	return false;
}

bool
tde_in_clear_output(Query *query, AttrNumber column)
{
	TdeSearch	search = {.part = part_reads};
	TdeScope	scope = {.search = &search};

	return tde_in_clear_output_reads(query, column, &scope);
}
