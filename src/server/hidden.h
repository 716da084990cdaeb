/*
 * hidden.h - statements that pass a secret, and are hidden from everybody who is shown statements.
 */
#ifndef TDE_SERVER_HIDDEN_H
#define TDE_SERVER_HIDDEN_H

#include "datatype/timestamp.h"
#include "tcop/tcopprot.h"
#include "utils/palloc.h"

/* Hides the running statement: it passes a secret, as its text does not show, to this function or view. */
extern PGDLLEXPORT void tde_hidden_statement(const char *callee);

/* Hides what the running statement reads or runs, which is secret, while its text is not: COPY tde.passphrase FROM STDIN. */
extern void tde_hidden_data(void);

/* Return true if the running statement is to be hidden, or what it reads. */
extern bool tde_hidden_is_statement(void);
extern bool tde_hidden_is_data(void);

/*
 * Returns why the text is to be hidden: what it passes a secret to, "" if that is not known any more.  NULL: it may be seen.  The result is not to be
 * freed.
 */
extern const char *tde_hidden_by(const char *text);

/*
 * Overwrites the client's statement if it is to be hidden, in pg_stat_activity, too.  It does so where the text is in memory that nobody reads as SQL
 * again: in sessions of clients.
 */
extern void tde_hidden_client_text(void);

/* Returns true if a text is the one that tde_hidden_client_text(), called before, has looked at. */
extern bool tde_hidden_is_client_text(const char *text);

/*
 * What tde_hidden_client_text() has looked at last, when that statement began, and whether it is the client's and may be seen.  The pointer is
 * compared and never followed.
 */
typedef struct TdeHiddenSeen
{
	const char *text;
	TimestampTz at;
	bool		may_be_seen;
} TdeHiddenSeen;

extern TdeHiddenSeen tde_hidden_seen;

/*
 * Returns true if the text of a statement that is planned or started is the client's, was looked at and may be seen.  What a client sends is analyzed
 * before it is planned, and looked at then.  What a prepared statement keeps of it stays as it is.  Memory that had one text has another only when
 * that was sent.
 */
static inline bool
tde_hidden_may_be_seen(const char *text)
{
	return text == tde_hidden_seen.text && text == debug_query_string && tde_hidden_seen.may_be_seen;
}

/* The same as tde_hidden_client_text() for the text of a portal, which is a copy of its own. */
extern void tde_hidden_portal_text(const char *text);

/*
 * Returns a text of the same length in place of one that is to be hidden, of a statement within another; it is in that context.  NULL: it may be
 * seen.
 */
extern char *tde_hidden_copy(const char *text, MemoryContext context);

/* Returns "statement hidden, since ...", in memory of the ErrorContext.  NULL if there is no memory. */
extern char *tde_hidden_describe(void);

#endif							/* TDE_SERVER_HIDDEN_H */
