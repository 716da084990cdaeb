/*
 * catalog_queries.h - stored queries on encrypted columns, as they would be on plain ones: what views, rules and subselects consist of.
 */
#ifndef TDE_CLIENT_CATALOG_QUERIES_H
#define TDE_CLIENT_CATALOG_QUERIES_H

#include "nodes/nodes.h"
#include "nodes/parsenodes.h"

#include "client/catalog_trees.h"

extern Node *tde_catalog_show_query(Query *query, TdeShowing *showing);

/* A node that is in queries only; shown is a copy, whose members are shown already. */
extern Node *tde_catalog_show_in_query(Node *node, Node *shown, TdeShowing *showing);

/* The modifier of the base type, of tde_catalog_shown_type(oid). */
extern PGDLLEXPORT int32 tde_catalog_shown_typmod(Oid oid, int32 typmod);

/* In a text, an expression of a relation's columns, as it would be of plain ones.  Where PostgreSQL prints a call without parentheses. */
extern PGDLLEXPORT char *tde_catalog_show_expression(char *definition, Node *expr, Oid relation, bool pretty);

/* A text with the first occurrence of another one replaced; itself, if there is none. */
extern PGDLLEXPORT char *tde_catalog_replace_first(char *definition, const char *from, const char *to);

/* An expression, or a list of them, in a new tree; NULL if it has something that plain columns have no counterpart of. */
extern PGDLLEXPORT Node *tde_catalog_shown_tree(Node *tree);

#endif							/* TDE_CLIENT_CATALOG_QUERIES_H */
