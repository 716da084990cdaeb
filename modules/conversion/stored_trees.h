/*
 * stored_trees.h - the expressions and queries that the catalogs keep of an object.
 */
#ifndef TDE_CONVERSION_STORED_TREES_H
#define TDE_CONVERSION_STORED_TREES_H

#include "access/attnum.h"
#include "nodes/pg_list.h"

/*
 * Returns the table, view or index that the object is, or belongs to; InvalidOid if it is not there.  Throws if objects of the catalog have no trees.
 */
extern Oid	tde_stored_relation(Oid class, Oid object);

/*
 * Returns the trees of a constraint, index, view (with the defaults of its columns), rule, trigger, policy, statistics object or default, as they are
 * stored: they have not been evaluated in any part.  They are palloc'd, and the caller's to change.
 */
extern List *tde_stored_trees(Oid class, Oid object);

/* Returns one of them, of such a column of the object's catalog; NULL if there is none. */
extern Node *tde_stored_expression(Oid class, Oid object, AttrNumber column);

#endif							/* TDE_CONVERSION_STORED_TREES_H */
