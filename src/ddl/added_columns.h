/*
 * added_columns.h - new columns of tables that have encrypted ones: encrypted, too, or somebody is told.
 */
#ifndef TDE_DDL_ADDED_COLUMNS_H
#define TDE_DDL_ADDED_COLUMNS_H

#include "nodes/parsenodes.h"

/* GUC tde_column.encrypt_new_columns, which every role may set.  True: a new column of a table that has encrypted ones becomes encrypted. */
extern bool tde_encrypt_new_columns;

/*
 * Looks at a column that ALTER TABLE adds.  tde_plaintext_alter_column() calls it, when the table is locked and before the command runs.  cmd is an
 * AT_AddColumn whose def is a ColumnDef with a type.
 *
 * With tde_encrypt_new_columns the column gets the encrypted type of its type, under the default modifiers or those of the domain that the last
 * encrypted column has; a NOTICE says so.  Without the setting a NOTICE says that the column is in clear, where none before the last encrypted one
 * is.  Does nothing for tables without encrypted columns, for identity and generated columns, for types that have no encrypted version, and in the
 * script of an extension.
 */
extern void tde_added_column_prepare(Oid table, const AlterTableCmd *cmd);

#endif							/* TDE_DDL_ADDED_COLUMNS_H */
