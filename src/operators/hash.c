/*
 * hash.c - hash support of encrypted types: hash indexes, hash joins, grouping, hash partitions.
 *
 * Support function 1 is keyed, because spill files and hash indexes keep its results on disk: the base type's own hash, so that
 * what is equal hashes alike, through a pseudo-random function under the database's hash key.  The base type's member of our
 * families is keyed, too, for joins of a plain column with an encrypted one.
 *
 * Numbers of different sorts, which have no common family, are hashed as the type in which they are compared.
 *
 * Support function 2 (extended) is the base type's, without a key: it decides to which hash partition a row belongs, and that must
 * survive dump, restore and replication to a server with other keys.  Since whoever has such hashes can guess at values, it is
 * refused in a user's own expressions to those who may not decrypt.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "keys/keyed_hash.h"
#include "server/compat.h"
#include "type/access.h"
#include "type/cast.h"
#include "type/datum.h"

PG_FUNCTION_INFO_V1(tde_hash);
PG_FUNCTION_INFO_V1(tde_hash_extended);
PG_FUNCTION_INFO_V1(tde_hash_numeric);
PG_FUNCTION_INFO_V1(tde_hash_float8);

/*
 * Returns the base type's hash function; the extended one has a second argument, the seed.  Throws ERRCODE_UNDEFINED_FUNCTION if the type has none:
 * an operator class of ours may have outlived it.
 */
static FmgrInfo *
base_hash(TdeProc *proc, bool extended)
{
	if (!tde_is_resolved(proc))
	{
		uint64		epoch = tde_functions_epoch;
		Oid			base = proc->args[0] ? proc->args[0]->base : proc->arg_types[0];
		TypeCacheEntry *entry = lookup_type_cache(base, TYPECACHE_HASH_PROC | TYPECACHE_HASH_EXTENDED_PROC);
		Oid			function = extended ? entry->hash_extended_proc : entry->hash_proc;

		if (!OidIsValid(function))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_FUNCTION),
					 errmsg("could not identify a hash function for type %s", format_type_be(base))));
		proc->base_function = tde_type_function(function);
		proc->resolved = epoch;
	}
	return proc->base_function;
}

/* The base type's hash of the first argument, which may be encrypted.  Not keyed: its callers see to that, or to who may have it. */
static Datum
hash_plain(FunctionCallInfo fcinfo, bool extended)
{
	TdeCall    *call = tde_call(fcinfo);
	FmgrInfo   *function = base_hash(call->proc, extended);
	TdeScratch	scratch;
	Datum		value = tde_argument_peek(fcinfo, call, 0, TDE_REMEMBER_ROW, &scratch);
	Datum		hash;

	if (extended)
		hash = FunctionCall2Coll(function, PG_GET_COLLATION(), value, PG_GETARG_DATUM(1));
	else
		hash = FunctionCall1Coll(function, PG_GET_COLLATION(), value);
	tde_datum_unpeek(&scratch);
	return hash;
}

/* tde_hash(encrypted or base) returns int4 - hash support function 1: for GROUP BY name, hash joins and hash indexes. */
Datum
tde_hash(PG_FUNCTION_ARGS)
{
	PG_RETURN_UINT32(tde_key_hash(DatumGetUInt32(hash_plain(fcinfo, false))));
}

/*
 * Returns true if a user's expression asks for it, and not a partitioned table's routing, pruning or constraint.  Those call the function
 * through a lookup of their own, without an expression.  So do hash_array_extended(), hash_record_extended() and the like, which
 * everybody may call, through the type cache's lookup.
 */
static bool
asked_by_user(const FmgrInfo *flinfo)
{
	return flinfo->fn_expr != NULL || flinfo->fn_mcxt == CacheMemoryContext;
}

/*
 * tde_hash_extended(encrypted or base, int8 seed) returns int8 - hash support function 2.  PARTITION BY HASH (name) sends a row to a partition by it,
 * also for roles that may only write.
 */
Datum
tde_hash_extended(PG_FUNCTION_ARGS)
{
	TdeType    *type = tde_call(fcinfo)->proc->args[0];

	if (unlikely(tde_access_restricted) && type && asked_by_user(fcinfo->flinfo))
		tde_access_check(type, PG_GETARG_DATUM(0));
	return hash_plain(fcinfo, true);
}

/*
 * The keyed hash of a number, encrypted or not, after it has been converted to another type of number: 1 and 1.0 are equal in a join of
 * encrypted_int4 with encrypted_numeric, so they must hash alike.
 */
static Datum
hash_as(FunctionCallInfo fcinfo, Oid common, bool by_value, PGFunction hash)
{
	TdeCall    *call = tde_call(fcinfo);
	TdeProc    *proc = call->proc;
	TdeScratch	scratch;
	Datum		value = tde_argument_peek(fcinfo, call, 0, TDE_REMEMBER_ROW, &scratch);
	bool		isnull;			/* no number becomes NULL */
	Datum		converted = tde_cast_plain(proc, value, proc->args[0] ? proc->args[0]->base : proc->arg_types[0], common, -1, &isnull);
	uint32		result = tde_key_hash(DatumGetUInt32(DirectFunctionCall1(hash, converted)));

	if (!by_value && converted != value)
		pfree(DatumGetPointer(converted));
	tde_datum_unpeek(&scratch);
	PG_RETURN_UINT32(result);
}

/* tde_hash_numeric(exact number) returns int4 - what is equal as numeric hashes alike. */
Datum
tde_hash_numeric(PG_FUNCTION_ARGS)
{
	return hash_as(fcinfo, NUMERICOID, false, hash_numeric);
}

/* tde_hash_float8(number) returns int4 - what is equal as float8 hashes alike. */
Datum
tde_hash_float8(PG_FUNCTION_ARGS)
{
	return hash_as(fcinfo, FLOAT8OID, FLOAT8PASSBYVAL, hashfloat8);
}
