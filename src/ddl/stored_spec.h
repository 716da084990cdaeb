/*
 * stored_spec.h - the values that a statement stores get their columns' specifications.
 */
#ifndef TDE_DDL_STORED_SPEC_H
#define TDE_DDL_STORED_SPEC_H

#include "nodes/plannodes.h"

/*
 * Changes a finished plan in place such that each value that it stores in an encrypted column is encrypted as the column declares.  To be called by
 * the planner hook, and by whoever puts nodes on top of a plan that writes (modules/citus).  The tables that the plan writes are locked, as the
 * planner leaves them.  Does nothing to a plan that only reads.
 */
extern PGDLLEXPORT void tde_stored_spec_planned(PlannedStmt *plan);

#endif							/* TDE_DDL_STORED_SPEC_H */
