/*
 * extension.h - the extension in this database: its schema, its tables, and who may execute its functions.
 */
#ifndef TDE_SERVER_EXTENSION_H
#define TDE_SERVER_EXTENSION_H

/* Returns the schema of types and of what users call, whatever search_path says; InvalidOid if the extension is not in this database. */
extern Oid	tde_extension_schema(void);

/* Returns true if the user may execute this function of the extension's schema, with these types of arguments.  If there is none, he may not. */
extern PGDLLEXPORT bool tde_extension_may_execute(const char *name, const Oid *types, int count, Oid user);

/* Returns the OID of a table of the extension in the schema tde; InvalidOid if there is none.  It takes no lock, and looks into catalogs. */
extern Oid	tde_extension_table(const char *name);

#endif							/* TDE_SERVER_EXTENSION_H */
