/*
 * citus_module.h - the module for tables that Citus distributes (modules/citus), as the core calls it.
 */
#ifndef TDE_DISTRIBUTED_CITUS_MODULE_H
#define TDE_DISTRIBUTED_CITUS_MODULE_H

#include "executor/execdesc.h"
#include "optimizer/planner.h"

#include "server/compat.h"

/* GUC tde_column.citus_results: the form of encrypted values in files that Citus writes for its nodes, a TdeIoFormat. */
extern PGDLLEXPORT int tde_citus_results;

typedef struct TdeCitusCalls
{
	/* What Citus is to plan, by the next planner, gets a form first that it can make use of. */
	PlannedStmt *(*plan) (planner_hook_type next, TDE_PLANNER_PARAMETERS);

	/* When a query is run: if Citus takes its rows, it gets them through a receiver, in query->dest.  Returns whether it does. */
	bool		(*results_begin) (QueryDesc *query);

	/* If the client is another node of Citus, an error about keys names this server. */
	void		(*name_server) (ErrorData *edata);

	/* Before a key changes: do other nodes have the same keys?  ereport where keys are not to change then, and unless all nodes can be asked. */
	bool		(*shares_keys) (void);

	/* All nodes that have the same keys adopt what has changed here, before the commit; ereport unless each does. */
	void		(*bring_keys) (void);
} TdeCitusCalls;

/* NULL: the server has no Citus, or the module is missing. */
extern const TdeCitusCalls *tde_citus;

/* Where Citus is: by the module.  Without it, statements on encrypted tables that Citus distributes are refused. */
extern PlannedStmt *tde_citus_plan(planner_hook_type next, TDE_PLANNER_PARAMETERS);

extern void tde_citus_init(void);	/* from _PG_init */

#endif							/* TDE_DISTRIBUTED_CITUS_MODULE_H */
