/*
 * declare.h - columns that are declared without modifiers get the default specification; keys are made where columns are
 * declared.
 */
#ifndef TDE_DDL_DECLARE_H
#define TDE_DDL_DECLARE_H

#include "type/type.h"

/* GUCs */
extern bool tde_key_per_table;

/* Is the statement one that tde_ddl_prepare() or tde_alter_table_begin() changes?  Does it write types into the catalogs? */
extern bool tde_ddl_rewrites(Node *stmt);
extern bool tde_ddl_stores_types(Node *stmt);

/* Before a utility command runs that is not ALTER TABLE (ddl/alter_table.h), and which is of this text.  *explain may be on the error context stack afterwards; whoever has it takes it off. */
extern void tde_ddl_prepare(Node *stmt, const char *source, ErrorContextCallback *explain);

/* Before ALTER TABLE runs, whose user has been found to own the table: what the type of a column means, which it declares; its key is made. */
extern void tde_ddl_declare_altered(ColumnDef *column);

/* Make the keys that a declaration needs, now, before anything can be encrypted under them. */
extern bool tde_ddl_ensure_keys(TdeType *type, int32 typmod);

/* Is a statement under way that writes types into the catalogs, so that a key that it names is made if there is none? */
extern bool tde_ddl_declares(void);

/* ereport: PostgreSQL keeps a domain's default in pg_type as text, too, which would be the value in clear. */
extern void tde_ddl_refuse_default(void);

/* Make the keys that the columns and domains of this database declare; false if some could not be made. */
extern PGDLLEXPORT bool tde_ddl_ensure_declared_keys(void);

#endif							/* TDE_DDL_DECLARE_H */
