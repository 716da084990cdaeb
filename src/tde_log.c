/*
 * tde_log.c - keeps plaintext that PostgreSQL itself would write into the server log out of it.
 *
 * PostgreSQL's errors quote values: "Key (a)=(...) already exists.", "Failing row contains (...)", COPY's line.  The client
 * gets them, but the log is a file that many can read.  And a statement that opens the wallet or exports keys holds a secret.
 *
 * A hook in the log path must work in every process and state, so this one allocates nothing, looks nothing up, and
 * touches only the error that it was given.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "miscadmin.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"

#include "tde_log.h"

/* Errors of class TD are ours, and never quote a value. */
#define IS_OURS(sqlerrcode) (ERRCODE_TO_CATEGORY(sqlerrcode) == ERRCODE_TO_CATEGORY(MAKE_SQLSTATE('T', 'D', 'E', '0', '1')))

TimestampTz tde_log_sensitive = 0;
TimestampTz tde_log_secret = 0;
bool		tde_log_plain_params = false;

static emit_log_hook_type prev_emit_log_hook = NULL;

/* Functions that take a passphrase or a secret all begin so.  SQL does not distinguish case. */
static const char *const secret_calls[] = {"tde_wallet_", "tde_export_keys", "tde_import_keys"};

static bool
mentions_secret_call(const char *text)
{
	for (; text != NULL && *text != '\0'; text++)
	{
		if (*text != 't' && *text != 'T')
			continue;
		for (int i = 0; i < lengthof(secret_calls); i++)
			if (pg_strncasecmp(text, secret_calls[i], strlen(secret_calls[i])) == 0)
				return true;
	}
	return false;
}

/* Is the error raised in our own sources?  Its message then quotes no statement. */
static bool
is_from_here(const ErrorData *edata)
{
	return edata->filename != NULL && strncmp(edata->filename, "tde_", 4) == 0;
}

/*
 * Does the entry consist of the statement's text, or of a piece of it?  log_statement, log_min_duration_statement and
 * auto_explain quote all of it, and so does the detail of an EXECUTE; errors of class 42 quote a misspelt piece of it.  But
 * whom privileges keep from calling a function, the log shall tell.
 */
static bool
quotes_statement(const ErrorData *edata)
{
	if (is_from_here(edata))
		return false;
	if (edata->elevel < ERROR)
		return mentions_secret_call(edata->message) || (IsUnderPostmaster && mentions_secret_call(edata->detail));
	return (ERRCODE_TO_CATEGORY(edata->sqlerrcode) == ERRCODE_SYNTAX_ERROR_OR_ACCESS_RULE_VIOLATION &&
			edata->sqlerrcode != ERRCODE_INSUFFICIENT_PRIVILEGE) ||
		mentions_secret_call(edata->internalquery);
}

/*
 * The statement's text must not be logged, nor the parameters and the statements of functions, which are in the context.
 * Opening and closing write entries of their own.
 */
static void
hide_secret_statement(ErrorData *edata)
{
	edata->hide_stmt = true;
	edata->hide_ctx = true;
	if (quotes_statement(edata))
		edata->output_to_server = false;

	/* the postmaster's "Failed process was running: ..." must stay, without what was running */
	if (!IsUnderPostmaster && mentions_secret_call(edata->detail))
		edata->detail[strcspn(edata->detail, ":")] = '\0';
}

static bool
is_this_statement(TimestampTz start)
{
	return start != 0 && start == GetCurrentStatementStartTimestamp();
}

static void
hide_sensitive(ErrorData *edata)
{
	if (is_this_statement(tde_log_secret) || mentions_secret_call(debug_query_string) ||
		mentions_secret_call(edata->message) || mentions_secret_call(edata->detail))
		hide_secret_statement(edata);

	/*
	 * For ERROR alone: at other levels errfinish() would pfree our constant.  What was seen in clear need not be what the
	 * detail quotes, but telling the two apart would take catalog lookups.
	 */
	if (edata->elevel == ERROR && !IS_OURS(edata->sqlerrcode) && is_this_statement(tde_log_sensitive))
	{
		if (edata->detail != NULL && edata->detail_log == NULL)
			edata->detail_log = (char *) "Not logged, since the statement used encrypted values.";
		edata->hide_ctx = true;
	}

	/* an error may come before the first of our functions, and have the parameters in its context */
	if (edata->elevel == ERROR && tde_log_plain_params && log_parameter_max_length_on_error != 0)
		edata->hide_ctx = true;

	/*
	 * An error of a parallel worker, thrown again by the leader, comes without a message id.  What the worker has seen is
	 * not known here, but it was there, where the entry has all that may be told.
	 */
	if (edata->elevel == ERROR && edata->message_id == NULL && IsInParallelMode() && !IsParallelWorker())
	{
		if (edata->detail != NULL && edata->detail_log == NULL)
			edata->detail_log = (char *) "Logged by the parallel worker.";
		edata->hide_ctx = true;
	}

	if (prev_emit_log_hook)
		prev_emit_log_hook(edata);
}

void
tde_log_init(void)
{
	prev_emit_log_hook = emit_log_hook;
	emit_log_hook = hide_sensitive;
}
