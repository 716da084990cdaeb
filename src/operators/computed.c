/*
 * computed.c - PostgreSQL's own functions of encrypted values, with encrypted results: what indexes over expressions hold.
 *
 * An index over lower(email) would hold plaintext.  So it is made over tde_computed(NULL::encrypted_text(...), 'lower(text)', email)
 * instead: operators/computed_form.c makes that of an expression, operators/index_conditions.c uses the index.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

#include "operators/computed.h"
#include "server/compat.h"
#include "server/error.h"
#include "type/access.h"
#include "type/base_functions.h"
#include "type/cast.h"
#include "type/datum.h"
#include "type/declared.h"

PG_FUNCTION_INFO_V1(tde_computed);

/* The call's arguments are the result's type and modifiers (a NULL), the function, and from here on what that is called with. */
#define FIRST_ARGUMENT 2

/* An argument of the function, and how it comes to be what the function takes. */
typedef struct Argument
{
	Oid			source;			/* its type, or base type */
	Oid			target;			/* what the function takes */
	TdeType    *encrypted;		/* NULL: it is a plain one */
	int32		declared;		/* see tde_datum_decrypt() */
	TdeProc		cast;			/* where tde_cast_plain() keeps how to cast; not one of the catalogs' functions */
} Argument;

/* A key, as a value names it.  Values of one column mostly have one key, so the row of the last one is not looked up again. */
typedef struct Seen
{
	uint64		epoch;			/* 0: nothing */
	uint32		key_id;
	int32		slot;
	char		kind;
	int32		version;
} Seen;

/* What one call site keeps in fn_extra; made anew if the function is another one, which only a variable as the second argument brings about. */
typedef struct Computation
{
	Oid			function;		/* InvalidOid: a cast alone */
	FmgrInfo   *call;			/* NULL: a cast alone */
	TdeType    *type;			/* of the result; typmod is never -1 */
	int32		typmod;
	Oid			returned;		/* by the function */
	TdeProc		cast;
	Seen		seen;			/* of late: the key of an argument */
	int			count;			/* of the arguments that are computed with */
	Argument	arguments[FLEXIBLE_ARRAY_MEMBER];
} Computation;

bool
tde_computed_is_possible(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Form_pg_proc form;
	bool		result;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_proc) GETSTRUCT(tuple);
	/* initdb has made it, so that nobody can change it; nothing polymorphic or internal */
	result = function < FirstUnpinnedObjectId && form->prokind == PROKIND_FUNCTION && form->provolatile == PROVOLATILE_IMMUTABLE &&
		!form->proretset && get_typtype(form->prorettype) != TYPTYPE_PSEUDO;
	for (int i = 0; i < form->pronargs; i++)
		result = result && get_typtype(form->proargtypes.values[i]) != TYPTYPE_PSEUDO;
	ReleaseSysCache(tuple);
	return result;
}

/*
 * Throws unless tde_computed() can call the function with so many arguments, and the user may: ERRCODE_FEATURE_NOT_SUPPORTED,
 * ERRCODE_INVALID_PARAMETER_VALUE, ERRCODE_INSUFFICIENT_PRIVILEGE.  Whoever may not call a function must not do so by us.
 */
static void
check_function(Oid function, int count)
{
	Oid		   *types;
	int			wanted;

	if (!tde_computed_is_possible(function))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("function %s cannot have an encrypted result", format_procedure(function)),
				 errdetail("Only PostgreSQL's own IMMUTABLE functions can.")));
	tde_base_require_execute(function);
	InvokeFunctionExecuteHook(function);
	(void) get_func_signature(function, &types, &wanted);
	if (wanted != count)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("function %s takes %d arguments, not %d", format_procedure(function), wanted, count)));
}

/*
 * Notes of an argument of the call, by its number there, what it is and what it becomes; target InvalidOid: whatever its base type is.  A literal has
 * no type of its own, as nothing resolves "any"; it is refused.
 */
static void
set_argument(Argument *argument, FmgrInfo *flinfo, int number, Oid target)
{
	Oid			type = getBaseType(get_fn_expr_argtype(flinfo, number));
	Node	   *node = list_nth(((FuncExpr *) flinfo->fn_expr)->args, number);

	argument->encrypted = tde_type_find(type);
	argument->source = argument->encrypted ? argument->encrypted->base : type;
	argument->declared = argument->encrypted ? tde_declared(argument->encrypted, exprTypmod(node)) : -1;
	argument->target = OidIsValid(target) ? target : argument->source;
	if (get_typtype(argument->source) == TYPTYPE_PSEUDO)
		ereport(ERROR,
				(errcode(ERRCODE_INDETERMINATE_DATATYPE),
				 errmsg("could not determine data type of argument %d", number + 1)));
}

/*
 * Made at the first call.  What is wrong with a call is found here, not where an index is declared: a user may write one himself, with any arguments.
 * fn_expr is needed for the types and modifiers of arguments, so it cannot be called by OidFunctionCall().
 */
static Computation *
set_up(FunctionCallInfo fcinfo, Oid function)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;
	int			count = PG_NARGS() - FIRST_ARGUMENT;
	Computation *computation = MemoryContextAllocZero(flinfo->fn_mcxt, offsetof(Computation, arguments) + count * sizeof(Argument));
	Oid		   *targets = NULL;
	List	   *args;

	if (flinfo->fn_expr == NULL || !IsA(flinfo->fn_expr, FuncExpr) || get_fn_expr_variadic(flinfo))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("tde_computed() can only be called in an expression, with its arguments one by one")));
	args = ((FuncExpr *) flinfo->fn_expr)->args;
	computation->type = tde_type_get(get_fn_expr_argtype(flinfo, 0));
	computation->typmod = exprTypmod(linitial(args));
	if (computation->typmod < 0)
		computation->typmod = tde_computed_typmod(computation->type, list_copy_tail(args, FIRST_ARGUMENT));
	if (computation->typmod < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the type of the result of tde_computed() has no modifiers")));
	computation->function = function;
	computation->count = count;
	computation->returned = computation->type->base;
	if (OidIsValid(function))
	{
		check_function(function, count);
		computation->call = tde_type_function(function);
		computation->returned = get_func_signature(function, &targets, &count);
	}
	else if (count < 1 || count > 2)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("a cast takes one argument, and one that it is encrypted like")));
	else
		computation->count = count = 1;
	for (int i = 0; i < count; i++)
		set_argument(&computation->arguments[i], flinfo, i + FIRST_ARGUMENT, targets ? targets[i] : computation->type->base);
	return computation;
}

/* Sets an argument that is not NULL: decrypted, and cast to what the function takes.  The cast may make NULL of it. */
static void
set_plain(NullableDatum *plain, Argument *argument, Datum value)
{
	if (argument->encrypted)
		value = tde_datum_decrypt(argument->encrypted, value, argument->declared);
	plain->value = tde_cast_plain(&argument->cast, value, argument->source, argument->target, -1, &plain->isnull);
}

/*
 * Computes *result in clear, palloc'd in the current memory context if it is by reference.  False: it is NULL.  That is so without a call where a
 * strict function, or a cast, is given a NULL.
 */
static bool
compute(FunctionCallInfo fcinfo, Computation *computation, Datum *result)
{
	LOCAL_FCINFO(call, FUNC_MAX_ARGS);

	InitFunctionCallInfoData(*call, computation->call, computation->count, PG_GET_COLLATION(), NULL, NULL);
	for (int i = 0; i < computation->count; i++)
	{
		call->args[i].isnull = PG_ARGISNULL(i + FIRST_ARGUMENT);
		if (!call->args[i].isnull)
			set_plain(&call->args[i], &computation->arguments[i], PG_GETARG_DATUM(i + FIRST_ARGUMENT));
		if (call->args[i].isnull && (computation->call == NULL || computation->call->fn_strict))
			return false;
	}
	*result = computation->call ? FunctionCallInvoke(call) : call->args[0].value;
	if (!call->isnull)
		*result = tde_cast_plain(&computation->cast, *result, computation->returned, computation->type->base, -1, &call->isnull);
	return !call->isnull;
}

/* Returns true for an error that may quote a value: text search configuration "4111..." does not exist.  Others have causes that anybody may know. */
static bool
is_about_values(int code)
{
	switch (ERRCODE_TO_CATEGORY(code))
	{
		case ERRCODE_TO_CATEGORY(ERRCODE_INSUFFICIENT_RESOURCES):
		case ERRCODE_TO_CATEGORY(ERRCODE_OPERATOR_INTERVENTION):
		case ERRCODE_TO_CATEGORY(ERRCODE_TDE_WALLET_CLOSED):
			return false;
		default:
			return true;
	}
}

/*
 * As compute(), for who may not see an argument, as in an INSERT into a table with such an index.  Errors of casts and functions quote what they are
 * about, so one that may is replaced by tde_access_refuse().
 */
static bool
compute_unseen(FunctionCallInfo fcinfo, Computation *computation, TdeType *hidden, Datum *result)
{
	MemoryContext context = CurrentMemoryContext;
	volatile bool found = false;

	PG_TRY();
	{
		found = compute(fcinfo, computation, result);
	}
	PG_CATCH();
	{
		if (!is_about_values(geterrcode()))
			PG_RE_THROW();
		MemoryContextSwitchTo(context);
		FlushErrorState();
		tde_access_refuse(hidden);
	}
	PG_END_TRY();
	return found;
}

/* Returns the type of an argument that the current user may not see; NULL: there is none. */
static TdeType *
find_hidden(FunctionCallInfo fcinfo, Computation *computation)
{
	for (int i = 0; i < computation->count; i++)
	{
		TdeType    *type = computation->arguments[i].encrypted;

		if (type && !PG_ARGISNULL(i + FIRST_ARGUMENT) && !tde_access_permits(type, PG_GETARG_DATUM(i + FIRST_ARGUMENT)))
			return type;
	}
	return NULL;
}

/* Sets *seen to the key of an argument.  Returns false for a plain one, and for a constant of SQL, which has the literals' key. */
static bool
see_key(TdeType *type, Datum value, Seen *seen)
{
	TdeHeader	header;
	const TdeDataKey *row;

	if (type == NULL || !tde_datum_header(value, &header))
		return false;
	if (seen->key_id != header.key_id || !tde_keys_fresh(seen->epoch))
	{
		row = tde_key_row(header.key_id, header.spec);
		*seen = (Seen) {tde_keys_epoch, header.key_id, row->slot, row->kind, row->version};
	}
	return seen->kind != TDE_KIND_CATALOG;
}

/*
 * The version of the key that the result gets: the latest among the arguments, so that the same arguments always give the same bytes, as who
 * checks an index expects.  0, the newest there is, where the arguments do not tell: there is none, or one has another key, which must not
 * decide under which version of this one something is encrypted.
 */
static uint32
version_of(FunctionCallInfo fcinfo, Computation *computation)
{
	TdeModifiers wanted = tde_type_modifiers(computation->type, computation->typmod);
	char		kind = wanted.spec.mac == TDE_NOMAC ? TDE_KIND_NOMAC : TDE_KIND_MAC;
	Seen		latest = {0};

	for (int i = 0; i < computation->count; i++)
	{
		if (PG_ARGISNULL(i + FIRST_ARGUMENT) ||
			!see_key(computation->arguments[i].encrypted, PG_GETARG_DATUM(i + FIRST_ARGUMENT), &computation->seen))
			continue;
		if (computation->seen.slot != wanted.slot || computation->seen.kind != kind)
			return 0;
		if (computation->seen.version > latest.version)
			latest = computation->seen;
	}
	return latest.key_id;
}

/*
 * tde_computed(anyelement, regprocedure, VARIADIC "any") returns anyelement - the function's result for these arguments, some of them
 * encrypted, encrypted as the type of the first argument says, which is a NULL; without modifiers, as the first encrypted argument is
 * that follows (PostgreSQL 15 and 16 take no cast with modifiers in a generated column).  Function 0: the argument, cast to that type's base
 * type; a second one may follow, of which only the modifiers count.  Nobody sees a plaintext by it, so it does not ask who may; unsalted, so that it is IMMUTABLE as the function is.
 */
Datum
tde_computed(PG_FUNCTION_ARGS)
{
	Computation *computation = fcinfo->flinfo->fn_extra;
	Oid			function = PG_ARGISNULL(1) ? InvalidOid : PG_GETARG_OID(1);
	Datum		result;

	TdeType    *hidden = NULL;
	bool		found;

	if (computation == NULL || computation->function != function)
		computation = fcinfo->flinfo->fn_extra = set_up(fcinfo, function);
	if (unlikely(tde_access_restricted))
		hidden = find_hidden(fcinfo, computation);
	if (unlikely(hidden != NULL))
		found = compute_unseen(fcinfo, computation, hidden, &result);
	else
		found = compute(fcinfo, computation, &result);
	if (!found)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(tde_datum_encrypt_under(computation->type, result, computation->typmod, version_of(fcinfo, computation)));
}
