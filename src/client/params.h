/*
 * params.h - parameters whose type a client leaves open get the base type instead of the encrypted one.
 */
#ifndef TDE_CLIENT_PARAMS_H
#define TDE_CLIENT_PARAMS_H

#include "nodes/parsenodes.h"
#include "parser/parse_node.h"

/*
 * Retype the parameters of a query, in place, and what the parser has noted of their types.  pstate must be the
 * query's, and the query the only one with them.  The first ones, in the number of declared, keep the types that were
 * declared for them.
 */
extern void tde_params_retype(ParseState *pstate, Query *query, int declared);

#endif							/* TDE_CLIENT_PARAMS_H */
