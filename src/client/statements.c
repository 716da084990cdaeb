/*
 * statements.c - clients get results in the base types: which statements are a client's own.
 *
 * post_parse_analyze_hook is called for statements of clients, but also for those of functions, views, rules and of
 * COPY, whose columns must keep the encrypted type: results would not fit declarations, and tables and views made of
 * them would be plaintext.  So a statement must be positively identified as a client's own: its text is, at the same address, what
 * the client has sent, or what PREPARE was run with; or the query is, at the same address, that of the client's EXPLAIN or DECLARE.
 *
 * What becomes of the encrypted columns of its result, depends on what it is, and on who is told their types first: actions[] has all cases.
 *
 * Called, in this order: tde_client_analyzed() when the query has been analyzed, tde_client_plans() when it is planned, tde_client_sent() and
 * tde_client_prepare() before a utility command runs.  Between the first two nothing of the query's is evaluated.  Whatever is missed, because
 * another library has analyzed the query itself or this one was loaded too late, stays encrypted for the client: nothing is decrypted in doubt.
 */
#include "postgres.h"

#include "commands/prepare.h"
#include "miscadmin.h"
#include "parser/analyze.h"
#include "tcop/pquery.h"
#include "tcop/tcopprot.h"
#include "utils/portal.h"

#include "client/catalog.h"
#include "client/held_cursors.h"
#include "client/routines.h"
#include "client/params.h"
#include "client/result_receiver.h"
#include "client/result.h"
#include "client/rows.h"
#include "client/statements.h"
#include "server/compat.h"
#include "server/statement.h"
#include "type/ciphertext_form.h"
#include "type/inside.h"

bool		tde_transparent_results = false;

static bool possible = false;

bool
tde_client_possible(void)
{
	return possible;
}

/* Returns true for the text of the client's message, or of the prepared statement or portal that it names. */
static bool
is_message(const char *text)
{
	return text != NULL && text == debug_query_string;
}

/* ---- what utility commands contain ---- */

/* The query of a cursor.  What SCROLL and WITH HOLD put down is what the executor makes, which is encrypted (client/result_receiver.c). */
static Query *
cursor_query(Node *stmt)
{
	return IsA(stmt, DeclareCursorStmt) ? castNode(Query, ((DeclareCursorStmt *) stmt)->query) : NULL;
}

/* The query of EXPLAIN or DECLARE, or of both together, that may be decrypted. */
static Query *
shown_query(Node *stmt)
{
	if (IsA(stmt, ExplainStmt))
	{
		Query	   *query = castNode(Query, ((ExplainStmt *) stmt)->query);

		return query->commandType == CMD_UTILITY ? cursor_query(query->utilityStmt) : query;
	}
	return cursor_query(stmt);
}

/*
 * The query whose parameters are the client's: a query, or the one in DECLARE.  Not the one in EXPLAIN: with
 * GENERIC_PLAN, what the parser knows of its parameters is gone already.
 */
static Query *
query_with_params(Query *query)
{
	if (query->commandType != CMD_UTILITY)
		return query;
	return cursor_query(query->utilityStmt);
}

/* Returns true if all that a prepared statement decrypts is left to the receiver of its rows.  False if that cannot be told now. */
static bool
is_postponed(CachedPlanSource *source)
{
	Query	   *query = source->query_list ? linitial_node(Query, source->query_list) : NULL;
	ListCell   *cell;

	if (query == NULL || query->commandType != CMD_SELECT || query->hasModifyingCTE)
		return false;
	foreach(cell, query->targetList)
		if (tde_row_shows(lfirst_node(TargetEntry, cell)->expr, tde_result_decrypts))
			return false;
	return true;
}

/* Before a command executes a prepared statement that decrypts.  What it leaves to the receiver is stored encrypted. */
static void
prepare_execution(Node *stmt, DestReceiver *dest)
{
	bool		stores = false;
	PreparedStatement *prepared = tde_statement_executed(stmt, &stores);

	if (prepared == NULL || !tde_result_in_source(prepared->plansource))
		return;
	if (stores && !is_postponed(prepared->plansource))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot create a table from prepared statement \"%s\"", prepared->stmt_name),
				 errdetail("It decrypts encrypted columns for a client, so the table would store them in clear."),
				 errhint("Write the query into CREATE TABLE AS, or prepare it with %s off.",
						 "tde_column.transparent_results")));
	if (IsA(stmt, ExecuteStmt))
		tde_held_rows_execute(dest);
}

/* ---- what is the client's ---- */

static bool
is_from_message(ParseState *pstate)
{
	/*
	 * Describe analyzes a statement again whose tables have changed, and does not say which one.  Nor does what deferred triggers run when a
	 * transaction ends, but SPI and SQL functions put something on the error context stack before they analyze it.
	 */
	return is_message(pstate->p_sourcetext) ||
		(debug_query_string == NULL && whereToSendOutput == DestRemote && error_context_stack == NULL);
}

static bool
is_from_utility(ParseState *pstate, Query *query)
{
	if (!tde_statement.client)
		return false;
	if (IsA(tde_statement.utility, PrepareStmt))
		return pstate->p_sourcetext == tde_statement.source;
	return query == shown_query(tde_statement.utility);
}

static bool
is_client_statement(ParseState *pstate, Query *query)
{
	return tde_statement.utility ? is_from_utility(pstate, query) : is_from_message(pstate);
}

/*
 * Returns true if the statement is planned and executed at once, so that nobody asks for its columns before that.  What is prepared either asks for
 * its parameters (Parse), or is analyzed again by Bind, which has the stack of error contexts report parameters, or by a utility command.  In doubt
 * it is not: that only takes longer.
 */
static bool
is_simple_query(ParseState *pstate)
{
	return tde_statement.utility == NULL && error_context_stack == NULL && pstate->p_paramref_hook == NULL && is_message(pstate->p_sourcetext);
}

/* ---- for the hooks ---- */

/* Who asks for the ciphertext form wants encrypted values. */
static bool
results_wanted(void)
{
	return tde_transparent_results && tde_io_format == TDE_IO_PLAINTEXT;
}

static pg_noinline void
transform_params(ParseState *pstate, Query *query)
{
	Query	   *contained = query_with_params(query);
	int			declared = 0;

	if (tde_statement.utility && IsA(tde_statement.utility, PrepareStmt))
		declared = list_length(((PrepareStmt *) tde_statement.utility)->argtypes);
	if (contained && is_client_statement(pstate, query))
		tde_params_retype(pstate, contained, declared);
}

/* ---- what becomes of a result ---- */

/* What has been analyzed. */
typedef enum Kind
{
	OF_SELECT,
	OF_ROWS,					/* a SELECT with a column ROW(...), or with rows that tell their type */
	OF_CHANGE,					/* INSERT, UPDATE, DELETE or MERGE, also in the WITH clause of a SELECT */
	OF_CURSOR,					/* the query of DECLARE */
	OF_CALL,
	OF_OTHERS					/* no result, or one of a query that comes by itself: EXPLAIN, EXECUTE, CREATE TABLE AS, COPY */
} Kind;

/* Who is told the types of the columns first. */
typedef enum Told
{
	TOLD_NOBODY,				/* there is no client: in functions, views, COPY; or it wants encrypted values */
	TOLD_RECEIVER,				/* the client's, by the executor: a simple query, which is planned and executed at once */
	TOLD_CLIENT,				/* before there is a plan: Parse, PREPARE, DECLARE.  So it is in EXPLAIN, for the plan to show it. */
	TOLD_BEFORE					/* the client, when it ran PREPARE: analyzed again, since tables have changed */
} Told;

typedef enum Action
{
	LEAVE,						/* encrypted */
	POSTPONE,					/* not in the query: it is announced to the receiver of its rows, which decrypts (result_receiver.c) */
	DECRYPT,					/* by tde_result() in the query.  A SELECT is planned without it (postponed.c): then as POSTPONE. */
	AS_BEFORE,					/* DECRYPT if that was done then, whoever executes it now, and however the setting is */
	OUTPUTS						/* by a receiver of the procedure's outputs (routines.c) */
} Action;

/*
 * All cases: of each kind what is done if nobody, the receiver, the client, or the client before, is told the types.  If nobody is, the result goes
 * where a declaration would not fit, or where it would be stored in clear.
 */
static const Action actions[][TOLD_BEFORE + 1] = {
	/* The receiver costs least, but it knows the types only when the executor has started. */
	[OF_SELECT] = {LEAVE, POSTPONE, DECRYPT, AS_BEFORE},
	/* Fields tell their types themselves, and have masks and policies each, so they are decrypted where the row is made. */
	[OF_ROWS] = {LEAVE, DECRYPT, DECRYPT, AS_BEFORE},
	/* The portal tells the types by the plan, and keeps all rows before it sends them: in memory (held_cursors.c). */
	[OF_CHANGE] = {LEAVE, DECRYPT, DECRYPT, AS_BEFORE},
	/* FETCH sends the rows, which comes later; WITH HOLD puts them down encrypted.  PREPARE takes no DECLARE. */
	[OF_CURSOR] = {LEAVE, DECRYPT, DECRYPT, LEAVE},
	/* Its outputs are columns of no query.  PREPARE takes no CALL. */
	[OF_CALL] = {LEAVE, OUTPUTS, OUTPUTS, LEAVE},
	[OF_OTHERS] = {LEAVE, LEAVE, LEAVE, LEAVE}
};

/* *query: the query whose result it is. */
static Kind
kind_of(Query **query)
{
	Node	   *utility = (*query)->utilityStmt;

	if (utility && IsA(utility, DeclareCursorStmt) && (tde_statement.utility || !TDE_CURSOR_ANALYZED_LATER))
	{
		*query = cursor_query(utility);
		return OF_CURSOR;
	}
	if (utility)
		return IsA(utility, CallStmt) ? OF_CALL : OF_OTHERS;
	if (tde_statement.utility && IsA(tde_statement.utility, DeclareCursorStmt))
		return OF_CURSOR;
	if ((*query)->commandType != CMD_SELECT || (*query)->hasModifyingCTE)
		return OF_CHANGE;
	return tde_result_has_rows(*query) ? OF_ROWS : OF_SELECT;
}

/* *described: the result that it had; NULL: none. */
static bool
is_analyzed_again(ParseState *pstate, TupleDesc *described)
{
	bool		stores;
	Node	   *stmt = NULL;
	PreparedStatement *prepared;

	/* it may also be that it is only described, before the command runs or after */
	if (tde_statement.utility)
		stmt = tde_statement.utility;
	else if (ActivePortal && ActivePortal->strategy == PORTAL_UTIL_SELECT)
		stmt = linitial_node(PlannedStmt, ActivePortal->stmts)->utilityStmt;
	prepared = stmt ? tde_statement_executed(stmt, &stores) : NULL;
	if (prepared == NULL || pstate->p_sourcetext != prepared->plansource->query_string)
		return false;
	*described = prepared->plansource->resultDesc;
	return true;
}

static Told
told(ParseState *pstate, Query *query, TupleDesc *described)
{
	if (is_analyzed_again(pstate, described))
		return TOLD_BEFORE;
	if (!results_wanted() || !is_client_statement(pstate, query))
		return TOLD_NOBODY;
	return is_simple_query(pstate) ? TOLD_RECEIVER : TOLD_CLIENT;
}

/* Of rows the description does not say. */
static bool
was_decrypted(Query *query, TupleDesc described)
{
	return described && (tde_result_is_encrypted(query) ? tde_result_was_decrypted(query, described) : results_wanted());
}

static pg_noinline void
transform_result(ParseState *pstate, Query *query)
{
	TupleDesc	described = NULL;
	Kind		kind = kind_of(&query);
	Action		action = actions[kind][told(pstate, query, &described)];
	bool		with_rows;

	/* it is planned next, and no other that was awaited */
	if (is_simple_query(pstate))
		tde_receiver_await(action == POSTPONE ? query : NULL, pstate->p_sourcetext, false);
	if (action == OUTPUTS)
		tde_routine_outputs_describe((CallStmt *) query->utilityStmt);
	if (action != DECRYPT && !(action == AS_BEFORE && was_decrypted(query, described)))
		return;
	with_rows = kind != OF_CURSOR && tde_result_has_rows(query);
	if (with_rows || tde_result_is_encrypted(query))
		tde_result_decrypt(query, with_rows);
}

void
tde_client_analyzed(ParseState *pstate, Query *query, bool core)
{
	if (pstate->p_coerce_param_hook && results_wanted())
		transform_params(pstate, query);
	if (!core)
		transform_result(pstate, query);
	else if (query->commandType == CMD_SELECT && is_simple_query(pstate))
		tde_receiver_await(query, pstate->p_sourcetext, true);
}

/* Returns true if a query with this text is planned for the client, and not for a table, a function or the like. */
static bool
is_planned_for_client(const char *source)
{
	Node	   *utility = tde_statement.utility;
	bool		stores = false;
	PreparedStatement *prepared;

	if (utility == NULL)
		return is_message(source);
	if (!tde_statement.client)
		return false;
	prepared = tde_statement_executed(utility, &stores);
	if (prepared)
		return !stores && source == prepared->plansource->query_string;
	return source == tde_statement.source && shown_query(utility) != NULL;
}

bool
tde_client_catalog_is_transparent(void)
{
	return tde_transparent_catalog && results_wanted();
}

void
tde_client_plans(Query *query, const char *source)
{
	if (tde_client_catalog_is_transparent() && is_planned_for_client(source))
		tde_catalog_show(query);
}

bool
tde_client_recognizes(Node *stmt)
{
	return IsA(stmt, ExplainStmt) || IsA(stmt, DeclareCursorStmt);
}

bool
tde_client_sent(ProcessUtilityContext context, const char *source)
{
	return context == PROCESS_UTILITY_TOPLEVEL && tde_statement.utility == NULL && is_message(source);
}

DestReceiver *
tde_client_prepare(Node *stmt, DestReceiver *dest)
{
	Portal		cursor = IsA(stmt, FetchStmt) ? GetPortalByName(((FetchStmt *) stmt)->portalname) : NULL;
	TupleDesc	encrypted;
	Bitmapset  *columns;
	const TdeOrigin *origins;
	bool		held;

	if (IsA(stmt, CallStmt))
		return tde_routine_outputs_receiver((CallStmt *) stmt, dest);
	prepare_execution(stmt, dest);
	if (!PortalIsValid(cursor))
		return dest;
	tde_held_rows_fetch(cursor, dest);
	held = tde_held_cursor_open(cursor, &encrypted, &columns, &origins);
	return held && dest != None_Receiver ? tde_receiver_for(encrypted, columns, origins, dest) : dest;
}

void
tde_client_init(void)
{
	/* a library that is loaded by the first call of one of its functions has missed the statement that calls it */
	possible = process_shared_preload_libraries_in_progress;
}
