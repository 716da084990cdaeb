/*
 * foreign_keys.h - foreign keys that statements add, and those between an encrypted and a plain column of different types.
 */
#ifndef TDE_DDL_FOREIGN_KEYS_H
#define TDE_DDL_FOREIGN_KEYS_H

#include "ddl/declared_type.h"

/* The foreign keys that CREATE TABLE or ALTER TABLE adds, but for those that stand with a column. */
extern List *tde_foreign_keys_added(List *parts);

/* The column that the one of this place in a foreign key references; NULL: there is none.  *table: its table, InvalidOid if that is not there. */
extern const char *tde_foreign_key_referenced(Constraint *key, int place, Oid *table);

/*
 * PostgreSQL finds operators for foreign keys of columns that it knows no operators for.  Before ALTER TABLE runs, when the types of the columns are
 * known: makes the members that the statement needs, and returns them.  When it has run: takes them away.
 */
extern List *tde_foreign_keys_begin(const TdeAlterTable *alter);
extern void tde_foreign_keys_end(List *members);

/* After a command: a warning, or an ERROR, for each plain column of this table that a new foreign key fills with encrypted values. */
extern void tde_foreign_keys_check_clear(Relation rel);

#endif							/* TDE_DDL_FOREIGN_KEYS_H */
