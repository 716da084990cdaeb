/*
 * unordered.c - an order of values that tells nothing of them: operator classes of btree indexes that serve equality alone.
 *
 * Values stand in the order of a keyed hash: the base type's extended one, so that what is equal, of whichever types of a family, hashes
 * alike, through a pseudo-random function under the database's hash key.  Of two values whose hashes agree the base type's order decides.  So
 * the files of such an index tell no order, and it has all that needs no order: UNIQUE, foreign keys, merge joins, IN.
 *
 * The families have the same = as the ordinary ones.  Their < and its like are there for what sorts by them, a merge join; no expression
 * finds them.
 */
#include "postgres.h"

#include "operators/compare.h"
#include "operators/unordered.h"

static int
compare_places(FunctionCallInfo fcinfo, TdeRemember remember)
{
	TdeProc    *proc = tde_call(fcinfo)->proc;
	TdeOperands operands;
	uint64		places[2];
	int			result;

	if (!tde_is_resolved(proc))
		tde_base_unordered(proc, false);
	tde_operands_get(fcinfo, remember, &operands);
	for (int i = 0; i < 2; i++)
		places[i] = tde_unordered_place(operands.comparison->hash[i], PG_GET_COLLATION(), operands.values[i]);
	if (places[0] != places[1])
		result = places[0] < places[1] ? -1 : 1;
	else
		result = DatumGetInt32(FunctionCall2Coll(operands.comparison->compare, PG_GET_COLLATION(),
												 operands.values[0], operands.values[1]));
	tde_operands_free(&operands);
	return result;
}

TDE_ORDER(tde_unordered_, compare_places)
