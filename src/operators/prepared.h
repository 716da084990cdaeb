/*
 * prepared.h - joins by PostgreSQL's equality and its aggregates of any type, which would sort, hash or hand on what a cast has decrypted.
 */
#ifndef TDE_OPERATORS_PREPARED_H
#define TDE_OPERATORS_PREPARED_H

#include "nodes/parsenodes.h"

/* To be called once before a query is planned: for all of its subqueries, too. */
extern void tde_prepared_joins(Query *query);

/* To be called before a query with aggregates is planned; not for those inside of it. */
extern void tde_prepared_aggregates(Query *query);

#endif							/* TDE_OPERATORS_PREPARED_H */
