/*
 * table.h - which tables Citus distributes, and by which column.
 */
#ifndef TDE_DISTRIBUTED_TABLE_H
#define TDE_DISTRIBUTED_TABLE_H

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
extern bool tde_citus_is_loaded(void);

/* May it repartition tables to join them? */
extern bool tde_citus_repartitions(void);

/* What Citus' catalog says of a table; NULL: it knows nothing of it. */
extern const TdeDistribution *tde_distribution(Oid table);

extern const TdeDistribution *tde_distribution_of(const RangeTblEntry *entry);

/* Is it a table that is distributed by an encrypted column? */
extern bool tde_is_by_encrypted(const RangeTblEntry *entry);

/* Does a query, or one inside, write, or read, a table of Citus, or one that is distributed by an encrypted column? */
extern bool tde_reads_distributed(Query *query, bool by_encrypted);

/* Is it an equality, and not a user's operator that has the name? */
extern bool tde_is_equality(Oid operator);

/* The encrypted type's own equality, by which Citus distributes; InvalidOid: it has none. */
extern Oid	tde_own_equality(const TdeType *type);

/* ereport if Citus distributes the table: a maintenance command would find this node's empty shell.  call: it, with %L for the table. */
extern void tde_refuse_distributed(Oid table, const char *call);

/* Such a call of the function that is running: VERB schema.function(%L). */
extern const char *tde_distributed_call(const char *verb, FunctionCallInfo fcinfo);

extern void tde_distributed_init(void); /* from _PG_init */

#endif							/* TDE_DISTRIBUTED_TABLE_H */
