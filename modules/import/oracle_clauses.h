/*
 * oracle_clauses.h - what stands around the columns of Oracle's DDL: constraints and defaults, which are kept, and storage, which is passed over.
 */
#ifndef TDE_IMPORT_ORACLE_CLAUSES_H
#define TDE_IMPORT_ORACLE_CLAUSES_H

#include "lib/stringinfo.h"

#include "import/oracle_lexer.h"

/* Returns a table's name as SQL has it, with its schema if it has one, such as hr.employee; palloc'd. */
extern char *tde_oracle_clauses_table_name(TdeOracleLexer *lexer);

/* Passes over how and where Oracle stores a table, or the index of a constraint; ENCRYPT there is an error. */
extern void tde_oracle_clauses_skip_storage(TdeOracleLexer *lexer);

/* Passes over a statement that says nothing of encryption; a NOTICE tells of it. */
extern void tde_oracle_clauses_skip_statement(TdeOracleLexer *lexer, const char *what);

/* Copies it up to the comma, parenthesis, or word of a column's declaration behind it; names: of columns may be in it, as in a CHECK. */
extern void tde_oracle_clauses_expression(TdeOracleLexer *lexer, bool names, StringInfo out);

/* Copies a constraint, which of a table names its columns.  Returns false if none is next. */
extern bool tde_oracle_clauses_constraint(TdeOracleLexer *lexer, bool of_table, StringInfo out);

#endif							/* TDE_IMPORT_ORACLE_CLAUSES_H */
