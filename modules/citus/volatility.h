/*
 * volatility.h - calls of our STABLE functions as Citus may let them run on other nodes.
 */
#ifndef TDE_CITUS_VOLATILITY_H
#define TDE_CITUS_VOLATILITY_H

#include "nodes/parsenodes.h"

/*
 * Before Citus plans a query that changes its tables: makes operators and casts that are STABLE only because they decrypt or encrypt IMMUTABLE to it,
 * in place.
 */
extern void tde_volatility_prepare(Query *query);

#endif							/* TDE_CITUS_VOLATILITY_H */
