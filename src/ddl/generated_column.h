/*
 * generated_column.h - a stored generated column that is computed of encrypted ones is encrypted, and computed without decryption that
 * PostgreSQL would see.
 */
#ifndef TDE_DDL_GENERATED_COLUMN_H
#define TDE_DDL_GENERATED_COLUMN_H

#include "nodes/parsenodes.h"

/*
 * Before CREATE TABLE and ALTER TABLE run, when the types of the columns have their modifiers: changes type and expression of such
 * columns.  source: the statement's text, for the errors.
 */
extern void tde_generated_columns_create(CreateStmt *stmt, const char *source);
extern void tde_generated_columns_alter(AlterTableStmt *stmt, const char *source);

#endif							/* TDE_DDL_GENERATED_COLUMN_H */
