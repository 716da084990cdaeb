/*
 * hidden.c - statements that pass a secret are hidden whole: from the log, from pg_stat_activity, and from libraries that keep statements.
 *
 * Which they are, crypto/secret_calls.c tells by their text, or the function itself does when it is called.  In place of the text of
 * such a statement everybody sees "<hidden: FUNCTION>".  The client's own text is overwritten, since the server shows it in its next
 * message, too, when a portal is run or a prepared statement is bound: there the mark says that parameters are secret.
 *
 * What an auditor must not miss stays: that there was a statement, when, whose, in which database, how it ended, what it called and
 * how long it is; pgaudit's entries keep class, command and object.  Its length is rounded up, since it tells that of the passphrase, and
 * there is no hash of it, by which one could try passphrases faster than the wallet lets one do.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "tcop/tcopprot.h"
#include "utils/backend_status.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "crypto/secret_calls.h"
#include "server/compat.h"
#include "server/hidden.h"

#define MARK		"<hidden"
#define MARK_SIZE	(sizeof(MARK) - 1)

/* The longest text that takes the mark alone; every call is longer. */
#define BARE_MARK	(MARK_SIZE + 1)

/* Lengths are told as powers of two, this one at least. */
#define LEAST_LENGTH	64

/* Start times of the last statements that were hidden, themselves or what they read. */
static TimestampTz hidden_at = 0;
static TimestampTz data_hidden_at = 0;

/* This session has statements with parameters that are secrets.  Then EXECUTE passes one. */
static bool has_prepared = false;

/* Marks are start times, so none has to be taken away when a statement ends.  Between two statements of a client there is none to hide. */
static bool
is_this_statement(TimestampTz start)
{
	/* between two statements of a client there is none */
	return start != 0 && start == GetCurrentStatementStartTimestamp() && (debug_query_string != NULL || MyBackendType != B_BACKEND);
}

/* ---- a text ---- */

static bool
is_marked(const char *text)
{
	return *text == MARK[0] && strncmp(text, MARK, MARK_SIZE) == 0;
}

const char *
tde_hidden_by(const char *text)
{
	const char *callee;

	if (is_marked(text))
		return "";
	callee = tde_secret_call(text);
	return callee == NULL && has_prepared && tde_secret_has_execute(text) ? "EXECUTE" : callee;
}

/* Puts the mark in place of the text.  The rest of it becomes blank, so positions in it stay what they are. */
static void
overwrite(char *text, const char *callee)
{
	size_t		size = strlen(text);
	size_t		full = MARK_SIZE + strlen(": >") + strlen(callee);

	if (size < BARE_MARK || is_marked(text))
		return;
	memset(text, ' ', size);
	memcpy(text, MARK ">", BARE_MARK);
	if (*callee != '\0' && size >= full)
	{
		memcpy(text + MARK_SIZE, ": ", 2);
		memcpy(text + MARK_SIZE + 2, callee, strlen(callee));
		text[full - 1] = '>';
	}
}

/* ---- the client's statement ---- */

/*
 * Returns true if the text is a client's message, or a copy of it that a portal, a prepared statement or the leader of parallel workers keeps.
 * Others' texts may be constants, or SQL that is parsed again.
 */
static bool
may_overwrite(void)
{
	return MyBackendType == B_BACKEND || MyBackendType == B_WAL_SENDER || !IsUnderPostmaster || IsParallelWorker();
}

/*
 * Also shows the new text in pg_stat_activity, with the query's id as it was.  An error can come before any hook has done that, and is the last that
 * is heard of its statement.
 */
static void
overwrite_client_text(const char *callee)
{
	uint64		query_id = pgstat_get_my_query_id();

	if (debug_query_string == NULL || !may_overwrite())
		return;
	overwrite(unconstify(char *, debug_query_string), callee);
	if (MyBackendType == B_BACKEND)
	{
		pgstat_report_activity(STATE_RUNNING, debug_query_string);
		pgstat_report_query_id(query_id, true);
	}
}

static pg_noinline void
hide_client_text(const char *callee, TimestampTz now)
{
	/* of the client's own text: what others' functions prepare must not hide what the client says later */
	has_prepared = has_prepared || tde_secret_has_parameter(debug_query_string);
	hidden_at = now;
	overwrite_client_text(callee);
}

TdeHiddenSeen tde_hidden_seen = {NULL};

void
tde_hidden_client_text(void)
{
	TimestampTz now = GetCurrentStatementStartTimestamp();
	const char *callee;

	/* not again for each statement of a function */
	if (debug_query_string == NULL || (tde_hidden_seen.text == debug_query_string && tde_hidden_seen.at == now && now != 0))
		return;
	callee = tde_hidden_by(debug_query_string);
	tde_hidden_seen = (TdeHiddenSeen) {debug_query_string, now, callee == NULL && may_overwrite()};
	if (unlikely(callee != NULL))
		hide_client_text(callee, now);
}

bool
tde_hidden_is_client_text(const char *text)
{
	return text == debug_query_string && may_overwrite();
}

void
tde_hidden_portal_text(const char *text)
{
	const char *callee = may_overwrite() ? tde_hidden_by(text) : NULL;

	if (callee != NULL)
		overwrite(unconstify(char *, text), callee);
}

/* ---- the running statement ---- */

void
tde_hidden_statement(const char *callee)
{
	hidden_at = GetCurrentStatementStartTimestamp();
	overwrite_client_text(callee);
}

void
tde_hidden_data(void)
{
	data_hidden_at = GetCurrentStatementStartTimestamp();
}

bool
tde_hidden_is_statement(void)
{
	return is_this_statement(hidden_at) || (debug_query_string != NULL && tde_hidden_by(debug_query_string) != NULL);
}

bool
tde_hidden_is_data(void)
{
	return is_this_statement(data_hidden_at);
}

char *
tde_hidden_copy(const char *text, MemoryContext context)
{
	/* scripts of extensions hold no secrets, and each of their thousands of statements comes with the text of all */
	const char *callee = creating_extension || text == NULL ? NULL : tde_hidden_by(text);
	char	   *copy;

	if (callee == NULL)
		return NULL;
	tde_hidden_data();
	copy = MemoryContextStrdup(context, text);
	overwrite(copy, callee);
	return copy;
}

/* ---- what the log has in its place ---- */

/* Takes from the mark of the client's statement what it calls, or from its text if it has no mark yet. */
static void
find_callee(char *callee, size_t room)
{
	const char *found;

	callee[0] = '\0';
	if (debug_query_string == NULL)
		return;
	if (!is_marked(debug_query_string))
	{
		found = tde_hidden_by(debug_query_string);
		strlcpy(callee, found ? found : "", room);
	}
	else if (debug_query_string[MARK_SIZE] == ':')
	{
		strlcpy(callee, debug_query_string + MARK_SIZE + 2, room);
		callee[strcspn(callee, ">")] = '\0';
	}
}

char *
tde_hidden_describe(void)
{
	char		callee[NAMEDATALEN];
	const char *user = GetConfigOption("session_authorization", true, false);
	size_t		room = 3 * NAMEDATALEN + 128;
	size_t		length = debug_query_string ? strlen(debug_query_string) : 0;
	char	   *text = MemoryContextAllocExtended(ErrorContext, room, MCXT_ALLOC_NO_OOM);

	if (text == NULL)
		return NULL;
	find_callee(callee, sizeof(callee));
	snprintf(text, room, "statement of user \"%s\" hidden, since it passes a secret%s%s; at most " UINT64_FORMAT " bytes",
			 user ? user : "", callee[0] ? " to " : "", callee, pg_nextpower2_64(Max(length, LEAST_LENGTH)));
	return text;
}
