/*
 * stored_tree.h - expressions as catalogs store them.
 */
#ifndef TDE_SERVER_STORED_TREE_H
#define TDE_SERVER_STORED_TREE_H

#include "access/htup.h"
#include "nodes/pg_list.h"

/* Returns a tree, or a list of them, in a column of a catalog's row, palloc'd; NULL if there is none.  cache: the syscache that the row is from. */
extern PGDLLEXPORT void *tde_stored_tree(int cache, HeapTuple tuple, AttrNumber column);

/*
 * Returns the expressions and the condition of an index as they are stored, each of which may be NULL; NIL if the index is gone.  What the relation
 * cache has is folded, and folding calls users' functions, as whoever runs the command.
 */
extern PGDLLEXPORT List *tde_stored_index_trees(Oid index);

#endif							/* TDE_SERVER_STORED_TREE_H */
