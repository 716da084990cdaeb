/*
 * index_constraint.h - ALTER TABLE ... ADD PRIMARY KEY, UNIQUE ... USING INDEX of columns that are declared unordered.
 */
#ifndef TDE_DDL_INDEX_CONSTRAINT_H
#define TDE_DDL_INDEX_CONSTRAINT_H

#include "nodes/parsenodes.h"

/* Changes the statement such that PostgreSQL takes an index whose classes are those that the constraint would have given it. */
extern void tde_index_constraint_prepare(AlterTableStmt *stmt);

#endif							/* TDE_DDL_INDEX_CONSTRAINT_H */
