/*
 * volatility.c - calls of our STABLE functions as Citus may let them run on other nodes.
 *
 * Citus lets no STABLE function compute from a column in UPDATE, ON CONFLICT or MERGE: nodes might get different results.  Ours are
 * STABLE so that no index or generated column holds plaintext and no salt is shared by rows (type/cast.c), not because their results
 * differ.  So in such a query, and nowhere in the catalogs, their calls get an IMMUTABLE function in place of theirs, tde_called().
 * What Citus sends to other nodes is SQL, made of operators and casts, in which it does not appear.  Where a node executes the query
 * itself, it finds out by the expression what it stands for, and calls that.
 *
 * What is STABLE of the base types as well, as timestamptz + interval is, stays so.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/pg_cast.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "rewrite/rewriteManip.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "citus/volatility.h"
#include "server/compat.h"
#include "type/base_functions.h"
#include "type/core.h"
#include "type/inside.h"
#include "type/type.h"

PG_FUNCTION_INFO_V1(tde_citus_called);

/* The core's, which the catalog has. */
extern PGDLLEXPORT Datum tde_called(PG_FUNCTION_ARGS);

/* ---- what a call stands for ---- */

/* Returns the function of the cast that a call in a cast's form is; InvalidOid: there is no such cast. */
static Oid
cast_function(FuncExpr *call)
{
	Oid			source = getBaseType(exprType(linitial(call->args)));

	return GetSysCacheOid2(CASTSOURCETARGET, Anum_pg_cast_castfunc, ObjectIdGetDatum(source), ObjectIdGetDatum(getBaseType(call->funcresulttype)));
}

/* Returns the function that an expression of ours calls, whatever stands in it; InvalidOid: none. */
static Oid
meant_function(Node *expr)
{
	switch (nodeTag(expr))
	{
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
			return get_opcode(((OpExpr *) expr)->opno);
		case T_FuncExpr:
			if (((FuncExpr *) expr)->funcformat == COERCE_EXPLICIT_CALL || ((FuncExpr *) expr)->args == NIL)
				return InvalidOid;
			return cast_function((FuncExpr *) expr);
		default:
			return InvalidOid;
	}
}

/* ---- the function that stands there ---- */

static Oid
called_function(void)
{
	Oid			types[] = {ANYOID};

	return tde_type_internal_function("tde_called", tde_called, types, lengthof(types));
}

/* Looks the function up once for a call site.  The user's right to execute it is asked here, since PostgreSQL has asked for tde_called(). */
static FmgrInfo *
find_meant(FmgrInfo *flinfo)
{
	Oid			function = flinfo->fn_expr ? meant_function(flinfo->fn_expr) : InvalidOid;
	FmgrInfo   *meant;

	if (!OidIsValid(function) || function == flinfo->fn_oid)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("tde_called() stands for other functions, and cannot be called")));
	tde_base_require_execute(function);
	meant = MemoryContextAlloc(flinfo->fn_mcxt, sizeof(FmgrInfo));
	fmgr_info_cxt(function, meant, flinfo->fn_mcxt);
	fmgr_info_set_expr(flinfo->fn_expr, meant);
	return meant;
}

/*
 * tde_called(VARIADIC "any") returns record - the operator or cast in whose place it is called.  That it returns a record is what keeps
 * the planner from evaluating it without the expression; nobody else asks.
 */
Datum
tde_citus_called(PG_FUNCTION_ARGS)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;

	LOCAL_FCINFO(call, FUNC_MAX_ARGS);
	Datum		result;

	if (flinfo->fn_extra == NULL)
		flinfo->fn_extra = find_meant(flinfo);
	InitFunctionCallInfoData(*call, flinfo->fn_extra, PG_NARGS(), PG_GET_COLLATION(), fcinfo->context, NULL);
	memcpy(call->args, fcinfo->args, PG_NARGS() * sizeof(NullableDatum));
	result = FunctionCallInvoke(call);
	fcinfo->isnull = call->isnull;
	return result;
}

/* ---- which calls ---- */

/* Returns true if it is one of ours, STABLE, that nobody else can have made: only superusers make functions in C. */
static bool
is_our_operator(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Form_pg_proc form;
	bool		isnull;
	bool		ours;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_proc) GETSTRUCT(tuple);
	ours = form->prolang == ClanguageId && form->provolatile == PROVOLATILE_STABLE && form->proisstrict && !form->proretset;
	if (ours)
	{
		Datum		source = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &isnull);

		ours = !isnull && strncmp(TextDatumGetCString(source), "tde_", 4) == 0;
	}
	ReleaseSysCache(tuple);
	return ours;
}

static Oid
base_of(Node *node)
{
	Oid			type = getBaseType(exprType(node));
	TdeType    *encrypted = tde_type_find(type);

	return encrypted ? encrypted->base : type;
}

static bool
is_immutable(Oid function)
{
	return OidIsValid(function) && func_volatile(function) == PROVOLATILE_IMMUTABLE;
}

/* Returns true if the base types' operator of the same name is IMMUTABLE. */
static bool
operator_is_immutable(OpExpr *op)
{
	Oid			left = list_length(op->args) == 2 ? base_of(linitial(op->args)) : InvalidOid;
	Oid			right = base_of(llast(op->args));
	Oid			operator = tde_core_operator(get_opname(op->opno), &left, &right);

	return OidIsValid(operator) && is_immutable(get_opcode(operator));
}

/* Returns true if a cast between the base types is the same at all times.  By text, dates are not. */
static bool
cast_is_immutable(Oid source, Oid target)
{
	Oid			function;
	Oid			output;
	Oid			input;
	Oid			ioparam;
	bool		is_varlena;

	if (source == target)
		return true;
	switch (find_coercion_pathway(target, source, COERCION_EXPLICIT, &function))
	{
		case COERCION_PATH_RELABELTYPE:
			return true;
		case COERCION_PATH_FUNC:
			return is_immutable(function);
		case COERCION_PATH_COERCEVIAIO:
			getTypeOutputInfo(source, &output, &is_varlena);
			getTypeInputInfo(target, &input, &ioparam);
			return is_immutable(output) && is_immutable(input);
		default:
			return false;
	}
}

static bool
call_is_immutable(FuncExpr *call)
{
	TdeType    *result = tde_type_find(getBaseType(call->funcresulttype));

	return cast_is_immutable(base_of(linitial(call->args)), result ? result->base : getBaseType(call->funcresulttype));
}

/* A walker's context. */
typedef struct Replacement
{
	Oid			called;			/* tde_called() */
	bool		conditional;	/* in MERGE, or a CASE, COALESCE or cast of an array of columns, where Citus takes no constants either that it would
								 * have to compute */
} Replacement;

/* Returns where the OID of the function stands that such an expression calls, if it is to be replaced; NULL otherwise. */
static Oid *
function_to_replace(Node *node, bool conditional)
{
	Oid			function;

	if (!IsA(node, OpExpr) && !IsA(node, FuncExpr) && !IsA(node, NullIfExpr))
		return NULL;
	if (IsA(node, FuncExpr) ? ((FuncExpr *) node)->funcid < FirstNormalObjectId : ((OpExpr *) node)->opno < FirstNormalObjectId)
		return NULL;
	function = meant_function(node);
	if (!OidIsValid(function) || !is_our_operator(function) || !(conditional || contain_var_clause(node) || checkExprHasSubLink(node)))
		return NULL;
	if (!IsA(node, FuncExpr))
		return operator_is_immutable((OpExpr *) node) ? &((OpExpr *) node)->opfuncid : NULL;
	return ((FuncExpr *) node)->funcid == function && call_is_immutable((FuncExpr *) node) ? &((FuncExpr *) node)->funcid : NULL;
}

/* A query_or_expression_tree_walker. */
static bool
replace(Node *node, void *context)
{
	Replacement replacement = *(Replacement *) context;
	Oid		   *function;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		replacement.conditional = ((Query *) node)->commandType == CMD_MERGE;
	/* what casts an array's elements has no column in it */
	else if (IsA(node, CoalesceExpr) || IsA(node, CaseExpr) || IsA(node, ArrayCoerceExpr))
		replacement.conditional = replacement.conditional || contain_var_clause(node);
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, replace, &replacement, 0);
	function = function_to_replace(node, replacement.conditional);
	if (function)
		*function = replacement.called;
	return expression_tree_walker(node, replace, &replacement);
}

void
tde_volatility_prepare(Query *query)
{
	Replacement replacement = {InvalidOid, false};

	if (query->commandType == CMD_SELECT && !query->hasModifyingCTE)
		return;
	replacement.called = called_function();
	if (OidIsValid(replacement.called))
		(void) replace((Node *) query, &replacement);
}
