/*
 * computed_call.h - which of PostgreSQL's own functions an expression calls.
 */
#ifndef TDE_OPERATORS_COMPUTED_CALL_H
#define TDE_OPERATORS_COMPUTED_CALL_H

#include "nodes/pg_list.h"
#include "nodes/primnodes.h"

/* The type of an expression, of an encrypted one the base type. */
extern Oid	tde_computed_base_type(Node *node);

/* PostgreSQL's function that an expression calls, or that one of ours stands for; InvalidOid: none that tde_computed() can call. */
extern Oid	tde_called_function(Node *expr, List **args);

/* Can that be this function?  Costs less, if not. */
extern bool tde_computed_may_call(Node *expr, Oid function);

#endif							/* TDE_OPERATORS_COMPUTED_CALL_H */
