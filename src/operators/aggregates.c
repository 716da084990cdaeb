/*
 * aggregates.c - PostgreSQL's own aggregates over encrypted values: sum, string_agg, bool_and, ...
 *
 * By the implicit cast they would take plaintext: DISTINCT and ORDER BY in an aggregate sort its arguments, and a sort that does not fit into
 * memory writes them to a file.  So each has a namesake that takes encrypted arguments (sql/31_missing_aggregates.sql), of which the transition
 * function decrypts them and calls PostgreSQL's, which has its name.  States, too, must not be written in clear: aggregate_states.c.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "operators/aggregates.h"
#include "server/compat.h"
#include "type/access.h"
#include "type/datum.h"

PG_FUNCTION_INFO_V1(tde_transition);
PG_FUNCTION_INFO_V1(tde_boxed_transition);

/* ---- which of PostgreSQL's functions it is ---- */

/* What the catalogs say of one of our functions, for all calls of it. */
typedef struct Known
{
	Oid			function;		/* hash key */
	uint64		resolved;		/* see tde_functions_epoch */
	Oid			base;
	Oid			state;			/* the type of its first argument */
	bool		from_first;		/* a first value may be the state */
	Oid			convert[3];		/* see TdeAggregation; InvalidOid: none */
	char	   *initial;		/* what the state is made of at first, as a text; NULL: it is NULL */
} Known;

/* The function by which an argument becomes what PostgreSQL's function takes; false if it does not. */
static bool
find_conversion(Oid source, Oid target, Oid *convert)
{
	*convert = InvalidOid;
	if (IsBinaryCoercible(source, target))
		return true;
	/* strings alone have a further implicit cast, to text */
	return target == TEXTOID && find_coercion_pathway(target, source, COERCION_IMPLICIT, convert) == COERCION_PATH_FUNC;
}

/* Does PostgreSQL's function take our arguments? */
static bool
suits(Form_pg_proc form, const TdeProc *proc, bool boxed, Known *known)
{
	/* initdb has made it */
	if (form->oid >= FirstUnpinnedObjectId || form->pronargs != proc->nargs)
		return false;
	known->state = form->proargtypes.values[0];
	known->from_first = form->pronargs == 2 && IsBinaryCoercible(form->proargtypes.values[1], known->state);
	for (int i = 0; i < proc->nargs; i++)
	{
		Oid			source = proc->args[i] ? proc->args[i]->base : proc->arg_types[i];

		/* the others of a combining function are boxes as well, of the same type */
		if (boxed && source == INTERNALOID)
			source = known->state;
		if (!find_conversion(source, form->proargtypes.values[i], &known->convert[i]))
			return false;
	}
	return true;
}

static Oid
find_base(const char *name, const TdeProc *proc, bool boxed, Known *known)
{
	CatCList   *namesakes = SearchSysCacheList1(PROCNAMEARGSNSP, CStringGetDatum(name));
	Oid			found = InvalidOid;

	for (int i = 0; i < namesakes->n_members && !OidIsValid(found); i++)
	{
		Form_pg_proc form = (Form_pg_proc) GETSTRUCT(&namesakes->members[i]->tuple);

		CHECK_FOR_INTERRUPTS();
		if (suits(form, proc, boxed, known))
			found = form->oid;
	}
	ReleaseSysCacheList(namesakes);
	return found;
}

/* All aggregates with the same transition function begin with the same state. */
static char *
find_initial(Oid transition)
{
	Relation	rel = table_open(AggregateRelationId, AccessShareLock);
	char	   *initial = NULL;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_aggregate_aggtransfn, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(transition));
	scan = systable_beginscan(rel, InvalidOid, false, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		bool		isnull;
		Datum		given = heap_getattr(tuple, Anum_pg_aggregate_agginitval, RelationGetDescr(rel), &isnull);

		if (!isnull)
			initial = MemoryContextStrdup(TopMemoryContext, TextDatumGetCString(given));
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return initial;
}

static const Known *
find_known(Oid function, bool boxed)
{
	static HTAB *functions = NULL;
	TdeProc    *proc = tde_proc_find(function);
	uint64		epoch = tde_functions_epoch;
	Known	   *known;
	char	   *name;
	bool		found;

	if (functions == NULL)
		functions = tde_table_new("tde_column aggregates", sizeof(Oid), sizeof(Known));
	known = hash_search(functions, &function, HASH_ENTER, &found);
	if (found && known->resolved == epoch && OidIsValid(known->base))
		return known;
	if (found && known->initial)
		pfree(known->initial);
	*known = (Known) {.function = function};
	name = get_func_name(function);
	if (name && boxed && strncmp(name, TDE_BOXED, strlen(TDE_BOXED)) == 0)
		name += strlen(TDE_BOXED);
	known->base = name ? find_base(name, proc, boxed, known) : InvalidOid;
	if (!OidIsValid(known->base))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("PostgreSQL has no function %s for function with OID %u", name ? name : "?", function)));
	if (boxed)
		known->initial = find_initial(known->base);
	known->resolved = epoch;
	return known;
}

static void
set_initial(TdeBox *box, const Known *known)
{
	Oid			input;
	Oid			ioparam;

	get_typlenbyval(known->state, &box->len, &box->byval);
	box->isnull = known->initial == NULL;
	if (box->isnull)
		return;
	getTypeInputInfo(known->state, &input, &ioparam);
	box->value = OidInputFunctionCall(input, known->initial, ioparam, -1);
}

static TdeAggregation *
set_up(FunctionCallInfo fcinfo, bool boxed)
{
	TdeCall    *call = tde_call(fcinfo);
	const Known *known = find_known(fcinfo->flinfo->fn_oid, boxed);
	MemoryContext caller = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	TdeAggregation *aggregation = palloc0(sizeof(TdeAggregation));

	fmgr_info_copy(&aggregation->base, tde_function(known->base), CurrentMemoryContext);
	for (int i = 0; i < lengthof(known->convert); i++)
		if (OidIsValid(known->convert[i]))
			aggregation->convert[i] = tde_function(known->convert[i]);
	set_initial(&aggregation->initial, known);
	aggregation->from_first = known->from_first;
	/* those that count up an array or a state of their own take over what they are given; others may return it */
	aggregation->scratch = aggregation->initial.byval || OidIsValid(get_element_type(known->state));
	call->more = aggregation;
	MemoryContextSwitchTo(caller);
	return aggregation;
}

TdeAggregation *
tde_aggregation(FunctionCallInfo fcinfo, bool boxed)
{
	TdeCall    *call = tde_call(fcinfo);

	return likely(call->more != NULL) ? call->more : set_up(fcinfo, boxed);
}

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
	MemoryContext group = tde_group_context(fcinfo);
	TdeAggregation *aggregation = tde_aggregation(fcinfo, true);
	TdeCall    *call = tde_call(fcinfo);
	TdeBox	   *box = PG_ARGISNULL(0) ? tde_box_new(group, &aggregation->initial) : (TdeBox *) PG_GETARG_POINTER(0);
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
