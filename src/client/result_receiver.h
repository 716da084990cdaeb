/*
 * result_receiver.h - the encrypted columns of a client's SELECT are decrypted when its rows are sent.
 *
 * Called for the hooks (functions/hooks.c, functions/execution.c) in this order: tde_receiver_await() when a query has been analyzed,
 * tde_receiver_plan() before it is planned, tde_receiver_starts() and tde_receiver_started() around ExecutorStart(), tde_receiver_begin() and
 * tde_receiver_end() around each ExecutorRun().  A prepared statement or a cursor is planned without having been awaited.
 */
#ifndef TDE_CLIENT_RESULT_RECEIVER_H
#define TDE_CLIENT_RESULT_RECEIVER_H

#include "executor/execdesc.h"
#include "lib/ilist.h"

#include "client/held_cursors.h"

typedef struct DecryptingReceiver DecryptingReceiver;

/*
 * Announces that the SELECT of this text that is planned next was analyzed just now, and that its columns are to be decrypted although it does not
 * say so.  query NULL: none is awaited any more.  core: there is nothing to decrypt in it.  source is kept as a pointer, and only compared.
 */
extern void tde_receiver_await(Query *query, const char *source, bool core);

/* The query that is awaited.  Set by tde_receiver_await(), and taken by the next query that is planned. */
typedef struct TdeAwaited
{
	const char *source;			/* its text, by address; NULL: there is none */
	int			location;		/* where it begins in that: a message may have several */
	bool		core;			/* nothing is to be decrypted in it */
} TdeAwaited;

extern TdeAwaited tde_receiver_awaited;

/*
 * Returns true if nothing is to be decrypted in a query that is planned, whose text is the client's: tde_receiver_plan() need not be called.  It
 * takes the query off that is awaited.
 */
static inline bool
tde_receiver_plans_core(const Query *query, const char *source)
{
	if (query->commandType != CMD_SELECT || query->hasModifyingCTE)
		return true;
	if (!tde_receiver_awaited.core || tde_receiver_awaited.source != source || tde_receiver_awaited.location != query->stmt_location)
		return false;
	tde_receiver_awaited.source = NULL;
	return true;
}

/*
 * Before a query is planned, which this may change: returns what belongs among the plan's invalItems, NIL if nothing is postponed.  source: the text
 * that the planner hook is told, which may be NULL.
 */
extern List *tde_receiver_plan(Query *query, const char *source);

/*
 * Before the executor is started.  EXPLAIN sends no rows, so that nothing would be decrypted; there, the plan's top node does it, and is seen doing
 * it, as with RETURNING.  Replaces query->plannedstmt by a copy then.
 */
extern void tde_receiver_starts(QueryDesc *query);

/* When it has been started: makes the receiver, in the executor's memory, and has query->tupDesc say the base types. */
extern void tde_receiver_started(QueryDesc *query);

/*
 * The receivers of all queries that have started, the last one first.  Each takes itself off when its execution's memory is freed, also by an error.
 */
extern dlist_head tde_receivers;

/* Returns true if there is one at all.  Most runs of the executor need not look for theirs. */
static inline bool
tde_receiver_any(void)
{
	return unlikely(!dlist_is_empty(&tde_receivers));
}

/*
 * Before a run of the executor: puts the query's receiver before query->dest, and has query->tupDesc say what the executor makes.  Returns the
 * receiver; NULL if nothing is to be decrypted in this run.
 */
extern DecryptingReceiver *tde_receiver_begin(QueryDesc *query);

/* After the run: puts both back.  Not to be called if begin returned NULL, nor after an error. */
extern void tde_receiver_end(DecryptingReceiver *receiver, QueryDesc *query);

/*
 * Returns a receiver that gives rows of this descriptor, of which these columns are encrypted, to the client's in clear; in the current memory
 * context.  origins: of all columns, by index, as tde_held_cursor_open() tells; NULL: not known.
 */
extern DestReceiver *tde_receiver_for(TupleDesc encrypted, Bitmapset *columns, const TdeOrigin *origins, DestReceiver *client);

#endif							/* TDE_CLIENT_RESULT_RECEIVER_H */
