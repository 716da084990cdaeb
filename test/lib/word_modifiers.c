/*
 * word_modifiers.c - for tests: modifiers of a type that begin with a word, as PostGIS' geometry(Point,4326): shape(round,7).
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/array.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(shape_typmod_in);
PG_FUNCTION_INFO_V1(shape_typmod_out);

static const char *const words[] = {"round", "square"};

Datum
shape_typmod_in(PG_FUNCTION_ARGS)
{
	Datum	   *given;
	int			count;

	deconstruct_array(PG_GETARG_ARRAYTYPE_P(0), CSTRINGOID, -2, false, TYPALIGN_CHAR, &given, NULL, &count);
	for (int i = 0; i < lengthof(words); i++)
		if (pg_strcasecmp(words[i], DatumGetCString(given[0])) == 0)
			PG_RETURN_INT32(i * 1000 + (count > 1 ? atoi(DatumGetCString(given[1])) : 0));
	ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("no shape is %s", DatumGetCString(given[0]))));
}

Datum
shape_typmod_out(PG_FUNCTION_ARGS)
{
	int32		typmod = PG_GETARG_INT32(0);

	PG_RETURN_CSTRING(psprintf("(%s,%d)", words[typmod / 1000], typmod % 1000));
}
