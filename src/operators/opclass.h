/*
 * opclass.h - operator classes of base types that are named for encrypted columns.
 */
#ifndef TDE_OPERATORS_OPCLASS_H
#define TDE_OPERATORS_OPCLASS_H

#include "nodes/parsenodes.h"
#include "nodes/primnodes.h"

#include "type/type.h"

/*
 * CREATE INDEX ... (column int4_ops), (column text_pattern_ops): where an encrypted column has an operator class that does what
 * the one that is named does, it takes that, and an index of GIN gets its salt.  Changes the statement.
 */
extern void tde_opclass_adopt(IndexStmt *stmt);

/* The name of the class that a column of this type takes for one that is named; NIL: its default. */
extern List *tde_opclass_adopted(const TdeType *type, Oid method, List *name);

/* The same for the classes in ON CONFLICT, by which PostgreSQL is going to find indexes. */
extern void tde_opclass_infer(OnConflictExpr *conflict);

/* PostgreSQL's class that orders strings by their bytes (text_pattern_ops); InvalidOid if the base type is none. */
extern Oid	tde_opclass_base_pattern(const TdeType *type);

/* Its encrypted version: encrypted_text_pattern_ops of encrypted_text; InvalidOid if there is none. */
extern Oid	tde_opclass_pattern(const TdeType *type);

/* The class by which indexes tell no order: encrypted_text_unordered_ops of encrypted_text; InvalidOid if there is none. */
extern Oid	tde_opclass_unordered(const TdeType *type);

#endif							/* TDE_OPERATORS_OPCLASS_H */
