/*
 * execution.c - PostgreSQL's hooks around the execution of a plan; functions/hooks.c has the others.
 *
 * Each hook has two ways.  The short one, for statements that have nothing to do with encrypted values, costs a few comparisons; what makes use of
 * PG_TRY() or of receivers is apart.
 */
#include "postgres.h"

#include "executor/executor.h"

#include "client/check_results.h"
#include "client/held_cursors.h"
#include "client/key_errors.h"
#include "client/languages.h"
#include "client/probes.h"
#include "client/result_receiver.h"
#include "client/routines.h"
#include "distributed/distribution.h"
#include "functions/execution.h"
#include "keys/keyed_hash.h"
#include "server/compat.h"
#include "server/drawn_ahead.h"
#include "server/remains.h"
#include "server/statement.h"
#include "type/access.h"
#include "type/inside.h"
#include "type/opened.h"

/* What the hooks were before, or PostgreSQL's own functions. */
static ExecutorStart_hook_type next_executor_start = standard_ExecutorStart;
static ExecutorRun_hook_type next_executor_run = standard_ExecutorRun;
static ExecutorFinish_hook_type next_executor_finish = standard_ExecutorFinish;
static ExecutorEnd_hook_type next_executor_end = standard_ExecutorEnd;

/* Returns true for INSERT, UPDATE, DELETE and MERGE, also in the WITH clause of a SELECT. */
static bool
changes_data(QueryDesc *query)
{
	return query->operation != CMD_SELECT || query->plannedstmt->hasModifyingCTE;
}

/* Returns true for rows of CREATE TABLE AS and of materialized views.  EXPLAIN ANALYZE fills these, too. */
static bool
fills_table(DestReceiver *dest)
{
	return dest && (dest->mydest == DestIntoRel || dest->mydest == DestTransientRel);
}

/*
 * The order: the statement's text is hidden first, where it must be; EXPLAIN's plan is replaced before it is started.  The descriptor of the rows is
 * there only when the others have started the executor.
 */
static pg_noinline void
start(QueryDesc *query, int flags)
{
	tde_remains_at_start();
	tde_statement_starts(query);
	tde_receiver_starts(query);
	tde_keyed_hash_starts(query->plannedstmt);
	next_executor_start(query, flags);
	if (unlikely(tde_track_decryptions))
		tde_decryptions->query_starts(query);
	tde_receiver_started(query);
	if (unlikely(tde_access_restricted) && !(flags & EXEC_FLAG_EXPLAIN_ONLY))
		tde_probes_count(query);
}

/* Most plans note nothing: neither columns to be decrypted, nor functions that are not PostgreSQL's own. */
static void
executor_start(QueryDesc *query, int flags)
{
	if (likely(query->plannedstmt->invalItems == NIL && tde_hidden_may_be_seen(query->sourceText) && !tde_remains_any && !tde_access_watched))
		next_executor_start(query, flags);
	else
		start(query, flags);
}

/*
 * Values that somebody may not see are kept track of for one statement.  Most of the time there is nobody to keep them from; so what
 * keeps track is apart, since PG_TRY() wants a frame that would cost all others.
 * begin: the function of type/access.h for this part of the statement; call: the next hook.
 */
#define TRACK(begin, call) \
	do { \
		TdeStatement outer = (begin); \
		PG_TRY(); \
		{ \
			call; \
		} \
		PG_CATCH(); \
		{ \
			tde_statement = outer; \
			PG_RE_THROW(); \
		} \
		PG_END_TRY(); \
		tde_access_end(outer); \
	} while (0)

/* Begins, and ends, what is kept of values that somebody may not see. */
static pg_noinline void
run_tracked(TDE_EXECUTOR_RUN_PARAMETERS)
{
	TRACK(tde_access_begin(changes_data(query)), next_executor_run(TDE_EXECUTOR_RUN_ARGUMENTS));
}

static pg_noinline void
finish_tracked(QueryDesc *query)
{
	TRACK(tde_access_begin(changes_data(query)), next_executor_finish(query));
}

/* auto_explain prints the plan here, with values that variables had; and the statement frees its memory (server/remains.h). */
static pg_noinline void
end_watched(QueryDesc *query)
{
	tde_remains_at_end();
	TRACK(tde_access_begin_end(), next_executor_end(query));
}

/*
 * The receivers, from the client's inwards: what language or Citus wants, the one that fits rows for a function or decrypts them, the one that checks
 * keys.  Each takes query->dest as it finds it, so the order is fixed, and they are taken out in the reverse one.  The store of rows that are kept is
 * chosen before the receiver stands in front of it.
 */
static pg_noinline void
run_received(TDE_EXECUTOR_RUN_PARAMETERS)
{
	DecryptingReceiver *receiver;
	DestReceiver *rows = query->dest;
	bool		citus = unlikely(tde_citus != NULL) && tde_citus->results_begin(query);

	if (unlikely(rows != NULL && rows->mydest == DestTuplestore))
		tde_held_rows_run(query);
	receiver = tde_receiver_begin(query);
	if (unlikely(query->dest != NULL && query->dest->mydest == DestTuplestore))
		tde_routine_rows_begin(query);
	if (!citus)
		tde_results_check_begin(query, receiver != NULL);
	if (likely(!tde_access_restricted))
		next_executor_run(TDE_EXECUTOR_RUN_ARGUMENTS);
	else
		run_tracked(TDE_EXECUTOR_RUN_ARGUMENTS);
	tde_results_check_end(query);
	if (receiver)
		tde_receiver_end(receiver, query);
}

/* Returns true if a receiver of ours is not needed, as in most runs: a client gets rows of PostgreSQL's own types, or none. */
static inline bool
is_received_as_it_is(QueryDesc *query)
{
	CommandDest dest = query->dest ? query->dest->mydest : DestNone;

	return (dest == DestNone || dest == DestDebug || dest == DestRemote || dest == DestRemoteExecute || dest == DestRemoteSimple) &&
		!tde_access_restricted && tde_citus == NULL && !tde_receiver_any() && (query->tupDesc == NULL || !tde_may_hold_encrypted(query->tupDesc));
}

/*
 * Salts that were drawn ahead live for a client's statement.  The language's receiver is chosen first, by what stands on the error context stack at this moment.
 */
static void
executor_run(TDE_EXECUTOR_RUN_PARAMETERS)
{
	ErrorContextCallback context;
	DestReceiver *rows = query->dest;
	bool		changes = changes_data(query);
	bool		stores = changes || fills_table(rows);
	TdeStores	outer = tde_statement_begin(stores);

	tde_drawn_ahead_drop(rows);
	query->dest = tde_language_receiver(rows);	/* which looks at the stack */
	if (changes)
	{
		context = (ErrorContextCallback) {error_context_stack, tde_key_errors_explain, NULL};
		error_context_stack = &context;
	}
	if (likely(is_received_as_it_is(query)))
		next_executor_run(TDE_EXECUTOR_RUN_ARGUMENTS);
	else
		run_received(TDE_EXECUTOR_RUN_ARGUMENTS);
	if (changes)
		error_context_stack = context.previous;
	query->dest = rows;
	/* whoever had no right to store has failed by now: keys/limits.c goes by it */
	tde_statement_has_stored |= stores;
	tde_statement_end(outer);
	tde_opened_statement_ends(query);
	tde_drawn_ahead_drop(rows);
}

/* Foreign keys are checked here, and AFTER triggers run.  What only reads has nothing left to do. */
static void
executor_finish(QueryDesc *query)
{
	TdeStores	outer;

	if (likely(!changes_data(query)))
	{
		next_executor_finish(query);
		return;
	}
	outer = tde_statement_begin(true);
	if (likely(!tde_access_restricted))
		next_executor_finish(query);
	else
		finish_tracked(query);
	tde_statement_end(outer);
	tde_drawn_ahead_drop(query->dest);
}

/* auto_explain prints the plan here. */
static void
executor_end(QueryDesc *query)
{
	if (likely(!tde_access_restricted && !tde_remains_any))
		next_executor_end(query);
	else
		end_watched(query);
}

void
tde_execution_install(void)
{
	TDE_INSTALL(ExecutorStart_hook, next_executor_start, executor_start);
	TDE_INSTALL(ExecutorRun_hook, next_executor_run, executor_run);
	TDE_INSTALL(ExecutorFinish_hook, next_executor_finish, executor_finish);
	TDE_INSTALL(ExecutorEnd_hook, next_executor_end, executor_end);
}
