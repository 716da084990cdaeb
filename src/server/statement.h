/*
 * statement.h - the statement that is running, and its text without secrets.
 */
#ifndef TDE_SERVER_STATEMENT_H
#define TDE_SERVER_STATEMENT_H

#include "commands/prepare.h"
#include "executor/execdesc.h"
#include "fmgr.h"
#include "nodes/plannodes.h"

#include "server/hidden.h"

/* Whether a statement stores values.  Only what the hooks have seen begin is known. */
typedef enum TdeStores
{
	TDE_STORES_UNKNOWN,
	TDE_STORES_NOTHING,			/* it reads, and so do those that it is run by */
	TDE_STORES_VALUES			/* it does, or one that it is run by */
} TdeStores;

/* What the hooks tell of the running statement (functions/hooks.c).  They tell nothing in a first statement that has only just loaded the library. */
typedef struct TdeStatement
{
	Node	   *utility;		/* the innermost utility command; NULL: none */
	const char *source;			/* its text */
	bool		client;			/* sent by the client, and not run by a function */
	bool		declares;		/* it, or one that it is run by, writes types into the catalogs */
	Oid			copied;			/* the table whose rows COPY gives out as they are; InvalidOid: none */
	bool		changes_data;	/* the innermost statement of all; only known while type/access.h has somebody to keep values from */
	bool		ends;			/* the executor is being shut down for it; known as long as that is */
	TdeStores	stores;			/* of those that are run by it, too, unless it is UNKNOWN */
	struct TdeType *hidden;		/* a value of this type was asked of that one, and not given; or NULL */
} TdeStatement;

extern PGDLLEXPORT TdeStatement tde_statement;

/* A statement of this transaction has stored values, and its right to do so was checked.  For keys/limits.c. */
extern PGDLLEXPORT bool tde_statement_has_stored;

/*
 * A statement, or planning one, begins.  The caller keeps what this returns, and gives it to tde_statement_end().  After an error the utility command
 * around it restores that, or else the end of the transaction.
 */
static inline TdeStores
tde_statement_begin(bool stores)
{
	TdeStores	outer = tde_statement.stores;

	if (stores)
		tde_statement.stores = TDE_STORES_VALUES;
	else if (outer == TDE_STORES_UNKNOWN)
		tde_statement.stores = TDE_STORES_NOTHING;
	return outer;
}

static inline void
tde_statement_end(TdeStores outer)
{
	tde_statement.stores = outer;
}

/*
 * An error has passed by whoever would restore what was begun.  A block goes on after its own rollback, so a utility command that still runs keeps
 * its own.
 */
static inline void
tde_statement_transaction_ends(bool aborts)
{
	tde_statement_has_stored = false;
	if (aborts && tde_statement.utility == NULL)
		tde_statement.stores = TDE_STORES_UNKNOWN;
}

/*
 * Returns true if a constant is being read of a statement that is only just parsed, but is sure to change a table, and whose user may do that.  What
 * stands in its WITH is not known to be such a one's.
 */
extern bool tde_statement_parses_stored(void);

/* Returns true if a utility command stores values itself, and not by statements that it runs. */
extern bool tde_statement_utility_stores(Node *stmt);

/*
 * Returns the prepared statement that a command executes, by itself or in EXPLAIN or CREATE TABLE AS; NULL if there is none.  *stores becomes true if
 * its rows become a table.
 */
extern PreparedStatement *tde_statement_executed(Node *stmt, bool *stores);

/*
 * For the hooks of the same names: pg_stat_activity, and those who see the statement next, get no secret of it.  Two return the text for
 * those.
 */
extern const char *tde_statement_analyzed(const char *text);
extern void tde_statement_planned(const char *text);	/* nothing to do if tde_hidden_may_be_seen() */
extern void tde_statement_starts(QueryDesc *query); /* likewise */
extern const char *tde_statement_utility(PlannedStmt *pstmt, const char *text);

/*
 * Gives the statement's snapshot back if it does nothing but call this function.  Meanwhile a standby may replay whatever removes rows, which would
 * cancel the statement otherwise.  The other one takes a new snapshot, when the slow work is done.
 *
 * Returns what tde_statement_with_snapshot() wants; NULL: the snapshot stays, since others may need it.  After an error there is nothing to do.
 */
extern QueryDesc *tde_statement_without_snapshot(FunctionCallInfo fcinfo);
extern void tde_statement_with_snapshot(QueryDesc *query);

#endif							/* TDE_SERVER_STATEMENT_H */
