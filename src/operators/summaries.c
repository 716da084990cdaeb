/*
 * summaries.c - BRIN indexes: what they keep of a range of blocks belongs to no row.
 *
 * PostgreSQL's minmax class copies the least and the largest value, so that files would tell which rows these are of.  What it has copied is encrypted
 * once more, with a salt, as what ANALYZE keeps (type/statistics.c); it compares the same.
 */
#include "postgres.h"

#include "access/brin_internal.h"
#include "access/brin_tuple.h"
#include "utils/datum.h"
#include "utils/fmgrprotos.h"

#include "server/compat.h"
#include "type/datum.h"

PG_FUNCTION_INFO_V1(tde_brin_add_value);

/*
 * tde_brin_add_value(internal, internal, internal, internal) returns boolean - BRIN support function 2.  Called for each row of a range that has a
 * summary, or gets one.  What PostgreSQL's function has kept of the row is encrypted anew; the other bound stays.
 */
Datum
tde_brin_add_value(PG_FUNCTION_ARGS)
{
	BrinDesc   *desc = (BrinDesc *) PG_GETARG_POINTER(0);
	BrinValues *kept = (BrinValues *) PG_GETARG_POINTER(1);
	Datum		value = PG_GETARG_DATUM(2);
	Datum		changed = brin_minmax_add_value(fcinfo);
	TdeType    *type = tde_type_get(TupleDescAttr(desc->bd_tupdesc, kept->bv_attno - 1)->atttypid);

	for (int i = 0; DatumGetBool(changed) && i < 2; i++)
	{
		Datum		copy = kept->bv_values[i];

		/* the other one may be of former days */
		if (!datumIsEqual(copy, value, false, -1))
			continue;
		kept->bv_values[i] = tde_datum_encrypt_apart(type, copy);
		pfree(DatumGetPointer(copy));
	}
	return changed;
}
