/*
 * indexed_order.h - the order of indexes that hold encrypted results, for ORDER BY lower(email) and its like.
 */
#ifndef TDE_OPERATORS_INDEXED_ORDER_H
#define TDE_OPERATORS_INDEXED_ORDER_H

#include "nodes/pathnodes.h"

#include "operators/indexed_forms.h"

/*
 * Part of a set_rel_pathlist_hook: adds scans of indexes in their order, where a query wants that of the plain values.  Adds none for who may not
 * decrypt; the plan depends on the role then.
 */
extern void tde_indexed_order_paths(PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *entry);

/*
 * Part of tde_index_conditions_prepare(): min() and max() become those of encrypted values, where PostgreSQL then finds all aggregates of the query
 * by indexes of its tables.  Does nothing if one of them needs all rows.
 */
extern void tde_indexed_order_extremes(Query *query, const TdeUsable *usable);

#endif							/* TDE_OPERATORS_INDEXED_ORDER_H */
