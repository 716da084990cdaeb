/*
 * routines.h - what procedures and functions return: CALL's output arguments, rows of RETURN QUERY.
 */
#ifndef TDE_CLIENT_ROUTINES_H
#define TDE_CLIENT_ROUTINES_H

#include "executor/execdesc.h"
#include "nodes/parsenodes.h"
#include "tcop/dest.h"

/*
 * When a client's CALL has been analyzed: has its result described in the base types, by the expressions of stmt->outargs.  Does nothing if this
 * minor release describes it by the procedure's declaration.
 */
extern void tde_routine_outputs_describe(CallStmt *stmt);

/* Before it runs: returns who is to get its row, which is decrypted if it was described so; otherwise client itself. */
extern DestReceiver *tde_routine_outputs_receiver(CallStmt *stmt, DestReceiver *client);

/*
 * Before a run of the executor whose rows go into a DestTuplestore: RETURN QUERY of PL/pgSQL gets rows of the types that the function declares, by a
 * receiver in query->dest.  The caller puts query->dest back when the run has ended.
 */
extern void tde_routine_rows_begin(QueryDesc *query);

/*
 * When a statement with p_pre_columnref_hook has been analyzed, one of PL/pgSQL's: has variables of CALL take what output arguments of other types
 * return.  Does nothing for other statements.
 */
extern void tde_routine_call_analyzed(Query *query);

#endif							/* TDE_CLIENT_ROUTINES_H */
