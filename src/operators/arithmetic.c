/*
 * arithmetic.c - operators and aggregates of encrypted numbers that PostgreSQL's own cannot serve.
 *
 * An encrypted number is its base type's number through the implicit cast, but no further: encrypted_int4 * numeric would take
 * two casts in a row, and a second implicit cast would make every function of numbers ambiguous.  So each pair of number types
 * of which one is encrypted has operators of its own (sql/31_missing.sql).  They compute as PostgreSQL does for the base
 * types, and return plain numbers; therefore they are STABLE, like the cast that they stand for, so that no index or generated
 * column can hold their results in clear.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/fmgrprotos.h"
#include "utils/tuplesort.h"

#include "operators/compare.h"
#include "server/compat.h"
#include "type/access.h"
#include "type/base_functions.h"
#include "type/datum.h"
#include "type/opened.h"

PG_FUNCTION_INFO_V1(tde_plus);
PG_FUNCTION_INFO_V1(tde_minus);
PG_FUNCTION_INFO_V1(tde_times);
PG_FUNCTION_INFO_V1(tde_divided);
PG_FUNCTION_INFO_V1(tde_modulo);
PG_FUNCTION_INFO_V1(tde_regr_accum);
PG_FUNCTION_INFO_V1(tde_regr_count);
PG_FUNCTION_INFO_V1(tde_percentile_transition);
PG_FUNCTION_INFO_V1(tde_percentile);
PG_FUNCTION_INFO_V1(tde_percentiles);

/* ---- operators and simple aggregates ---- */

/*
 * Computes with one or two encrypted numbers: SELECT price * 2.  What PostgreSQL's operators of numbers return never points into their operands, so
 * those may be in scratch.  A constant is converted once (tde_compare_constant()).
 */
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
			tde_opened_check(fcinfo, i);
		operands[i] = tde_argument_peek(fcinfo, call, i, TDE_REMEMBER_ROW, &scratch[i]);
		if (convert)
			operands[i] = proc->args[i] ? FunctionCall1(convert, operands[i])
				: tde_compare_constant(fcinfo, call, i, convert, &kept);
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
 * float8_regr_accum() learns from fcinfo that it is in an aggregate, and may change the state in place.  The arguments are given back as they
 * were: with GROUPING SETS, the next set takes them, too.
 */
Datum
tde_regr_accum(PG_FUNCTION_ARGS)
{
	TdeCall    *call = tde_call(fcinfo);
	Datum		given[] = {PG_GETARG_DATUM(1), PG_GETARG_DATUM(2)};
	Datum		result;

	for (int i = 1; i <= 2; i++)
	{
		if (call->proc->args[i])
		{
			tde_opened_check(fcinfo, i);
			fcinfo->args[i].value = tde_datum_decrypt(call->proc->args[i], PG_GETARG_DATUM(i), -1);
		}
	}
	result = float8_regr_accum(fcinfo);
	fcinfo->args[1].value = given[0];
	fcinfo->args[2].value = given[1];
	return result;
}

/* tde_regr_count(int8, encrypted_float8 or float8, likewise) returns int8 - transition function of regr_count(). */
Datum
tde_regr_count(PG_FUNCTION_ARGS)
{
	return int8inc_float8_float8(fcinfo);
}

/*
 * ---- percentile_cont(), which PostgreSQL's own would read as what they are not ----
 *
 * The values are sorted encrypted, so that a sort that does not fit into memory writes ciphertext, and those next to a percentile
 * are decrypted.  They are encrypted_interval, or encrypted_float8, which the other encrypted numbers become implicitly, as their base types
 * become float8.
 */

/*
 * The state of percentile_cont(), in the memory of the group; the sort is ended with it.  Values are put in encrypted, and nothing is put in once it
 * is sorted.
 */
typedef struct Percentiles
{
	TdeType    *type;			/* the encrypted one */
	Tuplesortstate *sort;
	int64		rows;			/* that were put in: NULLs are not */
	bool		sorted;			/* a further percentile rescans */
	TdeColumn	column;			/* of the values, while they are counted */
	TdeDecrypted *place;		/* where they are counted; NULL at first */
} Percentiles;

/* An AggRegisterCallback: temporary files of the sort go, also after an error, when the group's memory does. */
static void
end_sort(Datum state)
{
	tuplesort_end(((Percentiles *) DatumGetPointer(state))->sort);
}

/*
 * Makes the state at the first row of a group.  The sort operator is the one that the parser has found for WITHIN GROUP (ORDER BY ...), which is that
 * of the encrypted type.
 */
static Percentiles *
begin(FunctionCallInfo fcinfo)
{
	MemoryContext group;
	MemoryContext caller;
	Aggref	   *aggref = AggGetAggref(fcinfo);
	SortGroupClause *order;
	Percentiles *state;

	if (AggCheckCallContext(fcinfo, &group) != AGG_CONTEXT_AGGREGATE || aggref == NULL || aggref->aggkind != AGGKIND_ORDERED_SET)
		elog(ERROR, "not called for an ordered-set aggregate");
	order = linitial_node(SortGroupClause, aggref->aggorder);
	caller = MemoryContextSwitchTo(group);
	state = palloc0(sizeof(Percentiles));
	state->type = tde_call(fcinfo)->proc->args[1];
	/* an array of percentiles is read off in its own order */
	state->sort = tuplesort_begin_datum(state->type->oid, order->sortop, InvalidOid, order->nulls_first, work_mem, NULL,
										TUPLESORT_RANDOMACCESS);
	if (unlikely(tde_track_decryptions))
		state->column = tde_decryptions->argument(fcinfo, 1);
	AggRegisterCallback(fcinfo, end_sort, PointerGetDatum(state));
	MemoryContextSwitchTo(caller);
	return state;
}

/* tde_percentile_transition(internal, encrypted_float8 or encrypted_interval) returns internal - take in a value; NULL does not count. */
Datum
tde_percentile_transition(PG_FUNCTION_ARGS)
{
	Percentiles *state = PG_ARGISNULL(0) ? begin(fcinfo) : (Percentiles *) PG_GETARG_POINTER(0);

	if (!PG_ARGISNULL(1))
	{
		tde_access_check_argument(tde_call(fcinfo), 1, PG_GETARG_DATUM(1));
		tuplesort_putdatum(state->sort, PG_GETARG_DATUM(1), false);
		state->rows++;
	}
	PG_RETURN_POINTER(state);
}

/* The next value of the sort, decrypted and counted.  It belongs to the current memory context. */
static Datum
next_value(Percentiles *state)
{
	Datum		stored;
	bool		isnull;
	Datum		value;

	if (!TDE_SORT_NEXT(state->sort, &stored, &isnull) || isnull)
		elog(ERROR, "a sorted value is missing");
	tde_opened_value(&state->place, state->column, stored, false);
	value = tde_datum_decrypt(state->type, stored, -1);
	pfree(DatumGetPointer(stored));
	return value;
}

/* The value at this part of the way from one value to another, as float8_lerp() and interval_lerp() of PostgreSQL's orderedsetaggs.c compute it. */
static Datum
between(const TdeType *type, Datum low, Datum high, float8 part)
{
	Datum		way;

	if (type->base == FLOAT8OID)
		return Float8GetDatum(DatumGetFloat8(low) + part * (DatumGetFloat8(high) - DatumGetFloat8(low)));
	way = DirectFunctionCall2(interval_mul, DirectFunctionCall2(interval_mi, high, low), Float8GetDatum(part));
	return DirectFunctionCall2(interval_pl, way, low);
}

/*
 * Returns the value at this part of all sorted values; between two, their linear interpolation, as percentile_cont() has it.  Throws
 * ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE for a fraction that is none.
 */
static Datum
value_at(Percentiles *state, float8 fraction)
{
	float8		place;
	int64		before;
	Datum		low;

	if (isnan(fraction) || fraction < 0 || fraction > 1)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("percentile value %g is not between 0 and 1", fraction)));
	place = fraction * (float8) (state->rows - 1);
	before = (int64) floor(place);
	if (state->sorted)
		tuplesort_rescan(state->sort);
	else
		tuplesort_performsort(state->sort);
	state->sorted = true;
	if (!tuplesort_skiptuples(state->sort, before, true))
		elog(ERROR, "a sorted value is missing");
	low = next_value(state);
	return place > (float8) before ? between(state->type, low, next_value(state), place - (float8) before) : low;
}

/* The state of an aggregate that has met values; NULL: it has met none, and the result is NULL. */
static Percentiles *
finished(FunctionCallInfo fcinfo)
{
	Percentiles *state = PG_ARGISNULL(0) ? NULL : (Percentiles *) PG_GETARG_POINTER(0);

	return state && state->rows > 0 ? state : NULL;
}

/* tde_percentile(internal, float8) returns the base type - final function of percentile_cont(float8). */
Datum
tde_percentile(PG_FUNCTION_ARGS)
{
	Percentiles *state = finished(fcinfo);

	if (state == NULL || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(value_at(state, PG_GETARG_FLOAT8(1)));
}

/* tde_percentiles(internal, float8[]) returns an array of the base type - final function of percentile_cont(float8[]). */
Datum
tde_percentiles(PG_FUNCTION_ARGS)
{
	Percentiles *state = finished(fcinfo);
	ArrayType  *fractions;
	Datum	   *items;
	bool	   *nulls;
	int			count;

	if (state == NULL || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	fractions = PG_GETARG_ARRAYTYPE_P(1);
	deconstruct_array(fractions, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &items, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!nulls[i])
			items[i] = value_at(state, DatumGetFloat8(items[i]));
	}
	PG_RETURN_POINTER(construct_md_array(items, nulls, ARR_NDIM(fractions), ARR_DIMS(fractions), ARR_LBOUND(fractions),
										 state->type->base, state->type->base_len, state->type->base_byval, state->type->base_align));
}
