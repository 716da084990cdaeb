/*
 * aggregates.c - PostgreSQL's own aggregates over encrypted values: sum, string_agg, bool_and, ...
 *
 * By the implicit cast they would take plaintext: DISTINCT and ORDER BY in an aggregate sort its arguments, and a sort that does not fit into
 * memory writes them to a file.  So each has a namesake that takes encrypted arguments (sql/31_missing_aggregates.sql), of which the transition
 * function decrypts them and calls PostgreSQL's, which has its name.  States, too, must not be written in clear: aggregate_states.c.
 */
#include "postgres.h"

#include "utils/datum.h"
#include "utils/memutils.h"

#include "operators/aggregates.h"
#include "server/compat.h"
#include "type/access.h"
#include "type/datum.h"

PG_FUNCTION_INFO_V1(tde_transition);
PG_FUNCTION_INFO_V1(tde_boxed_transition);

/* ---- transitions ---- */

static inline Datum
decrypt(FunctionCallInfo fcinfo, TdeCall *call, int arg, const TdeAggregation *aggregation, TdeScratch *scratch)
{
	TdeType    *type = call->proc->args[arg];
	Datum		value = PG_GETARG_DATUM(arg);

	scratch->allocated = NULL;
	if (type)
	{
		tde_access_check(type, value);
		value = aggregation->scratch ? tde_datum_peek(type, value, call->declared[arg], TDE_REMEMBER_ROW, scratch) :
			tde_datum_decrypt(type, value, call->declared[arg]);
	}
	return aggregation->convert[arg] ? FunctionCall1(aggregation->convert[arg], value) : value;
}

/*
 * Call PostgreSQL's function with what is decrypted.  The arguments are given back as they were: with DISTINCT, nodeAgg.c compares the next value
 * with them, and frees them; with GROUPING SETS, the next set takes them, too.
 */
static inline Datum
advance(FunctionCallInfo fcinfo, TdeCall *call, TdeAggregation *aggregation)
{
	TdeScratch	scratch[lengthof(aggregation->convert)];
	Datum		given[lengthof(aggregation->convert)];
	int			count = call->proc->nargs;
	Datum		result;

	for (int i = 1; i < count; i++)
	{
		scratch[i].allocated = NULL;
		given[i] = PG_GETARG_DATUM(i);
		if (!PG_ARGISNULL(i))
			fcinfo->args[i].value = decrypt(fcinfo, call, i, aggregation, &scratch[i]);
	}
	if (likely(!aggregation->base.fn_strict || !PG_ARGISNULL(0)))
		result = tde_call_base(fcinfo, aggregation);
	else
	{
		/* of a strict function, the first value is the state, if there is none: not if somebody else calls ours */
		fcinfo->isnull = !aggregation->from_first;
		result = PG_GETARG_DATUM(1);
	}
	for (int i = 1; i < count; i++)
	{
		fcinfo->args[i].value = given[i];
		tde_datum_unpeek(&scratch[i]);
	}
	return result;
}

/* A strict function is not called for a NULL. */
static inline bool
is_passed_over(FunctionCallInfo fcinfo, const TdeCall *call, const TdeAggregation *aggregation)
{
	if (aggregation->base.fn_strict)
		for (int i = 1; i < call->proc->nargs; i++)
			if (PG_ARGISNULL(i))
				return true;
	return false;
}

/* (state, encrypted, ...) returns state - the function of this name of the base types. */
Datum
tde_transition(PG_FUNCTION_ARGS)
{
	TdeAggregation *aggregation = tde_aggregation(fcinfo, false);
	TdeCall    *call = tde_call(fcinfo);

	if (is_passed_over(fcinfo, call, aggregation))
	{
		fcinfo->isnull = PG_ARGISNULL(0);
		return PG_GETARG_DATUM(0);
	}
	return advance(fcinfo, call, aggregation);
}

/* (internal, encrypted, ...) returns internal - the same, the state in a box. */
Datum
tde_boxed_transition(PG_FUNCTION_ARGS)
{
	MemoryContext group = tde_aggregate_context(fcinfo);
	TdeAggregation *aggregation = tde_aggregation(fcinfo, true);
	TdeCall    *call = tde_call(fcinfo);
	TdeBox	   *box = PG_ARGISNULL(0) ? tde_aggregate_box_new(group, &aggregation->initial) : (TdeBox *) PG_GETARG_POINTER(0);
	Datum		result;

	if (!is_passed_over(fcinfo, call, aggregation))
	{
		fcinfo->args[0] = (NullableDatum) {box->value, box->isnull};
		result = advance(fcinfo, call, aggregation);
		tde_box_set(group, box, result, fcinfo->isnull);
		fcinfo->isnull = false;
	}
	PG_RETURN_POINTER(box);
}
