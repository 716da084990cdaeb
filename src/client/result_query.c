/*
 * result_query.c - the encrypted columns of a query's result are decrypted by the query itself and have the base type.
 *
 * So the query has the right types wherever PostgreSQL asks for them.  Before a SELECT is planned, the function that decrypts is taken
 * out again (client/postponed.c): client/result_receiver.c does the same for less when the rows are sent.  Where nobody asks before the query is planned,
 * it is not put in at all.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "client/postponed.h"
#include "client/result.h"
#include "client/rows.h"
#include "server/compat.h"
#include "type/inside.h"

bool
tde_result_has_rows(Query *query)
{
	ListCell   *cell;

	/* what is compared first stays as it is */
	if (query->setOperations || query->distinctClause)
		return false;
	foreach(cell, tde_output_columns(query))
		if (!lfirst_node(TargetEntry, cell)->resjunk && tde_row_is_encrypted(lfirst_node(TargetEntry, cell)->expr))
			return true;
	return false;
}

/* Returns the type that the client is told instead of a column's. */
static Oid
shown_type(TdeType *type, Oid column)
{
	return OidIsValid(get_element_type(getBaseType(column))) ? get_array_type(type->base) : type->base;
}

bool
tde_result_is_encrypted(Query *query)
{
	ListCell   *cell;

	foreach(cell, tde_output_columns(query))
		if (tde_result_column(lfirst(cell)))
			return true;
	return false;
}

bool
tde_result_was_decrypted(Query *query, TupleDesc described)
{
	ListCell   *cell;

	foreach(cell, tde_output_columns(query))
	{
		TargetEntry *column = lfirst(cell);
		TdeType    *type = tde_result_column(column);

		if (type && column->resno <= described->natts &&
			TupleDescAttr(described, column->resno - 1)->atttypid == shown_type(type, exprType((Node *) column->expr)))
			return true;
	}
	return false;
}

/* Sorting, grouping and windows go on using the encrypted column, as a hidden copy. */
static List *
decrypt_columns(List *columns, bool with_rows)
{
	List	   *hidden = NIL;
	ListCell   *cell;

	foreach(cell, columns)
	{
		TargetEntry *column = lfirst(cell);
		TdeType    *type = tde_result_column(column);

		if (type == NULL && !(with_rows && tde_row_is_encrypted(column->expr)))
			continue;
		if (column->ressortgroupref != 0)
		{
			TargetEntry *copy = copyObject(column);

			copy->resjunk = true;
			copy->resno = list_length(columns) + list_length(hidden) + 1;
			column->ressortgroupref = 0;
			hidden = lappend(hidden, copy);
		}
		column->expr = type ? tde_result_call(column->expr, type) : tde_row_decrypt(column->expr);
	}
	return list_concat(columns, hidden);
}

/* A query_or_expression_tree_walker: the WITH clause of the query at depth 0 is one level higher now. */
static bool
raise_ctes(Node *node, void *context)
{
	int		   *depth = context;
	ListCell   *cell;
	bool		aborted;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, raise_ctes, context);
	foreach(cell, ((Query *) node)->rtable)
	{
		RangeTblEntry *rte = lfirst(cell);

		if (rte->rtekind == RTE_CTE && rte->ctelevelsup >= *depth)
			rte->ctelevelsup++;
	}
	++*depth;
	aborted = query_tree_walker((Query *) node, raise_ctes, context, 0);
	--*depth;
	return aborted;
}

/* PostgreSQL wants a WITH clause that changes data on the top level. */
static void
move_ctes(Query *inner, Query *outer)
{
	int			depth = 0;

	outer->cteList = inner->cteList;
	outer->hasModifyingCTE = true;
	outer->hasRecursive = inner->hasRecursive;
	inner->cteList = NIL;
	inner->hasModifyingCTE = false;
	inner->hasRecursive = false;
	(void) raise_ctes((Node *) inner, &depth);
}

/*
 * Makes the query a subquery, and decrypts what comes out of it: UNION, DISTINCT and functions that return sets work on encrypted values inside.  The
 * outer query has the statement's place in the text and its identifier, by which others know it.
 */
static void
decrypt_outside(Query *query, bool with_rows)
{
	Query	   *inner = makeNode(Query);
	Query	   *outer = makeNode(Query);
	RangeTblEntry *rte = makeNode(RangeTblEntry);
	RangeTblRef *ref = makeNode(RangeTblRef);
	ListCell   *cell;

	*inner = *query;
	inner->queryId = 0;
	rte->rtekind = RTE_SUBQUERY;
	rte->subquery = inner;
	rte->inFromCl = true;
	rte->alias = makeAlias("result", NIL);
	rte->eref = makeAlias("result", NIL);

	foreach(cell, inner->targetList)
	{
		TargetEntry *column = lfirst(cell);
		TargetEntry *shown;

		if (column->resjunk)
			continue;
		/* the query above sees no fields */
		if (with_rows && column->ressortgroupref == 0 && !tde_row_is_plain_for_client(column->expr))
			column->expr = tde_row_decrypt(column->expr);
		rte->eref->colnames = lappend(rte->eref->colnames,
									  makeString(pstrdup(column->resname ? column->resname : "?column?")));
		shown = flatCopyTargetEntry(column);
		shown->ressortgroupref = 0;
		shown->expr = tde_result_call((Expr *) makeVarFromTargetEntry(1, column), tde_result_column(column));
		if (with_rows && tde_row_is_plain_for_client(shown->expr))
			shown->expr = tde_row_decrypt(shown->expr);
		outer->targetList = lappend(outer->targetList, shown);
	}

	if (inner->hasModifyingCTE)
		move_ctes(inner, outer);
	outer->commandType = CMD_SELECT;
	outer->querySource = query->querySource;
	outer->queryId = query->queryId;
	outer->canSetTag = query->canSetTag;
	outer->stmt_location = query->stmt_location;
	outer->stmt_len = query->stmt_len;
	outer->rtable = list_make1(rte);
	ref->rtindex = 1;
	outer->jointree = makeFromExpr(list_make1(ref), NULL);
	*query = *outer;
}

/* ORDER BY of a volatile column: a hidden copy of it could have another value than the one that is shown. */
static bool
sorts_by_volatile(Query *query)
{
	ListCell   *cell;

	foreach(cell, query->targetList)
	{
		TargetEntry *column = lfirst(cell);

		if (column->ressortgroupref != 0 && (tde_result_column(column) || tde_row_is_encrypted(column->expr)) &&
			contain_volatile_functions((Node *) column->expr))
			return true;
	}
	return false;
}

void
tde_result_decrypt(Query *query, bool with_rows)
{
	if (query->commandType != CMD_SELECT)
		query->returningList = decrypt_columns(query->returningList, with_rows);
	else if (!query->setOperations && !query->distinctClause && !query->hasTargetSRFs && !sorts_by_volatile(query))
		query->targetList = decrypt_columns(query->targetList, with_rows);
	/* FOR UPDATE must stay on the top level */
	else if (query->rowMarks == NIL)
		decrypt_outside(query, with_rows);
}

/* ---- what is decrypted already ---- */

bool
tde_result_in_source(CachedPlanSource *source)
{
	ListCell   *query;
	ListCell   *column;

	/* it could not be analyzed again the last time, so it is not known */
	if (source->query_list == NIL)
		return source->resultDesc != NULL;
	foreach(query, source->query_list)
	{
		foreach(column, tde_output_columns(lfirst(query)))
		{
			Expr	   *expr = lfirst_node(TargetEntry, column)->expr;

			if (tde_result_decrypts(expr) || tde_row_shows(expr, tde_result_decrypts))
				return true;
		}
	}
	return false;
}

bool
tde_result_in_plan(PlannedStmt *plan)
{
	ListCell   *cell;

	foreach(cell, plan->invalItems)
	{
		PlanInvalItem *item = lfirst(cell);

		if (tde_is_postponed(item) || (item->cacheId == PROCOID && tde_result_is_remembered(item->hashValue)))
			return true;
	}
	return false;
}
