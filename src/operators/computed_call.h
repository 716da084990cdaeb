/*
 * computed_call.h - which of PostgreSQL's own functions an expression calls.
 *
 * Casts and operators of encrypted types have other OIDs than those of the base types.  So an expression over encrypted columns is compared with an
 * index by PostgreSQL's function that it comes down to.
 */
#ifndef TDE_OPERATORS_COMPUTED_CALL_H
#define TDE_OPERATORS_COMPUTED_CALL_H

#include "nodes/pg_list.h"
#include "nodes/primnodes.h"

/* Returns the type of an expression; of an encrypted one, the base type. */
extern Oid	tde_computed_base_type(Node *node);

/*
 * Returns PostgreSQL's function that an expression calls, or that a function or operator of ours stands for; *args: its arguments.  InvalidOid: it
 * calls none, or none that tde_computed() can call; *args may be unset then.
 */
extern Oid	tde_called_function(Node *expr, List **args);

/*
 * Returns false if tde_called_function() would not return this function; true: it may.  For one expression and many indexes: what it asks of the
 * catalogs is remembered.
 */
extern bool tde_computed_may_call(Node *expr, Oid function);

#endif							/* TDE_OPERATORS_COMPUTED_CALL_H */
