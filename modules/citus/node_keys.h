/*
 * node_keys.h - do the nodes of a Citus cluster have the same hash key?
 */
#ifndef TDE_CITUS_NODE_KEYS_H
#define TDE_CITUS_NODE_KEYS_H

#include "nodes/plannodes.h"

/* Before Citus plans a query: calls of its functions that distribute tables go through tde_distribute(). */
extern void tde_node_keys_guard(Query *query);

/* ereport if a query uses a table that is distributed by an encrypted column, and this node, or another that it needs, would find other shards. */
extern void tde_node_keys_check(Query *query);

/* ereport if nodes are to hash encrypted values for a join, and do not all have the same hash key. */
extern void tde_node_keys_check_plan(PlannedStmt *plan);

/* The same on two nodes if they have the same hash key. */
extern char *tde_node_keys_fingerprint(void);

/* Is this node the one by whose hash key rows are placed?  It does not change while a session lasts. */
extern bool tde_node_keys_is_coordinator(void);

extern void tde_node_keys_init(void);	/* from _PG_init */

#endif							/* TDE_CITUS_NODE_KEYS_H */
