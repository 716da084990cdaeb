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
 * Analyzes CREATE INDEX before it runs, as PostgreSQL does next, with the same lock and errors, and puts expressions that would decrypt into a form
 * that stays encrypted, where they have one.  The table stays locked until the transaction ends.  stmt: the caller's own copy; it counts as
 * transformed afterwards.  source: the statement's text, for the errors.
 */
extern void tde_guard_expression_index_prepare(IndexStmt *stmt, const char *source);

/* Warns of each such index of a table whose columns have got another specification or key, which the index has not.  Called after ALTER TABLE. */
extern void tde_guard_expression_index_check(Relation rel);

/*
 * Looks at a relation that a command has made or changed.  Generated columns and statistics of a table that hold decrypted values throw
 * ERRCODE_INVALID_OBJECT_DEFINITION.  A partition key, or expressions of an index, that do are a WARNING: whoever declared their functions IMMUTABLE
 * may have meant it.
 */
extern void tde_guard_relation(Relation rel);

/* Throws ERRCODE_INVALID_OBJECT_DEFINITION if an expression of a statistics object, by its OID, would store decrypted values. */
extern void tde_guard_statistics(Oid statistics);

/*
 * Returns the name of the first encrypted column in an expression of a new index or in its predicate, which points into the statement; NULL if there
 * is none.  Looks at the raw tree.  Takes no lock: nothing has checked yet whether the user may.
 */
extern const char *tde_guard_index(IndexStmt *stmt);

/*
 * Warns of the columns that CREATE TABLE AS, SELECT INTO, CREATE or REFRESH MATERIALIZED VIEW, also under EXPLAIN ANALYZE, fill with decrypted
 * values.  Does nothing for other commands.  To be called before the command runs, since the planner changes the query.
 */
extern void tde_guard_query(Node *stmt);

/*
 * Reports each column that ALTER TABLE ... TYPE ... USING fills with decrypted values: by a WARNING, or by an error of
 * ERRCODE_INVALID_TABLE_DEFINITION if tde_column.plaintext_alter is "error".  Called after the command, with what pg_event_trigger_ddl_commands() has
 * of it.
 */
extern void tde_guard_using(Relation rel, const CollectedCommand *command);

#endif							/* TDE_DDL_PLAINTEXT_GUARD_H */
