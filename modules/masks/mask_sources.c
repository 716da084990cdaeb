/*
 * mask_sources.c - which table's column the value of an expression is.
 *
 * A column is followed through views, subqueries, joins and WITH, and not through anything that computes, chooses or unites: then no column is known.
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

#include "masks/mask_sources.h"
#include "server/compat.h"
#include "type/core.h"
#include "type/inside.h"

TdeType *
tde_mask_encrypted_type(Expr *expr)
{
	Oid			type = exprType((Node *) expr);

	return type < FirstNormalObjectId ? NULL : tde_type_find(getBaseType(type));
}

static TdeMaskScope *
scope_above(TdeMaskScope *scope, Index levels)
{
	while (scope && levels-- > 0)
		scope = scope->outer;
	return scope;
}

/* Returns the column of a subquery's result, or of RETURNING in WITH. */
static TdeColumn
column_of_query(Query *query, int number, TdeMaskScope *outer)
{
	TdeMaskScope inner = {query, outer};
	TargetEntry *entry = get_tle_by_resno(tde_output_columns(query), number);

	return entry ? tde_mask_column_of(entry->expr, &inner) : TDE_NO_COLUMN;
}

/* Returns the column of a query in WITH.  A recursive one unites rows, so no mask is known. */
static TdeColumn
column_of_with(RangeTblEntry *rte, int number, TdeMaskScope *scope)
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

RangeTblEntry *
tde_mask_entry_of(Var *var, TdeMaskScope **scope)
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

TdeColumn
tde_mask_column_of(Expr *expr, TdeMaskScope *scope)
{
	RangeTblEntry *rte;
	int			number;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (source_of(expr))
		return tde_mask_column_of(source_of(expr), scope);
	rte = IsA(expr, Var) ? tde_mask_entry_of((Var *) expr, &scope) : NULL;
	if (rte == NULL)
		return TDE_NO_COLUMN;
	number = ((Var *) expr)->varattno;
	if (TDE_GROUP_EXPRESSIONS(rte))
		return tde_mask_column_of(list_nth(TDE_GROUP_EXPRESSIONS(rte), number - 1), scope);
	switch (rte->rtekind)
	{
		case RTE_RELATION:
			return (TdeColumn) {rte->relid, number};
		case RTE_SUBQUERY:
			return column_of_query(rte->subquery, number, scope);
		case RTE_JOIN:
			return tde_mask_column_of(list_nth(rte->joinaliasvars, number - 1), scope);
		case RTE_CTE:
			return column_of_with(rte, number, scope);
		default:
			return TDE_NO_COLUMN;
	}
}
