/*
 * subquery.h - a table of a query becomes a subquery of its own in the same place.
 */
#ifndef TDE_SERVER_SUBQUERY_H
#define TDE_SERVER_SUBQUERY_H

#include "nodes/parsenodes.h"

/* Returns true if the query needs of this table what a subquery does not have: rows that can be locked or sampled, and system columns. */
extern PGDLLEXPORT bool tde_subquery_needs_table(Query *query, Index rtindex);

/*
 * Puts SELECT columns FROM the table in its place in the range table, and returns that query.  columns: target entries in the order of the table's;
 * they may come later.  *rte is overwritten, so its number stays.
 */
extern PGDLLEXPORT Query *tde_subquery_make(Query *query, RangeTblEntry *rte, List *columns);

/*
 * Returns columns for it, all that the table has.  Those that are not in read (numbers as in permissions, with FirstLowInvalidHeapAttributeNumber)
 * are NULL.  The table is locked by its statement.
 */
extern PGDLLEXPORT List *tde_subquery_columns(RangeTblEntry *rte, Bitmapset *read);

#endif							/* TDE_SERVER_SUBQUERY_H */
