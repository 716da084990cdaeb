/*
 * copied_database.h - settings of this extension follow a database into its copies.
 */
#ifndef TDE_DDL_COPIED_DATABASE_H
#define TDE_DDL_COPIED_DATABASE_H

#include "nodes/nodes.h"

/*
 * Copies the settings tde_column.* of the template to a new database, for all roles and for each role.  process_utility() calls it after each utility
 * command; it does nothing unless that is CREATE DATABASE.  The rows of pg_db_role_setting become visible with the database itself, since they are
 * written in the same transaction.
 */
extern void tde_database_copied(Node *utility);

#endif							/* TDE_DDL_COPIED_DATABASE_H */
