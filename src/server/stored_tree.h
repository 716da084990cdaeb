/*
 * stored_tree.h - expressions as catalogs store them.
 */
#ifndef TDE_SERVER_STORED_TREE_H
#define TDE_SERVER_STORED_TREE_H

#include "access/htup.h"
#include "nodes/pg_list.h"

/* A tree, or a list of them, in a column of a catalog's row; NULL if there is none. */
extern PGDLLEXPORT void *tde_stored_tree(int cache, HeapTuple tuple, AttrNumber column);

/*
 * The expressions and the condition of an index as they are stored.  (What the relation cache has is folded, and folding calls users'
 * functions, as whoever runs the command.)
 */
extern PGDLLEXPORT List *tde_stored_index_trees(Oid index);

#endif							/* TDE_SERVER_STORED_TREE_H */
