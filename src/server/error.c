/*
 * error.c - errors: what a status of the pure layer becomes, and what of an error gets into the server log.
 *
 * PostgreSQL's errors quote values: "Key (a)=(...) already exists.", "Failing row contains (...)", COPY's line, "invalid input
 * syntax for type integer: ...".  The client gets them, but the log is a file that many can read.  And a statement that opens the
 * wallet or exports keys holds a secret.  The entry stays, with user, time, command and statement: what must not be read is
 * overwritten in it.
 *
 * A hook in the log path must work in every process and state, so this one looks nothing up, needs no memory that it might not get,
 * and touches only the error that it was given, and the text of the client's statement.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "miscadmin.h"
#include "parser/parser.h"
#include "storage/proc.h"
#include "storage/shmem.h"
#include "tcop/tcopprot.h"
#include "utils/backend_status.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "crypto/primitives.h"
#include "crypto/statement_tokens.h"
#include "crypto/statement_secrets.h"
#include "server/compat.h"
#include "server/error.h"
#include "server/memory.h"

/* ---- a status becomes an error ---- */

/* Values under a cipher that is not there are not lost, so the hint says how to get at them. */
static void
throw_unavailable(const char *cipher)
{
	if (cipher == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("algorithm is not available in this server's OpenSSL"),
				 errdetail("The library was built without it, or its FIPS provider refuses it.")));
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cipher %s is not available in this server's OpenSSL", cipher),
			 tde_crypto_fips() ? errdetail("OpenSSL is restricted to what FIPS allows.")
			 : errdetail("The library was built without it, or its providers refuse it."),
			 errhint("Declare the column with another cipher.  To re-encrypt existing values, run tde_rekey_table() on a "
					 "server whose OpenSSL has this one.")));
}

void
tde_throw(TdeStatus status)
{
	switch (status)
	{
		case TDE_E_AUTH:
			ereport(ERROR,
					(errcode(ERRCODE_TDE_NOT_AUTHENTIC),
					 errmsg("could not authenticate encrypted value"),
					 errdetail("The stored bytes were changed, or were not made under their key for this type.")));
			break;
		case TDE_E_NOMEM:
			ereport(ERROR,
					(errcode(ERRCODE_OUT_OF_MEMORY),
					 errmsg("out of memory"),
					 errdetail("OpenSSL could not allocate a cipher context.")));
			break;
		case TDE_E_UNAVAILABLE:
			throw_unavailable(tde_crypto_missing());
			break;
		default:
			ereport(ERROR,
					(errcode(ERRCODE_TDE_CRYPTO_FAILURE),
					 errmsg("cryptographic operation failed"),
					 errdetail("OpenSSL: %s.", tde_crypto_reason())));
	}
	pg_unreachable();
}

/* ---- the server log ---- */

static TimestampTz own_mark = 0;

TimestampTz *tde_log_sensitive = &own_mark;
TimestampTz tde_log_secret = 0;
bool		tde_log_plain_params = false;

/* One for each backend, for it and its parallel workers, whose statements start when the leader's does.  NULL: not preloaded. */
static TimestampTz *marks = NULL;

static TimestampTz executes_at = 0;
static uint64 executes_with = 0;

/* The statement passes a variable or column; the text does not show that any more once it is overwritten. */
static TimestampTz elsewhere_at = 0;

/* Which parameters of this session's prepared statements are secrets: the union, since their names are not looked up here. */
static uint64 prepared_with = 0;

/* ---- what is known of the statement ---- */

static bool
is_this_statement(TimestampTz start)
{
	return start != 0 && start == GetCurrentStatementStartTimestamp();
}

/* NULL in processes without a place in the array, and in those that are ending. */
static TimestampTz *
shared_mark(void)
{
	PGPROC	   *leader;
	int			number;

	if (marks == NULL || MyProc == NULL)
		return NULL;
	leader = MyProc->lockGroupLeader ? MyProc->lockGroupLeader : MyProc;
	number = TDE_PROC_NUMBER(leader);
	return number < MaxBackends ? &marks[number] : NULL;
}

void
tde_log_mark_statement(TimestampTz start)
{
	TimestampTz *mark = shared_mark();

	tde_log_sensitive = mark ? mark : &own_mark;
	*tde_log_sensitive = start;
}

static bool
is_sensitive(void)
{
	TimestampTz *mark = shared_mark();

	return is_this_statement(own_mark) || (mark && is_this_statement(*mark));
}

/* Errors of class TD are ours wherever they come from: from a parallel worker they come without a domain. */
static bool
is_ours(const ErrorData *edata)
{
	return ERRCODE_TO_CATEGORY(edata->sqlerrcode) == ERRCODE_TO_CATEGORY(ERRCODE_TDE_WALLET_CLOSED) ||
		(edata->domain != NULL && strcmp(edata->domain, TEXTDOMAIN) == 0);
}

/* ---- secrets ---- */

int
tde_log_redact_flags(void)
{
	return standard_conforming_strings ? 0 : TDE_REDACT_BACKSLASH;
}

void
tde_log_executes(uint64 parameters)
{
	executes_at = GetCurrentStatementStartTimestamp();
	executes_with = parameters;
}

/* The text is a client's message, or a copy of it that a portal, a prepared statement or the leader of parallel workers keeps. */
static bool
may_overwrite_statement(void)
{
	return MyBackendType == B_BACKEND || MyBackendType == B_WAL_SENDER || !IsUnderPostmaster || IsParallelWorker();
}

static void
redact_statement(TdeCalls *calls)
{
	char	   *text = unconstify(char *, debug_query_string);
	int			flags;
	uint64		parameters;

	/* every statement of the server comes here */
	if (likely(prepared_with == 0 && !is_this_statement(executes_at) && !tde_redact_suspects(text)))
		return;
	flags = tde_log_redact_flags();
	parameters = prepared_with;
	tde_redact_calls(text, flags, calls);
	prepared_with |= calls->parameters;
	if (calls->elsewhere)
		elsewhere_at = GetCurrentStatementStartTimestamp();
	if (is_this_statement(executes_at))
		parameters |= executes_with;
	if (parameters != 0)
		calls->masked |= tde_redact_execute(text, flags, parameters);
}

const char *
tde_log_clean_statement(void)
{
	/* not again for each statement of a function; the pointer is never followed */
	static const char *cleaned = NULL;
	static TimestampTz cleaned_at = 0;
	TdeCalls	calls = {0};

	if (debug_query_string == NULL || !may_overwrite_statement())
		return NULL;
	if (cleaned == debug_query_string && is_this_statement(cleaned_at) && executes_at != cleaned_at)
		return NULL;
	cleaned = debug_query_string;
	cleaned_at = GetCurrentStatementStartTimestamp();
	redact_statement(&calls);
	return calls.masked ? debug_query_string : NULL;
}

bool
tde_log_is_cleaned(const char *text)
{
	return text == debug_query_string && may_overwrite_statement();
}

void
tde_log_clean_text(const char *text)
{
	TdeCalls	calls = {0};

	if (may_overwrite_statement())
		tde_redact_calls(unconstify(char *, text), tde_log_redact_flags(), &calls);
}

/* All literals, or those that are parameters, of an entry's text that may be NULL. */
static void
redact_known(char *text, bool all, const TdeCalls *calls)
{
	int			flags = tde_log_redact_flags() | TDE_REDACT_ENTRY;

	if (text == NULL)
		return;
	if (all)
		tde_redact_literals(text, flags);
	else if (calls->parameters != 0)
		tde_redact_parameters(text, flags, calls->parameters);
	if (calls->parameters != 0 || prepared_with != 0)
		tde_redact_execute(text, flags, calls->parameters | prepared_with);
	if ((all || calls->parameters != 0 || calls->elsewhere) && strncmp(text, "AUDIT: ", 7) == 0)
		tde_redact_audit(text);
}

/* In pg_stat_activity.  An error can come before any other hook has done that, and is the last that is heard of its statement. */
static void
show_statement(void)
{
	uint64		query_id = pgstat_get_my_query_id();

	if (MyBackendType != B_BACKEND)
		return;
	pgstat_report_activity(STATE_RUNNING, debug_query_string);
	pgstat_report_query_id(query_id, true);
}

/* Of auto_explain.  A plan has a subquery's literals apart from the call that they are passed to. */
static bool
is_plan(const ErrorData *edata)
{
	return edata->message != NULL && strncmp(edata->message, "duration: ", 10) == 0 && strstr(edata->message, " plan:") != NULL;
}

/*
 * Overwrite the secrets in the entry and in the statement that goes with it.  Where the statement has passed a secret to a function
 * but the text does not show how, all literals.  Returns whether there were calls.
 */
static bool
redact_secrets(ErrorData *edata)
{
	char	   *texts[] = {edata->message, edata->detail, edata->detail_log, edata->hint, edata->context, edata->internalquery};
	int			flags = tde_log_redact_flags() | TDE_REDACT_ENTRY;
	TdeCalls	calls = {0};
	bool		all;
	bool		changed;

	if (debug_query_string != NULL && may_overwrite_statement())
		redact_statement(&calls);
	else if (debug_query_string != NULL && tde_redact_suspects(debug_query_string))
		edata->hide_stmt = true;
	changed = calls.masked;
	all = calls.elsewhere || is_this_statement(elsewhere_at) ||
		(is_this_statement(tde_log_secret) && (is_plan(edata) || (!is_this_statement(executes_at) && !calls.any)));
	for (int i = 0; i < lengthof(texts); i++)
		if (texts[i] != NULL)
			tde_redact_calls(texts[i], flags, &calls);
	if (is_this_statement(executes_at))
		calls.parameters |= executes_with;

	if (all && debug_query_string != NULL && may_overwrite_statement())
		changed |= tde_redact_literals(unconstify(char *, debug_query_string), tde_log_redact_flags());
	if (changed)
		show_statement();
	for (int i = 0; i < lengthof(texts); i++)
		redact_known(texts[i], all && !is_ours(edata), &calls);
	return calls.any || calls.parameters != 0 || all;
}

/* ---- values ---- */

/* Do errors with this SQLSTATE quote names and files, and never values? */
static bool
quotes_names_only(int sqlerrcode)
{
	switch (ERRCODE_TO_CATEGORY(sqlerrcode))
	{
		case ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION:
		case ERRCODE_CONNECTION_EXCEPTION:
		case ERRCODE_INVALID_TRANSACTION_STATE:
		case ERRCODE_TRANSACTION_ROLLBACK:
		case ERRCODE_INSUFFICIENT_RESOURCES:
		case ERRCODE_PROGRAM_LIMIT_EXCEEDED:
		case ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE:
		case ERRCODE_OPERATOR_INTERVENTION:
		case ERRCODE_SYSTEM_ERROR:
		case ERRCODE_INTERNAL_ERROR:
			return true;
		default:
			/* COPY's columns, and encodings */
			return sqlerrcode == ERRCODE_BAD_COPY_FILE_FORMAT || sqlerrcode == ERRCODE_CHARACTER_NOT_IN_REPERTOIRE ||
				sqlerrcode == ERRCODE_UNTRANSLATABLE_CHARACTER;
	}
}

/*
 * What the message quotes may be a value; but a name, or a misspelt word, that stands in the statement is no secret.  Errors about
 * data quote data, so there a value that happens to be a word of the statement is overwritten, too.
 */
static void
redact_message(ErrorData *edata)
{
	bool		is_data = ERRCODE_TO_CATEGORY(edata->sqlerrcode) == ERRCODE_DATA_EXCEPTION;

	if (edata->message != NULL && !is_ours(edata) && !quotes_names_only(edata->sqlerrcode))
		tde_redact_quotations(edata->message, edata->message_id, is_data ? NULL : debug_query_string);
}

/* The statement's context and the statement of a function may have the value in their text, as may the detail. */
static void
hide_values(ErrorData *edata)
{
	redact_message(edata);
	if (edata->detail != NULL && edata->detail_log == NULL)
		edata->detail_log = (char *) "Not logged, since the statement used encrypted values.";
	edata->hide_ctx = true;
	edata->internalquery = NULL;
}

/* Without shared memory, the leader does not know what a worker has seen whose error it throws again (so it has no message id). */
static bool
is_unknown_parallel(const ErrorData *edata)
{
	return marks == NULL && edata->message_id == NULL && IsInParallelMode() && !IsParallelWorker();
}

/* ---- for the hook ---- */

/* Is it log_alone() that calls the hook again? */
static bool within = false;

/* Has the statement a call that takes a secret, in one of the texts that may be logged? */
static bool
mentions_secret(const ErrorData *edata)
{
	const char *texts[] = {debug_query_string, edata->message, edata->detail, edata->hint, edata->context, edata->internalquery};

	if (is_this_statement(tde_log_secret) || is_this_statement(executes_at) || prepared_with != 0)
		return true;
	for (int i = 0; i < lengthof(texts); i++)
		if (texts[i] != NULL && tde_redact_suspects(texts[i]))
			return true;
	return false;
}

static void
hide_secrets(ErrorData *edata)
{
	bool		found = redact_secrets(edata);

	if (!found || edata->elevel < ERROR)
		return;
	/* a syntax error, or a passphrase that was taken for a name, quotes a piece of the statement */
	if (!is_ours(edata) && edata->message != NULL && edata->sqlerrcode != ERRCODE_INSUFFICIENT_PRIVILEGE &&
		!quotes_names_only(edata->sqlerrcode))
		tde_redact_quotations(edata->message, edata->message_id, debug_query_string);
}

/* A text that is overwritten for the log alone.  Without memory for it, the log has to do without it. */
static char *
copy_text(char *text)
{
	Size		size;
	char	   *copy;

	if (text == NULL)
		return NULL;
	size = strlen(text) + 1;
	copy = MemoryContextAllocExtended(ErrorContext, size, MCXT_ALLOC_NO_OOM | MCXT_ALLOC_HUGE);
	return copy ? memcpy(copy, text, size) : NULL;
}

static void
copy_texts(ErrorData *edata)
{
	edata->message = copy_text(edata->message);
	edata->detail = copy_text(edata->detail);
	edata->detail_log = copy_text(edata->detail_log);
	edata->hint = copy_text(edata->hint);
	edata->context = copy_text(edata->context);
	edata->internalquery = copy_text(edata->internalquery);
}

/* Log the entry now, as it is now, and not for the client. */
static void
log_alone(ErrorData *edata)
{
	edata->output_to_client = false;
	within = true;
	/* it may throw: not enough memory for the line of the log */
	PG_TRY();
	{
		EmitErrorReport();
	}
	PG_FINALLY();
	{
		within = false;
	}
	PG_END_TRY();
}

bool
tde_log_filter(ErrorData *edata)
{
	bool		is_error = edata->elevel >= ERROR;
	bool		has_secret;
	bool		has_value;
	bool		for_client;
	ErrorData	whole;

	if (within)
		return true;
	has_secret = mentions_secret(edata);
	has_value = is_error && ((!is_ours(edata) && is_sensitive()) || is_unknown_parallel(edata));
	/*
	 * The client gets an error as it is; an error's own memory, where the copies are, is freed when it has been dealt with.  Where all
	 * of the server fails, as little as possible is done.
	 */
	for_client = edata->output_to_client && edata->elevel < PANIC && (has_value || (is_error && has_secret));
	if (for_client)
	{
		whole = *edata;
		copy_texts(edata);
	}

	if (has_secret)
		hide_secrets(edata);
	if (has_value)
		hide_values(edata);
	/* a warning, or what log_temp_files says, has the context of an error, and is not changed for the client by that */
	else if (!is_error && edata->context != NULL && is_sensitive())
		edata->hide_ctx = true;
	/* an error may come before the first of our functions, and have the parameters in its context */
	if (is_error && tde_log_plain_params && log_parameter_max_length_on_error != 0)
		edata->hide_ctx = true;
	if (!for_client)
		return true;

	/* the log first, as always: a client that does not read must not keep it waiting */
	log_alone(edata);
	*edata = whole;
	edata->output_to_server = false;
	return false;
}

static Size
marks_size(void)
{
	return mul_size(MaxBackends, sizeof(TimestampTz));
}

static void
startup(void)
{
	bool		found;

	marks = ShmemInitStruct("tde_column log", marks_size(), &found);
	if (!found)
		memset(marks, 0, marks_size());
}

void
tde_log_init(void)
{
	(void) tde_shmem_add_for_backends(sizeof(TimestampTz), startup);
}
