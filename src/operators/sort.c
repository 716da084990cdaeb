/*
 * sort.c - sort support of encrypted types: each value is decrypted once.
 *
 * PostgreSQL's "abbreviated keys" make that possible.  tuplesort never writes them to disk, and drops them before it merges
 * runs that it has written.  Where the base type is passed by value the abbreviation is the plaintext.  Otherwise it is a
 * short prefix, which orders most pairs, and the number of the plaintext in memory (operators/sort_values.h), which orders the others.
 * Those for which there is no memory have more of the prefix in place of the number; if that is not enough, both are decrypted.
 * DISTINCT aggregates take values for different whose abbreviations differ in a bit, so equal ones have the same number or
 * none, and the two zeros of a float are made one.
 *
 * In an order that tells nothing (operators/compare.c) the prefix is where a value stands.
 */
#include "postgres.h"

#include "access/nbtree.h"
#include "access/parallel.h"
#include "catalog/pg_type.h"
#include "commands/progress.h"
#include "miscadmin.h"
#include "utils/backend_status.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/sortsupport.h"

#include <math.h>

#include "operators/compare.h"
#include "operators/sort_values.h"
#include "server/compat.h"
#include "server/remains.h"
#include "type/base_functions.h"
#include "type/datum.h"

PG_FUNCTION_INFO_V1(tde_sortsupport);
PG_FUNCTION_INFO_V1(tde_pattern_sortsupport);
PG_FUNCTION_INFO_V1(tde_unordered_sortsupport);

/* What a sort keeps, in its memory context, at SortSupport's ssup_extra. */
typedef struct SortState
{
	TdeType    *type;
	Oid			prepare;		/* the base type's sort support function, if it has one */
	SortSupportData base;		/* compares plaintexts */
	SortSupportData prefix;		/* makes the base type's abbreviations, if abbrev_converter is set */
	FmgrInfo   *place;			/* the base type's extended hash, where that tells a value's place; NULL elsewhere */
	TdeSortValues *kept;		/* NULL where the abbreviation is the plaintext */
	uint64		comparisons;	/* of abbreviations, since the last one was made */
	bool		tie;			/* the last two abbreviations compared were of equal values; read and reset by the next full comparison */
} SortState;

/* Values in the order that tells nothing; 0: both have one place, and the base type's order decides. */
static inline int
compare_places(SortState *state, Datum x, Datum y)
{
	uint64		x_place = tde_unordered_place(state->place, state->base.ssup_collation, x);
	uint64		y_place = tde_unordered_place(state->place, state->base.ssup_collation, y);

	return x_place < y_place ? -1 : x_place > y_place ? 1 : 0;
}

/*
 * A full comparison: of sorts without abbreviations, of those that are merged from tapes, and to break ties.  Values on tapes are decrypted each time
 * that they are compared.
 */
static int
compare_encrypted(Datum x, Datum y, SortSupport ssup)
{
	SortState  *state = ssup->ssup_extra;
	TdeScratch	scratch[2];
	Datum		plain[2];
	int			result = 0;

	/* asked to break the tie of two abbreviations, of which it is known already */
	if (state->tie)
	{
		state->tie = false;
		return 0;
	}
	plain[0] = tde_datum_peek(state->type, x, -1, TDE_REMEMBER_SEARCH, &scratch[0]);
	plain[1] = tde_datum_peek(state->type, y, -1, TDE_REMEMBER_SEARCH, &scratch[1]);
	if (state->place)
		result = compare_places(state, plain[0], plain[1]);
	if (result == 0)
		result = state->base.comparator(plain[0], plain[1], &state->base);
	tde_datum_unpeek(&scratch[0]);
	tde_datum_unpeek(&scratch[1]);
	return result;
}

/* They are as good as the whole values, so there is never a reason to go without. */
static bool
never_abandon(int count, SortSupport ssup)
{
	return false;
}

/* ---- the plaintext as its own abbreviation ---- */

/* A comparator of abbreviations that are the plaintexts.  0 is final, but tuplesort does not know that, and asks the full comparator. */
static int
compare_plain(Datum x, Datum y, SortSupport ssup)
{
	SortState  *state = ssup->ssup_extra;
	int			result = state->base.comparator(x, y, &state->base);

	state->tie = (result == 0);
	return result;
}

/*
 * An abbrev_converter.  There is one zero and one NaN, since all are equal: DISTINCT aggregates take abbreviations that differ for different values.
 */
static Datum
abbreviate_plain(Datum original, SortSupport ssup)
{
	SortState  *state = ssup->ssup_extra;
	Datum		plain = tde_datum_decrypt_once(state->type, original, -1);

	/* one zero and one NaN, since all are equal */
	if (state->type->base == FLOAT8OID)
	{
		float8		number = DatumGetFloat8(plain);

		return Float8GetDatum(isnan(number) ? NAN : number + 0.0);
	}
	if (state->type->base == FLOAT4OID)
	{
		float4		number = DatumGetFloat4(plain);

		return Float4GetDatum(isnan(number) ? NAN : number + 0.0f);
	}
	return plain;
}

/* ---- a prefix and a number ---- */

/* The share of a sort's memory that its plaintexts may take beyond it. */
#define SHARE_OF_PLAINTEXTS		5

/* The lower half of an abbreviation: a number, or with this bit more of the prefix. */
#define NOT_KEPT		TDE_SORT_NUMBERS

/*
 * Returns the base type's abbreviation, such that it is ordered as an unsigned number; 0 if it has none.  Where order tells nothing, it is the
 * value's place, in the upper 63 bits.
 */
static uint64
prefix_of(SortState *state, Datum plain)
{
	uint64		abbreviation;

	if (state->place)
		return tde_unordered_place(state->place, state->base.ssup_collation, plain) << 1;
	if (state->prefix.abbrev_converter == NULL)
		return 0;
	abbreviation = state->prefix.abbrev_converter(plain, &state->prefix);
	/* numeric's is a signed number that falls where the value rises */
	if (state->type->base == NUMERICOID)
		abbreviation = ~abbreviation ^ (UINT64CONST(1) << 63);
	return abbreviation;
}

/*
 * An abbrev_converter: 32 bits of prefix, and a number of the plaintext or 31 bits more of the prefix.  Comparisons since the last value are reported
 * first, for what is kept may be done with.
 */
static Datum
abbreviate_kept(Datum original, SortSupport ssup)
{
	SortState  *state = ssup->ssup_extra;
	TdeScratch	scratch;
	Datum		plain = tde_datum_peek(state->type, original, -1, TDE_REMEMBER_NOT, &scratch);
	uint64		prefix = prefix_of(state, plain);
	uint32		more = (uint32) prefix >> 1;
	uint32		number;

	if (state->comparisons > 0)
		tde_sort_values_compared(state->kept, state->comparisons);
	state->comparisons = 0;
	number = tde_sort_values_add(state->kept, plain, more);
	tde_datum_unpeek(&scratch);
	return (Datum) ((prefix & ~(uint64) PG_UINT32_MAX) | (number != 0 ? number : NOT_KEPT | more));
}

/* What the lower half of an abbreviation tells of its value. */
typedef struct LowerHalf
{
	uint32		more;			/* of the prefix */
	bool		kept;
	Datum		plain;			/* if it is kept */
} LowerHalf;

/* False: nothing, since the plaintext was forgotten. */
static inline bool
look_up(const SortState *state, uint32 lower, LowerHalf *half)
{
	half->kept = (lower & NOT_KEPT) == 0;
	half->more = lower & ~NOT_KEPT;
	half->plain = (Datum) 0;	/* for compilers that do not see that it is not read then */
	return !half->kept || tde_sort_values_get(state->kept, lower, &half->plain, &half->more);
}

/*
 * A comparator of such abbreviations.  Prefixes tell first; then equal numbers, which are of equal values; then the plaintexts, if both are kept.  0
 * without a tie leaves it to the full comparator.
 */
static int
compare_kept(Datum x, Datum y, SortSupport ssup)
{
	SortState  *state = ssup->ssup_extra;
	uint32		x_prefix = (uint32) (x >> 32);
	uint32		y_prefix = (uint32) (y >> 32);
	LowerHalf	x_half;
	LowerHalf	y_half;
	int			result = 0;

	state->comparisons++;
	state->tie = false;
	if (x_prefix != y_prefix)
		return x_prefix < y_prefix ? -1 : 1;
	if (x == y && ((uint32) x & NOT_KEPT) == 0)
		state->tie = true;
	else if (look_up(state, (uint32) x, &x_half) && look_up(state, (uint32) y, &y_half))
	{
		if (x_half.more != y_half.more)
			return x_half.more < y_half.more ? -1 : 1;
		if (x_half.kept && y_half.kept)
		{
			result = state->base.comparator(x_half.plain, y_half.plain, &state->base);
			state->tie = (result == 0);
		}
	}
	return result;
}

/*
 * Returns what the sort may have in memory, in bytes.  That of an index is made by up to so many processes, which share what there is; nothing tells
 * a worker that it is one of them.
 */
static Size
memory_of_sort(void)
{
	bool		builds_index = MyBEEntry &&
	(MyBEEntry->st_progress_command == PROGRESS_COMMAND_CREATE_INDEX ||
	 MyBEEntry->st_progress_command == PROGRESS_COMMAND_CLUSTER);
	int			sharers = ParallelContextActive() ? max_parallel_maintenance_workers + 1 : 1;

	return (Size) (builds_index ? maintenance_work_mem / sharers : work_mem) * 1024;
}

/* ---- set-up ---- */

/* The base type's support function of its default class for btree, by number; InvalidOid if it has none. */
static Oid
default_support(const TdeType *type, int16 number)
{
	return tde_base_btree_support(type->base, tde_base_compared_as(type->base), number);
}

/* The base type's own sort support, or else its comparison function. */
static void
prepare_base(const SortState *state, SortSupport ssup, SortSupport base, bool abbreviate)
{
	base->ssup_cxt = ssup->ssup_cxt;
	base->ssup_collation = ssup->ssup_collation;
	base->abbreviate = abbreviate;
	if (OidIsValid(state->prepare))
		OidFunctionCall1(state->prepare, PointerGetDatum(base));
	if (base->comparator == NULL)
		PrepareSortSupportComparisonShim(default_support(state->type, BTORDER_PROC), base);
}

/*
 * Sets up abbreviations; false: there are none, since the base type is passed by reference and cannot be hashed, which the kept plaintexts are found
 * by.
 */
static bool
abbreviates(SortState *state, SortSupport ssup)
{
	if (state->type->base_byval && state->place == NULL)
	{
		ssup->comparator = compare_plain;
		ssup->abbrev_converter = abbreviate_plain;
		return true;
	}
	state->kept = tde_sort_values_new(state->type, &state->base, memory_of_sort() / SHARE_OF_PLAINTEXTS);
	if (state->kept)
	{
		if (state->place == NULL)
			prepare_base(state, ssup, &state->prefix, true);
		/* others order their abbreviations in a way that is not known here */
		if (state->prefix.abbrev_converter && state->prefix.comparator != ssup_datum_unsigned_cmp && state->type->base != NUMERICOID)
			state->prefix.abbrev_converter = NULL;
		ssup->comparator = compare_kept;
		ssup->abbrev_converter = abbreviate_kept;
		return true;
	}
	return false;
}

/* Sets up a sort.  base_support: the base type's own sort support, or InvalidOid.  place: as in SortState.  All is allocated in ssup_cxt. */
static void
prepare(SortSupport ssup, TdeType *type, Oid base_support, FmgrInfo *place)
{
	MemoryContext caller = MemoryContextSwitchTo(ssup->ssup_cxt);
	SortState  *state = palloc0(sizeof(SortState));

	state->type = type;
	state->prepare = base_support;
	state->place = place;
	prepare_base(state, ssup, &state->base, false);
	ssup->ssup_extra = state;
	ssup->comparator = compare_encrypted;
	if (ssup->abbreviate)
		tde_remains_of_sort();
	if (ssup->abbreviate && abbreviates(state, ssup))
	{
		ssup->abbrev_full_comparator = compare_encrypted;
		ssup->abbrev_abort = never_abandon;
	}
	MemoryContextSwitchTo(caller);
}

/* <type>_sortsupport(internal) returns void - btree support function 2; one SQL function for each type, as nothing else tells it. */
Datum
tde_sortsupport(PG_FUNCTION_ARGS)
{
	TdeType    *type = tde_type_of_function(fcinfo->flinfo->fn_oid);

	prepare((SortSupport) PG_GETARG_POINTER(0), type, default_support(type, BTSORTSUPPORT_PROC), NULL);
	PG_RETURN_VOID();
}

/* <type>_unordered_sortsupport(internal) returns void - the same for operator classes that tell no order. */
Datum
tde_unordered_sortsupport(PG_FUNCTION_ARGS)
{
	TdeType    *type = tde_type_of_function(fcinfo->flinfo->fn_oid);

	prepare((SortSupport) PG_GETARG_POINTER(0), type, default_support(type, BTSORTSUPPORT_PROC), tde_base_extended_hash(type->base));
	PG_RETURN_VOID();
}

/*
 * <type>_pattern_sortsupport(internal) returns void - the same for pattern operator classes.  Under a nondeterministic collation
 * what is equal need not be adjacent in the order of bytes; PostgreSQL refuses such indexes by its own classes' OIDs.
 */
Datum
tde_pattern_sortsupport(PG_FUNCTION_ARGS)
{
	TdeType    *type = tde_type_of_function(fcinfo->flinfo->fn_oid);
	SortSupport ssup = (SortSupport) PG_GETARG_POINTER(0);

	if (OidIsValid(ssup->ssup_collation) && !get_collation_isdeterministic(ssup->ssup_collation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("nondeterministic collations are not supported for pattern operator classes")));
	prepare(ssup, type, tde_base_compared_as(type->base) == BPCHAROID ? F_BTBPCHAR_PATTERN_SORTSUPPORT : F_BTTEXT_PATTERN_SORTSUPPORT,
			NULL);
	PG_RETURN_VOID();
}
