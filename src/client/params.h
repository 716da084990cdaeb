/*
 * params.h - parameters whose type a client leaves open get the base type instead of the encrypted one.
 */
#ifndef TDE_CLIENT_PARAMS_H
#define TDE_CLIENT_PARAMS_H

#include "nodes/parsenodes.h"
#include "parser/parse_node.h"

/*
 * Gives parameters of open types the base types where they have encrypted ones: in the query, in place, and in what the parser has noted of them,
 * which Describe tells.  pstate must be the query's, and the query the only one with these parameters.  declared: so many of the first ones have a
 * type that was declared, PREPARE p (int), and keep it.  Does nothing where the types are not open.
 */
extern void tde_params_retype(ParseState *pstate, Query *query, int declared);

#endif							/* TDE_CLIENT_PARAMS_H */
