/*
 * strip_coercion.c - an extension as it should not be: its planner hook has INSERT, UPDATE and MERGE store values as they come, without
 * the coercion to the column's modifiers, and its function gives out rows of a query as if they were of any modifiers.
 */
#include "postgres.h"

#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/planner.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/tuplestore.h"

#include "server/compat.h"

PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(rows_of);

void		_PG_init(void);

static planner_hook_type next_planner = NULL;
static bool enabled = false;

static Expr *
without_coercion(Expr *expr)
{
	FuncExpr   *call = (FuncExpr *) expr;
	ArrayCoerceExpr *array = (ArrayCoerceExpr *) expr;
	int32		typmod;

	if (IsA(expr, FuncExpr) && exprIsLengthCoercion((Node *) expr, &typmod) &&
		exprType(linitial(call->args)) == call->funcresulttype)
		return linitial(call->args);
	if (IsA(expr, ArrayCoerceExpr) && exprType((Node *) array->arg) == array->resulttype)
		return array->arg;
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
plan(TDE_PLANNER_PARAMETERS)
{
	if (enabled)
		(void) strip_queries((Node *) query, NULL);
	return next_planner ? next_planner(TDE_PLANNER_ARGUMENTS) : standard_planner(TDE_PLANNER_ARGUMENTS);
}

/* rows_of(query text) returns SETOF record */
Datum
rows_of(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	SPI_connect();
	if (SPI_execute(text_to_cstring(PG_GETARG_TEXT_PP(0)), true, 0) != SPI_OK_SELECT)
		elog(ERROR, "not a query");
	for (uint64 i = 0; i < SPI_processed; i++)
		tuplestore_puttuple(result->setResult, SPI_tuptable->vals[i]);
	SPI_finish();
	return (Datum) 0;
}

void
_PG_init(void)
{
	DefineCustomBoolVariable("strip_coercion.enabled", "Be as it should not be.", NULL, &enabled, false, PGC_USERSET, 0, NULL, NULL, NULL);
	next_planner = planner_hook;
	planner_hook = plan;
}
