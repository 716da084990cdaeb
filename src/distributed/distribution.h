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

/*
 * What Citus' catalog says of a table.  Kept for each table that was asked about; Citus sends an invalidation of the table when it changes that.
 * Entries stay where they are; one that is not valid any more is read again, in place, by the next lookup.
 */
typedef struct TdeDistribution
{
	TdeRelationMemo memo;		/* not valid: read Citus' catalog again */
	bool		is_distributed; /* or a reference table, or one of Citus' local ones */
	bool		by_column;		/* rows find their shard by a column */
	int32		colocation;		/* equal columns are in shards of one node then, if two tables have the same */
	AttrNumber	column;			/* by which rows find their shard, if it is encrypted; InvalidAttrNumber: none */
	Oid			type;			/* of that column */
} TdeDistribution;

/* Returns true if Citus is loaded into this server.  Where it is not, nothing here costs anything. */
extern PGDLLEXPORT bool tde_distributed_citus_is_loaded(void);

/* Returns what Citus' catalog says of a table; NULL if it knows nothing of it.  Reads that catalog at the first call for a table. */
extern const TdeDistribution *tde_distribution(Oid table);

/* Returns the same of an entry of a range table; NULL for what is no table. */
extern PGDLLEXPORT const TdeDistribution *tde_distribution_of(const RangeTblEntry *entry);

/* Says whether a table of Citus is one of those that are looked for. */
typedef bool (*TdeDistributionTest) (const TdeDistribution *table);

/* Returns true if a query, or one inside, writes or reads such a table.  The first one ends the search. */
extern PGDLLEXPORT bool tde_distributed_reads(Query *query, TdeDistributionTest wanted);

/*
 * Throws ERRCODE_FEATURE_NOT_SUPPORTED if Citus distributes the table: a maintenance command would find this node's empty shell.  call: the command,
 * with %L for the table, which the hint has Citus run on each shard.
 */
extern PGDLLEXPORT void tde_distributed_refuse(Oid table, const char *call);

/* Returns such a call of the function that is running: VERB function(%L); palloc'd. */
extern PGDLLEXPORT const char *tde_distributed_call(const char *verb, FunctionCallInfo fcinfo);

/* From _PG_init: the memory of tables, and its invalidation. */
extern void tde_distributed_init(void);

/* GUC tde_column.citus_results: the form of encrypted values in files that Citus writes for its nodes, a TdeIoFormat. */
extern PGDLLEXPORT int tde_citus_results;

/* What the core calls in the module "citus". */
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

/*
 * Plans a statement where Citus is, by the module.  Without it, throws ERRCODE_FEATURE_NOT_SUPPORTED for statements on encrypted tables that Citus
 * distributes, and calls the next planner for others.
 */
extern PlannedStmt *tde_distributed_citus_plan(planner_hook_type next, TDE_PLANNER_PARAMETERS);

/* From _PG_init: loads the module where Citus is.  If it is missing, the server starts nevertheless, with a WARNING. */
extern void tde_distributed_citus_init(void);

#endif							/* TDE_DISTRIBUTED_DISTRIBUTION_H */
