/*
 * subquery.h - a table of a query becomes a subquery of its own in the same place.
 */
#ifndef TDE_SERVER_SUBQUERY_H
#define TDE_SERVER_SUBQUERY_H

#include "nodes/parsenodes.h"

/* Does the query need what a subquery does not have: rows that can be locked or sampled, and system columns? */
extern PGDLLEXPORT bool tde_subquery_needs_table(Query *query, Index rtindex);

/* Put SELECT columns FROM the table in its place, and return that.  columns: target entries in the order of the table's; they may come later. */
extern PGDLLEXPORT Query *tde_subquery_make(Query *query, RangeTblEntry *rte, List *columns);

/* Columns for it, all that the table has: those that are not read, by their numbers in range tables, are NULL. */
extern PGDLLEXPORT List *tde_subquery_columns(RangeTblEntry *rte, Bitmapset *read);

#endif							/* TDE_SERVER_SUBQUERY_H */
