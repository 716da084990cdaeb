/*
 * kept_encrypted.h - what is declared over encrypted columns stays encrypted.
 */
#ifndef TDE_DDL_KEPT_ENCRYPTED_H
#define TDE_DDL_KEPT_ENCRYPTED_H

#include "parser/parse_node.h"

#include "ddl/declared_type.h"

/*
 * Has the stored generated columns of CREATE TABLE computed without decryption: changes expressions in the statement, and makes plain types encrypted
 * where tde_column.plaintext_alter is "keep".  To be called before the command runs, when all types have their modifiers.  source: the statement's
 * text, for the errors.
 *
 * Throws ERRCODE_INVALID_OBJECT_DEFINITION if an expression reads encrypted columns, has no such form and is not IMMUTABLE.
 */
extern void tde_kept_generated_create(CreateStmt *stmt, const char *source);

/* Does the same for the columns that ALTER TABLE adds, which are in alter->added by then. */
extern void tde_kept_generated_alter(const TdeAlterTable *alter);

/*
 * Has the key of a partitioned table that CREATE TABLE makes computed without decryption: changes expressions and operator classes of the key in the
 * statement.  To be called before the command runs, when all types have their modifiers.  source: the statement's text, for the errors.  What has no
 * such form is left to PostgreSQL, which refuses it.
 */
extern void tde_kept_partition_key(CreateStmt *stmt, const char *source);

/*
 * Has the columns of CREATE OR REPLACE VIEW keep the types of the view that there is, by casts in the analyzed query.  post_parse_analyze() calls it
 * while a utility command runs, so that tde_statement.utility is not NULL; it does nothing unless that is such a command.  Throws what PostgreSQL
 * would throw next about the view's name and the right to it.
 */
extern void tde_kept_view_columns(ParseState *pstate, Query *query);

/* Does the same for CREATE RULE "_RETURN" ON SELECT, in the raw parse tree.  To be called before the command runs. */
extern void tde_kept_view_rule(RuleStmt *rule);

#endif							/* TDE_DDL_KEPT_ENCRYPTED_H */
