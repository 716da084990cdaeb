/*
 * distribution.h - which tables Citus distributes, and by which column.
 */
#ifndef TDE_DISTRIBUTED_DISTRIBUTION_H
#define TDE_DISTRIBUTED_DISTRIBUTION_H

#include "fmgr.h"
#include "nodes/parsenodes.h"

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

#endif							/* TDE_DISTRIBUTED_DISTRIBUTION_H */
