/*
 * language_rows.h - rows that procedural languages get, in the base types.
 */
#ifndef TDE_CLIENT_LANGUAGE_ROWS_H
#define TDE_CLIENT_LANGUAGE_ROWS_H

#include "fmgr.h"
#include "tcop/dest.h"

/*
 * Calls a language's handler for a function, with arguments whose rows are in the base types.  by_header: the handler reads a row that is an
 * argument, or inside of another one, by the type that the row tells, and not by the declared one; to others such rows go as they are.
 */
extern Datum tde_language_function(FunctionCallInfo fcinfo, PGFunction handler, bool by_header);

/*
 * Calls a handler for a trigger function, with the table's descriptor and rows in the base types.  Returns what the function returns, with the values
 * that it has changed encrypted again; others stay as they were stored.  masks: who may not decrypt gets what the policy says; false: an error.
 */
extern Datum tde_language_trigger(FunctionCallInfo fcinfo, PGFunction handler, bool by_header, bool masks);

/* Returns a receiver before that of a statement that a language runs by SPI, in the current memory context, which gives it rows in the base types. */
extern DestReceiver *tde_language_rows(DestReceiver *spi, bool by_header);

#endif							/* TDE_CLIENT_LANGUAGE_ROWS_H */
