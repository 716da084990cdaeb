/*
 * planted.c - bugs that test/sanitize/run builds into its own copy of the extension, to see that they would be found.
 */
#include "postgres.h"

#include "fmgr.h"

PG_FUNCTION_INFO_V1(planted_shift);
PG_FUNCTION_INFO_V1(planted_overflow);
PG_FUNCTION_INFO_V1(planted_assertion);

extern Datum planted_shift(PG_FUNCTION_ARGS);
extern Datum planted_overflow(PG_FUNCTION_ARGS);
extern Datum planted_assertion(PG_FUNCTION_ARGS);

/* Undefined from 32 on. */
Datum
planted_shift(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(1 << PG_GETARG_INT32(0));
}

/* Reads behind a block from 32 on.  From malloc, since a palloc is part of a larger one. */
Datum
planted_overflow(PG_FUNCTION_ARGS)
{
	volatile char *block = calloc(32, 1);
	char		byte = block[PG_GETARG_INT32(0)];

	free((void *) block);
	PG_RETURN_INT32(byte);
}

/* Fails from 32 on. */
Datum
planted_assertion(PG_FUNCTION_ARGS)
{
	Assert(PG_GETARG_INT32(0) < 32);
	PG_RETURN_INT32(0);
}
