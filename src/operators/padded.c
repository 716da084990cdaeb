/*
 * padded.c - encrypted varchars as they stand beside a char(n): compared and hashed without the blanks at their ends.
 *
 * varchar = char(n) is char(n)'s comparison.  So encrypted_varchar is in the operator families of encrypted_bpchar, too, where the planner
 * wants members of each type with itself, to sort and to hash by.  No expression finds these: they are reached by family alone.
 */
#include "postgres.h"

#include "utils/fmgrprotos.h"

#include "operators/compare.h"
#include "operators/unordered.h"
#include "server/compat.h"
#include "type/cast.h"

#define PADDED(name, resolve, comparison) \
	PG_FUNCTION_INFO_V1(name); \
	Datum \
	name(PG_FUNCTION_ARGS) \
	{ \
		TdeProc    *proc = tde_call(fcinfo)->proc; \
		\
		if (!tde_is_resolved(proc)) \
			resolve; \
		return comparison(fcinfo); \
	}

PADDED(tde_padded_eq, tde_base_padded(proc, false), tde_eq)
PADDED(tde_padded_ne, tde_base_padded(proc, false), tde_ne)
PADDED(tde_padded_lt, tde_base_padded(proc, false), tde_lt)
PADDED(tde_padded_le, tde_base_padded(proc, false), tde_le)
PADDED(tde_padded_gt, tde_base_padded(proc, false), tde_gt)
PADDED(tde_padded_ge, tde_base_padded(proc, false), tde_ge)
PADDED(tde_padded_cmp, tde_base_padded(proc, false), tde_cmp)
PADDED(tde_padded_pattern_lt, tde_base_padded(proc, true), tde_lt)
PADDED(tde_padded_pattern_le, tde_base_padded(proc, true), tde_le)
PADDED(tde_padded_pattern_gt, tde_base_padded(proc, true), tde_gt)
PADDED(tde_padded_pattern_ge, tde_base_padded(proc, true), tde_ge)
PADDED(tde_padded_pattern_cmp, tde_base_padded(proc, true), tde_cmp)
PADDED(tde_padded_unordered_lt, tde_base_unordered(proc, true), tde_unordered_lt)
PADDED(tde_padded_unordered_le, tde_base_unordered(proc, true), tde_unordered_le)
PADDED(tde_padded_unordered_gt, tde_base_unordered(proc, true), tde_unordered_gt)
PADDED(tde_padded_unordered_ge, tde_base_unordered(proc, true), tde_unordered_ge)
PADDED(tde_padded_unordered_cmp, tde_base_unordered(proc, true), tde_unordered_cmp)

PG_FUNCTION_INFO_V1(tde_padded_hash);

/* tde_padded_hash(encrypted_varchar) returns int4 - what is equal as char(n) hashes alike. */
Datum
tde_padded_hash(PG_FUNCTION_ARGS)
{
	TdeScratch	scratch;
	Datum		value = tde_argument_peek(fcinfo, tde_call(fcinfo), 0, TDE_REMEMBER_ROW, &scratch);
	Datum		hash = DirectFunctionCall1Coll(hashbpchar, PG_GET_COLLATION(), value);

	tde_datum_unpeek(&scratch);
	PG_RETURN_UINT32(tde_key_hash(DatumGetUInt32(hash)));
}
