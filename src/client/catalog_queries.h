/*
 * catalog_queries.h - stored queries on encrypted columns, as they would be on plain ones: what views, rules and subselects consist of.
 */
#ifndef TDE_CLIENT_CATALOG_QUERIES_H
#define TDE_CLIENT_CATALOG_QUERIES_H

#include "nodes/parsenodes.h"

#include "client/catalog_trees.h"

extern Node *tde_catalog_show_query(Query *query, TdeShowing *showing);

/* A node that is in queries only; shown is a copy, whose members are shown already. */
extern Node *tde_catalog_show_in_query(Node *node, Node *shown, TdeShowing *showing);

#endif							/* TDE_CLIENT_CATALOG_QUERIES_H */
