/*
 * postponed.c - the columns of a SELECT whose decryption is left to the receiver of its rows: taken out of the query, noted in the plan,
 * and put into the plan again for EXPLAIN.
 */
#include "postgres.h"

#include "access/transam.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/planmain.h"
#include "port/pg_bitutils.h"
#include "utils/lsyscache.h"

#include "client/postponed.h"
#include "client/result.h"
#include "type/inside.h"

/* Adds a column to the set that the list is.  Columns come in ascending order, so that only the last item can be the one. */
static List *
postpone_column(List *postponed, TargetEntry *column)
{
	int			index = column->resno - 1;
	int			set = -1 - index / 32;

	if (postponed == NIL || llast_node(PlanInvalItem, postponed)->cacheId != set)
	{
		PlanInvalItem *item = makeNode(PlanInvalItem);

		item->cacheId = set;
		postponed = lappend(postponed, item);
	}
	llast_node(PlanInvalItem, postponed)->hashValue |= (uint32) 1 << index % 32;
	return postponed;
}

Bitmapset *
tde_postponed_columns(PlannedStmt *plan)
{
	Bitmapset  *columns = NULL;
	ListCell   *cell;

	foreach(cell, plan->invalItems)
	{
		PlanInvalItem *item = lfirst(cell);

		if (!tde_is_postponed(item))
			continue;
		for (uint32 which = item->hashValue; which != 0; which &= which - 1)
			columns = bms_add_member(columns, (-1 - item->cacheId) * 32 + pg_rightmost_one_pos32(which));
	}
	return columns;
}

List *
tde_postponed_mark(Query *query)
{
	List	   *postponed = NIL;
	ListCell   *cell;

	foreach(cell, query->targetList)
	{
		TdeType    *type = tde_result_column(lfirst(cell));

		if (type && OidIsValid(tde_result_function(type)))
			postponed = postpone_column(postponed, lfirst(cell));
	}
	return postponed;
}

/*
 * Returns what tde_result_call() was given, if this is what it made, in this session or in whichever prepared the statement; NULL if it is anything
 * else.  So it is told by its form, and not by what this session remembers.
 */
static Expr *
encrypted_again(Expr *expr)
{
	FuncExpr   *call = tde_result_called(expr);
	Oid			oid;
	TdeType    *type;
	RelabelType *relabel;

	/* a call that somebody has written is no cast */
	if (call == NULL || call->funcformat != COERCE_EXPLICIT_CAST || list_length(call->args) != 2)
		return NULL;
	oid = exprType(linitial(call->args));
	type = oid < FirstNormalObjectId ? NULL : tde_type_find(oid);
	if (type == NULL || call->funcid != tde_result_function(type))
		return NULL;
	relabel = (RelabelType *) (IsA(expr, ArrayCoerceExpr) ? ((ArrayCoerceExpr *) expr)->arg : linitial(call->args));
	/* a domain */
	if (IsA(relabel, RelabelType) && getBaseType(exprType((Node *) relabel->arg)) == relabel->resulttype)
		return relabel->arg;
	return (Expr *) relabel;
}

/* If sorting, grouping or windows use a hidden copy of this column, lets them use the column.  Returns the copy; NULL if there is none. */
static TargetEntry *
replace_copy(List *columns, TargetEntry *column)
{
	ListCell   *cell;

	foreach(cell, columns)
	{
		TargetEntry *copy = lfirst(cell);

		if (copy->resjunk && copy->ressortgroupref != 0 && equal(copy->expr, column->expr))
		{
			column->ressortgroupref = copy->ressortgroupref;
			copy->ressortgroupref = 0;
			return copy;
		}
	}
	return NULL;
}

/* Returns the columns without these copies, numbered anew: the planner wants numbers without gaps. */
static List *
without_copies(List *columns, List *copies)
{
	ListCell   *cell;

	columns = list_difference_ptr(columns, copies);
	foreach(cell, columns)
		lfirst_node(TargetEntry, cell)->resno = foreach_current_index(cell) + 1;
	return columns;
}

List *
tde_postponed_take(Query *query)
{
	List	   *postponed = NIL;
	List	   *copies = NIL;
	ListCell   *cell;

	foreach(cell, query->targetList)
	{
		TargetEntry *column = lfirst(cell);
		Expr	   *encrypted = column->resjunk ? NULL : encrypted_again(column->expr);
		TargetEntry *copy = NULL;

		if (encrypted == NULL)
			continue;
		postponed = postpone_column(postponed, column);
		column->expr = encrypted;
		if (llast_node(TargetEntry, query->targetList)->resjunk)
			copy = replace_copy(query->targetList, column);
		if (copy)
			copies = lappend(copies, copy);
	}
	if (copies)
		query->targetList = without_copies(query->targetList, copies);
	return postponed;
}

/* ---- showing it ---- */

/* Has a call be told which column its value comes from, if that has masks. */
static void
tell_column(Expr *expr, TdeColumn column)
{
	FuncExpr   *call = tde_result_called(expr);

	if (call && OidIsValid(column.table))
		linitial(call->args) = tde_masks_call(linitial(call->args), column);
}

static void
decrypt_columns(Plan *plan, Bitmapset *columns, List *items)
{
	for (int index = -1; (index = bms_next_member(columns, index)) >= 0;)
	{
		TargetEntry *column = list_nth(plan->targetlist, index);

		column->expr = tde_result_call(column->expr, tde_result_column(column));
		tell_column(column->expr, tde_masks_result(items, index));
	}
}

PlannedStmt *
tde_postponed_show(PlannedStmt *plan)
{
	PlannedStmt *shown = copyObject(plan);

	if (!is_projection_capable_plan(shown->planTree))
		shown->planTree = tde_inside_projection_above(shown->planTree);
	decrypt_columns(shown->planTree, tde_postponed_columns(plan), plan->invalItems);
	shown->invalItems = NIL;
	return shown;
}

/* ---- RETURNING of tables that are on other nodes ---- */

Bitmapset *
tde_postponed_take_returning(Query *query)
{
	Bitmapset  *columns = NULL;
	ListCell   *cell;

	foreach(cell, query->returningList)
	{
		TargetEntry *column = lfirst(cell);
		Expr	   *encrypted = encrypted_again(column->expr);

		if (encrypted == NULL)
			continue;
		column->expr = encrypted;
		columns = bms_add_member(columns, column->resno - 1);
	}
	return columns;
}

void
tde_postponed_decrypt_returning(PlannedStmt *plan, Bitmapset *columns)
{
	plan->planTree = tde_inside_projection_above(plan->planTree);
	decrypt_columns(plan->planTree, columns, NIL);
}
