/*
 * plaintext_alter.h - ALTER TABLE that would store an encrypted column in clear keeps it encrypted, warns, or is refused.
 */
#ifndef TDE_DDL_PLAINTEXT_ALTER_H
#define TDE_DDL_PLAINTEXT_ALTER_H

#include "ddl/declared_type.h"

/* Before ALTER TABLE runs: the column that a command declares. */
extern void tde_plaintext_alter_column(const TdeAlterTable *alter, AlterTableCmd *cmd);

/* The same of a foreign key that it adds: columns of a table that is being made are declared once more, by commands that are appended. */
extern void tde_plaintext_alter_foreign_key(TdeAlterTable *alter, Constraint *key);

/* Before CREATE TABLE runs: columns that reference encrypted ones are declared so, since some cannot be altered afterwards. */
extern void tde_plaintext_create_prepare(CreateStmt *stmt);

#endif							/* TDE_DDL_PLAINTEXT_ALTER_H */
