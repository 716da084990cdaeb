/*
 * opclass.h - operator classes of base types that are named for encrypted columns, and those of encrypted types as they are named for plain ones.
 */
#ifndef TDE_OPERATORS_OPCLASS_H
#define TDE_OPERATORS_OPCLASS_H

#include "nodes/parsenodes.h"
#include "nodes/primnodes.h"

#include "type/type.h"

/*
 * CREATE INDEX ... (column int4_ops), (column text_pattern_ops): where an encrypted column has an operator class that does what the one that is named
 * does, it takes that.  Changes the statement.  Does nothing where the table or the access method does not exist: PostgreSQL says so afterwards.
 */
extern void tde_opclass_adopt(IndexStmt *stmt);

/* Returns the type of an element of an index of this table; InvalidOid: there is no such column, or it is an expression that is not yet analyzed. */
extern Oid	tde_opclass_element_type(const IndexStmt *stmt, Oid table, const IndexElem *element);

/*
 * Returns the name of the class that a column of this type takes for one that is named; NIL: its default.  A name that means nothing to us is
 * returned as it is.
 */
extern List *tde_opclass_adopted(const TdeType *type, Oid method, List *name);

/* The same for the classes in ON CONFLICT (name text_pattern_ops), by which PostgreSQL is going to find indexes.  Changes the OIDs in place. */
extern void tde_opclass_infer(OnConflictExpr *conflict);

/* Returns PostgreSQL's class that orders strings by their bytes (text_pattern_ops); InvalidOid if the base type is none. */
extern Oid	tde_opclass_base_pattern(const TdeType *type);

/* Returns its encrypted version: encrypted_text_pattern_ops of encrypted_text; InvalidOid if there is none. */
extern Oid	tde_opclass_pattern(const TdeType *type);

/* Returns the class by which indexes tell no order: encrypted_text_unordered_ops of encrypted_text; InvalidOid if there is none. */
extern Oid	tde_opclass_unordered(const TdeType *type);

/* Returns the operator class of the base type that an encrypted type's stands for; any other as it is, also one that does not exist. */
extern PGDLLEXPORT Oid tde_opclass_plain(Oid opclass);

/*
 * Returns a definition, as PostgreSQL has printed it, with these names in place of those of classes (an oidvector), and without salts of indexes of
 * GIN.  palloc'd, or the same.
 */
extern PGDLLEXPORT char *tde_opclass_plain_texts(char *definition, Datum opclasses);

#endif							/* TDE_OPERATORS_OPCLASS_H */
