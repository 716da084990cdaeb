/*
 * distribution.h - which tables Citus distributes, and by which column.
 */
#ifndef TDE_DISTRIBUTED_DISTRIBUTION_H
#define TDE_DISTRIBUTED_DISTRIBUTION_H

#include "executor/execdesc.h"
#include "fmgr.h"
#include "nodes/parsenodes.h"
#include "optimizer/planner.h"

#include "server/compat.h"
#include "server/memory.h"
#include "type/type.h"

typedef struct TdeDistribution
{
	TdeRelationMemo memo;		/* not valid: read Citus' catalog again */
	bool		is_distributed; /* or a reference table, or one of Citus' local ones */
	bool		by_column;		/* rows find their shard by a column */
	int32		colocation;		/* equal columns are in shards of one node then, if two tables have the same */
	AttrNumber	column;			/* by which rows find their shard, if it is encrypted; InvalidAttrNumber: none */
	Oid			type;			/* of that column */
} TdeDistribution;

/* Is Citus loaded into this server?  Where it is not, nothing here costs anything. */
extern PGDLLEXPORT bool tde_distributed_citus_is_loaded(void);

/* What Citus' catalog says of a table; NULL: it knows nothing of it. */
extern const TdeDistribution *tde_distribution(Oid table);

extern PGDLLEXPORT const TdeDistribution *tde_distribution_of(const RangeTblEntry *entry);

/* Does a query, or one inside, write, or read, such a table of Citus? */
typedef bool (*TdeDistributionTest) (const TdeDistribution *table);
extern PGDLLEXPORT bool tde_distributed_reads(Query *query, TdeDistributionTest wanted);

/* ereport if Citus distributes the table: a maintenance command would find this node's empty shell.  call: it, with %L for the table. */
extern PGDLLEXPORT void tde_distributed_refuse(Oid table, const char *call);

/* Such a call of the function that is running: VERB schema.function(%L). */
extern PGDLLEXPORT const char *tde_distributed_call(const char *verb, FunctionCallInfo fcinfo);

extern void tde_distributed_init(void); /* from _PG_init */

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
extern PlannedStmt *tde_distributed_citus_plan(planner_hook_type next, TDE_PLANNER_PARAMETERS);

extern void tde_distributed_citus_init(void);	/* from _PG_init */

#endif							/* TDE_DISTRIBUTED_DISTRIBUTION_H */
