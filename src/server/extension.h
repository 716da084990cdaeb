/*
 * extension.h - the extension in this database: its schema, its tables, and who may execute its functions.
 */
#ifndef TDE_SERVER_EXTENSION_H
#define TDE_SERVER_EXTENSION_H

/* The schema of types and of what users call, whatever search_path says; InvalidOid if the extension is not in this database. */
extern Oid	tde_extension_schema(void);

/* May the user execute this function of the extension's schema, with these types of arguments?  Not if there is none. */
extern PGDLLEXPORT bool tde_extension_may_execute(const char *name, const Oid *types, int count, Oid user);

/* OID of another table of the extension in the schema tde; InvalidOid if there is none. */
extern Oid	tde_extension_table(const char *name);

#endif							/* TDE_SERVER_EXTENSION_H */
