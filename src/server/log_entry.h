/*
 * log_entry.h - what is known of an entry of the log: who says it, and of what kind it is.  For server/log.c.
 */
#ifndef TDE_SERVER_LOG_ENTRY_H
#define TDE_SERVER_LOG_ENTRY_H

#include "server/compat.h"
#include "server/error.h"

/* Returns true if we say it.  Errors of class TD are ours wherever they come from: from a parallel worker they come without a domain. */
static inline bool
is_our_message(const ErrorData *edata)
{
	return ERRCODE_TO_CATEGORY(edata->sqlerrcode) == ERRCODE_TO_CATEGORY(ERRCODE_TDE_WALLET_CLOSED) ||
		(edata->domain != NULL && strcmp(edata->domain, TEXTDOMAIN) == 0);
}

/* Returns true of PostgreSQL's format "%s": the message is wholly what somebody else says, as in RAISE. */
static inline bool
is_free_text(const ErrorData *edata)
{
	return edata->message_id == NULL || strcmp(edata->message_id, "%s") == 0;
}

/* Returns true if the server itself says it, and not a language or another library. */
static inline bool
is_of_server(const ErrorData *edata)
{
	return edata->domain != NULL && strcmp(edata->domain, PG_TEXTDOMAIN("postgres")) == 0;
}

/* Returns true of what auto_explain writes. */
static inline bool
is_plan(const ErrorData *edata)
{
	return edata->message != NULL && strncmp(edata->message, "duration: ", 10) == 0 && strstr(edata->message, " plan:") != NULL;
}

/* Returns true if it is from one of these source files.  What functions of PostgreSQL's say of their arguments is from others. */
static inline bool
is_from(const ErrorData *edata, const char *const *files, int count)
{
	for (int i = 0; i < count; i++)
		if (edata->filename != NULL && strcmp(edata->filename, files[i]) == 0)
			return true;
	return false;
}

/* Returns true of debug_print_parse and its like: the title is the message, the tree the detail. */
static inline bool
is_tree(const ErrorData *edata)
{
	static const char *const files[] = {"print.c"};

	return edata->elevel < ERROR && (is_from(edata, files, lengthof(files)) || (edata->message_id != NULL && strcmp(edata->message_id, "%s:") == 0));
}

/*
 * Returns true of what settings write down: statements, parameters, plans and trees, statistics, temporary files, waits for locks, VACUUM and
 * ANALYZE.
 */
static inline bool
is_report(const ErrorData *edata)
{
	static const char *const files[] = {"postgres.c", "print.c", "auto_explain.c", "pgaudit.c", "fd.c", "proc.c", "vacuumlazy.c", "analyze.c"};

	return is_from(edata, files, lengthof(files));
}

/* Returns true of errors about the server's own files, not about those that a function was asked for. */
static inline bool
is_of_storage(const ErrorData *edata)
{
	static const char *const files[] = {"md.c", "buffile.c", "slru.c", "relmapper.c", "xlog.c"};

	return is_from(edata, files, lengthof(files)) || (edata->message_id != NULL && strstr(edata->message_id, "temporary file") != NULL);
}

/* Returns true of a deadlock that has two details: one with statements for the log, and one without for the client. */
static inline bool
has_detail_of_deadlock(const ErrorData *edata)
{
	return edata->sqlerrcode == ERRCODE_T_R_DEADLOCK_DETECTED && edata->detail_log != NULL;
}

#endif							/* TDE_SERVER_LOG_ENTRY_H */
