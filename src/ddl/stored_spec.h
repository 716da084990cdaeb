/*
 * stored_spec.h - the values that a statement stores get their columns' specifications.
 */
#ifndef TDE_DDL_STORED_SPEC_H
#define TDE_DDL_STORED_SPEC_H

#include "nodes/plannodes.h"

/* When a statement has been planned; changes the plan in place. */
extern PGDLLEXPORT void tde_stored_spec_planned(PlannedStmt *plan);

#endif							/* TDE_DDL_STORED_SPEC_H */
