/*
 * combined.h - aggregates that Citus combines from those of its nodes.
 */
#ifndef TDE_CITUS_COMBINED_H
#define TDE_CITUS_COMBINED_H

#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"

/* Before Citus plans a query: returns which collations its aggregates of encrypted strings have, for the other function. */
extern List *tde_combined_collations(Query *query);

/* When it is planned: gives what combines them the same.  It changes the plan. */
extern void tde_combined_collate(PlannedStmt *plan, List *collations);

#endif							/* TDE_CITUS_COMBINED_H */
