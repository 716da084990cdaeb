/*
 * catalog_trees.h - stored expressions of encrypted columns, as they would be of plain ones: defaults, conditions, generated columns.
 */
#ifndef TDE_CLIENT_CATALOG_TREES_H
#define TDE_CLIENT_CATALOG_TREES_H

#include "nodes/nodes.h"

/* The base type of an encrypted type, of an array of one, or of an operand beside one; any other type as it is. */
extern Oid	tde_shown_type(Oid oid);

/* An expression, or a list of them, in a new tree; NULL if it has something that plain columns have no counterpart of. */
extern Node *tde_shown_tree(Node *tree);

#endif							/* TDE_CLIENT_CATALOG_TREES_H */
