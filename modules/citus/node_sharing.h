/*
 * node_sharing.h - keys that change on the coordinator come to all other nodes.
 */
#ifndef TDE_CITUS_NODE_SHARING_H
#define TDE_CITUS_NODE_SHARING_H

/*
 * Returns true if other nodes have this one's hash key.  Then keys change on the coordinator, by one at a time to the end of its transaction.
 * Elsewhere it throws ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, and also if a node does not answer.
 */
extern bool tde_node_sharing(void);

/* Has all of them adopt this node's keys, at once.  Throws unless each does. */
extern void tde_node_sharing_bring(void);

#endif							/* TDE_CITUS_NODE_SHARING_H */
