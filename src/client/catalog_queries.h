/*
 * catalog_queries.h - stored queries on encrypted columns, as they would be on plain ones: what views, rules and subselects consist of.
 */
#ifndef TDE_CLIENT_CATALOG_QUERIES_H
#define TDE_CLIENT_CATALOG_QUERIES_H

#include "nodes/nodes.h"
#include "nodes/parsenodes.h"

#include "client/catalog_trees.h"

/*
 * TdeShowing's query().  Returns a new query whose expressions are those of plain columns; what no definition prints, such as the operators that
 * group rows, stays as it is.
 */
extern Node *tde_catalog_show_query(Query *query, TdeShowing *showing);

/*
 * TdeShowing's other().  node: one that is in queries only.  shown: a copy of it whose members are shown already; it is changed in place and
 * returned.  A node that is not known sets showing->failed.
 */
extern Node *tde_catalog_show_in_query(Node *node, Node *shown, TdeShowing *showing);

/* Returns the modifier of tde_catalog_shown_type(oid), for a column of the type oid with this modifier. */
extern PGDLLEXPORT int32 tde_catalog_shown_typmod(Oid oid, int32 typmod);

/*
 * Returns a definition, as PostgreSQL prints one, with an expression in it as it would be of plain columns; the definition itself if nothing differs
 * or there is no counterpart.  relation: whose columns the expression has.  pretty: as the definition was printed, or the expression is not found in
 * it.  An operator that takes the place of a call gets parentheses: PostgreSQL prints keys of indexes so.
 */
extern PGDLLEXPORT char *tde_catalog_show_expression(char *definition, Node *expr, Oid relation, bool pretty);

/* Returns a text with the first occurrence of another one replaced, palloc'd; the text itself if there is none. */
extern PGDLLEXPORT char *tde_catalog_replace_first(char *definition, const char *from, const char *to);

/*
 * Returns an expression or a query, or a list of them, as it would be of plain columns, in a new tree that is for printing alone; NULL if it has
 * something that plain columns have no counterpart of.  Literals are decrypted, and so the wallet must be open where there are any.
 */
extern PGDLLEXPORT Node *tde_catalog_shown_tree(Node *tree);

#endif							/* TDE_CLIENT_CATALOG_QUERIES_H */
