/*
 * aggregation.c - which of PostgreSQL's functions an aggregate over encrypted values calls, and with what it begins.
 *
 * Functions are matched by what pg_proc says, and the answer is kept for each function of ours until tde_functions_epoch changes.  Only what initdb
 * has made is taken: a user's function of the same name in pg_catalog gets no plaintext.
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
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "operators/aggregates.h"
#include "server/compat.h"
#include "server/memory.h"

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

/*
 * Sets *convert to the function by which an argument becomes what PostgreSQL's function takes, InvalidOid if it needs none.  Returns false if it
 * cannot become that.  A char(n) becomes text by such a function, for string_agg().
 */
static bool
find_conversion(Oid source, Oid target, Oid *convert)
{
	*convert = InvalidOid;
	if (IsBinaryCoercible(source, target))
		return true;
	/* strings alone have a further implicit cast, to text */
	return target == TEXTOID && find_coercion_pathway(target, source, COERCION_IMPLICIT, convert) == COERCION_PATH_FUNC;
}

/*
 * Returns true if PostgreSQL's function takes the arguments of ours, and notes in *known what that means for a call.  A name alone does not tell:
 * functions of ours have the same one, and so may users'.
 */
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

/* The first suitable function of this name; InvalidOid if there is none.  *known is set for it. */
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

/*
 * The text of which the state is made at first; NULL: it is NULL.  All aggregates with the same transition function begin with the same state.
 * pg_aggregate has no index by it, so this reads the whole catalog, once for each function and epoch.
 */
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

/*
 * What is known of one of our functions.  Entries stay where they are, so the pointer is good as long as the backend lives; their contents are looked
 * up anew once the epoch has changed.
 */
static const Known *
find_known(Oid function, bool boxed)
{
	static HTAB *functions = NULL;
	TdeProc    *proc = tde_type_proc(function);
	uint64		epoch = tde_functions_epoch;
	Known	   *known;
	char	   *name;
	bool		found;

	if (functions == NULL)
		functions = tde_memory_table_new("tde_column aggregates", sizeof(Oid), sizeof(Known));
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

/*
 * Makes the first state by the input function of its type.  This allocates in the current memory context, which is fn_mcxt, since every group's box
 * is copied from it.
 */
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

/*
 * Made at the first call of a call site.  It copies the FmgrInfo of PostgreSQL's function, because that keeps what it finds out in fn_extra, and two
 * call sites may have different arguments.
 */
static TdeAggregation *
set_up(FunctionCallInfo fcinfo, bool boxed)
{
	TdeCall    *call = tde_call(fcinfo);
	const Known *known = find_known(fcinfo->flinfo->fn_oid, boxed);
	MemoryContext caller = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	TdeAggregation *aggregation = palloc0(sizeof(TdeAggregation));

	fmgr_info_copy(&aggregation->base, tde_type_function(known->base), CurrentMemoryContext);
	for (int i = 0; i < lengthof(known->convert); i++)
		if (OidIsValid(known->convert[i]))
			aggregation->convert[i] = tde_type_function(known->convert[i]);
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
