/*
 * log.c - what of an error, or of another entry, gets into the server log.
 *
 * PostgreSQL's errors quote values: "Key (a)=(...) already exists.", "Failing row contains (...)", COPY's line, "invalid input
 * syntax for type integer: ...".  The client gets them, but the log is a file that many can read.  And a statement that opens the
 * wallet or exports keys holds a secret, so nothing of it is logged (server/hidden.c).  The entry stays, with user, time and command.
 *
 * A hook in the log path must work in every process and state, so this one looks nothing up, and does without memory that it does not
 * get.  What must not be read is left out of a copy of the entry, which is logged in place of it; the client gets the entry.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "tcop/pquery.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "crypto/quotations.h"
#include "crypto/secret_calls.h"
#include "server/compat.h"
#include "server/error.h"
#include "server/hidden.h"
#include "server/log_entry.h"

bool		tde_log_plain_params = false;

/* Returns true if the statement of an error is logged with it.  "log" stands between "error" and "fatal". */
static bool
logs_failed_statements(void)
{
	return log_min_error_statement != LOG && log_min_error_statement <= ERROR;
}

/* ---- texts for the log alone; without memory for one, the log has to do without it ---- */

/* Returns memory in the ErrorContext, which errors reset; NULL if there is none. */
static char *
new_text(Size size)
{
	return MemoryContextAllocExtended(ErrorContext, size, MCXT_ALLOC_NO_OOM | MCXT_ALLOC_HUGE);
}

/* What begins a message, and what follows in place of the rest; NULL: nothing does. */
static char *
join_text(const char *begins, Size size, char *follows)
{
	Size		added = follows ? strlen(follows) : 0;
	char	   *text = new_text(size + added + 1);

	if (text != NULL)
	{
		memcpy(text, begins, size);
		memcpy(text + size, follows ? follows : "", added);
		text[size + added] = '\0';
	}
	if (follows)
		pfree(follows);
	return text;
}

/* ---- secrets ---- */

#define NOT_LOGGED_SECRET	((char *) "Not logged, since the statement passes a secret.")

/* Returns true if a text of the entry is that of a statement to be hidden, or quotes one.  Scripts of extensions hold no secrets. */
static bool
is_hidden_text(const char *text)
{
	return text != NULL && !creating_extension && tde_secret_call(text) != NULL;
}

/* Returns true if the context, which quotes statements, has a secret; an EXECUTE of a prepared statement may have one, too. */
static bool
is_hidden_context(const ErrorData *edata)
{
	const char *texts[] = {edata->context, edata->internalquery};

	for (int i = 0; i < lengthof(texts); i++)
		if (texts[i] != NULL && !creating_extension && tde_hidden_by(texts[i]) != NULL)
			return true;
	return false;
}

/* Returns the place behind so many fields of CSV, with the comma. */
static const char *
skip_fields(const char *p, int count)
{
	bool		quoted = false;

	for (; *p != '\0' && count > 0; p++)
	{
		if (*p == '"')
			quoted = !quoted;
		else if (*p == ',' && !quoted)
			count--;
	}
	return p;
}

/* How much of a message has nothing of the statement: how long it took; of pgaudit what it is, its class, command and object. */
static Size
harmless_size(const char *message)
{
	const char *end = NULL;

	if (strncmp(message, "duration: ", 10) == 0)
		end = strstr(message, " ms");
	else if (strncmp(message, "AUDIT: ", 7) == 0)
		return skip_fields(message, 7) - message;
	return end ? end + strlen(" ms  ") - message : 0;
}

/* An error keeps its SQLSTATE, and anything else what is harmless in front of the statement. */
static void
replace_message(ErrorData *edata)
{
	const char *message = edata->message ? edata->message : "";
	Size		size = Min(harmless_size(message), strlen(message));
	char		error[64];

	if (edata->elevel < ERROR)
		edata->message = join_text(message, size, tde_hidden_describe());
	else
	{
		size = snprintf(error, sizeof(error), "error %s, whose message is hidden", unpack_sql_state(edata->sqlerrcode));
		edata->message = join_text(error, size, NULL);
	}
}

/*
 * Returns true if an entry that is not an error has nothing in its message that anybody else has put there.  whole: the statement's text is to be
 * hidden, too.
 */
static bool
is_own_message(const ErrorData *edata, bool whole)
{
	const char *format = edata->message_id;

	if (format == NULL || is_free_text(edata) || is_plan(edata) || is_hidden_text(edata->message))
		return false;
	return !whole || strstr(format, "%s") == NULL || strcmp(format, "duration: %s ms") == 0 || strcmp(format, "%s:") == 0;
}

/* Returns true if errors with this SQLSTATE quote names and files, and never values. */
static bool
quotes_names_only(const ErrorData *edata)
{
	if (is_free_text(edata) || !is_of_server(edata))
		return false;
	switch (ERRCODE_TO_CATEGORY(edata->sqlerrcode))
	{
		case ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION:
		case ERRCODE_CONNECTION_EXCEPTION:
		case ERRCODE_INVALID_TRANSACTION_STATE:
		case ERRCODE_TRANSACTION_ROLLBACK:
		case ERRCODE_INSUFFICIENT_RESOURCES:
		case ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE:
		case ERRCODE_OPERATOR_INTERVENTION:
		case ERRCODE_INTERNAL_ERROR:
			return true;
		case ERRCODE_PROGRAM_LIMIT_EXCEEDED:
			/* of an index that a value does not fit in, not of a word that is too long for a search */
			return strstr(edata->message_id, "index \"%s\"") != NULL;
		case ERRCODE_SYSTEM_ERROR:
			return is_of_storage(edata);
		default:
			return false;
	}
}

/* The same of COPY's columns, and encodings, which show a few bytes. */
static bool
quotes_little(const ErrorData *edata)
{
	return !is_free_text(edata) &&
		(edata->sqlerrcode == ERRCODE_BAD_COPY_FILE_FORMAT || edata->sqlerrcode == ERRCODE_CHARACTER_NOT_IN_REPERTOIRE ||
		 edata->sqlerrcode == ERRCODE_UNTRANSLATABLE_CHARACTER);
}

/*
 * Nothing of a statement that passes a secret, nor of what it passes.  whole: its text is hidden, too.  What we say ourselves quotes
 * nothing.
 */
static void
hide_secret(ErrorData *edata, bool whole)
{
	edata->internalquery = NULL;
	edata->hide_ctx = true;
	if (whole)
		edata->hide_stmt = true;
	if (edata->elevel >= ERROR && whole)
	{
		edata->context = tde_hidden_describe();
		edata->hide_ctx = false;
	}
	if (is_our_message(edata))
		return;
	if (edata->detail != NULL || edata->detail_log != NULL)
		edata->detail_log = NOT_LOGGED_SECRET;
	edata->hint = NULL;
	if (edata->elevel >= ERROR ? !quotes_names_only(edata) && edata->sqlerrcode != ERRCODE_INSUFFICIENT_PRIVILEGE :
		!is_own_message(edata, whole))
		replace_message(edata);
}

/* The statement passes none, but one of these texts is of a statement that does. */
static void
hide_quoted_secret(ErrorData *edata)
{
	if (is_hidden_text(edata->message))
		replace_message(edata);
	if (is_hidden_text(edata->detail) || is_hidden_text(edata->detail_log))
		edata->detail_log = NOT_LOGGED_SECRET;
	if (is_hidden_text(edata->hint))
		edata->hint = NULL;
	if (is_hidden_context(edata))
	{
		edata->hide_ctx = true;
		edata->internalquery = NULL;
	}
}

/* A call that was refused: it has not come so far as to say itself that the statement passes a secret. */
static bool
is_refused_call(const ErrorData *edata)
{
	return (edata->sqlerrcode == ERRCODE_INSUFFICIENT_PRIVILEGE || edata->sqlerrcode == ERRCODE_UNDEFINED_FUNCTION) &&
		is_hidden_context(edata);
}

static bool
has_secret(const ErrorData *edata)
{
	return is_hidden_text(edata->message) || is_hidden_text(edata->detail) || is_hidden_text(edata->detail_log) ||
		is_hidden_text(edata->hint) || is_hidden_context(edata);
}

/* ---- values ---- */

#define NOT_LOGGED_VALUE	((char *) "Not logged, since the statement used encrypted values.")

/* A copy in which what may be a value is overwritten. */
static char *
redacted(const char *text, const char *format, const char *keep)
{
	char	   *copy = join_text(text, strlen(text), NULL);

	if (copy != NULL)
	{
		tde_quotations_redact(copy, format, keep);
		tde_quotations_redact_numbers(copy, format, keep);
	}
	return copy;
}

/*
 * What the message quotes may be a value, and so may a number; but a name, or a misspelt word, that stands in the statement is no secret.  Errors about
 * data quote data, so there a value that happens to be a word of the statement is overwritten, too.  A hint is like the message, but for one that is
 * somebody else's.
 */
static void
redact_message(ErrorData *edata)
{
	bool		is_data = ERRCODE_TO_CATEGORY(edata->sqlerrcode) == ERRCODE_DATA_EXCEPTION;
	const char *keep = is_data ? NULL : debug_query_string;

	if (is_our_message(edata) || quotes_names_only(edata) || quotes_little(edata))
		return;
	if (edata->message != NULL)
		edata->message = redacted(edata->message, edata->message_id, keep);
	if (edata->hint != NULL)
		edata->hint = is_free_text(edata) ? NULL : redacted(edata->hint, NULL, keep);
}

/*
 * The statement's context and the statement of a function may have the value in their text, as may the detail.  That of a deadlock, for
 * the client, has no statements where there is one for the log that has them.
 */
static void
hide_values(ErrorData *edata)
{
	redact_message(edata);
	if (has_detail_of_deadlock(edata))
		edata->detail_log = NULL;
	else if (edata->detail != NULL || edata->detail_log != NULL)
		edata->detail_log = NOT_LOGGED_VALUE;
	edata->hide_ctx = true;
	edata->internalquery = NULL;
}

/* Without shared memory, the leader does not know what a worker has seen whose error it throws again (so it has no message id). */
static bool
is_unknown_parallel(const ErrorData *edata)
{
	return !tde_sensitive_marks_are_shared() && edata->message_id == NULL && IsInParallelMode() && !IsParallelWorker();
}

/*
 * Statements of other sessions stand in the detail of deadlocks and crashes.  Whoever has statements that fail kept out of the log means
 * those, too.
 */
static bool
quotes_other_statements(const ErrorData *edata)
{
	if (logs_failed_statements())
		return false;
	return edata->sqlerrcode == ERRCODE_T_R_DEADLOCK_DETECTED ||
		(!IsUnderPostmaster && IsPostmasterEnvironment && edata->detail != NULL && edata->elevel == LOG);
}

/* ---- for the hook ---- */

/* What is to be left out of an entry. */
typedef struct Hiding
{
	bool		statement;		/* the statement passes a secret */
	bool		data;			/* ... in what it reads or runs */
	bool		quoted;			/* ... or one that is quoted does */
	bool		values;
	bool		tree;			/* of a statement that used values */
	bool		context;
	bool		others;			/* statements of others */
} Hiding;

/* Decides what is to be left out of an entry.  In doubt it is left out: the client still gets it, and the log has the SQLSTATE. */
static Hiding
find_hiding(const ErrorData *edata)
{
	bool		is_error = edata->elevel >= ERROR;
	Hiding		hiding = {0};

	hiding.statement = tde_hidden_is_statement() || (is_error && is_refused_call(edata));
	hiding.data = tde_hidden_is_data();
	hiding.quoted = !hiding.statement && !hiding.data && has_secret(edata);

	/* an error may come before the first of our functions, and quote a parameter or have the parameters in its context */
	hiding.values = is_error && ((!is_our_message(edata) && (tde_sensitive_is_marked() || (tde_log_plain_params && ActivePortal == NULL))) ||
								 is_unknown_parallel(edata));
	hiding.tree = is_tree(edata) && tde_sensitive_is_marked();
	/* a warning says what an error does; processes of the server's own say what they are about */
	hiding.values |= !is_error && tde_sensitive_is_marked() && !is_our_message(edata) && !is_report(edata) &&
		(MyBackendType == B_BACKEND || IsParallelWorker() || is_free_text(edata));
	/* and what log_temp_files says, has the context of an error */
	hiding.context = (!is_error && edata->context != NULL && tde_sensitive_is_marked()) ||
		(is_error && tde_log_plain_params && log_parameter_max_length_on_error != 0);
	hiding.others = quotes_other_statements(edata);
	return hiding;
}

static bool
hides_anything(const Hiding *hiding)
{
	return hiding->statement || hiding->data || hiding->quoted || hiding->values || hiding->tree || hiding->context || hiding->others;
}

/* Leaves out of the entry what find_hiding() has found.  A secret is stricter than a value, and includes it. */
static void
hide(ErrorData *edata, const Hiding *hiding)
{
	bool		has_other_detail = has_detail_of_deadlock(edata);

	if (hiding->statement || hiding->data)
		hide_secret(edata, hiding->statement);
	else
	{
		if (hiding->quoted)
			hide_quoted_secret(edata);
		if (hiding->values)
			hide_values(edata);
		if (hiding->tree)
			edata->detail_log = NOT_LOGGED_VALUE;
		if (hiding->context)
			edata->hide_ctx = true;
	}
	if (hiding->others)
		edata->detail_log = has_other_detail ? NULL :
			(char *) "Not logged, since log_min_error_statement keeps statements that fail out of the log.";
}

/* The entry for which log_alone() has the hook called again; NULL: none. */
static const ErrorData *within = NULL;

/* Logs the entry now, as it is now, and not for the client.  EmitErrorReport() calls the hook again, which lets this one entry through. */
static void
log_alone(ErrorData *edata)
{
	edata->output_to_client = false;
	within = edata;
	/* it may throw: not enough memory for the line of the log */
	PG_TRY();
	{
		EmitErrorReport();
	}
	PG_FINALLY();
	{
		within = NULL;
	}
	PG_END_TRY();
}

/* Frees a text that was made for the log.  Constants stand only in detail_log, which is not freed. */
static void
free_text(const char *text, const char *original)
{
	if (text != NULL && text != original)
		pfree(unconstify(char *, text));
}

bool
tde_log_filter(ErrorData *edata)
{
	ErrorData	whole = *edata;
	Hiding		hiding;

	/* what is to be left out is, unless the hook gets a copy: then the entry is not logged at all */
	if (within != NULL)
	{
		edata->output_to_server &= edata == within;
		return edata == within;
	}
	tde_hidden_client_text();
	hiding = find_hiding(edata);
	if (!hides_anything(&hiding))
		return true;
	hide(edata, &hiding);
	/* where all of the server fails, as little as possible is done */
	if (edata->elevel >= PANIC)
		return true;

	/* the log first, as always: a client that does not read must not keep it waiting */
	log_alone(edata);
	free_text(edata->message, whole.message);
	free_text(edata->context, whole.context);
	free_text(edata->hint, whole.hint);
	*edata = whole;
	edata->output_to_server = false;
	return false;
}

void
tde_log_call(FunctionCallInfo fcinfo, const char *key)
{
	char	   *function = get_func_name(fcinfo->flinfo->fn_oid);
	char	   *user = GetUserNameFromId(GetUserId(), false);
	char	   *session = GetUserNameFromId(GetSessionUserId(), false);

	/* without parentheses: what looks like a call that passes a secret is hidden */
	ereport(LOG_SERVER_ONLY,
			(key ? errmsg("function %s called for key \"%s\" by user \"%s\", session user \"%s\"", function, key, user, session) :
			 errmsg("function %s called by user \"%s\", session user \"%s\"", function, user, session),
			 errhidestmt(true), errhidecontext(true)));
}
