/*
 * unordered.h - an order of values that tells nothing of them.
 */
#ifndef TDE_OPERATORS_UNORDERED_H
#define TDE_OPERATORS_UNORDERED_H

#include "keys/keyed_hash.h"
#include "server/compat.h"

/* Where a value stands: 63 bits, since sorts (operators/sort.c) have room for no more. */
static inline uint64
tde_unordered_place(FmgrInfo *hash, Oid collation, Datum plain)
{
	return tde_key_order(DatumGetUInt64(FunctionCall2Coll(hash, collation, plain, UInt64GetDatum(0)))) >> 1;
}

/* The operators themselves, which compare as the function that is called has been resolved. */
extern PGDLLEXPORT Datum tde_unordered_lt(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum tde_unordered_le(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum tde_unordered_gt(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum tde_unordered_ge(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum tde_unordered_cmp(PG_FUNCTION_ARGS);

#endif							/* TDE_OPERATORS_UNORDERED_H */
