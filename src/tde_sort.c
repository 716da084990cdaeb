/*
 * tde_sort.c - sort support of encrypted types.
 *
 * PostgreSQL's "abbreviated keys" let a sort decrypt each value once, where the base type is passed by value: the abbreviation is
 * the plaintext itself.  tuplesort never writes abbreviations to disk, and drops them before it merges runs that it has written.
 *
 * A pointer to a plaintext kept in memory would not do for the other types: DISTINCT aggregates take values for different whose
 * abbreviations differ in a bit.  Nor would floats, of which two zeros are equal.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "catalog/pg_am.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "utils/lsyscache.h"
#include "utils/sortsupport.h"

#include "tde_compat.h"
#include "tde_datum.h"
#include "tde_resolve.h"

PG_FUNCTION_INFO_V1(tde_sortsupport);

typedef struct SortState
{
	TdeType    *type;
	SortSupportData base;		/* compares plaintexts */
	bool		tie;			/* the last two abbreviations, that is plaintexts, were equal */
} SortState;

static int
compare_plain(Datum x, Datum y, SortState *state)
{
	return state->base.comparator(x, y, &state->base);
}

static int
compare_encrypted(Datum x, Datum y, SortSupport ssup)
{
	SortState  *state = ssup->ssup_extra;
	Datum		left;
	Datum		right;
	int			result;

	/* asked to break the tie of two abbreviations, which were the whole values */
	if (state->tie)
	{
		state->tie = false;
		return 0;
	}
	left = tde_datum_decrypt(state->type, x, -1);
	right = tde_datum_decrypt(state->type, y, -1);
	result = compare_plain(left, right, state);
	tde_datum_free(state->type, left);
	tde_datum_free(state->type, right);
	return result;
}

static int
compare_abbreviated(Datum x, Datum y, SortSupport ssup)
{
	SortState  *state = ssup->ssup_extra;
	int			result = compare_plain(x, y, state);

	state->tie = (result == 0);
	return result;
}

static Datum
abbreviate(Datum original, SortSupport ssup)
{
	SortState  *state = ssup->ssup_extra;

	return tde_datum_decrypt_once(state->type, original, -1);
}

/* They are the whole values, so there is never a reason to go without. */
static bool
never_abandon(int count, SortSupport ssup)
{
	return false;
}

static bool
can_abbreviate(TdeType *type)
{
	return type->base_byval && type->base != FLOAT4OID && type->base != FLOAT8OID;
}

/* The base type's own sort support, or else its comparison function. */
static void
prepare_base(SortState *state, SortSupport ssup)
{
	Oid			base = state->type->base;
	Oid			opclass = GetDefaultOpClass(base, BTREE_AM_OID);
	Oid			input = get_opclass_input_type(opclass);
	Oid			function = tde_resolve_btree_support(base, input, BTSORTSUPPORT_PROC);

	state->base.ssup_cxt = ssup->ssup_cxt;
	state->base.ssup_collation = ssup->ssup_collation;
	state->base.abbreviate = false;
	if (OidIsValid(function))
		OidFunctionCall1(function, PointerGetDatum(&state->base));
	if (state->base.comparator == NULL)
		PrepareSortSupportComparisonShim(tde_resolve_btree_support(base, input, BTORDER_PROC), &state->base);
}

/* <type>_sortsupport(internal) returns void - btree support function 2; one SQL function for each type, as nothing else tells it. */
Datum
tde_sortsupport(PG_FUNCTION_ARGS)
{
	SortSupport ssup = (SortSupport) PG_GETARG_POINTER(0);
	MemoryContext caller = MemoryContextSwitchTo(ssup->ssup_cxt);
	SortState  *state = palloc0(sizeof(SortState));

	state->type = tde_type_of_function(fcinfo->flinfo->fn_oid);
	prepare_base(state, ssup);
	ssup->ssup_extra = state;
	ssup->comparator = compare_encrypted;
	if (ssup->abbreviate && can_abbreviate(state->type))
	{
		ssup->abbrev_full_comparator = compare_encrypted;
		ssup->comparator = compare_abbreviated;
		ssup->abbrev_converter = abbreviate;
		ssup->abbrev_abort = never_abandon;
	}
	MemoryContextSwitchTo(caller);
	PG_RETURN_VOID();
}
