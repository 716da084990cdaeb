/*
 * repartition.h - joins of an encrypted column with a plain one, whose hashes differ.
 */
#ifndef TDE_CITUS_REPARTITION_H
#define TDE_CITUS_REPARTITION_H

#include "nodes/parsenodes.h"

/*
 * Before Citus plans a query, and after all else that changes its conditions: what it would repartition if all columns were plain, it can run then.
 */
extern void tde_repartition_joins(Query *query);

#endif							/* TDE_CITUS_REPARTITION_H */
