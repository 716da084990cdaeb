/*
 * plaintext_alter.h - ALTER TABLE that would store an encrypted column in clear keeps it encrypted, warns, or is refused.
 */
#ifndef TDE_DDL_PLAINTEXT_ALTER_H
#define TDE_DDL_PLAINTEXT_ALTER_H

#include "nodes/parsenodes.h"

/* Before ALTER TABLE runs; changes the statement, and has then locked the table as it does.  source: its text. */
extern void tde_plaintext_alter_prepare(AlterTableStmt *stmt, const char *source);

/* Before CREATE TABLE runs: columns that reference encrypted ones are declared so, since some cannot be altered afterwards. */
extern void tde_plaintext_create_prepare(CreateStmt *stmt);

#endif							/* TDE_DDL_PLAINTEXT_ALTER_H */
