/*
 * kept_encrypted.h - what is declared over encrypted columns stays encrypted.
 */
#ifndef TDE_DDL_KEPT_ENCRYPTED_H
#define TDE_DDL_KEPT_ENCRYPTED_H

#include "parser/parse_node.h"

#include "ddl/declared_type.h"

/*
 * Before CREATE TABLE and ALTER TABLE run, when the types of the columns have their modifiers: changes type and expression of such
 * columns.  source: the statement's text, for the errors.
 */
extern void tde_kept_generated_create(CreateStmt *stmt, const char *source);
extern void tde_kept_generated_alter(const TdeAlterTable *alter);

/*
 * Before CREATE TABLE runs, when the types of the columns have their modifiers: changes expressions and operator classes of the key.
 * source: the statement's text, for the errors.
 */
extern void tde_kept_partition_key(CreateStmt *stmt, const char *source);

/* When a query of a utility command has been analyzed: changes that of such a command. */
extern void tde_kept_view_columns(ParseState *pstate, Query *query);

/* Before CREATE RULE: changes the query of a rule for SELECT. */
extern void tde_kept_view_rule(RuleStmt *rule);

#endif							/* TDE_DDL_KEPT_ENCRYPTED_H */
