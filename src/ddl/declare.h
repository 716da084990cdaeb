/*
 * declare.h - columns that are declared without modifiers get the default specification; keys are made where columns are
 * declared.
 */
#ifndef TDE_DDL_DECLARE_H
#define TDE_DDL_DECLARE_H

#include "type/type.h"

/* GUC tde_column.key_per_table, for superusers.  True: each new table gets a data key, named after it (ddl/declare_trigger.c). */
extern bool tde_key_per_table;

/* Returns true if tde_ddl_prepare() or tde_alter_table_begin() may change this parse tree.  The caller then copies one that others may run again. */
extern bool tde_ddl_rewrites(Node *stmt);

/*
 * Returns true if the statement writes types into the catalogs, with columns or in expressions.  While it runs, keys that it names are made (see
 * tde_ddl_declares()).
 */
extern bool tde_ddl_stores_types(Node *stmt);

/*
 * Prepares a utility command other than ALTER TABLE (which ddl/alter_table.h does).  process_utility() calls it before the command runs.  stmt: must
 * be the caller's own copy if tde_ddl_rewrites().  source: the text of the statement, to which locations in it refer.
 *
 * Throws where the command would store values in clear, and what PostgreSQL itself would throw next.  Warns where the result may be meant.
 *
 * explain: storage of the caller's.  It may be on the error context stack afterwards; the caller resets the stack when the command has run.
 */
extern void tde_ddl_prepare(Node *stmt, const char *source, ErrorContextCallback *explain);

/*
 * Gives a column that ALTER TABLE adds or changes its default modifiers, and makes the key that they name, since the command itself may encrypt
 * values.  The user must have been found to own the table before: a data key that is made stays, whatever becomes of the transaction.
 */
extern void tde_ddl_declare_altered(ColumnDef *column);

/*
 * Makes the keys that a declaration needs, now, before anything can be encrypted under them; typmod -1: only those that every database needs.
 * Returns false if they are not there and cannot be made: the wallet is closed, or nothing may be written (standby, read-only transaction, parallel
 * worker).
 */
extern bool tde_ddl_ensure_keys(TdeType *type, int32 typmod);

/*
 * Returns true if a statement is under way that writes types into the catalogs.  The modifier function asks it: only then is a key made that is named
 * and not there.  A cast in a query, x::encrypted_text('key=new'), makes none.
 */
extern bool tde_ddl_declares(void);

/* Throws ERRCODE_FEATURE_NOT_SUPPORTED: PostgreSQL keeps a domain's default in pg_type as text, too, which would be the value in clear. */
extern void tde_ddl_refuse_default(void);

/*
 * Makes the keys that the columns of tables and composite types of this database declare, by a scan of pg_attribute.  Returns false if some could not
 * be made.  Called when the wallet has been opened (functions/wallet_functions.c, modules/ceremony).
 */
extern PGDLLEXPORT bool tde_ddl_ensure_declared_keys(void);

#endif							/* TDE_DDL_DECLARE_H */
