/*
 * quote.c - values that PostgreSQL quotes in the details of errors, to somebody who may not see them.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "tcop/utility.h"

#include "server/compat.h"
#include "type/access.h"
#include "type/quote.h"

/* The innermost statement that is running. */
typedef struct Statement
{
	bool		changes_data;
	TdeType    *hidden;			/* a value of this type was asked for, and not given; or NULL */
} Statement;

static Statement running = {false, NULL};

static ExecutorRun_hook_type prev_executor_run = NULL;
static ExecutorFinish_hook_type prev_executor_finish = NULL;
static ProcessUtility_hook_type prev_process_utility = NULL;

char *
tde_quote_hidden(TdeType *type)
{
	if (!running.changes_data)
		tde_access_refuse(type);
	running.hidden = type;
	return pstrdup("****");
}

/* Returns the one that it interrupts. */
static Statement
begin_statement(bool changes_data)
{
	Statement	outer = running;

	running.changes_data = changes_data;
	running.hidden = NULL;
	return outer;
}

static void
end_statement(Statement outer)
{
	TdeType    *hidden = running.hidden;

	running = outer;
	if (hidden)
		tde_access_refuse(hidden);
}

static bool
changes_data(QueryDesc *query)
{
	return query->operation != CMD_SELECT || query->plannedstmt->hasModifyingCTE;
}

/* Run the rest of the hook's chain as a statement.  Without a restriction there is nothing to keep. */
#define RUN_AS_STATEMENT(changes, call) \
	do { \
		Statement	outer; \
		\
		if (likely(!tde_access_restricted)) \
		{ \
			call; \
			return; \
		} \
		outer = begin_statement(changes); \
		PG_TRY(); \
		{ \
			call; \
		} \
		PG_CATCH(); \
		{ \
			running = outer; \
			PG_RE_THROW(); \
		} \
		PG_END_TRY(); \
		end_statement(outer); \
	} while (0)

static void
executor_run(TDE_EXECUTOR_RUN_PARAMETERS)
{
	ExecutorRun_hook_type next = prev_executor_run ? prev_executor_run : standard_ExecutorRun;

	RUN_AS_STATEMENT(changes_data(query), next(TDE_EXECUTOR_RUN_ARGUMENTS));
}

/* Foreign keys are checked here. */
static void
executor_finish(QueryDesc *query)
{
	ExecutorFinish_hook_type next = prev_executor_finish ? prev_executor_finish : standard_ExecutorFinish;

	RUN_AS_STATEMENT(changes_data(query), next(query));
}

/* Of the utility commands, only COPY FROM changes rows of the user's. */
static void
process_utility(PlannedStmt *pstmt, const char *query, bool read_only_tree, ProcessUtilityContext context,
				ParamListInfo params, QueryEnvironment *environment, DestReceiver *dest, QueryCompletion *completion)
{
	ProcessUtility_hook_type next = prev_process_utility ? prev_process_utility : standard_ProcessUtility;
	Node	   *stmt = pstmt->utilityStmt;

	RUN_AS_STATEMENT(IsA(stmt, CopyStmt) && ((CopyStmt *) stmt)->is_from,
					 next(pstmt, query, read_only_tree, context, params, environment, dest, completion));
}

void
tde_quote_init(void)
{
	prev_executor_run = ExecutorRun_hook;
	ExecutorRun_hook = executor_run;
	prev_executor_finish = ExecutorFinish_hook;
	ExecutorFinish_hook = executor_finish;
	prev_process_utility = ProcessUtility_hook;
	ProcessUtility_hook = process_utility;
}
