/*
 * cast.c - input, output and binary functions, length coercion and casts, one C function each for all encrypted types.
 *
 * Casts and coercion are STABLE: IMMUTABLE would let the planner fold a call and so share one salt among rows, VOLATILE would
 * keep conditions out of indexes.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "server/compat.h"
#include "server/error.h"
#include "type/access.h"
#include "type/base_functions.h"
#include "type/call.h"
#include "type/cast.h"
#include "type/ciphertext_form.h"
#include "type/datum.h"
#include "type/node_form.h"
#include "type/opened.h"
#include "type/plain_bytes.h"
#include "wallet/wallet.h"

PG_FUNCTION_INFO_V1(tde_in);
PG_FUNCTION_INFO_V1(tde_out);
PG_FUNCTION_INFO_V1(tde_recv);
PG_FUNCTION_INFO_V1(tde_send);
PG_FUNCTION_INFO_V1(tde_coerce);
PG_FUNCTION_INFO_V1(tde_coerce_support);
PG_FUNCTION_INFO_V1(tde_encrypt);
PG_FUNCTION_INFO_V1(tde_encrypt_support);
PG_FUNCTION_INFO_V1(tde_decrypt);
PG_FUNCTION_INFO_V1(tde_decrypt_support);
PG_FUNCTION_INFO_V1(tde_decrypt_to);
PG_FUNCTION_INFO_V1(tde_recast);
PG_FUNCTION_INFO_V1(tde_decrypt_to_json);

/* ---- input and output ---- */

/* The type whose input function this is: its OID comes as an argument, and is the same at every call. */
static TdeType *
input_type(FunctionCallInfo fcinfo)
{
	Oid			oid = PG_GETARG_OID(1);
	TdeType    *type = fcinfo->flinfo->fn_extra;

	if (unlikely(type == NULL || type->oid != oid))
		fcinfo->flinfo->fn_extra = type = tde_type_get(oid);
	return type;
}

/*
 * Returns true if an expression calls, a cast to or from text above all, and not what a client or a dump reads and writes.  Expressions deal in
 * plaintext, in whatever form values go in and out.
 */
static inline bool
is_cast(FunctionCallInfo fcinfo)
{
	return fcinfo->flinfo && fcinfo->flinfo->fn_expr;
}

/*
 * tde_in(cstring, oid, int4) - the base type's input, then encryption.
 *
 * The typmod is -1 for every literal and untyped parameter (the length coercion follows), the column's for COPY, arrays,
 * composites and domains: also when a statement is parsed, before anybody knows what it does with them.  Always encrypts: a plaintext datum on the way would end up stored somewhere.  In the ciphertext
 * form there is nothing to encrypt.
 */
Datum
tde_in(PG_FUNCTION_ARGS)
{
	TdeType    *type = input_type(fcinfo);
	int32		typmod = PG_GETARG_INT32(2);
	FmgrInfo   *input;
	Datum		value;

	ErrorContextCallback explain = {error_context_stack, tde_ciphertext_explain, PG_GETARG_CSTRING(0)};
	bool		valid;

	if (tde_ciphertext_wanted() && !is_cast(fcinfo))
	{
		value = tde_ciphertext_in(type, PG_GETARG_CSTRING(0));
		PG_RETURN_DATUM(tde_datum_coerce(type, value, typmod, -1, false));
	}
	if (unlikely(PG_GETARG_CSTRING(0)[0] == 't'))
	{
		if (tde_node_form_accepted && tde_node_in(type, PG_GETARG_CSTRING(0), &value))
			PG_RETURN_DATUM(tde_datum_coerce(type, value, typmod, -1, false));
		tde_ciphertext_suspect(PG_GETARG_CSTRING(0));
		error_context_stack = &explain;
	}
	tde_log_mark();
	input = tde_base_input(type);
	valid = TDE_INPUT_CALL(input, PG_GETARG_CSTRING(0), type->ioparam, tde_type_base_typmod(type, typmod), fcinfo->context, &value);
	error_context_stack = explain.previous;
	if (!valid)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(tde_datum_encrypt(type, value, typmod));
}

/* tde_out(encrypted) returns cstring - the base type's output of the decrypted value. */
Datum
tde_out(PG_FUNCTION_ARGS)
{
	TdeCall    *call = tde_output_call(fcinfo);
	TdeType    *type = call->proc->args[0];
	Datum		value;
	char	   *text;

	if (tde_ciphertext_wanted() && !is_cast(fcinfo))
		PG_RETURN_CSTRING(tde_ciphertext_out(type, PG_GETARG_DATUM(0)));
	if (unlikely(tde_node_form_written) && tde_ciphertext_has_form(type))
		PG_RETURN_CSTRING(tde_node_out(type, PG_GETARG_DATUM(0)));
	if (unlikely(tde_access_watched) && !tde_opened_permits(fcinfo, 0))
		PG_RETURN_CSTRING(tde_access_hidden(type));
	value = tde_datum_decrypt_once(type, PG_GETARG_DATUM(0), tde_output_declares(call, PG_GETARG_DATUM(0)));
	text = OutputFunctionCall(tde_base_output(type), value);
	tde_datum_free(type, value);
	PG_RETURN_CSTRING(text);
}

/* tde_recv(internal, oid, int4) - the base type's binary format. */
Datum
tde_recv(PG_FUNCTION_ARGS)
{
	TdeType    *type = input_type(fcinfo);
	int32		typmod = PG_GETARG_INT32(2);
	StringInfo	message = (StringInfo) PG_GETARG_POINTER(0);
	FmgrInfo   *receive;
	Datum		value;

	if (tde_ciphertext_wanted())
		PG_RETURN_DATUM(tde_datum_coerce(type, tde_ciphertext_recv(type, message), typmod, -1, false));
	if (unlikely(tde_node_form_accepted) && tde_node_recv(type, message, &value))
		PG_RETURN_DATUM(tde_datum_coerce(type, value, typmod, -1, false));
	tde_log_mark();
	receive = tde_base_receive(type);
	value = ReceiveFunctionCall(receive, message, type->ioparam, tde_type_base_typmod(type, typmod));
	PG_RETURN_DATUM(tde_datum_encrypt(type, value, typmod));
}

/* tde_send(encrypted) returns bytea - the base type's binary format of the decrypted value. */
Datum
tde_send(PG_FUNCTION_ARGS)
{
	TdeCall    *call = tde_output_call(fcinfo);
	TdeType    *type = call->proc->args[0];
	Datum		value;
	bytea	   *bytes;

	if (tde_ciphertext_wanted())
		PG_RETURN_BYTEA_P(tde_ciphertext_send(type, PG_GETARG_DATUM(0)));
	if (unlikely(tde_node_form_written) && tde_ciphertext_has_form(type))
		PG_RETURN_BYTEA_P(tde_node_send(type, PG_GETARG_DATUM(0)));
	tde_opened_check(fcinfo, 0);
	value = tde_datum_decrypt_once(type, PG_GETARG_DATUM(0), tde_output_declares(call, PG_GETARG_DATUM(0)));
	bytes = SendFunctionCall(tde_base_send(type), value);
	tde_datum_free(type, value);
	PG_RETURN_BYTEA_P(bytes);
}

/* ---- length coercion, and casts between encrypted types and others ---- */

/* Looks up how PostgreSQL casts from one type to another, explicitly, and keeps that with the function. */
static void
resolve_cast(TdeProc *proc, Oid source, Oid target)
{
	uint64		epoch = tde_functions_epoch;
	Oid			function;

	proc->cast_path = find_coercion_pathway(target, source, COERCION_EXPLICIT, &function);
	if (proc->cast_path == COERCION_PATH_FUNC)
		proc->base_function = tde_type_function(function);
	proc->resolved = epoch;
}

/* Calls the function of a cast, which takes one to three arguments: the value, the modifier, and that it is explicit. */
static Datum
call_cast(FmgrInfo *cast, Datum value, int32 typmod, bool *isnull)
{
	LOCAL_FCINFO(call, 3);
	Datum		result;

	InitFunctionCallInfoData(*call, cast, cast->fn_nargs, InvalidOid, NULL, NULL);
	call->args[0] = (NullableDatum) {value, false};
	call->args[1] = (NullableDatum) {Int32GetDatum(typmod), false};
	call->args[2] = (NullableDatum) {BoolGetDatum(true), false};
	result = FunctionCallInvoke(call);
	*isnull = call->isnull;
	return result;
}

Datum
tde_cast_plain(TdeProc *proc, Datum value, Oid source, Oid target, int32 typmod, bool *isnull)
{
	Oid			output;
	Oid			input;
	Oid			ioparam;
	bool		is_varlena;

	*isnull = false;
	if (source == target)
		return value;
	if (!tde_is_resolved(proc))
		resolve_cast(proc, source, target);
	switch ((CoercionPathType) proc->cast_path)
	{
		case COERCION_PATH_RELABELTYPE:
			return value;
		case COERCION_PATH_FUNC:
			return call_cast(proc->base_function, value, typmod, isnull);
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
tde_cast_is_decryption(Oid function)
{
	return tde_type_is_function(function, "tde_decrypt", tde_decrypt) || tde_type_is_function(function, "tde_decrypt_to", tde_decrypt_to);
}

bool
tde_cast_is_encryption(Oid function)
{
	return tde_type_is_function(function, "tde_encrypt", tde_encrypt) || tde_type_is_function(function, "tde_recast", tde_recast);
}

/* Apply the base type's own modifiers, unless the value is known to have them. */
static Datum
fit(TdeType *type, Datum value, int32 declared, int32 typmod, bool is_explicit)
{
	int32		base_typmod = tde_type_base_typmod(type, typmod);

	return base_typmod != declared ? tde_base_coerce(type, value, base_typmod, is_explicit) : value;
}

/*
 * tde_encrypt(base or other, int4 typmod, bool explicit) returns encrypted - the cast by which a plain value gets into a column: INSERT ... VALUES
 * ($1), with $1 of the base type, or a.plain in UPDATE a SET secret = plain.
 */
Datum
tde_encrypt(PG_FUNCTION_ARGS)
{
	TdeCall    *call = tde_call(fcinfo);
	TdeProc    *proc = call->proc;
	TdeType    *type = proc->result;
	int32		declared = proc->arg_types[0] == type->base ? call->declared[0] : -1;
	Datum		value;
	bool		isnull;

	tde_log_mark();
	value = tde_cast_plain(proc, PG_GETARG_DATUM(0), proc->arg_types[0], type->base, -1, &isnull);
	if (isnull)
		PG_RETURN_NULL();
	value = fit(type, value, declared, PG_GETARG_INT32(1), PG_GETARG_BOOL(2));
	PG_RETURN_DATUM(tde_datum_encrypt_given(type, value, PG_GETARG_INT32(1)));
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

/* tde_decrypt(encrypted) returns base - the cast that every function of the base type takes an encrypted value by. */
Datum
tde_decrypt(PG_FUNCTION_ARGS)
{
	TdeCall    *call = tde_call(fcinfo);

	tde_opened_check(fcinfo, 0);
	PG_RETURN_DATUM(tde_datum_decrypt(call->proc->args[0], PG_GETARG_DATUM(0), call->declared[0]));
}

/*
 * tde_decrypt_support(internal) returns internal - planner support for tde_decrypt().
 *
 * PL/pgSQL casts what a query returned to the type of the variable.  A varchar(25) of an encrypted column is not made to fit a variable of
 * varchar(25), as one of a plain column is not.
 */
Datum
tde_decrypt_support(PG_FUNCTION_ARGS)
{
	SupportRequestSimplify *request = (SupportRequestSimplify *) PG_GETARG_POINTER(0);
	FuncExpr   *call;
	CaseTestExpr *value;
	int32		typmod;

	if (!IsA(request, SupportRequestSimplify))
		PG_RETURN_POINTER(NULL);
	call = request->fcall;
	value = linitial(call->args);
	/* that of a domain has none */
	if (!IsA(value, CaseTestExpr) || value->typeMod < 0)
		PG_RETURN_POINTER(NULL);
	typmod = tde_type_base_typmod(tde_type_get(value->typeId), value->typeMod);
	if (typmod < 0)
		PG_RETURN_POINTER(NULL);
	PG_RETURN_POINTER(makeRelabelType(copyObject((Expr *) call), call->funcresulttype, typmod, call->funccollid, COERCE_IMPLICIT_CAST));
}

/* tde_decrypt_to(encrypted [, int4 typmod]) returns another type that the base type can be cast to. */
Datum
tde_decrypt_to(PG_FUNCTION_ARGS)
{
	TdeCall    *call = tde_call(fcinfo);
	TdeProc    *proc = call->proc;
	TdeType    *type = proc->args[0];
	Datum		value;

	tde_opened_check(fcinfo, 0);
	value = tde_datum_decrypt(type, PG_GETARG_DATUM(0), call->declared[0]);
	return tde_cast_plain(proc, value, type->base, proc->result_type, PG_NARGS() > 1 ? PG_GETARG_INT32(1) : -1, &fcinfo->isnull);
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

/*
 * tde_coerce_support(internal) returns internal - planner support for tde_coerce().
 *
 * What comes from a column of the same specification and key is as it is wanted, if the base type's modifiers change nothing.
 * So ALTER TABLE makes a column wider without writing the table anew, where PostgreSQL does so for the base type.  A column that is not to
 * tell its order any more is written anew, since PostgreSQL would keep the files of its indexes otherwise.
 */
Datum
tde_coerce_support(PG_FUNCTION_ARGS)
{
	SupportRequestSimplify *request = (SupportRequestSimplify *) PG_GETARG_POINTER(0);
	TdeType    *type;
	Node	   *value;
	Const	   *modifier;
	int32		typmod;
	TdeModifiers from;
	TdeModifiers to;

	if (!IsA(request, SupportRequestSimplify))
		PG_RETURN_POINTER(NULL);
	value = linitial(request->fcall->args);
	modifier = (Const *) lsecond(request->fcall->args);
	if (!IsA(value, Var) || exprTypmod(value) < 0 || !IsA(modifier, Const) || modifier->constisnull)
		PG_RETURN_POINTER(NULL);
	typmod = DatumGetInt32(modifier->constvalue);
	if (typmod < 0)
		PG_RETURN_POINTER(NULL);
	type = tde_type_get(request->fcall->funcresulttype);
	from = tde_type_modifiers(type, exprTypmod(value));
	to = tde_type_modifiers(type, typmod);
	if (!tde_spec_equal(from.spec, to.spec) || from.slot != to.slot || (to.unordered && !from.unordered) ||
		tde_plain_pad(type->base, &from) != tde_plain_pad(type->base, &to) ||
		!tde_base_keeps(type, from.base_typmod, to.base_typmod))
		PG_RETURN_POINTER(NULL);
	PG_RETURN_POINTER(makeRelabelType((Expr *) value, type->oid, typmod, request->fcall->funccollid, COERCE_IMPLICIT_CAST));
}

/* tde_recast(encrypted, int4 typmod, bool explicit) returns another encrypted type, as the base types are cast. */
Datum
tde_recast(PG_FUNCTION_ARGS)
{
	TdeCall    *call = tde_call(fcinfo);
	TdeProc    *proc = call->proc;
	TdeType    *target = proc->result;
	Datum		value;
	bool		isnull;

	/* without a modifier the result is a constant under the catalog's key, which everybody may see */
	if (PG_GETARG_INT32(1) < 0)
		tde_opened_check(fcinfo, 0);
	value = tde_datum_decrypt(proc->args[0], PG_GETARG_DATUM(0), call->declared[0]);
	value = tde_cast_plain(proc, value, proc->args[0]->base, target->base, -1, &isnull);
	if (isnull)
		PG_RETURN_NULL();
	value = fit(target, value, -1, PG_GETARG_INT32(1), PG_GETARG_BOOL(2));
	PG_RETURN_DATUM(tde_datum_encrypt_given(target, value, PG_GETARG_INT32(1)));
}

/*
 * tde_decrypt_to_json(encrypted) returns json - what to_json() gives for the base type.  to_json(encrypted), row_to_json() and
 * their like take this cast, and so does PostgreSQL 19's COPY as JSON; without it numbers would become strings.  Called by them and not as a cast, in
 * the ciphertext form it gives a string.
 */
Datum
tde_decrypt_to_json(PG_FUNCTION_ARGS)
{
	TdeCall    *call = tde_output_call(fcinfo);
	TdeProc    *proc = call->proc;
	TdeType    *type = proc->args[0];
	Datum		value;

	if (tde_ciphertext_wanted() && !is_cast(fcinfo))
	{
		StringInfoData json;

		initStringInfo(&json);
		escape_json(&json, tde_ciphertext_out(type, PG_GETARG_DATUM(0)));
		PG_RETURN_TEXT_P(cstring_to_text_with_len(json.data, json.len));
	}
	tde_opened_check(fcinfo, 0);
	value = tde_datum_decrypt(type, PG_GETARG_DATUM(0), tde_output_declares(call, PG_GETARG_DATUM(0)));
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
