/*
 * prepared.h - joins by PostgreSQL's equality and its aggregates of any type, which would sort, hash or hand on what a cast has decrypted.
 */
#ifndef TDE_OPERATORS_PREPARED_H
#define TDE_OPERATORS_PREPARED_H

#include "nodes/parsenodes.h"

/*
 * Called once before a query is planned: for all of its subqueries, too.  Puts comparisons of encrypted values in place of those of what a cast has
 * decrypted.  Changes the query in place.
 */
extern void tde_prepared_joins(Query *query);

/*
 * Called before a query with aggregates is planned; not for those inside of it, which prepare_query() of index_conditions.c comes to by itself.
 * Changes the query in place.
 */
extern void tde_prepared_aggregates(Query *query);

#endif							/* TDE_OPERATORS_PREPARED_H */
