/*
 * tde_opclass.h - operator classes of base types that are named for encrypted columns.
 *
 * layer: 8
 */
#ifndef TDE_OPCLASS_H
#define TDE_OPCLASS_H

#include "nodes/parsenodes.h"

/*
 * CREATE INDEX ... (column int4_ops): where the class says no more than the base type's default does, an encrypted column
 * takes its own default.  Changes the statement.
 */
extern void tde_opclass_adopt(IndexStmt *stmt);

#endif							/* TDE_OPCLASS_H */
