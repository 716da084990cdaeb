/*
 * call.c - what a call site of a function of ours keeps, and what its expression tells of the columns that are its arguments.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "nodes/execnodes.h"
#include "nodes/nodeFuncs.h"
#include "utils/syscache.h"

#include "type/declared.h"
#include "type/type.h"

/*
 * The arguments of the calling expression, without the array whose elements are one of them in turn; of one that is looked up in a hash table of these,
 * none, since each function gets elements in its place, too.
 */
static List *
call_arguments(Node *expr)
{
	if (expr == NULL)
		return NIL;
	if (IsA(expr, FuncExpr))
		return ((FuncExpr *) expr)->args;
	if (IsA(expr, OpExpr) || IsA(expr, DistinctExpr) || IsA(expr, NullIfExpr))
		return ((OpExpr *) expr)->args;
	return IsA(expr, ScalarArrayOpExpr) && !OidIsValid(((ScalarArrayOpExpr *) expr)->hashfuncid) ?
		list_make1(linitial(((ScalarArrayOpExpr *) expr)->args)) : NIL;
}

/*
 * The typmod of the column that an argument is; -1: it is none.  A cast's function says what it likes of its result, and a domain's CHECK
 * looks at what is still to become a column's value.
 */
static int32
told_typmod(Node *arg)
{
	Node	   *source = arg;

	while (source && IsA(source, RelabelType))
		source = (Node *) ((RelabelType *) source)->arg;
	return source && (IsA(source, FuncExpr) || IsA(source, CoerceToDomainValue)) ? -1 : exprTypmod(arg);
}

/* Those of an aggregate's transition function, whose expression tells nothing of them but their types; the first one is the state. */
static List *
aggregated_arguments(const Aggref *aggref)
{
	List	   *args = list_make1(NULL);
	ListCell   *cell;

	foreach(cell, aggref->args)
		args = lappend(args, lfirst_node(TargetEntry, cell)->expr);
	return args;
}

/* Is this the function that takes a value into the state of an aggregate, or out of it? */
static bool
is_transition(Oid function, Oid aggregate)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
	Form_pg_aggregate form;
	bool		result;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_aggregate) GETSTRUCT(tuple);
	result = form->aggtransfn == function || form->aggmtransfn == function || form->aggminvtransfn == function;
	ReleaseSysCache(tuple);
	return result;
}

/* The same of an aggregate over a window.  Which of several has called, nothing tells: then these tell nothing. */
static List *
windowed_arguments(const WindowAggState *state, Oid function)
{
	List	   *args = NIL;
	ListCell   *cell;

	foreach(cell, state->funcs)
	{
		WindowFunc *call = ((WindowFuncExprState *) lfirst(cell))->wfunc;

		if (!is_transition(function, call->winfnoid))
			continue;
		if (args != NIL)
			return NIL;
		args = lcons(NULL, list_copy(call->args));
	}
	return args;
}

/* What of the columns that are its arguments can be told to a function. */
static List *
told_arguments(FunctionCallInfo fcinfo)
{
	Aggref	   *aggref;

	if (fcinfo->context && IsA(fcinfo->context, WindowAggState))
		return windowed_arguments((WindowAggState *) fcinfo->context, fcinfo->flinfo->fn_oid);
	aggref = fcinfo->context && IsA(fcinfo->context, AggState) ? AggGetAggref(fcinfo) : NULL;
	return aggref ? aggregated_arguments(aggref) : call_arguments(fcinfo->flinfo->fn_expr);
}

TdeCall *
tde_call_setup(FunctionCallInfo fcinfo)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;
	TdeProc    *proc = tde_type_proc(flinfo->fn_oid);
	List	   *args = told_arguments(fcinfo);
	TdeCall    *call = MemoryContextAlloc(flinfo->fn_mcxt, sizeof(TdeCall));

	call->proc = proc;
	call->more = NULL;
	call->constant = -1;
	for (int i = lengthof(call->declared) - 1; i >= 0; i--)
	{
		Node	   *arg = i < list_length(args) ? list_nth(args, i) : NULL;

		call->declared[i] = i < proc->nargs && proc->args[i] ? tde_declared(proc->args[i], told_typmod(arg)) : exprTypmod(arg);
		if (i < 2 && arg && (IsA(arg, Const) || (IsA(arg, Param) && ((Param *) arg)->paramkind == PARAM_EXTERN)))
			call->constant = i;
	}
	flinfo->fn_extra = call;
	return call;
}
