/*
 * alter_table.h - ALTER TABLE before it runs.
 */
#ifndef TDE_DDL_ALTER_TABLE_H
#define TDE_DDL_ALTER_TABLE_H

#include "nodes/parsenodes.h"

/*
 * Prepares ALTER TABLE.  process_utility() (functions/hooks.c) calls it with each utility command, before the command runs; of all others it changes
 * nothing.  stmt: must be the caller's own copy, since it is changed in place.  source: the text of the statement, to which locations in it refer.
 *
 * The table is locked as ALTER TABLE locks it, until the transaction ends.  Throws what PostgreSQL would throw next (no such table, not its owner),
 * and what the files throw that look at each command (see ddl/alter_table.c).
 *
 * Returns the catalog rows that the command needs while it runs, in the current memory context; mostly NIL.  The caller hands them to
 * tde_foreign_keys_end() when the command has run.  After an error there is nothing to do: the rows are rolled back.
 */
extern List *tde_alter_table_begin(Node *stmt, const char *source);

#endif							/* TDE_DDL_ALTER_TABLE_H */
