/*
 * declared_type.h - the type that a statement declares for a column, and the encrypted one that stands for a plain one.
 */
#ifndef TDE_DDL_DECLARED_TYPE_H
#define TDE_DDL_DECLARED_TYPE_H

#include "nodes/parsenodes.h"
#include "utils/relcache.h"

#include "type/type.h"

/* The encrypted type itself or the element of an array of it; NULL if the type is neither. */
extern PGDLLEXPORT TdeType *tde_ddl_encrypted(Oid type);

/*
 * ALTER TABLE before it runs, for those who look at one of its commands (ddl/alter_table.c gives it to them).  They may change that, and append others,
 * which are looked at, too.
 */
typedef struct TdeAlterTable
{
	AlterTableStmt *stmt;
	const char *source;			/* the statement's text, for the errors */
	Relation	rel;			/* locked as the statement locks it */
	List	   *foreign_keys;	/* that it adds, but for those that stand with a column */
	List	   *added;			/* the ColumnDefs of the columns that it adds */
	int			numbered;		/* how many identities have become defaults */
} TdeAlterTable;

/*
 * The column that a command declares, or that the statement declares by this name: a new one, or one whose type changes; NULL: none.  The name is
 * cmd->name of the latter, def->colname of a new one.
 */
extern ColumnDef *tde_ddl_declared_column(const AlterTableCmd *cmd);
extern ColumnDef *tde_ddl_declared_by_name(const TdeAlterTable *alter, const char *name);

/* What is declared for a column, if that is a plain type. */
extern bool tde_declared_type(ColumnDef *def, Oid *type, int32 *typmod);

/*
 * *type and *typmod: of a plain type; then of the encrypted type of it (or array of it), with the specification and key of an encrypted
 * one.  False: no encrypted type can stand for it.
 */
extern bool tde_declared_like(Oid like, int32 like_typmod, Oid *type, int32 *typmod);

/* ereport: values of this base type must not go without a MAC, or tde_column.require excludes the specification. */
extern void tde_ddl_check_spec(Oid base, TdeSpec spec);

/* What a column of the encrypted version of a base type gets that is declared without modifiers, and its typmod. */
extern TdeModifiers tde_ddl_default_modifiers(Oid base);
extern int32 tde_ddl_default_typmod(TdeType *type);

/* ereport: values of this base type have nothing but their order to stand in an index by. */
extern void tde_ddl_check_order(Oid base, const TdeModifiers *modifiers);

/* ereport: the modifiers pad values that have no length to be hidden, or to a longest one that is not declared. */
extern void tde_ddl_check_pad(Oid base, const TdeModifiers *modifiers);

/* What tde_create_type() calls the encrypted version of a type: it may be that not all of it is there yet, while a dump is restored. */
extern const char *tde_ddl_encrypted_name(Oid base);

/* ---- a plain type for an encrypted column ---- */

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

#endif							/* TDE_DDL_DECLARED_TYPE_H */
