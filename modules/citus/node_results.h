/*
 * node_results.h - rows that Citus sends its nodes, and writes into files for them.
 */
#ifndef TDE_CITUS_NODE_RESULTS_H
#define TDE_CITUS_NODE_RESULTS_H

#include "executor/execdesc.h"

/* Has what Citus has cast for INSERT ... SELECT, or been told to cast, be encrypted as a column's value is; in place. */
extern void tde_results_cast(Query *query);

/* When a query is run: if Citus takes its rows, it gets them through a receiver of ours, in query->dest.  Returns true if it does. */
extern bool tde_results_begin(QueryDesc *query);

#endif							/* TDE_CITUS_NODE_RESULTS_H */
