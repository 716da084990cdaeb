/*
 * arithmetic.c - operators and aggregates of encrypted numbers that PostgreSQL's own cannot serve.
 *
 * An encrypted number is its base type's number through the implicit cast, but no further: encrypted_int4 * numeric would take
 * two casts in a row, and a second implicit cast would make every function of numbers ambiguous.  So each pair of number types
 * of which one is encrypted has operators of its own (src/sql/25_operands.sql).  They compute as PostgreSQL does for the base
 * types, and return plain numbers; therefore they are STABLE, like the cast that they stand for, so that no index or generated
 * column can hold their results in clear.
 */
#include "postgres.h"

#include "utils/fmgrprotos.h"

#include "operators/operands.h"
#include "server/compat.h"
#include "type/access.h"
#include "type/base_functions.h"
#include "type/datum.h"

PG_FUNCTION_INFO_V1(tde_plus);
PG_FUNCTION_INFO_V1(tde_minus);
PG_FUNCTION_INFO_V1(tde_times);
PG_FUNCTION_INFO_V1(tde_divided);
PG_FUNCTION_INFO_V1(tde_modulo);
PG_FUNCTION_INFO_V1(tde_regr_accum);
PG_FUNCTION_INFO_V1(tde_regr_count);

/* What PostgreSQL's operators of numbers return never points into their operands, so those may be in scratch. */
static Datum
compute(FunctionCallInfo fcinfo, const char *symbol)
{
	TdeCall    *call = tde_call(fcinfo);
	TdeProc    *proc = call->proc;
	TdeArithmetic *arithmetic = tde_is_resolved(proc) ? proc->arithmetic : tde_base_arithmetic(proc, symbol);
	TdeScratch	scratch[2];
	Datum		operands[2];
	bool		kept;
	Datum		result;

	for (int i = 0; i < 2; i++)
	{
		FmgrInfo   *convert = arithmetic->convert[i];

		if (proc->args[i])
			tde_access_check(proc->args[i], PG_GETARG_DATUM(i));
		operands[i] = tde_argument_peek(fcinfo, call, i, TDE_REMEMBER_ROW, &scratch[i]);
		if (convert)
			operands[i] = proc->args[i] ? FunctionCall1(convert, operands[i])
				: tde_constant_convert(fcinfo, call, i, convert, &kept);
	}
	result = FunctionCall2(arithmetic->operate, operands[0], operands[1]);
	tde_datum_unpeek(&scratch[0]);
	tde_datum_unpeek(&scratch[1]);
	return result;
}

Datum
tde_plus(PG_FUNCTION_ARGS)
{
	return compute(fcinfo, "+");
}

Datum
tde_minus(PG_FUNCTION_ARGS)
{
	return compute(fcinfo, "-");
}

Datum
tde_times(PG_FUNCTION_ARGS)
{
	return compute(fcinfo, "*");
}

Datum
tde_divided(PG_FUNCTION_ARGS)
{
	return compute(fcinfo, "/");
}

Datum
tde_modulo(PG_FUNCTION_ARGS)
{
	return compute(fcinfo, "%");
}

/*
 * tde_regr_accum(float8[], encrypted_float8 or float8, likewise) returns float8[] - transition function of corr() and its like.
 * float8_regr_accum() learns from fcinfo that it is in an aggregate, and may change the state in place.
 */
Datum
tde_regr_accum(PG_FUNCTION_ARGS)
{
	TdeCall    *call = tde_call(fcinfo);

	for (int i = 1; i <= 2; i++)
	{
		if (call->proc->args[i])
		{
			tde_access_check(call->proc->args[i], PG_GETARG_DATUM(i));
			fcinfo->args[i].value = tde_datum_decrypt(call->proc->args[i], PG_GETARG_DATUM(i), -1);
		}
	}
	return float8_regr_accum(fcinfo);
}

/* tde_regr_count(int8, encrypted_float8 or float8, likewise) returns int8 - transition function of regr_count(). */
Datum
tde_regr_count(PG_FUNCTION_ARGS)
{
	return int8inc_float8_float8(fcinfo);
}
