/*
 * widened_calls.h - calls that an encrypted argument has find another function than its base type would.
 */
#ifndef TDE_DDL_WIDENED_CALLS_H
#define TDE_DDL_WIDENED_CALLS_H

#include "nodes/parsenodes.h"
#include "parser/parse_node.h"
#include "tcop/deparse_utility.h"

/* ereport if this node, or one in the tree, is such a call.  pstate: NULL, or what has parsed it. */
extern void tde_widened_call_check(Node *node, ParseState *pstate);
extern void tde_widened_calls_check(Node *tree, ParseState *pstate);

/* Before COPY: the same for its condition, which is not analyzed as a statement. */
extern void tde_widened_calls_copy(CopyStmt *stmt, const char *source);

/* When an object has been made or altered: ereport if there is one in what has been stored of it. */
extern void tde_widened_calls_stored(Oid class, Oid object);

/* After ALTER TABLE: the same for what computes columns of another type. */
extern void tde_widened_calls_altered(const CollectedCommand *command);

#endif							/* TDE_DDL_WIDENED_CALLS_H */
