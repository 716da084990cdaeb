/*
 * plaintext_alter.h - ALTER TABLE that would store an encrypted column in clear keeps it encrypted, warns, or is refused.
 */
#ifndef TDE_DDL_PLAINTEXT_ALTER_H
#define TDE_DDL_PLAINTEXT_ALTER_H

#include "ddl/declared_type.h"

/*
 * Looks at a column that a command of ALTER TABLE declares, before it runs: a plain type for an encrypted column, or for a new one that references an
 * encrypted key.  By TDE_PLAINTEXT_ALTER the type becomes the encrypted one, with a NOTICE, or the user is warned.  Other new columns go to
 * tde_added_column_prepare().  cmd: one of which tde_ddl_declared_column() says that it declares.
 *
 * Throws ERRCODE_INVALID_TABLE_DEFINITION where the setting says so, or where no encrypted type can stand for the plain one.
 */
extern void tde_plaintext_alter_column(const TdeAlterTable *alter, AlterTableCmd *cmd);

/*
 * Has the columns of a new foreign key become encrypted, if those that they reference are and the table is still being made: in this transaction, and
 * without rows.  They are declared once more by commands that are appended to the statement.  Does nothing unless TDE_PLAINTEXT_ALTER is
 * TDE_ALTER_KEEP.
 */
extern void tde_plaintext_alter_foreign_key(TdeAlterTable *alter, Constraint *key);

/*
 * Has columns of CREATE TABLE that reference encrypted ones declared encrypted, before the command runs.  What ALTER TABLE does later comes too late
 * for some: a partition key's columns cannot be altered.  Does nothing unless TDE_PLAINTEXT_ALTER is TDE_ALTER_KEEP.
 */
extern void tde_plaintext_create_prepare(CreateStmt *stmt);

#endif							/* TDE_DDL_PLAINTEXT_ALTER_H */
