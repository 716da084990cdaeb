/*
 * node_keys.h - whether the nodes of a Citus cluster have the same hash key.
 */
#ifndef TDE_CITUS_NODE_KEYS_H
#define TDE_CITUS_NODE_KEYS_H

#include "nodes/plannodes.h"

/* Before Citus plans a query: has calls of its functions that distribute tables go through tde_distribute(), which refuses what would go wrong. */
extern void tde_node_keys_guard(Query *query);

/*
 * Throws ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE if a query uses a table that is distributed by an encrypted column, and this node, or another that
 * it needs, would find other shards.  It may ask other nodes, and so take a while the first time.
 */
extern void tde_node_keys_check(Query *query);

/* Throws the same if nodes are to hash encrypted values for a join, and do not all have the same hash key. */
extern void tde_node_keys_check_plan(PlannedStmt *plan);

/* Returns a text that is the same on two nodes if they have the same hash key; palloc'd.  Throws if the wallet is closed. */
extern char *tde_node_keys_fingerprint(void);

/* Returns true if this node is the one by whose hash key rows are placed, or there are no nodes.  It does not change while a session lasts. */
extern bool tde_node_keys_is_coordinator(void);

extern void tde_node_keys_init(void);	/* from _PG_init */

#endif							/* TDE_CITUS_NODE_KEYS_H */
