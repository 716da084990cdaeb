/*
 * routines.h - what procedures and functions return: CALL's output arguments, rows of RETURN QUERY.
 */
#ifndef TDE_CLIENT_ROUTINES_H
#define TDE_CLIENT_ROUTINES_H

#include "executor/execdesc.h"
#include "nodes/parsenodes.h"
#include "tcop/dest.h"

/* When CALL has been analyzed: let its result be described in the base types. */
extern void tde_routine_outputs_describe(CallStmt *stmt);

/* Before it runs: who is to get its row, which is decrypted if that was done. */
extern DestReceiver *tde_routine_outputs_receiver(CallStmt *stmt, DestReceiver *client);

/*
 * Before a run of the executor whose rows go into a DestTuplestore, which is put back into query->dest then: RETURN QUERY gets rows of the
 * types that the function declares.
 */
extern void tde_routine_rows_begin(QueryDesc *query);

/* When a statement with p_pre_columnref_hook has been analyzed: variables of CALL take what output arguments of other types return. */
extern void tde_routine_call_analyzed(Query *query);

#endif							/* TDE_CLIENT_ROUTINES_H */
