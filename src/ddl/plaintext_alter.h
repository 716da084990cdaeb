/*
 * plaintext_alter.h - ALTER TABLE that would store an encrypted column in clear keeps it encrypted, warns, or is refused.
 */
#ifndef TDE_DDL_PLAINTEXT_ALTER_H
#define TDE_DDL_PLAINTEXT_ALTER_H

#include "nodes/parsenodes.h"

/* tde_column.plaintext_alter */
typedef enum TdePlaintextAlter
{
	TDE_ALTER_KEEP,
	TDE_ALTER_WARN,
	TDE_ALTER_ERROR,
	TDE_ALTER_ALLOW				/* for tde_decrypt_column() */
} TdePlaintextAlter;

extern int	tde_plaintext_alter;
extern bool tde_plaintext_allowed;

/* What holds now. */
#define TDE_PLAINTEXT_ALTER (tde_plaintext_allowed ? TDE_ALTER_ALLOW : tde_plaintext_alter)

/*
 * *type and *typmod: of a plain type; then of the encrypted type of it (or array of it), with the specification and key of an encrypted
 * one.  False: no encrypted type can stand for it.
 */
extern bool tde_encrypted_like(Oid like, int32 like_typmod, Oid *type, int32 *typmod);

/* What is declared for a column, if that is a plain type. */
extern bool tde_declared_type(ColumnDef *def, Oid *type, int32 *typmod);

/* Before ALTER TABLE runs; changes the statement, and has then locked the table as it does.  source: its text. */
extern void tde_plaintext_alter_prepare(AlterTableStmt *stmt, const char *source);

/* Before CREATE TABLE runs: columns that reference encrypted ones are declared so, since some cannot be altered afterwards. */
extern void tde_plaintext_create_prepare(CreateStmt *stmt);

#endif							/* TDE_DDL_PLAINTEXT_ALTER_H */
