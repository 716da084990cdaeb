/*
 * strip_coercion.c - an extension as it should not be: its planner hook has INSERT, UPDATE and MERGE store values as they come, without
 * the coercion to the column's modifiers.
 */
#include "postgres.h"

#include "fmgr.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/planner.h"

PG_MODULE_MAGIC;
void		_PG_init(void);

static planner_hook_type next_planner = NULL;

static Expr *
without_coercion(Expr *expr)
{
	FuncExpr   *call = (FuncExpr *) expr;
	int32		typmod;

	if (IsA(expr, FuncExpr) && exprIsLengthCoercion((Node *) expr, &typmod) &&
		exprType(linitial(call->args)) == call->funcresulttype)
		return linitial(call->args);
	return expr;
}

static void
strip(List *targets)
{
	ListCell   *cell;

	foreach(cell, targets)
	{
		TargetEntry *entry = lfirst(cell);

		entry->expr = without_coercion(entry->expr);
	}
}

static bool
strip_queries(Node *node, void *unused)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		Query	   *query = (Query *) node;
		ListCell   *cell;

		if (query->commandType != CMD_SELECT)
			strip(query->targetList);
		foreach(cell, query->mergeActionList)
			strip(((MergeAction *) lfirst(cell))->targetList);
		if (query->onConflict)
			strip(query->onConflict->onConflictSet);
		return query_tree_walker(query, strip_queries, unused, 0);
	}
	return expression_tree_walker(node, strip_queries, unused);
}

static PlannedStmt *
plan(Query *query, const char *text, int options, ParamListInfo params)
{
	(void) strip_queries((Node *) query, NULL);
	return next_planner ? next_planner(query, text, options, params) : standard_planner(query, text, options, params);
}

void
_PG_init(void)
{
	next_planner = planner_hook;
	planner_hook = plan;
}
