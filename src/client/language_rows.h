/*
 * language_rows.h - rows that procedural languages get, in the base types.
 */
#ifndef TDE_CLIENT_LANGUAGE_ROWS_H
#define TDE_CLIENT_LANGUAGE_ROWS_H

#include "fmgr.h"
#include "tcop/dest.h"

/*
 * Call a language's handler.  by_header: it reads a row that is an argument, or inside of another one, by the type that the row tells, and
 * not by the declared one; others get those as they are.  masks: who may not decrypt gets what the policy says; false: an error.
 */
extern Datum tde_language_function(FunctionCallInfo fcinfo, PGFunction handler, bool by_header);
extern Datum tde_language_trigger(FunctionCallInfo fcinfo, PGFunction handler, bool by_header, bool masks);

/* A receiver before that of a statement that it runs. */
extern DestReceiver *tde_language_rows(DestReceiver *spi, bool by_header);

#endif							/* TDE_CLIENT_LANGUAGE_ROWS_H */
