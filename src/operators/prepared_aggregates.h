/*
 * prepared_aggregates.h - PostgreSQL's aggregates of any type, which would sort decrypted values or hand them from process to process.
 */
#ifndef TDE_OPERATORS_PREPARED_AGGREGATES_H
#define TDE_OPERATORS_PREPARED_AGGREGATES_H

#include "nodes/parsenodes.h"

/* To be called before a query with aggregates is planned; not for those inside of it. */
extern void tde_aggregates_prepare(Query *query);

#endif							/* TDE_OPERATORS_PREPARED_AGGREGATES_H */
