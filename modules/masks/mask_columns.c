/*
 * mask_columns.c - which columns with masks the values in a query come from.
 *
 * A value does not say that itself.  So what decrypts it is told, by a call of tde_of_column() around the column, or by the plan if it is the receiver
 * of the rows: by which the masks are found when the value is shown (type/masks.c).  Where no column is known, no mask is, and the policy holds.
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_relation.h"
#include "utils/lsyscache.h"

#include "masks/column_masks.h"
#include "masks/mask_admin.h"
#include "masks/mask_forms.h"
#include "masks/mask_sources.h"
#include "masks/mask_stores.h"
#include "server/compat.h"
#include "server/module.h"
#include "type/inside.h"

/* ---- calls ---- */

/* Returns the argument under a call that tells its column, if that has masks. */
static Expr *
told(Expr *argument, TdeMaskScope *scope)
{
	TdeColumn	column;

	if (tde_mask_encrypted_type(argument) == NULL)
		return argument;
	column = tde_mask_column_of(argument, scope);
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
tell(List *arguments, Oid result, TdeMaskScope *scope)
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
tell_aggregate(Aggref *aggregate, TdeMaskScope *scope)
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
tell_operator(Oid operator, List *arguments, TdeMaskScope *scope)
{
	if (operator >= FirstNormalObjectId && TDE_OPERATOR_MEANINGS(operator) == NIL)
		tell(arguments, InvalidOid, scope);
}

/* ---- the walk ---- */

/* A query_or_expression_tree_walker; what it changes stays where it is. */
static bool
look(Node *node, void *context)
{
	TdeMaskScope *scope = context;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		TdeMaskScope inner = {(Query *) node, scope};

		tde_mask_guard_stores(&inner);
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
	TdeMaskScope scope = {query, NULL};
	List	   *items = NIL;
	ListCell   *cell;

	(void) look((Node *) query, NULL);
	foreach(cell, tde_output_columns(query))
	{
		TargetEntry *entry = lfirst(cell);
		TdeColumn	column = entry->resjunk || tde_mask_encrypted_type(entry->expr) == NULL ? TDE_NO_COLUMN : tde_mask_column_of(entry->expr, &scope);

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
