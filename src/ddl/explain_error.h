/*
 * explain_error.h - errors of PostgreSQL's about declarations get a hint that knows of encrypted columns.
 */
#ifndef TDE_DDL_EXPLAIN_ERROR_H
#define TDE_DDL_EXPLAIN_ERROR_H

#include "nodes/nodes.h"

/* An error context callback whose argument is the statement.  It adds a hint to the error that is under way, if it knows one. */
typedef void (*TdeExplain) (void *statement);

/*
 * Returns the callback for a statement; NULL if there is nothing to explain.  process_utility() puts it on the error context stack while the command
 * is prepared and runs.
 */
extern TdeExplain tde_ddl_explains(Node *statement);

/*
 * Adds hints to errors for which no context of ours is on the stack.  emit_log() (functions/hooks.c) calls it with each log entry; what it changes in
 * edata, the client gets, too.  It covers JOIN USING of types that cannot be matched, names that SQL has for types, settings that cannot be changed
 * now, and functions of ours without the right to call them.  Of errors that our functions raise, the context loses the lines that name them.
 *
 * Reads no catalog and throws nothing, since an error is under way.
 */
extern void tde_explain_error(ErrorData *edata);

/* Warns of the columns that go with DROP EXTENSION tde_column CASCADE.  process_utility() calls it before each utility command runs. */
extern void tde_explain_drop_extension(Node *statement);

#endif							/* TDE_DDL_EXPLAIN_ERROR_H */
