/*
 * result_receiver.h - the encrypted columns of a client's SELECT are decrypted when its rows are sent.
 */
#ifndef TDE_CLIENT_RESULT_RECEIVER_H
#define TDE_CLIENT_RESULT_RECEIVER_H

#include "executor/execdesc.h"
#include "lib/ilist.h"

#include "client/held_cursors.h"

typedef struct DecryptingReceiver DecryptingReceiver;

/*
 * The SELECT of this text that is planned next was analyzed just now, and its columns are to be decrypted although it does
 * not say so.  NULL: there is none.  core: there is nothing to decrypt in it.
 */
extern void tde_receiver_await(Query *query, const char *source, bool core);

/* The one that is awaited; source: NULL if there is none. */
typedef struct TdeAwaited
{
	const char *source;
	int			location;
	bool		core;
} TdeAwaited;

extern TdeAwaited tde_receiver_awaited;

/* Is nothing to be decrypted in a query that is planned, whose text is the client's?  Then there is no need for tde_receiver_plan(). */
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

/* Before a query is planned, which may change it: what belongs among the plan's invalItems. */
extern List *tde_receiver_plan(Query *query, const char *source);

/*
 * Before the executor is started.  EXPLAIN sends no rows, so that nothing would be decrypted; there, the plan's top node does it, and
 * is seen doing it, as with RETURNING.
 */
extern void tde_receiver_starts(QueryDesc *query);

/* When it has been started. */
extern void tde_receiver_started(QueryDesc *query);

/* Those of all queries that have started, the last one first. */
extern dlist_head tde_receivers;

static inline bool
tde_receiver_any(void)
{
	return unlikely(!dlist_is_empty(&tde_receivers));
}

/* Around a run of the executor: the rows come in clear.  NULL, and no end: nothing is to be decrypted.  None after an error. */
extern DecryptingReceiver *tde_receiver_begin(QueryDesc *query);
extern void tde_receiver_end(DecryptingReceiver *receiver, QueryDesc *query);

/*
 * A receiver that gives rows of this descriptor, of which these columns are encrypted, to the client's in clear.  origins: see
 * tde_held_cursor_open(); NULL: not known.
 */
extern DestReceiver *tde_receiver_for(TupleDesc encrypted, Bitmapset *columns, const TdeOrigin *origins, DestReceiver *client);

#endif							/* TDE_CLIENT_RESULT_RECEIVER_H */
