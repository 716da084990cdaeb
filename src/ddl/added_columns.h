/*
 * added_columns.h - new columns of tables that have encrypted ones: encrypted, too, or somebody is told.
 */
#ifndef TDE_DDL_ADDED_COLUMNS_H
#define TDE_DDL_ADDED_COLUMNS_H

#include "nodes/parsenodes.h"

/* tde_column.encrypt_new_columns */
extern bool tde_encrypt_new_columns;

/* Before ALTER TABLE runs, of each column that it adds to a table. */
extern void tde_added_column_prepare(Oid table, const AlterTableCmd *cmd);

#endif							/* TDE_DDL_ADDED_COLUMNS_H */
