/*
 * foreign_keys.h - foreign keys that statements add, and those between an encrypted and a plain column of different types.
 */
#ifndef TDE_DDL_FOREIGN_KEYS_H
#define TDE_DDL_FOREIGN_KEYS_H

#include "ddl/declared_type.h"

/*
 * Returns the foreign keys that CREATE TABLE or ALTER TABLE adds, without those that stand with a column.  parts: tableElts or cmds of the statement.
 * The list is new, its Constraints are the statement's own.
 */
extern List *tde_foreign_keys_added(List *parts);

/*
 * Returns the name of the column that a foreign key references at this place, from 0 on; of REFERENCES t alone, that of the primary key.  NULL if
 * there is none.  *table: the table that is referenced, InvalidOid if it is not there.  Takes no lock and checks no right: PostgreSQL does so next.
 */
extern const char *tde_foreign_key_referenced(Constraint *key, int place, Oid *table);

/*
 * Lets PostgreSQL find operators for foreign keys between columns of types that it knows no operator for.  To be called before ALTER TABLE runs, when
 * the declared types are final.  Inserts members of operator families into pg_amop and returns their rows, in the current memory context; NIL if none
 * is needed, and always from PostgreSQL 19 on.
 */
extern List *tde_foreign_keys_begin(const TdeAlterTable *alter);

/* Takes these rows away again, when the command has run.  To be called in the same transaction; NIL: does nothing. */
extern void tde_foreign_keys_end(List *members);

/*
 * Reports each plain column of this table that a foreign key of this transaction fills with values of an encrypted one: by a WARNING, or by an error
 * of ERRCODE_INVALID_TABLE_DEFINITION if tde_column.plaintext_alter is "error".  The event trigger calls it after ALTER TABLE, which adds the foreign
 * keys of CREATE TABLE, too.
 */
extern void tde_foreign_keys_check_clear(Relation rel);

#endif							/* TDE_DDL_FOREIGN_KEYS_H */
