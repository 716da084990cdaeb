/*
 * hidden.h - statements that pass a secret, and are hidden from everybody who is shown statements.
 */
#ifndef TDE_SERVER_HIDDEN_H
#define TDE_SERVER_HIDDEN_H

#include "utils/palloc.h"

/* The running statement passes a secret, as its text does not show: to this function or view. */
extern PGDLLEXPORT void tde_hidden_statement(const char *callee);

/* What the running statement reads or runs is secret, its text is not: COPY tde.passphrase FROM STDIN. */
extern void tde_hidden_data(void);

/* Is the running statement to be hidden, or what it reads? */
extern bool tde_hidden_is_statement(void);
extern bool tde_hidden_is_data(void);

/* Why the text is to be hidden: what it passes a secret to, "" if that is not known any more; NULL: it may be seen. */
extern const char *tde_hidden_by(const char *text);

/*
 * Overwrite the client's statement if it is to be hidden, in pg_stat_activity, too; where it is in memory that nobody reads as SQL
 * again: in sessions of clients.
 */
extern void tde_hidden_client_text(void);

/* Is a text the one that tde_hidden_client_text(), called before, has looked at? */
extern bool tde_hidden_is_client_text(const char *text);

/* The same for the text of a portal, which is a copy of its own. */
extern void tde_hidden_portal_text(const char *text);

/* A text of the same length in place of one that is to be hidden, of a statement within another.  NULL: it may be seen. */
extern char *tde_hidden_copy(const char *text, MemoryContext context);

/* "statement hidden, since ...", in memory of the ErrorContext; NULL if there is none. */
extern char *tde_hidden_describe(void);

#endif							/* TDE_SERVER_HIDDEN_H */
