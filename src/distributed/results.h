/*
 * results.h - rows that Citus writes into files for its nodes.
 */
#ifndef TDE_DISTRIBUTED_RESULTS_H
#define TDE_DISTRIBUTED_RESULTS_H

#include "executor/execdesc.h"

/* GUC: the form of encrypted values in them, a TdeIoFormat */
extern int	tde_citus_results;

/* When a query is run: if Citus takes its rows, it gets them through a receiver of ours.  Returns Citus' then, to be put back, else NULL. */
extern DestReceiver *tde_results_begin(QueryDesc *query);
extern void tde_results_end(QueryDesc *query, DestReceiver *receiver);

#endif							/* TDE_DISTRIBUTED_RESULTS_H */
