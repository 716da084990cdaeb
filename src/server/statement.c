/*
 * statement.c - the statement that is running; keeps secrets in statements from whom PostgreSQL hands their text to.
 *
 * pg_stat_activity shows the client's statement, and hooks get the text of each statement: pg_stat_statements puts it into a view and
 * a file.  So the client's own text is overwritten as soon as it has been parsed; the text of a statement within a function may be
 * parsed again, so others get another text in its place.
 */
#include "postgres.h"

#include "access/xact.h"
#include "commands/prepare.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/plannodes.h"
#include "parser/parse_node.h"
#include "tcop/pquery.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/memutils.h"
#include "utils/portal.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "server/compat.h"
#include "server/hidden.h"
#include "server/statement.h"

TdeStatement tde_statement = {0};
bool		tde_statement_has_stored = false;

/* Returns the text, or another one in its place.  The client's own was overwritten where it is. */
static const char *
without_secrets(const char *text, MemoryContext context)
{
	const char *copy = tde_hidden_is_client_text(text) ? NULL : tde_hidden_copy(text, context);

	return copy ? copy : text;
}

/* ---- EXECUTE ---- */

/* Looks for EXECUTE within EXPLAIN and CREATE TABLE AS, one in the other, as in EXPLAIN CREATE TABLE t AS EXECUTE p. */
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

/* ---- what stores values ---- */

/* Takes for that what PostgreSQL logs as a change of data or definitions, and what rebuilds indexes and statistics over expressions. */
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

/*
 * Returns the parser's state, if it is the parser that has a type's input function read a constant; NULL: something else has.  It leaves an error
 * callback while it does, whose address can be learned no other way than by setting one up.
 */
static ParseState *
parsing(void)
{
	ErrorContextCallback *top = error_context_stack;
	ParseCallbackState parser;

	/* there is no other way to learn the callback's address */
	setup_parser_errposition_callback(&parser, NULL, -1);
	cancel_parser_errposition_callback(&parser);
	return top && top->callback == parser.errcallback.callback ? ((ParseCallbackState *) top->arg)->pstate : NULL;
}

bool
tde_statement_parses_stored(void)
{
	const AclMode rights = ACL_INSERT | ACL_UPDATE;
	ParseState *state = parsing();
	Oid			table;

	/* a subquery's has the statement's above it */
	while (state && state->p_target_relation == NULL)
		state = state->parentParseState;
	if (state == NULL)
		return false;
	table = RelationGetRelid(state->p_target_relation);
	return pg_class_aclmask(table, GetUserId(), rights, ACLMASK_ANY) != 0 ||
		pg_attribute_aclcheck_all(table, GetUserId(), rights, ACLMASK_ANY) == ACLCHECK_OK;
}

/* ---- for the hooks ---- */

const char *
tde_statement_analyzed(const char *text)
{
	tde_hidden_client_text();
	return tde_hidden_may_be_seen(text) ? text : without_secrets(text, CurrentMemoryContext);
}

void
tde_statement_planned(const char *text)
{
	(void) tde_statement_analyzed(text);
}

void
tde_statement_starts(QueryDesc *query)
{
	tde_hidden_client_text();
	/* when a client's portal is run, in a later message, its text is shown before any hook is called */
	if (ActivePortal != NULL && ActivePortal->sourceText == query->sourceText && !tde_hidden_is_client_text(query->sourceText))
		tde_hidden_portal_text(query->sourceText);
	query->sourceText = without_secrets(query->sourceText, GetMemoryChunkContext(query));
}

const char *
tde_statement_utility(PlannedStmt *pstmt, const char *text)
{
	bool		stores = false;
	PreparedStatement *prepared = tde_statement_executed(pstmt->utilityStmt, &stores);

	tde_hidden_client_text();
	if (prepared != NULL && tde_hidden_by(prepared->plansource->query_string) != NULL)
	{
		if (tde_hidden_is_client_text(text))
			tde_hidden_statement("EXECUTE");
		else
			tde_hidden_data();
	}
	return without_secrets(text, CurrentMemoryContext);
}

/* ---- its snapshot, which one that only calls a slow function of ours gives back meanwhile ---- */

/* Returns true of SELECT function(...), this call of it, and no more.  Then nobody looks at rows by its snapshot. */
static bool
only_calls(const PlannedStmt *statement, const FmgrInfo *function)
{
	const Plan *plan = statement->planTree;

	if (statement->commandType != CMD_SELECT || statement->hasModifyingCTE || statement->relationOids != NIL || statement->subplans != NIL ||
		!IsA(plan, Result) || plan->lefttree != NULL || list_length(plan->targetlist) != 1)
		return false;
	return linitial_node(TargetEntry, plan->targetlist)->expr == (const Expr *) function->fn_expr;
}

QueryDesc *
tde_statement_without_snapshot(FunctionCallInfo fcinfo)
{
	QueryDesc  *query = ActivePortal != NULL ? ActivePortal->queryDesc : NULL;

	/* in other levels of isolation the transaction keeps it, too */
	if (query == NULL || query->estate == NULL || IsolationUsesXactSnapshot() || !ActiveSnapshotSet() ||
		GetActiveSnapshot() != query->snapshot || query->estate->es_snapshot != query->snapshot ||
		!only_calls(query->plannedstmt, fcinfo->flinfo))
		return NULL;
	PopActiveSnapshot();
	UnregisterSnapshot(query->estate->es_snapshot);
	query->estate->es_snapshot = InvalidSnapshot;
	UnregisterSnapshot(query->snapshot);
	query->snapshot = InvalidSnapshot;
	InvalidateCatalogSnapshot();
	return query;
}

void
tde_statement_with_snapshot(QueryDesc *query)
{
	if (query == NULL)
		return;
	query->snapshot = RegisterSnapshot(GetTransactionSnapshot());
	query->estate->es_snapshot = RegisterSnapshot(query->snapshot);
	PushActiveSnapshot(query->snapshot);
}
