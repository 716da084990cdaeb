/*
 * compare.c - ordering operators, btree support functions, minimum and maximum of encrypted types.
 *
 * They compare as the base types do.  The operators are IMMUTABLE, as index members must be, and leave no allocation behind,
 * since index builds and sorts call them millions of times in one memory context.
 *
 * The same functions serve as members for the base types themselves in our operator families: the planner combines members
 * of one family freely, and must find those, too.  They need no key.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "utils/builtins.h"

#include "operators/operands.h"
#include "server/compat.h"
#include "server/error.h"

PG_FUNCTION_INFO_V1(tde_lt);
PG_FUNCTION_INFO_V1(tde_le);
PG_FUNCTION_INFO_V1(tde_gt);
PG_FUNCTION_INFO_V1(tde_ge);
PG_FUNCTION_INFO_V1(tde_cmp);
PG_FUNCTION_INFO_V1(tde_pattern_lt);
PG_FUNCTION_INFO_V1(tde_pattern_le);
PG_FUNCTION_INFO_V1(tde_pattern_gt);
PG_FUNCTION_INFO_V1(tde_pattern_ge);
PG_FUNCTION_INFO_V1(tde_pattern_cmp);
PG_FUNCTION_INFO_V1(tde_larger);
PG_FUNCTION_INFO_V1(tde_smaller);
PG_FUNCTION_INFO_V1(tde_in_range);

static inline int
compare(FunctionCallInfo fcinfo, TdeRemember remember)
{
	TdeOperands operands;
	int			result;

	tde_operands_get(fcinfo, remember, &operands);
	if (unlikely(operands.comparison->compare == NULL))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("type %s has no order", format_type_be(tde_call(fcinfo)->proc->arg_types[0]))));
	result = DatumGetInt32(FunctionCall2Coll(operands.comparison->compare, PG_GET_COLLATION(),
											 operands.values[0], operands.values[1]));
	tde_operands_free(&operands);
	return result;
}

Datum
tde_lt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo, TDE_REMEMBER_LONG) < 0);
}

Datum
tde_le(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo, TDE_REMEMBER_LONG) <= 0);
}

Datum
tde_gt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo, TDE_REMEMBER_LONG) > 0);
}

Datum
tde_ge(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo, TDE_REMEMBER_LONG) >= 0);
}

/* tde_cmp(a, b) returns int4 - btree support function 1. */
Datum
tde_cmp(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(compare(fcinfo, TDE_REMEMBER_PAGE));
}

/* Strings in the order of their bytes, whatever the collation is: text_pattern_ops. */
static inline int
compare_pattern(FunctionCallInfo fcinfo, TdeRemember remember)
{
	TdeProc    *proc = tde_call(fcinfo)->proc;

	if (!tde_is_resolved(proc))
		tde_base_pattern(proc);
	return compare(fcinfo, remember);
}

Datum
tde_pattern_lt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_pattern(fcinfo, TDE_REMEMBER_LONG) < 0);
}

Datum
tde_pattern_le(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_pattern(fcinfo, TDE_REMEMBER_LONG) <= 0);
}

Datum
tde_pattern_gt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_pattern(fcinfo, TDE_REMEMBER_LONG) > 0);
}

Datum
tde_pattern_ge(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_pattern(fcinfo, TDE_REMEMBER_LONG) >= 0);
}

/* tde_pattern_cmp(a, b) returns int4 - btree support function 1. */
Datum
tde_pattern_cmp(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(compare_pattern(fcinfo, TDE_REMEMBER_PAGE));
}

/*
 * tde_larger(encrypted, encrypted) returns encrypted - transition function of max(); the value travels as it is.  Of equal
 * ones the last, as with the base types.
 */
Datum
tde_larger(PG_FUNCTION_ARGS)
{
	PG_RETURN_DATUM(compare(fcinfo, TDE_REMEMBER_LONG) > 0 ? PG_GETARG_DATUM(0) : PG_GETARG_DATUM(1));
}

/* tde_smaller(encrypted, encrypted) returns encrypted - transition function of min(). */
Datum
tde_smaller(PG_FUNCTION_ARGS)
{
	PG_RETURN_DATUM(compare(fcinfo, TDE_REMEMBER_LONG) < 0 ? PG_GETARG_DATUM(0) : PG_GETARG_DATUM(1));
}

/*
 * tde_in_range(value encrypted, base encrypted, offset, subtract bool, less bool) returns bool - btree support function 3, for
 * RANGE frames of window functions.
 */
Datum
tde_in_range(PG_FUNCTION_ARGS)
{
	TdeCall    *call = tde_call(fcinfo);
	TdeProc    *proc = call->proc;
	TdeType    *type = proc->args[0];
	TdeScratch	scratch[2];
	Datum		value;
	Datum		base;
	bool		result;

	if (!tde_is_resolved(proc))
	{
		uint64		epoch = tde_functions_epoch;
		Oid			function = tde_base_btree_support(type->base, proc->arg_types[2], BTINRANGE_PROC);

		if (!OidIsValid(function))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("RANGE with offset PRECEDING/FOLLOWING is not supported for type %s", format_type_be(type->base))));
		proc->base_function = tde_function(function);
		proc->resolved = epoch;
	}
	value = tde_datum_peek(type, PG_GETARG_DATUM(0), call->declared[0], TDE_REMEMBER_LONG, &scratch[0]);
	base = tde_datum_peek(type, PG_GETARG_DATUM(1), call->declared[1], TDE_REMEMBER_LONG, &scratch[1]);
	result = DatumGetBool(FunctionCall5(proc->base_function, value, base, PG_GETARG_DATUM(2), PG_GETARG_DATUM(3),
										PG_GETARG_DATUM(4)));
	tde_datum_unpeek(&scratch[0]);
	tde_datum_unpeek(&scratch[1]);
	PG_RETURN_BOOL(result);
}
