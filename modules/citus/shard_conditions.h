/*
 * shard_conditions.h - conditions on encrypted distribution columns, such that Citus finds their shard.
 */
#ifndef TDE_CITUS_SHARD_CONDITIONS_H
#define TDE_CITUS_SHARD_CONDITIONS_H

#include "nodes/params.h"
#include "nodes/parsenodes.h"

/* Before Citus plans a query: encrypts what is compared with an encrypted distribution column, where it can.  params: the bound ones; may be NULL. */
extern void tde_shard_conditions(Query *query, ParamListInfo params);

#endif							/* TDE_CITUS_SHARD_CONDITIONS_H */
