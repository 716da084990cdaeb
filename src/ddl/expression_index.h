/*
 * expression_index.h - CREATE INDEX on an expression of encrypted columns, or with such a condition, makes an index that does not decrypt.
 */
#ifndef TDE_DDL_EXPRESSION_INDEX_H
#define TDE_DDL_EXPRESSION_INDEX_H

#include "nodes/parsenodes.h"
#include "utils/relcache.h"

/*
 * Before CREATE INDEX runs: analyzes the statement as PostgreSQL does next, with the same lock and errors, and puts expressions that
 * would decrypt into a form that stays encrypted, where they have one.  source: the statement's text, for the errors.
 */
extern void tde_expression_index_prepare(IndexStmt *stmt, const char *source);

/* After ALTER TABLE: a warning for each such index whose columns have got another specification or key, which it has not. */
extern void tde_expression_index_check(Relation rel);

#endif							/* TDE_DDL_EXPRESSION_INDEX_H */
