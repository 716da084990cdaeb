/*
 * call.h - the columns of a table that COPY gives out, which no expression tells.
 *
 * COPY calls the output functions of a row's columns without an expression.  Expressions tell of their arguments by themselves; tde_call() of
 * type/type.h makes what is kept of them.
 */
#ifndef TDE_TYPE_CALL_H
#define TDE_TYPE_CALL_H

#include "nodes/nodes.h"

#include "type/type.h"

/*
 * Returns the table whose rows a COPY command gives out without a query; InvalidOid: none.  Takes no lock and checks no right: whoever runs the
 * command will.  Called by the utility hook.
 */
extern Oid	tde_call_copied_table(Node *command);

/*
 * Returns the expressions that are the arguments of a call, as far as they are known; NIL: nothing is.  An element may be NULL, as the state of an
 * aggregate is.
 */
extern PGDLLEXPORT List *tde_call_arguments(FunctionCallInfo fcinfo);

/* For the two functions below. */
extern TdeCall *tde_call_setup_copied(FunctionCallInfo fcinfo);
extern int32 tde_call_declared_by_any(TdeCall *call, Datum value);

/* Returns what a call site of an output function keeps; made at the first call. */
static inline TdeCall *
tde_output_call(FunctionCallInfo fcinfo)
{
	return likely(fcinfo->flinfo->fn_extra != NULL) ? fcinfo->flinfo->fn_extra : tde_call_setup_copied(fcinfo);
}

/*
 * What the column declares whose value it is to give out.  A query's expression tells that.  COPY of a table has none: there it is what any
 * of the table's columns of this type declares.
 */
static inline int32
tde_output_declares(TdeCall *call, Datum value)
{
	return likely(call->more == NULL) ? call->declared[0] : tde_call_declared_by_any(call, value);
}

#endif							/* TDE_TYPE_CALL_H */
