/*
 * statement.h - the statement that is running, and its text without secrets.
 */
#ifndef TDE_SERVER_STATEMENT_H
#define TDE_SERVER_STATEMENT_H

#include "commands/prepare.h"
#include "executor/execdesc.h"
#include "nodes/plannodes.h"

/* What functions/hooks.c tells of it; nothing without the hooks, in a first statement that has only just loaded the library. */
typedef struct TdeStatement
{
	Node	   *utility;		/* the innermost utility command; NULL: none */
	const char *source;			/* its text */
	bool		client;			/* sent by the client, and not run by a function */
	bool		declares;		/* it, or one that it is run by, writes types into the catalogs */
	bool		changes_data;	/* the innermost statement of all; only known while type/access.h has somebody to keep values from */
	bool		ends;			/* the executor is being shut down for it; known as long as that is */
	struct TdeType *hidden;		/* a value of this type was asked of that one, and not given; or NULL */
} TdeStatement;

extern TdeStatement tde_statement;

/*
 * The prepared statement that a command executes, by itself or in EXPLAIN or CREATE TABLE AS; NULL if there is none.  *stores becomes true
 * if its rows become a table.
 */
extern PreparedStatement *tde_statement_executed(Node *stmt, bool *stores);

/*
 * For the hooks of the same names: pg_stat_activity, and those who see the statement next, get no secret of it.  Two return the text for
 * those.
 */
extern const char *tde_statement_analyzed(const char *text);
extern void tde_statement_planned(const char *text);
extern void tde_statement_starts(QueryDesc *query);
extern const char *tde_statement_utility(PlannedStmt *pstmt, const char *text);

#endif							/* TDE_SERVER_STATEMENT_H */
