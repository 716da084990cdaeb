/*
 * alter_table.h - ALTER TABLE before it runs.
 */
#ifndef TDE_DDL_ALTER_TABLE_H
#define TDE_DDL_ALTER_TABLE_H

#include "nodes/parsenodes.h"

/*
 * Before a utility command runs, which is of this text.  If it is ALTER TABLE: changes it, and has then locked the table as it does.  What it returns
 * is for tde_foreign_keys_end(), when the command has run.
 */
extern List *tde_alter_table_begin(Node *stmt, const char *source);

#endif							/* TDE_DDL_ALTER_TABLE_H */
