/*
 * declared_type.h - the type that a statement declares for a column, and the encrypted one that stands for a plain one.
 */
#ifndef TDE_DDL_DECLARED_TYPE_H
#define TDE_DDL_DECLARED_TYPE_H

#include "nodes/parsenodes.h"
#include "utils/relcache.h"

#include "type/type.h"

/* Returns the encrypted type that a type is, or has as its element; NULL if the type is neither.  Domains are not looked through. */
extern PGDLLEXPORT TdeType *tde_ddl_encrypted(Oid type);

/*
 * ALTER TABLE before it runs.  ddl/alter_table.c makes it, on its stack, and gives it to those who look at one of the commands.  These may change the
 * command, and append others to stmt->cmds, which are then looked at as if the user had written them.
 */
typedef struct TdeAlterTable
{
	AlterTableStmt *stmt;		/* the caller's own copy, which is changed in place */
	const char *source;			/* the statement's text, for the errors */
	Relation	rel;			/* open, and locked as the statement locks it; may be a composite type */
	List	   *foreign_keys;	/* Constraints that it adds, without those that stand with a column */
	List	   *added;			/* the ColumnDefs of the columns that it adds; grows as they are declared */
	int			numbered;		/* how many ADD GENERATED AS IDENTITY have become defaults */
} TdeAlterTable;

/*
 * Returns the column that a command declares: a new one, or one whose type changes; NULL if it declares none.  A new column has its name in
 * def->colname, an altered one in cmd->name.
 */
extern ColumnDef *tde_ddl_declared_column(const AlterTableCmd *cmd);

/* Returns the column of this name that the statement declares; NULL if it declares none.  Of several, the first. */
extern ColumnDef *tde_ddl_declared_by_name(const TdeAlterTable *alter, const char *name);

/*
 * Returns true if IF NOT EXISTS leaves a relation alone that is to be created under this name: where it would be created there is one.  Throws
 * PostgreSQL's errors if it can be created nowhere.
 */
extern bool tde_declared_exists(const RangeVar *relation);

/*
 * Returns true, and the type with its modifier, if a column is declared with a plain type.  False for types that hold encrypted values, for %TYPE and
 * for names of no type, of which PostgreSQL says itself what is wrong.  Throws the errors of the type's modifier function.
 */
extern bool tde_declared_type(ColumnDef *def, Oid *type, int32 *typmod);

/*
 * Finds the encrypted type that stands for a plain one, to be encrypted like a column that there is.  *type and *typmod: of the plain type, or an
 * array of it; afterwards of the encrypted one.  like, like_typmod: of the column, which may be of a domain; -1: the default modifiers are taken.
 *
 * Returns false, with nothing changed, if like is not encrypted or no encrypted type can stand for the plain one.  Throws as tde_ddl_check_spec().
 */
extern bool tde_declared_like(Oid like, int32 like_typmod, Oid *type, int32 *typmod);

/*
 * Throws ERRCODE_FEATURE_NOT_SUPPORTED if values of this base type must not go without a MAC, and what tde_required_check() throws if
 * tde_column.require excludes the specification.
 */
extern void tde_ddl_check_spec(Oid base, TdeSpec spec);

/*
 * Returns the modifiers of a column of the encrypted version of a base type that is declared without any: tde_column.default_spec, without what the
 * base type cannot have (no order, padding).
 */
extern TdeModifiers tde_ddl_default_modifiers(Oid base);

/* Returns the typmod of these.  Throws as tde_ddl_check_spec(), and where modifiers need a row of tde.specifications that cannot be written. */
extern int32 tde_ddl_default_typmod(TdeType *type);

/* Throws ERRCODE_FEATURE_NOT_SUPPORTED if the modifiers say "unordered" of values that have nothing but their order to stand in an index by. */
extern void tde_ddl_check_order(Oid base, const TdeModifiers *modifiers);

/*
 * Throws if the modifiers pad values that all have one length (ERRCODE_FEATURE_NOT_SUPPORTED), or pad to a longest one that is not declared
 * (ERRCODE_INVALID_PARAMETER_VALUE).  base_typmod must be set.
 */
extern void tde_ddl_check_pad(Oid base, const TdeModifiers *modifiers);

/*
 * Returns the name that tde_create_type() gives to the encrypted version of a type, quoted if need be; palloc'd.  There need not be a type of that
 * name: while a dump is restored, not all of it is there yet.
 */
extern const char *tde_ddl_encrypted_name(Oid base);

/* ---- a plain type for an encrypted column ---- */

/* What becomes of ALTER TABLE that would store the values of an encrypted column in clear: the values of the GUC tde_column.plaintext_alter. */
typedef enum TdePlaintextAlter
{
	TDE_ALTER_KEEP,				/* the column gets the encrypted type of the plain one that was asked for */
	TDE_ALTER_WARN,				/* it is decrypted, with a WARNING */
	TDE_ALTER_ERROR,			/* the command is refused */
	TDE_ALTER_ALLOW				/* for tde_decrypt_column(): decrypted without a word; no value of the GUC */
} TdePlaintextAlter;

/* The GUC, for superusers.  To be read by TDE_PLAINTEXT_ALTER alone. */
extern int	tde_plaintext_alter;

/* GUC tde_column.plaintext_allowed, which tde_decrypt_column() sets for as long as it runs. */
extern bool tde_plaintext_allowed;

/* The TdePlaintextAlter that holds now. */
#define TDE_PLAINTEXT_ALTER (tde_plaintext_allowed ? TDE_ALTER_ALLOW : tde_plaintext_alter)

#endif							/* TDE_DDL_DECLARED_TYPE_H */
