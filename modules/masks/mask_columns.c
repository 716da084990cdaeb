/*
 * mask_columns.c - which columns with masks the values in a query come from.
 *
 * A value does not say that itself.  So what decrypts it is told, by a call of tde_of_column() around the column, or by the plan if it is the receiver
 * of the rows: by which the masks are found when the value is shown (type/masks.c).  A column is followed through views, subqueries, joins and WITH, and
 * not through anything that computes, chooses or unites: then no mask is known, and the policy holds.
 *
 * A value of another column, put into one that is shown to somebody, would be shown with it.  So what a statement stores there must be new, or
 * what the same column has; anything else of a column is refused to who may not decrypt.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/partition.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "masks/column_masks.h"
#include "masks/mask_admin.h"
#include "masks/mask_forms.h"
#include "server/compat.h"
#include "server/module.h"
#include "type/access.h"
#include "type/cast.h"
#include "type/core.h"
#include "type/inside.h"

PG_FUNCTION_INFO_V1(tde_masks_for_column);

/* A query, and the one that it is in; NULL: none. */
typedef struct Scope
{
	Query	   *query;
	struct Scope *outer;
} Scope;

/* Returns the encrypted type of an expression, also under a domain; NULL: it has none. */
static TdeType *
encrypted_type(Expr *expr)
{
	Oid			type = exprType((Node *) expr);

	return type < FirstNormalObjectId ? NULL : tde_type_find(getBaseType(type));
}

/* ---- which column an expression is ---- */

static TdeColumn column_of(Expr *expr, Scope *scope);

static Scope *
scope_above(Scope *scope, Index levels)
{
	while (scope && levels-- > 0)
		scope = scope->outer;
	return scope;
}

/* Returns the column of a subquery's result, or of RETURNING in WITH. */
static TdeColumn
column_of_query(Query *query, int number, Scope *outer)
{
	Scope		inner = {query, outer};
	TargetEntry *entry = get_tle_by_resno(tde_output_columns(query), number);

	return entry ? column_of(entry->expr, &inner) : TDE_NO_COLUMN;
}

/* Returns the column of a query in WITH.  A recursive one unites rows, so no mask is known. */
static TdeColumn
column_of_with(RangeTblEntry *rte, int number, Scope *scope)
{
	ListCell   *cell;

	scope = scope_above(scope, rte->ctelevelsup);
	if (scope == NULL)
		return TDE_NO_COLUMN;
	foreach(cell, scope->query->cteList)
	{
		CommonTableExpr *cte = lfirst(cell);

		if (strcmp(cte->ctename, rte->ctename) == 0)
			return cte->cterecursive ? TDE_NO_COLUMN : column_of_query(castNode(Query, cte->ctequery), number, scope);
	}
	return TDE_NO_COLUMN;
}

/*
 * Returns the table that a Var is of, and its query in *scope.  What UNION and its like give seems to be a column of their first query, and is none.
 */
static RangeTblEntry *
entry_of(Var *var, Scope **scope)
{
	*scope = scope_above(*scope, var->varlevelsup);
	if (*scope == NULL || (*scope)->query->setOperations || var->varattno <= 0)
		return NULL;
	return rt_fetch(var->varno, (*scope)->query->rtable);
}

/* min() and its like, of PostgreSQL's or ours, give back what they were given.  Returns that argument; NULL: the result is another value. */
static Expr *
chosen_argument(Oid function, Oid result, List *arguments)
{
	Expr	   *argument = list_length(arguments) == 1 ? linitial(arguments) : NULL;

	if (argument && IsA(argument, TargetEntry))
		argument = ((TargetEntry *) argument)->expr;
	if (argument == NULL || exprType((Node *) argument) != result)
		return NULL;
	return tde_is_core(function) || tde_core_is_member(ProcedureRelationId, function) ? argument : NULL;
}

/* Returns what an expression has the value of, if not one of its own; NULL: it has. */
static Expr *
source_of(Expr *expr)
{
	if (IsA(expr, RelabelType))
		return ((RelabelType *) expr)->arg;
	if (IsA(expr, Aggref))
		return chosen_argument(((Aggref *) expr)->aggfnoid, ((Aggref *) expr)->aggtype, ((Aggref *) expr)->args);
	if (IsA(expr, WindowFunc))
		return chosen_argument(((WindowFunc *) expr)->winfnoid, ((WindowFunc *) expr)->wintype, ((WindowFunc *) expr)->args);
	return NULL;
}

/* Returns the table's column that an expression's value is; TDE_NO_COLUMN: it is none, or nobody knows. */
static TdeColumn
column_of(Expr *expr, Scope *scope)
{
	RangeTblEntry *rte;
	int			number;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (source_of(expr))
		return column_of(source_of(expr), scope);
	rte = IsA(expr, Var) ? entry_of((Var *) expr, &scope) : NULL;
	if (rte == NULL)
		return TDE_NO_COLUMN;
	number = ((Var *) expr)->varattno;
	if (TDE_GROUP_EXPRESSIONS(rte))
		return column_of(list_nth(TDE_GROUP_EXPRESSIONS(rte), number - 1), scope);
	switch (rte->rtekind)
	{
		case RTE_RELATION:
			return (TdeColumn) {rte->relid, number};
		case RTE_SUBQUERY:
			return column_of_query(rte->subquery, number, scope);
		case RTE_JOIN:
			return column_of(list_nth(rte->joinaliasvars, number - 1), scope);
		case RTE_CTE:
			return column_of_with(rte, number, scope);
		default:
			return TDE_NO_COLUMN;
	}
}

/* ---- calls ---- */

/* Returns the argument under a call that tells its column, if that has masks. */
static Expr *
told(Expr *argument, Scope *scope)
{
	TdeColumn	column;

	if (encrypted_type(argument) == NULL)
		return argument;
	column = column_of(argument, scope);
	return tde_masks_exist(column) ? tde_masks_call(argument, column) : argument;
}

/*
 * Returns true if the call's result is encrypted.  Then nothing is shown: of the calls that we put here, min(), coercion to a length, what indexes
 * have.
 */
static bool
stays_encrypted(Oid result)
{
	return result >= FirstNormalObjectId && tde_type_find(getBaseType(result));
}

/* Tells the function what columns its arguments are. */
static void
tell(List *arguments, Oid result, Scope *scope)
{
	ListCell   *cell;

	if (stays_encrypted(result))
		return;
	foreach(cell, arguments)
	{
		if (IsA(lfirst(cell), TargetEntry))
			lfirst_node(TargetEntry, cell)->expr = told(lfirst_node(TargetEntry, cell)->expr, scope);
		else
			lfirst(cell) = told(lfirst(cell), scope);
	}
}

/*
 * From PostgreSQL 16 on rows may come to an aggregate in its order.  A value that is this order, too, is then what the sort has, which tells no column:
 * so the order becomes an argument of its own.  With DISTINCT it cannot.
 */
static void
tell_aggregate(Aggref *aggregate, Scope *scope)
{
	List	   *values = list_copy(aggregate->args);
	bool		may_part = aggregate->aggkind == AGGKIND_NORMAL && aggregate->aggdistinct == NIL && !stays_encrypted(aggregate->aggtype);
	ListCell   *cell;

	foreach(cell, values)
	{
		TargetEntry *value = lfirst(cell);
		TargetEntry *order;

		if (!may_part || value->resjunk || value->ressortgroupref == 0 || told(value->expr, scope) == value->expr)
			continue;
		order = copyObject(value);
		order->resno = list_length(aggregate->args) + 1;
		order->resjunk = true;
		value->ressortgroupref = 0;
		aggregate->args = lappend(aggregate->args, order);
	}
	tell(values, aggregate->aggtype, scope);
}

/* Comparisons show nothing, and indexes serve those of columns. */
static void
tell_operator(Oid operator, List *arguments, Scope *scope)
{
	if (operator >= FirstNormalObjectId && TDE_OPERATOR_MEANINGS(operator) == NIL)
		tell(arguments, InvalidOid, scope);
}

/* ---- what is stored ---- */

extern Datum tde_for_column(PG_FUNCTION_ARGS);	/* the core's, which calls the one below */

/*
 * Returns true in a foreign key's action, which brings what the referenced column has.  It runs as the table's owner; a trigger of somebody else's
 * table that runs inside of such an action does not.
 */
static bool
is_foreign_key_action(Oid table)
{
	HeapTuple	tuple = InNoForceRLSOperation() ? SearchSysCache1(RELOID, ObjectIdGetDatum(table)) : NULL;
	bool		result = HeapTupleIsValid(tuple) && ((Form_pg_class) GETSTRUCT(tuple))->relowner == GetUserId();

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return result;
}

/* tde_for_column(anyelement, regclass, int2) returns anyelement - the value; an error if it is a column's, and the user may not decrypt it. */
Datum
tde_masks_for_column(PG_FUNCTION_ARGS)
{
	TdeType    *type = tde_type_find(getBaseType(get_fn_expr_argtype(fcinfo->flinfo, 0)));

	if (unlikely(tde_access_restricted) && type && !tde_access_permits(type, PG_GETARG_DATUM(0)) && !is_foreign_key_action(PG_GETARG_OID(1)))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to store another column's value in column \"%s\" of table \"%s\"",
						get_attname(PG_GETARG_OID(1), PG_GETARG_INT16(2), false), get_rel_name(PG_GETARG_OID(1))),
				 errdetail("The column has masks, by which roles would see it."),
				 errhint("Store a new value, or have somebody do this who may decrypt.")));
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

static Oid
guard_function(void)
{
	Oid			types[] = {ANYELEMENTOID, REGCLASSOID, INT2OID};

	return tde_type_internal_function("tde_for_column", tde_for_column, types, lengthof(types));
}

static void guard(Expr **place, TdeColumn target, Scope *scope);

static void
guard_list(List *expressions, TdeColumn target, Scope *scope)
{
	ListCell   *cell;

	foreach(cell, expressions)
		guard((Expr **) &lfirst(cell), target, scope);
}

/* Each result of CASE may become the value. */
static void
guard_case(CaseExpr *expr, TdeColumn target, Scope *scope)
{
	ListCell   *cell;

	foreach(cell, expr->args)
		guard(&lfirst_node(CaseWhen, cell)->result, target, scope);
	guard(&expr->defresult, target, scope);
}

/* Guards the expressions that VALUES have for each row.  Returns false if the Var is of something else. */
static bool
guard_rows(Var *var, TdeColumn target, Scope *scope)
{
	RangeTblEntry *rte = entry_of(var, &scope);
	ListCell   *row;

	if (rte == NULL || rte->rtekind != RTE_VALUES)
		return false;
	foreach(row, rte->values_lists)
		guard((Expr **) &lfirst(list_nth_cell(lfirst(row), var->varattno - 1)), target, scope);
	return true;
}

/* Returns true if it takes the value on, in whatever form.  What is given a plain one makes a new value. */
static bool
takes_on(Expr *expr)
{
	return IsA(expr, FuncExpr) && (exprIsLengthCoercion((Node *) expr, NULL) || tde_cast_is_encryption(((FuncExpr *) expr)->funcid));
}

/* Guards an expression whose value becomes that of the column: puts it under a call of tde_for_column() unless it is new, or the same column's. */
static void
guard(Expr **place, TdeColumn target, Scope *scope)
{
	Expr	   *expr = *place;
	TdeColumn	source;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (expr == NULL || IsA(expr, Const) || encrypted_type(expr) == NULL)
		return;
	if (IsA(expr, RelabelType))
		guard(&((RelabelType *) expr)->arg, target, scope);
	else if (IsA(expr, CoerceToDomain))
		guard(&((CoerceToDomain *) expr)->arg, target, scope);
	else if (IsA(expr, CoalesceExpr))
		guard_list(((CoalesceExpr *) expr)->args, target, scope);
	else if (IsA(expr, CaseExpr))
		guard_case((CaseExpr *) expr, target, scope);
	else if (takes_on(expr))
		guard((Expr **) &linitial(((FuncExpr *) expr)->args), target, scope);
	else if (!IsA(expr, Var) || !guard_rows((Var *) expr, target, scope))
	{
		source = column_of(expr, scope);
		if (source.table != target.table || source.number != target.number)
			*place = tde_masks_call_of(guard_function(), expr, target);
	}
}

static bool
any_has_masks(List *tables, TdeColumn column)
{
	char	   *name = get_attname(column.table, column.number, false);
	ListCell   *cell;

	foreach(cell, tables)
		if (tde_masks_exist((TdeColumn) {lfirst_oid(cell), get_attnum(lfirst_oid(cell), name)}))
			return true;
	return false;
}

/*
 * Returns true if roles see the column by masks.  A row of a partition is also shown as one of the table that it is a partition of, and the other way
 * round.
 */
static bool
is_shown(TdeColumn column)
{
	if (tde_masks_exist(column))
		return true;
	return (has_superclass(column.table) && any_has_masks(get_partition_ancestors(column.table), column)) ||
		(has_subclass(column.table) && any_has_masks(find_all_inheritors(column.table, NoLock, NULL), column));
}

/* Guards what an INSERT, UPDATE or MERGE stores in columns that are shown. */
static void
guard_targets(List *targets, Scope *scope)
{
	Oid			table = rt_fetch(scope->query->resultRelation, scope->query->rtable)->relid;
	ListCell   *cell;

	foreach(cell, targets)
	{
		TargetEntry *entry = lfirst(cell);
		TdeColumn	column = {table, entry->resno};

		if (!entry->resjunk && entry->expr && encrypted_type(entry->expr) && is_shown(column))
			guard(&entry->expr, column, scope);
	}
}

/* Guards what a query stores: by itself, in ON CONFLICT and in the actions of MERGE. */
static void
guard_stores(Scope *scope)
{
	Query	   *query = scope->query;
	ListCell   *cell;

	if (query->commandType != CMD_SELECT && query->commandType != CMD_UTILITY)
		guard_targets(query->targetList, scope);
	if (query->onConflict)
		guard_targets(query->onConflict->onConflictSet, scope);
	foreach(cell, query->mergeActionList)
		guard_targets(lfirst_node(MergeAction, cell)->targetList, scope);
}

/* ---- the walk ---- */

/* A query_or_expression_tree_walker; what it changes stays where it is. */
static bool
look(Node *node, void *context)
{
	Scope	   *scope = context;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		Scope		inner = {(Query *) node, scope};

		guard_stores(&inner);
		return query_tree_walker(inner.query, look, &inner, 0);
	}
	if (IsA(node, FuncExpr))
		tell(((FuncExpr *) node)->args, ((FuncExpr *) node)->funcresulttype, scope);
	else if (IsA(node, OpExpr))
		tell_operator(((OpExpr *) node)->opno, ((OpExpr *) node)->args, scope);
	else if (IsA(node, ScalarArrayOpExpr))
		tell_operator(((ScalarArrayOpExpr *) node)->opno, ((ScalarArrayOpExpr *) node)->args, scope);
	else if (IsA(node, Aggref))
		tell_aggregate((Aggref *) node, scope);
	else if (IsA(node, WindowFunc))
		tell(((WindowFunc *) node)->args, ((WindowFunc *) node)->wintype, scope);
	return expression_tree_walker(node, look, context);
}

/* ---- the module ---- */

/* TdeMasksCalls.columns: changes the query, and returns which columns of its result have masks, for whoever receives the rows. */
static List *
columns(Query *query)
{
	Scope		scope = {query, NULL};
	List	   *items = NIL;
	ListCell   *cell;

	(void) look((Node *) query, NULL);
	foreach(cell, tde_output_columns(query))
	{
		TargetEntry *entry = lfirst(cell);
		TdeColumn	column = entry->resjunk || encrypted_type(entry->expr) == NULL ? TDE_NO_COLUMN : column_of(entry->expr, &scope);

		if (tde_masks_exist(column))
			items = lappend(items, tde_masks_item(entry->resno - 1, column));
	}
	return items;
}

static void
init(void)
{
	tde_column_masks_init();
	tde_mask_admin_init();
}

static const TdeMasksCalls calls = {
	.columns = columns,
	.of_column = tde_mask_of_column,
	.has_form = tde_mask_has_form,
	.form = tde_mask_form,
	.forget = tde_column_masks_forget,
};

TDE_MODULE("masks", init, &calls);
