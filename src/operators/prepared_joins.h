/*
 * prepared_joins.h - joins by PostgreSQL's equality, which would sort or hash what a cast has decrypted.
 */
#ifndef TDE_OPERATORS_PREPARED_JOINS_H
#define TDE_OPERATORS_PREPARED_JOINS_H

#include "nodes/parsenodes.h"

/* To be called once before a query is planned: for all of its subqueries, too. */
extern void tde_joins_prepare(Query *query);

#endif							/* TDE_OPERATORS_PREPARED_JOINS_H */
