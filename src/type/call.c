/*
 * call.c - what a call site of a function of ours keeps, and what its expression tells of the columns that are its arguments; what COPY gives out, of
 * which no expression tells.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_aggregate.h"
#include "nodes/execnodes.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/syscache.h"

#include "server/statement.h"
#include "type/call.h"
#include "type/datum.h"
#include "type/declared.h"
#include "type/inside.h"
#include "type/masks.h"
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

/* Of a cast by text, too, whose output function is told nothing of its argument. */
List *
tde_call_arguments(FunctionCallInfo fcinfo)
{
	Node	   *expr = fcinfo->flinfo->fn_expr;

	return expr && IsA(expr, CoerceViaIO) ? list_make1(((CoerceViaIO *) expr)->arg) : told_arguments(fcinfo);
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
	call->opened = NULL;
	call->constant = -1;
	for (int i = lengthof(call->declared) - 1; i >= 0; i--)
	{
		Node	   *arg = tde_masks_argument(i < list_length(args) ? list_nth(args, i) : NULL, &call->columns[i]);

		call->declared[i] = i < proc->nargs && proc->args[i] ? tde_declared(proc->args[i], told_typmod(arg)) : exprTypmod(arg);
		if (i < 2 && arg && (IsA(arg, Const) || (IsA(arg, Param) && ((Param *) arg)->paramkind == PARAM_EXTERN)))
			call->constant = i;
	}
	flinfo->fn_extra = call;
	return call;
}

/*
 * ---- the columns of a table that COPY gives out ----
 *
 * COPY table TO calls the output functions of the columns' types, or as JSON their casts to it, by nothing but the types.  While it does, nothing else
 * of the session runs: so their calls are COPY's, for the table's columns.
 */

Oid
tde_call_copied_table(Node *command)
{
	CopyStmt   *copy = (CopyStmt *) command;
	Oid			table;

	if (!IsA(command, CopyStmt) || copy->is_from || copy->relation == NULL)
		return InvalidOid;
	table = RangeVarGetRelid(copy->relation, NoLock, true);
	/* with policies of rows it becomes a query, in which functions may run */
	if (!OidIsValid(table) || check_enable_rls(table, InvalidOid, true) == RLS_ENABLED)
		return InvalidOid;
	return table;
}

/* What its columns of this type, and of arrays of it, declare: a list of what tde_declared() gives; NIL if some may hold anything. */
static List *
copied_columns(Oid table, TdeType *type)
{
	Relation	rel = table_open(table, AccessShareLock);
	TupleDesc	columns = RelationGetDescr(rel);
	List	   *declared = NIL;
	bool		known = true;

	for (int i = 0; i < columns->natts && known; i++)
	{
		Form_pg_attribute column = TupleDescAttr(columns, i);
		int32		typmod = column->atttypmod;
		Oid			base;
		Oid			element;

		if (column->attisdropped)
			continue;
		base = getBaseTypeAndTypmod(column->atttypid, &typmod);
		element = get_element_type(base);
		if (OidIsValid(element))
			base = element;
		/* composites and ranges may have such values of other keys */
		known = base == type->oid ? typmod >= 0 : tde_type_find(base) || !tde_type_holds_encrypted(base);
		if (base == type->oid)
			declared = list_append_unique_int(declared, tde_declared(type, typmod));
	}
	table_close(rel, AccessShareLock);
	return known ? declared : NIL;
}

TdeCall *
tde_call_setup_copied(FunctionCallInfo fcinfo)
{
	TdeCall    *call = tde_call_setup(fcinfo);
	MemoryContext before = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	List	   *copied = NIL;

	if (OidIsValid(tde_statement.copied) && fcinfo->flinfo->fn_expr == NULL)
		copied = copied_columns(tde_statement.copied, call->proc->args[0]);
	if (list_length(copied) == 1)
		call->declared[0] = linitial_int(copied);
	else
		call->more = copied;
	MemoryContextSwitchTo(before);
	return call;
}

int32
tde_call_declared_by_any(TdeCall *call, Datum value)
{
	List	   *copied = call->more;
	ListCell   *cell;

	foreach(cell, copied)
		if (tde_datum_fits(call->proc->args[0], value, lfirst_int(cell)))
			return lfirst_int(cell);
	return linitial_int(copied);
}
