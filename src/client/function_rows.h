/*
 * function_rows.h - RETURN QUERY and CALL of PL/pgSQL convert between encrypted and plain types as its assignments do.
 */
#ifndef TDE_CLIENT_FUNCTION_ROWS_H
#define TDE_CLIENT_FUNCTION_ROWS_H

#include "executor/execdesc.h"
#include "nodes/parsenodes.h"

/*
 * Around a run of the executor whose rows go into a DestTuplestore: RETURN QUERY gets rows of the types that the function declares.  begin
 * returns the receiver that end puts back; NULL, and no end: nothing is to be converted.  No end after an error.
 */
extern DestReceiver *tde_function_rows_begin(QueryDesc *query);
extern void tde_function_rows_end(QueryDesc *query, DestReceiver *function);

/* When a statement with p_pre_columnref_hook has been analyzed: variables of CALL take what output arguments of other types return. */
extern void tde_function_call_analyzed(Query *query);

#endif							/* TDE_CLIENT_FUNCTION_ROWS_H */
