/*
 * table_name.h - a table's name as statements have it.
 */
#ifndef TDE_SERVER_TABLE_NAME_H
#define TDE_SERVER_TABLE_NAME_H

/*
 * Returns the name with its schema, quoted where it must be, for hints and commands; palloc'd.  NULL if there is no such table, which somebody may
 * have dropped.
 */
extern PGDLLEXPORT char *tde_table_name(Oid table);

#endif							/* TDE_SERVER_TABLE_NAME_H */
