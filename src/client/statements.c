/*
 * statements.c - clients get results in the base types: which statements are a client's own.
 *
 * post_parse_analyze_hook is called for statements of clients, but also for those of functions, views, rules and of
 * COPY, whose columns must keep the encrypted type: results would not fit declarations, and tables and views made of
 * them would be plaintext.  So a statement must be positively identified as a client's own.  Two things tell together:
 *
 * - its text is, at the same address, what the client has sent, or what PREPARE was run with; or the query is, at the
 *   same address, that of the client's EXPLAIN or DECLARE;
 * - nobody has put anything on the error context stack.  SPI and SQL functions do so before they analyze a statement,
 *   also in deferred triggers, which run where no executor and no utility command is active.
 */
#include "postgres.h"

#include "commands/prepare.h"
#include "miscadmin.h"
#include "nodes/params.h"
#include "parser/analyze.h"
#include "tcop/pquery.h"
#include "tcop/tcopprot.h"
#include "tcop/utility.h"
#include "utils/portal.h"

#include "client/held_rows.h"
#include "client/params.h"
#include "client/receiver.h"
#include "client/result.h"
#include "client/statements.h"
#include "server/compat.h"
#include "type/ciphertext_form.h"

bool		tde_transparent_results = false;

/* The utility command that is running, if it is one of the top level. */
typedef struct UtilityCommand
{
	Node	   *stmt;
	const char *source;
	bool		client;			/* sent by the client, and not run by a function */
} UtilityCommand;

static UtilityCommand *running = NULL;
static bool possible = false;
static post_parse_analyze_hook_type prev_post_parse_analyze = NULL;
static ProcessUtility_hook_type prev_process_utility = NULL;

bool
tde_transparent_possible(void)
{
	return possible;
}

/* Has no function, trigger or the like put itself between the client's message and this place? */
static bool
called_by_client(void)
{
	ErrorContextCallback *top = error_context_stack;

	/* Bind and Execute put this one there, to report parameters */
	if (top && top->callback == ParamsErrorCallback)
		top = top->previous;
	return top == NULL;
}

/* ---- what utility commands contain ---- */

/*
 * The query of a cursor whose rows are not put down as the client gets them: those of WITH HOLD are.  SCROLL may put down
 * what the executor makes, which is encrypted (client/receiver.c).
 */
static Query *
cursor_query(Node *stmt)
{
	DeclareCursorStmt *declare = (DeclareCursorStmt *) stmt;

	if (!IsA(stmt, DeclareCursorStmt) || (declare->options & CURSOR_OPT_HOLD))
		return NULL;
	return castNode(Query, declare->query);
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
	if (!IsA(query->utilityStmt, DeclareCursorStmt))
		return NULL;
	return castNode(Query, ((DeclareCursorStmt *) query->utilityStmt)->query);
}

/* The EXECUTE that a command is, or that EXPLAIN or CREATE TABLE AS contains; NULL if there is none. */
static ExecuteStmt *
contained_execute(Node *stmt, bool *stores)
{
	Node	   *inner = NULL;

	if (IsA(stmt, ExecuteStmt))
		return (ExecuteStmt *) stmt;
	if (IsA(stmt, ExplainStmt))
		inner = ((ExplainStmt *) stmt)->query;
	else if (IsA(stmt, CreateTableAsStmt))
	{
		*stores = true;
		inner = ((CreateTableAsStmt *) stmt)->query;
	}
	if (inner == NULL || !IsA(inner, Query) || ((Query *) inner)->commandType != CMD_UTILITY)
		return NULL;
	return contained_execute(((Query *) inner)->utilityStmt, stores);
}

/* The prepared statement that a command executes, or NULL. */
static PreparedStatement *
executed_statement(Node *stmt, bool *stores)
{
	ExecuteStmt *execute = contained_execute(stmt, stores);

	return execute ? FetchPreparedStatement(execute->name, false) : NULL;
}

/* Before a command executes a prepared statement that decrypts. */
static void
prepare_execution(Node *stmt, DestReceiver *dest)
{
	bool		stores = false;
	PreparedStatement *prepared = executed_statement(stmt, &stores);

	if (prepared == NULL || !tde_result_in_source(prepared->plansource))
		return;
	if (stores)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot create a table from prepared statement \"%s\"", prepared->stmt_name),
				 errdetail("It decrypts encrypted columns for a client, so that they would be stored in clear."),
				 errhint("Write the query into CREATE TABLE AS, or prepare it with %s off.",
						 "tde_column.transparent_results")));
	if (IsA(stmt, ExecuteStmt))
		tde_portal_keep_in_memory(dest);
}

/* ---- is it the client's? ---- */

static bool
is_from_message(ParseState *pstate)
{
	if (debug_query_string)
		return pstate->p_sourcetext == debug_query_string;

	/* Describe analyzes a statement again whose tables have changed, and does not say which one */
	return whereToSendOutput == DestRemote;
}

static bool
is_from_utility(ParseState *pstate, Query *query)
{
	if (!running->client)
		return false;
	if (IsA(running->stmt, PrepareStmt))
		return pstate->p_sourcetext == running->source;
	return query == shown_query(running->stmt);
}

static bool
is_client_statement(ParseState *pstate, Query *query)
{
	if (!called_by_client())
		return false;
	return running ? is_from_utility(pstate, query) : is_from_message(pstate);
}

/*
 * Is it planned and executed at once, so that nobody asks for its columns before that?  What is prepared either asks for
 * its parameters (Parse), or is analyzed again by Bind, which the error context stack shows, or by a utility command.
 */
static bool
is_simple_query(ParseState *pstate)
{
	return running == NULL && error_context_stack == NULL && pstate->p_paramref_hook == NULL &&
		debug_query_string && pstate->p_sourcetext == debug_query_string;
}

/* ---- hooks ---- */

/* Who asks for the ciphertext form wants encrypted values. */
static bool
results_wanted(void)
{
	return tde_transparent_results && tde_io_format == TDE_IO_PLAINTEXT;
}

static void
transform_params(ParseState *pstate, Query *query)
{
	Query	   *contained = query_with_params(query);
	int			declared = 0;

	if (running && IsA(running->stmt, PrepareStmt))
		declared = list_length(((PrepareStmt *) running->stmt)->argtypes);
	if (contained && is_client_statement(pstate, query))
		tde_params_retype(pstate, contained, declared);
}

/*
 * When its tables have changed, the result of a prepared statement stays what it was, whoever executes it and however
 * the setting is now.
 */
static bool
is_analyzed_again(ParseState *pstate, TupleDesc *described)
{
	bool		stores;
	Node	   *stmt = NULL;
	PreparedStatement *prepared;

	/* it may also be that it is only described, before the command runs or after */
	if (running)
		stmt = running->stmt;
	else if (ActivePortal && ActivePortal->strategy == PORTAL_UTIL_SELECT)
		stmt = linitial_node(PlannedStmt, ActivePortal->stmts)->utilityStmt;
	prepared = stmt ? executed_statement(stmt, &stores) : NULL;
	if (prepared == NULL || pstate->p_sourcetext != prepared->plansource->query_string)
		return false;
	*described = prepared->plansource->resultDesc;
	return true;
}

static void
transform_result(ParseState *pstate, Query *query)
{
	TupleDesc	described;
	bool		decrypt;

	if (is_simple_query(pstate))
	{
		bool		is_select = query->commandType == CMD_SELECT && !query->hasModifyingCTE;

		tde_receiver_await(is_select && results_wanted() ? query : NULL, pstate->p_sourcetext);
		if (is_select)
			return;
	}
	if (query->commandType == CMD_UTILITY)
	{
		/* a cursor's query, unless the hook will be called for it when the cursor is opened */
		query = running || !TDE_CURSOR_ANALYZED_LATER ? cursor_query(query->utilityStmt) : NULL;
	}
	if (query == NULL || !tde_result_is_encrypted(query))
		return;

	if (is_analyzed_again(pstate, &described))
		decrypt = described && tde_result_was_decrypted(query, described);
	else
		decrypt = results_wanted() && is_client_statement(pstate, query);
	if (decrypt)
		tde_result_decrypt(query);
}

static void
post_parse_analyze(ParseState *pstate, Query *query, JumbleState *jstate)
{
	/* others want to see what the client wrote; the query's identifier has been computed of that, too */
	if (prev_post_parse_analyze)
		prev_post_parse_analyze(pstate, query, jstate);

	if (results_wanted() && pstate->p_coerce_param_hook)
		transform_params(pstate, query);
	transform_result(pstate, query);
}

static void
process_utility(PlannedStmt *pstmt, const char *query, bool read_only_tree, ProcessUtilityContext context,
				ParamListInfo params, QueryEnvironment *environment, DestReceiver *dest, QueryCompletion *completion)
{
	UtilityCommand *outer = running;
	UtilityCommand command;

	/* the query is recognized by its address, so it must not be copied later */
	if (read_only_tree && (IsA(pstmt->utilityStmt, ExplainStmt) || IsA(pstmt->utilityStmt, DeclareCursorStmt)))
	{
		pstmt = copyObject(pstmt);
		read_only_tree = false;
	}
	command.stmt = pstmt->utilityStmt;
	command.source = query;
	command.client = context == PROCESS_UTILITY_TOPLEVEL && outer == NULL && called_by_client();
	prepare_execution(command.stmt, dest);
	if (IsA(command.stmt, FetchStmt))
		tde_portal_prepare_fetch(((FetchStmt *) command.stmt)->portalname, dest);

	PG_TRY();
	{
		running = &command;
		if (prev_process_utility)
			prev_process_utility(pstmt, query, read_only_tree, context, params, environment, dest, completion);
		else
			standard_ProcessUtility(pstmt, query, read_only_tree, context, params, environment, dest, completion);
	}
	PG_FINALLY();
	{
		running = outer;
	}
	PG_END_TRY();
}

void
tde_transparent_init(void)
{
	/* a library that is loaded by the first call of one of its functions has missed the statement that calls it */
	possible = process_shared_preload_libraries_in_progress;
	if (!possible)
		return;
	prev_post_parse_analyze = post_parse_analyze_hook;
	post_parse_analyze_hook = post_parse_analyze;
	prev_process_utility = ProcessUtility_hook;
	ProcessUtility_hook = process_utility;
	tde_portal_init();
	tde_receiver_init();
}
