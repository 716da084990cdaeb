/*
 * cast.c - length coercion, and casts between encrypted types and others.
 *
 * All of them are STABLE: IMMUTABLE would let the planner fold a call and so share one salt among rows, VOLATILE would
 * keep conditions out of indexes.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "server/compat.h"
#include "server/log_filter.h"
#include "type/access.h"
#include "type/base_functions.h"
#include "type/cast.h"
#include "type/datum.h"
#include "wallet/wallet.h"

PG_FUNCTION_INFO_V1(tde_coerce);
PG_FUNCTION_INFO_V1(tde_encrypt);
PG_FUNCTION_INFO_V1(tde_encrypt_support);
PG_FUNCTION_INFO_V1(tde_decrypt);
PG_FUNCTION_INFO_V1(tde_decrypt_to);
PG_FUNCTION_INFO_V1(tde_recast);
PG_FUNCTION_INFO_V1(tde_decrypt_to_json);

/* How PostgreSQL casts from one type to another. */
static void
resolve_cast(TdeProc *proc, Oid source, Oid target)
{
	uint64		epoch = tde_functions_epoch;
	Oid			function;

	proc->cast_path = find_coercion_pathway(target, source, COERCION_EXPLICIT, &function);
	if (proc->cast_path == COERCION_PATH_FUNC)
		proc->base_function = tde_function(function);
	proc->resolved = epoch;
}

static Datum
call_cast(FmgrInfo *cast, Datum value, int32 typmod)
{
	if (cast->fn_nargs == 1)
		return FunctionCall1(cast, value);
	if (cast->fn_nargs == 2)
		return FunctionCall2(cast, value, Int32GetDatum(typmod));
	return FunctionCall3(cast, value, Int32GetDatum(typmod), BoolGetDatum(true));
}

Datum
tde_cast_plain(TdeProc *proc, Datum value, Oid source, Oid target, int32 typmod)
{
	Oid			output;
	Oid			input;
	Oid			ioparam;
	bool		is_varlena;

	if (source == target)
		return value;
	if (!tde_is_resolved(proc))
		resolve_cast(proc, source, target);
	switch ((CoercionPathType) proc->cast_path)
	{
		case COERCION_PATH_RELABELTYPE:
			return value;
		case COERCION_PATH_FUNC:
			return call_cast(proc->base_function, value, typmod);
		case COERCION_PATH_COERCEVIAIO:
			getTypeOutputInfo(source, &output, &is_varlena);
			getTypeInputInfo(target, &input, &ioparam);
			return OidInputFunctionCall(input, OidOutputFunctionCall(output, value), ioparam, typmod);
		default:
			ereport(ERROR,
					(errcode(ERRCODE_CANNOT_COERCE),
					 errmsg("cannot cast type %s to %s", format_type_be(source), format_type_be(target))));
	}
	return (Datum) 0;
}

bool
tde_is_decryption(Oid function)
{
	return tde_is_function(function, "tde_decrypt", tde_decrypt) || tde_is_function(function, "tde_decrypt_to", tde_decrypt_to);
}

bool
tde_is_encryption(Oid function)
{
	return tde_is_function(function, "tde_encrypt", tde_encrypt) || tde_is_function(function, "tde_recast", tde_recast);
}

/* Apply the base type's own modifiers, then encrypt. */
static Datum
fit_and_encrypt(TdeType *type, Datum value, int32 typmod, bool is_explicit)
{
	if (typmod >= 0)
		value = tde_base_coerce(type, value, tde_type_modifiers(type, typmod).base_typmod, is_explicit);
	return tde_datum_encrypt(type, value, typmod);
}

/* tde_encrypt(base or other, int4 typmod, bool explicit) returns encrypted. */
Datum
tde_encrypt(PG_FUNCTION_ARGS)
{
	TdeProc    *proc = tde_call(fcinfo)->proc;
	TdeType    *type = proc->result;
	Datum		value;

	tde_log_mark();
	value = tde_cast_plain(proc, PG_GETARG_DATUM(0), proc->arg_types[0], type->base, -1);
	PG_RETURN_DATUM(fit_and_encrypt(type, value, PG_GETARG_INT32(1), PG_GETARG_BOOL(2)));
}

/*
 * tde_encrypt_support(internal) returns internal - planner support for tde_encrypt().
 *
 * A constant that no modifier makes a column's is encrypted once, when the query is planned, as one in quotes is when it is
 * parsed: 5 and 6 in n IN (5, 6).  Being under the catalog's key like that one, it gets a salt of its own in every row that it
 * is stored in.
 */
Datum
tde_encrypt_support(PG_FUNCTION_ARGS)
{
	SupportRequestSimplify *request = (SupportRequestSimplify *) PG_GETARG_POINTER(0);
	FuncExpr   *call;
	Const	   *modifier;

	if (!IsA(request, SupportRequestSimplify))
		PG_RETURN_POINTER(NULL);
	call = request->fcall;
	modifier = (Const *) lsecond(call->args);
	if (!IsA(linitial(call->args), Const) || !IsA(modifier, Const) || DatumGetInt32(modifier->constvalue) >= 0 ||
		!tde_wallet_ensure_open())
		PG_RETURN_POINTER(NULL);
	PG_RETURN_POINTER(evaluate_expr((Expr *) call, call->funcresulttype, -1, call->funccollid));
}

/* tde_decrypt(encrypted) returns base - the one cast by which an encrypted type's base type is known. */
Datum
tde_decrypt(PG_FUNCTION_ARGS)
{
	TdeCall    *call = tde_call(fcinfo);

	tde_access_check(call->proc->args[0], PG_GETARG_DATUM(0));
	PG_RETURN_DATUM(tde_datum_decrypt(call->proc->args[0], PG_GETARG_DATUM(0), call->declared[0]));
}

/* tde_decrypt_to(encrypted [, int4 typmod]) returns another type that the base type can be cast to. */
Datum
tde_decrypt_to(PG_FUNCTION_ARGS)
{
	TdeCall    *call = tde_call(fcinfo);
	TdeProc    *proc = call->proc;
	TdeType    *type = proc->args[0];
	Datum		value;

	tde_access_check(type, PG_GETARG_DATUM(0));
	value = tde_datum_decrypt(type, PG_GETARG_DATUM(0), call->declared[0]);
	PG_RETURN_DATUM(tde_cast_plain(proc, value, type->base, proc->result_type, PG_NARGS() > 1 ? PG_GETARG_INT32(1) : -1));
}

/*
 * tde_coerce(encrypted, int4 typmod, bool explicit) returns encrypted - make a value fit a column.
 *
 * A value that is already encrypted as the column wants it travels as it is, unless the base type's modifiers change it.
 * A literal never is (its key is the catalog's), so it gets a salt of its own in every row.
 */
Datum
tde_coerce(PG_FUNCTION_ARGS)
{
	TdeCall    *call = tde_call(fcinfo);

	PG_RETURN_DATUM(tde_datum_coerce(call->proc->args[0], PG_GETARG_DATUM(0), PG_GETARG_INT32(1), call->declared[0],
									 PG_GETARG_BOOL(2)));
}

/* tde_recast(encrypted, int4 typmod, bool explicit) returns another encrypted type, as the base types are cast. */
Datum
tde_recast(PG_FUNCTION_ARGS)
{
	TdeCall    *call = tde_call(fcinfo);
	TdeProc    *proc = call->proc;
	TdeType    *target = proc->result;
	Datum		value;

	/* without a modifier the result is a constant under the catalog's key, which everybody may see */
	if (PG_GETARG_INT32(1) < 0)
		tde_access_check(proc->args[0], PG_GETARG_DATUM(0));
	value = tde_datum_decrypt(proc->args[0], PG_GETARG_DATUM(0), call->declared[0]);
	value = tde_cast_plain(proc, value, proc->args[0]->base, target->base, -1);
	PG_RETURN_DATUM(fit_and_encrypt(target, value, PG_GETARG_INT32(1), PG_GETARG_BOOL(2)));
}

/*
 * tde_decrypt_to_json(encrypted) returns json - what to_json() gives for the base type.  to_json(encrypted), row_to_json() and
 * their like take this cast; without it numbers would become strings.
 */
Datum
tde_decrypt_to_json(PG_FUNCTION_ARGS)
{
	TdeCall    *call = tde_call(fcinfo);
	TdeProc    *proc = call->proc;
	TdeType    *type = proc->args[0];
	Datum		value;

	tde_access_check(type, PG_GETARG_DATUM(0));
	value = tde_datum_decrypt(type, PG_GETARG_DATUM(0), call->declared[0]);
	if (proc->base_function == NULL)
	{
		/* to_json(anyelement) learns from the expression what it is called with; nobody can change the function itself */
		MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
		List	   *args = list_make1(makeNullConst(type->base, -1, InvalidOid));
		Node	   *expr = (Node *) makeFuncExpr(F_TO_JSON, JSONOID, args, InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
		FmgrInfo   *to_json = palloc(sizeof(FmgrInfo));

		MemoryContextSwitchTo(old);
		fmgr_info_cxt(F_TO_JSON, to_json, TopMemoryContext);
		fmgr_info_set_expr(expr, to_json);
		proc->base_function = to_json;
	}
	return FunctionCall1(proc->base_function, value);
}
