/*
 * explain_error.h - errors of PostgreSQL's about declarations get a hint that knows of encrypted columns.
 */
#ifndef TDE_DDL_EXPLAIN_ERROR_H
#define TDE_DDL_EXPLAIN_ERROR_H

#include "nodes/nodes.h"

/* The error context callback for such a statement, which is its argument; NULL: there is nothing to explain. */
typedef void (*TdeExplain) (void *statement);
extern TdeExplain tde_ddl_explains(Node *statement);

/*
 * For the hook of the log, whose entry is what the client gets: an internal error of JOIN USING, or NATURAL JOIN, says what is wrong, and one about
 * a type that SQL calls otherwise says which is meant; one that our functions raise has no context of theirs.
 */
extern void tde_explain_error(ErrorData *edata);

/* Before DROP EXTENSION ... CASCADE of this extension: a warning that names the columns that go with it. */
extern void tde_explain_drop_extension(Node *statement);

#endif							/* TDE_DDL_EXPLAIN_ERROR_H */
