/*
 * aggregates.c - PostgreSQL's own aggregates over encrypted values: sum, string_agg, bool_and, ...
 *
 * By the implicit cast they would take plaintext: DISTINCT and ORDER BY in an aggregate sort its arguments, and a sort that does not fit into
 * memory writes them to a file.  So each has a namesake that takes encrypted arguments (sql/31_missing_aggregates.sql), of which the transition
 * function decrypts them and calls PostgreSQL's, which has its name.  States, too, must not be written in clear.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/memutils.h"

#include "operators/aggregates.h"
#include "server/compat.h"
#include "type/access.h"
#include "type/datum.h"
#include "type/opened.h"

PG_FUNCTION_INFO_V1(tde_transition);
PG_FUNCTION_INFO_V1(tde_boxed_transition);
PG_FUNCTION_INFO_V1(tde_boxed_combine);
PG_FUNCTION_INFO_V1(tde_boxed_final);
PG_FUNCTION_INFO_V1(tde_boxed_value);
PG_FUNCTION_INFO_V1(tde_boxed_serialize);
PG_FUNCTION_INFO_V1(tde_boxed_deserialize);
PG_FUNCTION_INFO_V1(tde_sealed_serialize);
PG_FUNCTION_INFO_V1(tde_sealed_deserialize);

/* ---- transitions ---- */

/*
 * An argument as PostgreSQL's function takes it: decrypted, and converted where it takes another type, such as text for char(n).  Counted for
 * tde.decryptions, since the result of an aggregate is in clear.  What is in scratch is to be cleansed by the caller.
 */
static inline Datum
decrypt(FunctionCallInfo fcinfo, TdeCall *call, int arg, const TdeAggregation *aggregation, TdeScratch *scratch)
{
	TdeType    *type = call->proc->args[arg];
	Datum		value = PG_GETARG_DATUM(arg);

	scratch->allocated = NULL;
	if (type)
	{
		tde_opened_check(fcinfo, arg);
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

/*
 * (internal, encrypted, ...) returns internal - the same, the state in a box.  It is never NULL, so that the box of a group that has met no value is
 * serialized as that of any other group.
 */
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

/*
 * ---- states of aggregates over encrypted values, as parallel workers hand them on ----
 *
 * A state of one value is that value in clear.  Workers pass it to their leader in shared memory, which may be a file, and there it is
 * sorted by its group, which may write it to another file.  So what leaves the process is encrypted, as a constant of SQL would be, but
 * with salt.  States that PostgreSQL would pass on as they are, for they are no internal ones, are in a box (TdeBox).
 */

/* ---- boxes ---- */

MemoryContext
tde_aggregate_context(FunctionCallInfo fcinfo)
{
	MemoryContext context;

	if (AggCheckCallContext(fcinfo, &context) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("aggregate function called in non-aggregate context")));
	return context;
}

TdeBox *
tde_aggregate_box_new(MemoryContext group, const TdeBox *model)
{
	MemoryContext caller = MemoryContextSwitchTo(group);
	TdeBox	   *box = palloc(sizeof(TdeBox));

	*box = *model;
	if (!box->isnull)
		box->value = datumCopy(model->value, model->byval, model->len);
	MemoryContextSwitchTo(caller);
	return box;
}

void
tde_aggregate_box_replace(MemoryContext group, TdeBox *box, Datum value, bool isnull)
{
	MemoryContext caller = MemoryContextSwitchTo(group);
	Datum		copy = datumCopy(value, box->byval, box->len);

	MemoryContextSwitchTo(caller);
	if (!box->isnull)
		pfree(DatumGetPointer(box->value));
	box->value = copy;
	box->isnull = isnull;
}

/* The box that an argument is; NULL if that is NULL: a leader has no state before the first worker's. */
static inline TdeBox *
argument_box(FunctionCallInfo fcinfo, int arg)
{
	return PG_ARGISNULL(arg) ? NULL : (TdeBox *) PG_GETARG_POINTER(arg);
}

/*
 * (internal, internal) returns internal - what PostgreSQL's function of this name makes of two states.  Either may be NULL: the leader begins with
 * none.  The second box belongs to the caller's row, so a first one is copied from it.
 */
Datum
tde_boxed_combine(PG_FUNCTION_ARGS)
{
	MemoryContext group = tde_aggregate_context(fcinfo);
	TdeAggregation *aggregation = tde_aggregation(fcinfo, true);
	TdeBox	   *box = argument_box(fcinfo, 0);
	TdeBox	   *other = argument_box(fcinfo, 1);
	Datum		result;

	if (other == NULL && box == NULL)
		PG_RETURN_NULL();
	if (box == NULL)
		PG_RETURN_POINTER(tde_aggregate_box_new(group, other));
	if (other != NULL && !(other->isnull && aggregation->base.fn_strict))
	{
		fcinfo->args[0] = (NullableDatum) {box->value, box->isnull};
		fcinfo->args[1] = (NullableDatum) {other->value, other->isnull};
		result = box->isnull && aggregation->base.fn_strict ? other->value : tde_call_base(fcinfo, aggregation);
		tde_box_set(group, box, result, fcinfo->isnull);
		fcinfo->isnull = false;
	}
	PG_RETURN_POINTER(box);
}

/* (internal) returns the result's type - what PostgreSQL's function of this name makes of the state. */
Datum
tde_boxed_final(PG_FUNCTION_ARGS)
{
	TdeAggregation *aggregation = tde_aggregation(fcinfo, true);
	TdeBox	   *box = argument_box(fcinfo, 0);

	(void) tde_aggregate_context(fcinfo);
	if (box == NULL || (box->isnull && aggregation->base.fn_strict))
		PG_RETURN_NULL();
	fcinfo->args[0] = (NullableDatum) {box->value, box->isnull};
	return tde_call_base(fcinfo, aggregation);
}

/* (internal) returns the state's type - the state, for an aggregate that has no final function, such as bool_and(). */
Datum
tde_boxed_value(PG_FUNCTION_ARGS)
{
	TdeBox	   *box = argument_box(fcinfo, 0);

	(void) tde_aggregate_context(fcinfo);
	if (box == NULL || box->isnull)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(box->value);
}

/* ---- what leaves the process ---- */

/* The encrypted type as whose values states are passed on.  The install script makes it, so it is missing only if somebody has dropped it. */
static TdeType *
sealed_type(void)
{
	TdeType    *type = tde_type_of_base(BYTEAOID);

	if (type == NULL)
		elog(ERROR, "there is no encrypted type of bytea");
	return type;
}

/* Encrypts the bytes of a state under the catalog's key, with salt, and returns an encrypted_bytea.  The bytes in clear are overwritten and freed. */
static Datum
seal_state(bytea *state)
{
	Datum		sealed = tde_datum_encrypt_passing(sealed_type(), PointerGetDatum(state));

	tde_datum_free(sealed_type(), PointerGetDatum(state));
	return sealed;
}

/* The bytes of a state that seal_state() has encrypted.  They are palloc'd in the memory of the row, which server/remains.c overwrites later. */
static bytea *
open_state(Datum sealed)
{
	return DatumGetByteaPP(tde_datum_decrypt_once(sealed_type(), sealed, -1));
}

/* How a box begins that has become bytes. */
typedef struct BoxHead
{
	int16		len;
	bool		byval;
} BoxHead;

/*
 * boxed_serialize(internal) returns bytea - the box as bytes, encrypted.  Type and length of the value go with it, since the leader has no box yet
 * from which they could be taken.
 */
Datum
tde_boxed_serialize(PG_FUNCTION_ARGS)
{
	TdeBox	   *box = (TdeBox *) PG_GETARG_POINTER(0);
	BoxHead		head = {.len = box->len, .byval = box->byval};
	Size		size = VARHDRSZ + sizeof(head) + datumEstimateSpace(box->value, box->isnull, box->byval, box->len);
	bytea	   *state = palloc0(size);
	char	   *at = VARDATA(state);

	(void) tde_aggregate_context(fcinfo);
	SET_VARSIZE(state, size);
	memcpy(at, &head, sizeof(head));
	at += sizeof(head);
	datumSerialize(box->value, box->isnull, box->byval, box->len, &at);
	return seal_state(state);
}

/* boxed_deserialize(bytea, internal) returns internal */
Datum
tde_boxed_deserialize(PG_FUNCTION_ARGS)
{
	TdeBox	   *box = palloc(sizeof(TdeBox));
	bytea	   *state;
	char	   *at;
	BoxHead		head;

	(void) tde_aggregate_context(fcinfo);
	state = open_state(PG_GETARG_DATUM(0));
	at = VARDATA_ANY(state);
	memcpy(&head, at, sizeof(head));
	at += sizeof(head);
	*box = (TdeBox) {.len = head.len, .byval = head.byval};
	box->value = datumRestore(&at, &box->isnull);
	PG_RETURN_POINTER(box);
}

/*
 * (internal) returns bytea - what PostgreSQL's function of this name makes of the state, encrypted.  For aggregates whose state is internal in
 * PostgreSQL, too, such as sum(numeric).
 */
Datum
tde_sealed_serialize(PG_FUNCTION_ARGS)
{
	return seal_state(DatumGetByteaP(tde_call_base(fcinfo, tde_aggregation(fcinfo, false))));
}

/* (bytea, internal) returns internal - the reverse: what PostgreSQL's function of this name makes of the decrypted bytes. */
Datum
tde_sealed_deserialize(PG_FUNCTION_ARGS)
{
	TdeAggregation *aggregation = tde_aggregation(fcinfo, false);

	(void) tde_aggregate_context(fcinfo);
	fcinfo->args[0].value = PointerGetDatum(open_state(PG_GETARG_DATUM(0)));
	return tde_call_base(fcinfo, aggregation);
}
