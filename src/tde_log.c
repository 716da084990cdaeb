/*
 * tde_log.c - keeps plaintext that PostgreSQL itself would write into the server log out of it.
 *
 * PostgreSQL's errors quote values: "Key (a)=(...) already exists.", "Failing row contains (...)", COPY's line.  The client
 * gets them, but the log is a file that many can read.  And a statement that opens the wallet holds the passphrase.
 *
 * A hook in the log path must work in every process and state, so this one allocates nothing, looks nothing up, and
 * touches only the error that it was given.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "tcop/tcopprot.h"

#include "tde_log.h"

/* Errors of class TD are ours, and never quote a value. */
#define IS_OURS(sqlerrcode) (ERRCODE_TO_CATEGORY(sqlerrcode) == ERRCODE_TO_CATEGORY(MAKE_SQLSTATE('T', 'D', 'E', '0', '1')))

TimestampTz tde_log_sensitive = 0;

static emit_log_hook_type prev_emit_log_hook = NULL;

/* Functions that take a passphrase all begin so. */
static bool
mentions_wallet_call(const char *text)
{
	return text != NULL && strstr(text, "tde_wallet_") != NULL;
}

/*
 * The statement's text must not be logged.  Where the message itself quotes it (log_statement, log_min_duration_statement,
 * auto_explain, a syntax error), the whole entry is left out; opening and closing write entries of their own.
 */
static void
hide_wallet_statement(ErrorData *edata)
{
	edata->hide_stmt = true;
	if (mentions_wallet_call(edata->message) || edata->sqlerrcode == ERRCODE_SYNTAX_ERROR)
		edata->output_to_server = false;

	/* the postmaster's "Failed process was running: ..." must stay, without what was running */
	if (mentions_wallet_call(edata->detail))
		edata->detail[strcspn(edata->detail, ":")] = '\0';
}

static void
hide_sensitive(ErrorData *edata)
{
	if (mentions_wallet_call(debug_query_string) || mentions_wallet_call(edata->message) ||
		mentions_wallet_call(edata->detail))
		hide_wallet_statement(edata);

	/*
	 * For ERROR alone: at other levels errfinish() would pfree our constant.  What was seen in clear need not be what the
	 * detail quotes, but telling the two apart would take catalog lookups.
	 */
	if (edata->elevel == ERROR && !IS_OURS(edata->sqlerrcode) && tde_log_sensitive != 0 &&
		tde_log_sensitive == GetCurrentStatementStartTimestamp())
	{
		if (edata->detail != NULL && edata->detail_log == NULL)
			edata->detail_log = (char *) "Not logged, since the statement used encrypted values.";
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
