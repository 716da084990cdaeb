/*
 * blind.c - GIN indexes of encrypted columns whose entries tell nothing: JSON containment, words, trigrams, elements of arrays.
 *
 * A class of GIN is a few functions: one makes entries of a value, one makes entries of a query, one says of the entries that a row has whether
 * it may match.  Entries are looked up by equality.  So a class of ours (blind_class.c) decrypts the value, has the base type's class make
 * entries of it, and stores in place of each a pseudo-random function of it: AES-256 of the entry's extended hash, under a key that is derived
 * from the database's hash key and the index's salt (HKDF, RFC 5869).  It does the same with the entries of a query, and leaves it to the base
 * class what follows from those that a row has.
 *
 * Two entries may have one image.  That costs a look at the row, and never the row: an entry that is there counts as MAYBE, also under a NOT, and
 * every row is looked at.  Entries by which a query wants to find all that begin so (a tsquery's 'foo:*') cannot be looked up: they are MAYBE in
 * every row.
 *
 * What such an index tells: which rows have an entry in common, and how many do; not in which order they stand, nor what it has in common with
 * another index.  docs/security.md.
 */
#include "postgres.h"

#include "access/gin.h"
#include "access/reloptions.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "crypto/primitives.h"
#include "keys/keyed_hash.h"
#include "operators/arrays.h"
#include "operators/blind.h"
#include "operators/blind_class.h"
#include "server/compat.h"
#include "server/error.h"
#include "type/access.h"
#include "type/datum.h"
#include "type/declared.h"
#include "type/opened.h"

PG_FUNCTION_INFO_V1(tde_gin_extract_value);
PG_FUNCTION_INFO_V1(tde_gin_extract_query);
PG_FUNCTION_INFO_V1(tde_gin_triconsistent);
PG_FUNCTION_INFO_V1(tde_gin_options);
PG_FUNCTION_INFO_V1(tde_search);

/* ---- the index's salt ---- */

/* The parsed options of an index's column, as build_local_reloptions() lays them out. */
typedef struct BlindOptions
{
	int32		length;			/* varlena header */
	int			salt;			/* where the text begins */
} BlindOptions;

/* A validate_string_relopt: throws ERRCODE_INVALID_PARAMETER_VALUE unless the value is as tde_blind_new_salt() makes it. */
static void
check_salt(const char *value)
{
	if (value && (strlen(value) != 2 * TDE_ENTRY_SALT_SIZE || strspn(value, "0123456789abcdef") != 2 * TDE_ENTRY_SALT_SIZE))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("salt of an operator class must be %d hexadecimal digits", 2 * TDE_ENTRY_SALT_SIZE),
				 errhint("Leave it out: CREATE INDEX draws one.")));
}

/* tde_gin_options(internal) returns void - GIN support function 7. */
Datum
tde_gin_options(PG_FUNCTION_ARGS)
{
	local_relopts *options = (local_relopts *) PG_GETARG_POINTER(0);

	init_local_reloptions(options, sizeof(BlindOptions));
	add_local_string_reloption(options, TDE_BLIND_OPTION, "what tells this index's entries from those of others", NULL, check_salt, NULL,
							   offsetof(BlindOptions, salt));
	PG_RETURN_VOID();
}

char *
tde_blind_new_salt(void)
{
	uint8		salt[TDE_ENTRY_SALT_SIZE];
	char	   *digits = palloc(2 * TDE_ENTRY_SALT_SIZE + 1);

	tde_check(tde_random_salt(salt, sizeof(salt)));
	digits[hex_encode((char *) salt, sizeof(salt), digits)] = '\0';
	return digits;
}

/*
 * What a call site keeps: its index's salt.  Zeros where no option is given: no index is built so, since each draws a salt before (ddl/index_salt.c).
 */
static const uint8 *
salt_of(FunctionCallInfo fcinfo, TdeCall *call)
{
	BlindOptions *options;
	const char *digits;

	if (likely(call->more != NULL))
		return call->more;
	call->more = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, TDE_ENTRY_SALT_SIZE);
	options = PG_HAS_OPCLASS_OPTIONS() ? (BlindOptions *) PG_GET_OPCLASS_OPTIONS() : NULL;
	digits = options ? GET_STRING_RELOPTION(options, salt) : NULL;
	if (digits)
		hex_decode(digits, strlen(digits), call->more);
	return call->more;
}

/* ---- entries ---- */

/*
 * Returns the images of entries, palloc'd: numbers that only who has the hash key can compute.  An entry that is NULL has the image of 0, and its own
 * null category in GIN beside it.  Throws if the wallet is closed.
 */
static Datum *
images_of(FunctionCallInfo fcinfo, const TdeBlindClass *class, const Datum *entries, const bool *nulls, int count)
{
	Oid			collation = OidIsValid(class->collation) ? class->collation : PG_GET_COLLATION();
	uint64	   *numbers = palloc(Max(count, 1) * sizeof(uint64));
	Datum	   *images = palloc(Max(count, 1) * sizeof(Datum));

	for (int i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		numbers[i] = nulls && nulls[i] ? 0 : DatumGetUInt64(FunctionCall2Coll(class->hash, collation, entries[i], UInt64GetDatum(0)));
	}
	tde_key_entries(salt_of(fcinfo, tde_call(fcinfo)), numbers, count);
	for (int i = 0; i < count; i++)
		images[i] = Int64GetDatum((int64) numbers[i]);
	pfree(numbers);
	return images;
}

/*
 * Overwrites and frees what a base class has made of a value.  Entries by reference may point into the value itself, as those of arrays do, so only
 * the array of datums is freed.
 */
static void
cleanse_entries(const TdeBlindClass *class, Datum *entries, const bool *nulls, int count)
{
	for (int i = 0; i < count && !class->entry_byval; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!(nulls && nulls[i]))
			explicit_bzero(DatumGetPointer(entries[i]),
						   class->entry_len > 0 ? class->entry_len : VARSIZE_ANY(DatumGetPointer(entries[i])));
	}
	explicit_bzero(entries, count * sizeof(Datum));
	pfree(entries);
}

/*
 * tde_gin_extract_value(encrypted, internal count, internal nulls) returns internal - GIN support function 2.  Called for each row that is inserted,
 * also by who may not decrypt: the entries tell nothing, so nobody's rights are asked.
 */
Datum
tde_gin_extract_value(PG_FUNCTION_ARGS)
{
	TdeCall    *call = tde_call(fcinfo);
	TdeBlindClass *class = tde_blind_class(call->proc);
	int32	   *count = (int32 *) PG_GETARG_POINTER(1);
	bool	  **nulls = (bool **) PG_GETARG_POINTER(2);
	TdeScratch	scratch;
	ArrayType  *array = NULL;
	Datum		value;
	Datum	   *entries;
	Datum	   *images = NULL;

	if (class->is_array)
	{
		array = tde_array_peek(class->type, PG_GETARG_ARRAYTYPE_P(0), tde_declared(class->type, -1));
		value = PointerGetDatum(array);
	}
	else
		value = tde_argument_peek(fcinfo, call, 0, TDE_REMEMBER_ROW, &scratch);
	*count = 0;
	entries = (Datum *) DatumGetPointer(FunctionCall3Coll(class->extract_value, PG_GET_COLLATION(), value,
														  PointerGetDatum(count), PointerGetDatum(nulls)));
	if (entries && *count > 0)
	{
		images = images_of(fcinfo, class, entries, *nulls, *count);
		cleanse_entries(class, entries, *nulls, *count);
	}
	if (array)
		tde_array_unpeek(array);
	else
		tde_datum_unpeek(&scratch);
	PG_RETURN_POINTER(images);
}

/* ---- queries ---- */

/*
 * What a query's scan keeps, in the memory of the scan.  GIN hands its support functions a pointer for each entry; all of them point here, and there
 * is one at least, also where no entry is looked up.
 */
typedef struct BlindQuery
{
	Datum		query;			/* as the base class takes it */
	int			count;			/* of the entries that it has made */
	Datum	   *entries;
	bool	   *nulls;			/* NULL: none is */
	Pointer    *extra;			/* NULL: it has none */
	int		   *places;			/* of each among those that are looked up; -1: it is not */
} BlindQuery;

/* The query as the base class takes it.  Only an array may be encrypted, since a column of arrays meets PostgreSQL's operators of two such arrays. */
static Datum
plain_query(const TdeBlindClass *class, Datum query)
{
	ArrayType  *array;

	if (!class->is_array)
		return query;
	array = DatumGetArrayTypeP(query);
	return ARR_ELEMTYPE(array) == class->type->oid ?
		PointerGetDatum(tde_array_peek(class->type, array, tde_declared(class->type, -1))) : PointerGetDatum(array);
}

/* For so many entries all combinations are tried, as GIN does itself (MAX_MAYBE_ENTRIES in ginlogic.c). */
#define MOST_COMBINATIONS	4

/*
 * For a class that tells by true and false alone: may a row match whose entries may be there.  Its function is asked for each combination of those,
 * as shimTriConsistentFn() of PostgreSQL's ginlogic.c does.  Too many of them are not worth it, and the row is looked at.
 */
static GinTernaryValue
try_combinations(FunctionCallInfo fcinfo, const TdeBlindClass *class, StrategyNumber strategy, const BlindQuery *query, const GinTernaryValue *check)
{
	bool	   *found = palloc(Max(query->count, 1) * sizeof(bool));
	int			open[MOST_COMBINATIONS];
	int			count = 0;

	for (int i = 0; i < query->count; i++)
	{
		found[i] = false;
		if (check[i] == GIN_FALSE)
			continue;
		if (count == MOST_COMBINATIONS)
			return GIN_MAYBE;
		open[count++] = i;
	}
	for (int combination = 0; combination < 1 << count; combination++)
	{
		bool		recheck = true;

		CHECK_FOR_INTERRUPTS();
		for (int i = 0; i < count; i++)
			found[open[i]] = (combination >> i & 1) != 0;
		if (DatumGetBool(FunctionCall8Coll(class->consistent, PG_GET_COLLATION(), PointerGetDatum(found), UInt16GetDatum(strategy), query->query,
										   Int32GetDatum(query->count), PointerGetDatum(query->extra), PointerGetDatum(&recheck),
										   PointerGetDatum(query->entries), PointerGetDatum(query->nulls))))
			return GIN_MAYBE;
	}
	return GIN_FALSE;
}

/*
 * GIN_MAYBE if a row with these entries of the base class's may match, otherwise GIN_FALSE.  Never GIN_TRUE: two entries may have one image, so every
 * row is looked at again.
 */
static GinTernaryValue
may_match(FunctionCallInfo fcinfo, const TdeBlindClass *class, StrategyNumber strategy, const BlindQuery *query, const GinTernaryValue *check)
{
	GinTernaryValue result;

	if (class->triconsistent == NULL)
		return try_combinations(fcinfo, class, strategy, query, check);
	result = DatumGetGinTernaryValue(FunctionCall7Coll(class->triconsistent, PG_GET_COLLATION(), PointerGetDatum(check), UInt16GetDatum(strategy),
													   query->query, Int32GetDatum(query->count), PointerGetDatum(query->extra),
													   PointerGetDatum(query->entries), PointerGetDatum(query->nulls)));
	return result == GIN_FALSE ? GIN_FALSE : GIN_MAYBE;
}

/*
 * Chooses the entries that are looked up: *images are moved to the front, *nulls is set for them.  Returns how many they are.  Those that the query
 * wants to find by their beginning stay out.
 */
static int
choose_entries(BlindQuery *query, const bool *partial, Datum *images, bool **nulls)
{
	int			count = 0;

	*nulls = query->nulls ? palloc(Max(query->count, 1) * sizeof(bool)) : NULL;
	query->places = palloc(Max(query->count, 1) * sizeof(int));
	for (int i = 0; i < query->count; i++)
	{
		query->places[i] = partial && partial[i] ? -1 : count;
		if (query->places[i] < 0)
			continue;
		if (*nulls)
			(*nulls)[count] = query->nulls[i];
		images[count++] = images[i];
	}
	return count;
}

/*
 * For each entry that the base class has made, whether it may be in the row; found is what GIN tells of those that were looked up.  With found NULL,
 * of a row that has none of these.
 */
static GinTernaryValue *
check_of(const BlindQuery *query, const GinTernaryValue *found)
{
	GinTernaryValue *check = palloc(Max(query->count, 1) * sizeof(GinTernaryValue));

	for (int i = 0; i < query->count; i++)
		check[i] = query->places[i] < 0 || (found && found[query->places[i]] != GIN_FALSE) ? GIN_MAYBE : GIN_FALSE;
	return check;
}

/* What GIN is to hand to support functions: a pointer to the query for each entry, and one at least, since extra[0] is read. */
static Pointer *
pointers_to(BlindQuery *query, int count)
{
	Pointer    *pointers = palloc(Max(count, 1) * sizeof(Pointer));

	for (int i = 0; i < Max(count, 1); i++)
		pointers[i] = (Pointer) query;
	return pointers;
}

/*
 * tde_gin_extract_query(query, internal count, int2 strategy, internal partial, internal extra, internal nulls, internal mode) returns internal - GIN
 * support function 3.
 *
 * Who may not decrypt may not search for a part of a value either, wherever that might tell: in a row, in a plan.  Throws
 * ERRCODE_INSUFFICIENT_PRIVILEGE for them.  Elements of arrays are compared whole, as = does, and everybody may do that.
 */
Datum
tde_gin_extract_query(PG_FUNCTION_ARGS)
{
	TdeBlindClass *class = tde_blind_class(tde_call(fcinfo)->proc);
	int32	   *count = (int32 *) PG_GETARG_POINTER(1);
	StrategyNumber strategy = PG_GETARG_UINT16(2);
	Pointer   **extra = (Pointer **) PG_GETARG_POINTER(4);
	bool	  **nulls = (bool **) PG_GETARG_POINTER(5);
	int32	   *mode = (int32 *) PG_GETARG_POINTER(6);
	BlindQuery *query = palloc0(sizeof(BlindQuery));
	bool	   *partial = NULL;
	Datum	   *images;

	if (!class->is_array && !tde_access_is_permitted())
		tde_access_refuse(class->type);
	query->query = plain_query(class, PG_GETARG_DATUM(0));
	query->entries = (Datum *) DatumGetPointer(
											   FunctionCall7Coll(class->extract_query, PG_GET_COLLATION(), query->query, PointerGetDatum(&query->count), UInt16GetDatum(strategy),
																 PointerGetDatum(&partial), PointerGetDatum(&query->extra), PointerGetDatum(&query->nulls), PointerGetDatum(mode)));
	query->count = query->entries ? Max(query->count, 0) : 0;
	images = images_of(fcinfo, class, query->entries, query->nulls, query->count);
	*count = choose_entries(query, partial, images, nulls);
	*extra = pointers_to(query, *count);
	/* a row that has none of the entries that are looked up may match for one that is not */
	if (*count < query->count && *mode == GIN_SEARCH_MODE_DEFAULT &&
		may_match(fcinfo, class, strategy, query, check_of(query, NULL)) != GIN_FALSE)
		*mode = GIN_SEARCH_MODE_ALL;
	PG_RETURN_POINTER(*count > 0 ? images : NULL);
}

/*
 * tde_gin_triconsistent(internal check, int2 strategy, query, int4 count, internal extra, internal entries, internal nulls) returns "char" -
 * GIN support function 6.
 */
Datum
tde_gin_triconsistent(PG_FUNCTION_ARGS)
{
	TdeBlindClass *class = tde_blind_class(tde_call(fcinfo)->proc);
	GinTernaryValue *found = (GinTernaryValue *) PG_GETARG_POINTER(0);
	Pointer    *extra = (Pointer *) PG_GETARG_POINTER(4);
	BlindQuery *query = (BlindQuery *) extra[0];
	GinTernaryValue *check = check_of(query, found);
	GinTernaryValue result = may_match(fcinfo, class, PG_GETARG_UINT16(1), query, check);

	pfree(check);
	PG_RETURN_GIN_TERNARY_VALUE(result);
}

/* Support function 2 tells. */
bool
tde_blind_is_class(Oid opclass)
{
	Oid			input = get_opclass_input_type(opclass);
	Oid			function = get_opfamily_proc(get_opclass_family(opclass), input, input, GIN_EXTRACTVALUE_PROC);

	return OidIsValid(function) && tde_type_is_function(function, "tde_gin_extract_value", tde_gin_extract_value);
}

/* ---- operators ---- */

/*
 * tde_search(encrypted, query) returns bool - what an operator of the base type says, for rows that GIN wants checked, and where no index is used.
 * Counted for tde.decryptions: unlike equality, a search tells of parts of a value.
 */
Datum
tde_search(PG_FUNCTION_ARGS)
{
	TdeCall    *call = tde_call(fcinfo);
	FmgrInfo   *operate = tde_blind_operator(call->proc);

	LOCAL_FCINFO(base, 2);
	TdeScratch	scratch;
	Datum		result;

	InitFunctionCallInfoData(*base, operate, 2, PG_GET_COLLATION(), NULL, NULL);
	tde_opened_check(fcinfo, 0);
	base->args[0].value = tde_argument_peek(fcinfo, call, 0, TDE_REMEMBER_ROW, &scratch);
	base->args[0].isnull = false;
	base->args[1] = fcinfo->args[1];
	/* what it is of jsonb @@ jsonpath may be NULL */
	result = FunctionCallInvoke(base);
	tde_datum_unpeek(&scratch);
	fcinfo->isnull = base->isnull;
	return result;
}
