/*
 * plaintext_guard.h - declarations that would store in clear what they compute from encrypted columns.
 */
#ifndef TDE_DDL_PLAINTEXT_GUARD_H
#define TDE_DDL_PLAINTEXT_GUARD_H

#include "nodes/parsenodes.h"
#include "tcop/deparse_utility.h"
#include "utils/rel.h"
#include "utils/relcache.h"

/*
 * Before CREATE INDEX runs: analyzes the statement as PostgreSQL does next, with the same lock and errors, and puts expressions that
 * would decrypt into a form that stays encrypted, where they have one.  source: the statement's text, for the errors.
 */
extern void tde_guard_expression_index_prepare(IndexStmt *stmt, const char *source);

/* After ALTER TABLE: a warning for each such index whose columns have got another specification or key, which it has not. */
extern void tde_guard_expression_index_check(Relation rel);

/* Generated columns and statistics of a table: ereport.  Its partition key, the expressions of an index: a warning. */
extern void tde_guard_relation(Relation rel);

extern void tde_guard_statistics(Oid statistics);

/* The first encrypted column that is named in an expression of a new index, or in its predicate; NULL: none. */
extern const char *tde_guard_index(IndexStmt *stmt);

/* CREATE TABLE AS, SELECT INTO, CREATE MATERIALIZED VIEW, also under EXPLAIN ANALYZE: a warning that names the columns.  Else: nothing. */
extern void tde_guard_query(Node *stmt);

/* After ALTER TABLE: a warning for each column that USING fills with decrypted values; an ERROR where tde_column.plaintext_alter wants it. */
extern void tde_guard_using(Relation rel, const CollectedCommand *command);

#endif							/* TDE_DDL_PLAINTEXT_GUARD_H */
