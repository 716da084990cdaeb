/*
 * inlined.c - calls of the extension's functions in SQL as what these consist of.
 *
 * -n and abs(n) of an encrypted integer call functions in SQL, RETURN abs($1::int4), which PostgreSQL puts in place of the calls when it plans
 * (sql/46_smaller.sql).  Citus asks before that whether a call is STABLE, as they all are, and then lets no UPDATE, ON CONFLICT or MERGE compute with it
 * from a column.  What they consist of, casts and PostgreSQL's own functions, it takes (volatility.c).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "citus/inlined.h"
#include "type/core.h"

/* An expression_tree_mutator: the arguments in place of the parameters. */
static Node *
put_arguments(Node *node, void *args)
{
	Param	   *param = (Param *) node;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node && IsA(node, Param) && param->paramkind == PARAM_EXTERN && param->paramid <= list_length(args))
		return copyObject(list_nth(args, param->paramid - 1));
	return expression_tree_mutator(node, put_arguments, args);
}

/* Returns true if it is one of ours, in SQL, and STABLE. */
static bool
is_our_sql_function(Oid function)
{
	HeapTuple	tuple = function < FirstNormalObjectId ? NULL : SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	bool		ours;

	if (!HeapTupleIsValid(tuple))
		return false;
	ours = ((Form_pg_proc) GETSTRUCT(tuple))->prolang == SQLlanguageId && ((Form_pg_proc) GETSTRUCT(tuple))->provolatile == PROVOLATILE_STABLE;
	ReleaseSysCache(tuple);
	return ours && tde_core_is_member(ProcedureRelationId, function);
}

/* Returns the function that a call or an operator calls. */
static Oid
called(Node *call)
{
	return IsA(call, FuncExpr) ? ((FuncExpr *) call)->funcid : get_opcode(((OpExpr *) call)->opno);
}

/* Returns parameters $1, $2, ... with the types of the arguments, so that nothing of the user's is evaluated. */
static List *
as_parameters(List *args)
{
	List	   *parameters = NIL;
	ListCell   *cell;

	foreach(cell, args)
	{
		Param	   *param = makeNode(Param);

		param->paramkind = PARAM_EXTERN;
		param->paramid = foreach_current_index(cell) + 1;
		param->paramtype = exprType(lfirst(cell));
		param->paramtypmod = exprTypmod(lfirst(cell));
		param->paramcollid = exprCollation(lfirst(cell));
		parameters = lappend(parameters, param);
	}
	return parameters;
}

/*
 * Returns what stands for the call; NULL: it stays.  This is PostgreSQL's own way, which looks into what comes out, too, and also evaluates what it
 * can: so it gets parameters, and nothing of the user's.  An argument may be taken several times, so none may be volatile.
 */
static Node *
inlined(Node *call)
{
	Oid			function = called(call);
	List	  **args = IsA(call, FuncExpr) ? &((FuncExpr *) call)->args : &((OpExpr *) call)->args;
	List	   *given = *args;
	Node	   *body;

	if (!is_our_sql_function(function) || contain_volatile_functions((Node *) given))
		return NULL;
	*args = as_parameters(given);
	body = eval_const_expressions(NULL, call);
	*args = given;
	return nodeTag(body) == nodeTag(call) && called(body) == function ? NULL : put_arguments(body, given);
}

/* An expression_tree_mutator. */
static Node *
inline_calls(Node *node, void *context)
{
	Node	   *copy;
	Node	   *body;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return NULL;
	if (IsA(node, Query))
		return (Node *) query_tree_mutator((Query *) node, inline_calls, context, 0);
	copy = expression_tree_mutator(node, inline_calls, context);
	body = IsA(copy, FuncExpr) || IsA(copy, OpExpr) ? inlined(copy) : NULL;
	return body ? body : copy;
}

void
tde_citus_inline(Query *query)
{
	if (query->commandType != CMD_SELECT || query->hasModifyingCTE)
		*query = *query_tree_mutator(query, inline_calls, NULL, 0);
}
