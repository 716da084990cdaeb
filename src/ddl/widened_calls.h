/*
 * widened_calls.h - calls that an encrypted argument has find another function than its base type would.
 */
#ifndef TDE_DDL_WIDENED_CALLS_H
#define TDE_DDL_WIDENED_CALLS_H

#include "nodes/parsenodes.h"
#include "parser/parse_node.h"
#include "tcop/deparse_utility.h"

/*
 * Throws ERRCODE_AMBIGUOUS_FUNCTION if this node is such a call, whatever its arguments are.  pstate: what has parsed it, whose text tells more and
 * places the error; NULL for what comes from a catalog.
 */
extern void tde_widened_call_check(Node *node, ParseState *pstate);

/* Does the same for all of a tree, of an expression or a query. */
extern void tde_widened_calls_check(Node *tree, ParseState *pstate);

/*
 * Does the same for the condition of COPY FROM ... WHERE, which PostgreSQL does not analyze as a statement.  Locks the table as COPY does next.  To
 * be called before the command runs.
 */
extern void tde_widened_calls_copy(CopyStmt *stmt, const char *source);

/*
 * Does the same for what a command has stored of an object that it has made or altered: defaults, constraints, indexes, triggers, policies, rules and
 * the like.  The event trigger calls it; an error takes all of the command back.
 */
extern void tde_widened_calls_stored(Oid class, Oid object);

/* Does the same for USING of ALTER TABLE, which is stored nowhere. */
extern void tde_widened_calls_altered(const CollectedCommand *command);

#endif							/* TDE_DDL_WIDENED_CALLS_H */
