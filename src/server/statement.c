/*
 * statement.c - the statement that is running; keeps secrets in statements from whom PostgreSQL hands their text to.
 *
 * pg_stat_activity shows the client's statement, and hooks get the text of each statement: pg_stat_statements puts it into a view and
 * a file.  So the client's own text is overwritten as soon as it has been parsed; the text of a statement within a function may be
 * parsed again, so others get a copy of it.
 */
#include "postgres.h"

#include "commands/extension.h"
#include "commands/prepare.h"
#include "miscadmin.h"
#include "tcop/pquery.h"
#include "tcop/utility.h"
#include "utils/backend_status.h"
#include "utils/memutils.h"
#include "utils/portal.h"

#include "crypto/statement_secrets.h"
#include "server/compat.h"
#include "server/error.h"
#include "server/statement.h"

TdeStatement tde_statement = {0};
bool		tde_statement_has_stored = false;

/* True if there is something to clean, and so a new query id to be told. */
static bool
clean_activity(void)
{
	const char *cleaned = tde_log_clean_statement();

	if (cleaned == NULL || MyBackendType != B_BACKEND)
		return false;
	pgstat_report_activity(STATE_RUNNING, cleaned);
	return true;
}

/* The text, or a copy without secrets. */
static const char *
without_secrets(const char *text, MemoryContext context)
{
	TdeCalls	calls = {0};
	char	   *copy;

	/* scripts of extensions hold no secrets, and each of their thousands of statements comes with the text of all */
	if (creating_extension || tde_log_is_cleaned(text) || !tde_redact_suspects(text))
		return text;
	copy = MemoryContextStrdup(context, text);
	tde_redact_calls(copy, tde_log_redact_flags(), &calls);
	if (calls.masked)
		return copy;
	pfree(copy);
	return text;
}

/* ---- EXECUTE ---- */

static ExecuteStmt *
contained_execute(Node *stmt, bool *stores)
{
	Node	   *inner = NULL;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
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

PreparedStatement *
tde_statement_executed(Node *stmt, bool *stores)
{
	ExecuteStmt *execute = contained_execute(stmt, stores);

	return execute ? FetchPreparedStatement(execute->name, false) : NULL;
}

/* Which parameters of the prepared statement that stmt executes, if it does, are secrets? */
static uint64
secret_parameters(Node *stmt)
{
	bool		stores = false;
	PreparedStatement *prepared = tde_statement_executed(stmt, &stores);
	TdeCalls	calls = {0};
	char	   *copy;

	if (prepared == NULL || !tde_redact_suspects(prepared->plansource->query_string))
		return 0;
	copy = pstrdup(prepared->plansource->query_string);
	tde_redact_calls(copy, tde_log_redact_flags(), &calls);
	pfree(copy);
	return calls.parameters;
}

static const char *
without_arguments(const char *text, uint64 parameters)
{
	char	   *copy = pstrdup(text);

	tde_redact_execute(copy, tde_log_redact_flags(), parameters);
	return copy;
}

/* ---- what stores values ---- */

/* What PostgreSQL logs as a change of data or definitions, and what rebuilds indexes and statistics over expressions. */
bool
tde_statement_utility_stores(Node *stmt)
{
	switch (nodeTag(stmt))
	{
		case T_ExecuteStmt:
		case T_ExplainStmt:
		case T_PrepareStmt:
			return false;
		case T_ReindexStmt:
		case T_VacuumStmt:
			return true;
		default:
			return GetCommandLogLevel(stmt) != LOGSTMT_ALL;
	}
}

/* ---- for the hooks ---- */

void
tde_statement_analyzed(void)
{
	/* the caller tells the query's id */
	(void) clean_activity();
}

void
tde_statement_starts(QueryDesc *query)
{
	if (clean_activity())
		pgstat_report_query_id(query->plannedstmt->queryId, true);
	/* when a client's portal is run, in a later message, its text is shown before any hook is called */
	if (ActivePortal != NULL && ActivePortal->sourceText == query->sourceText && !tde_log_is_cleaned(query->sourceText))
		tde_log_clean_text(query->sourceText);
	query->sourceText = without_secrets(query->sourceText, GetMemoryChunkContext(query));
}

const char *
tde_statement_utility(PlannedStmt *pstmt, const char *text)
{
	uint64		parameters = secret_parameters(pstmt->utilityStmt);

	if (parameters != 0)
	{
		tde_log_executes(parameters);
		text = without_arguments(text, parameters);
	}
	if (clean_activity())
		pgstat_report_query_id(pstmt->queryId, true);
	return without_secrets(text, CurrentMemoryContext);
}
