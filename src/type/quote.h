/*
 * quote.h - values that PostgreSQL quotes in the details of errors, to somebody who may not see them.
 *
 * "Key (a)=(...) already exists", "Failing row contains (...)": the value comes from its type's output function.  If that refused,
 * the role that may only write would be told so instead of what is wrong with its row, under another SQLSTATE.
 */
#ifndef TDE_TYPE_QUOTE_H
#define TDE_TYPE_QUOTE_H

#include "type/type.h"

/*
 * What an output function gives instead of a value that the user may not see.  While a statement that changes data is running, a
 * text that says nothing: if it goes into an error, the error is what the user gets.  If it goes anywhere else, the statement
 * fails when it has come to its end, so that the text is not stored in place of a value.  Elsewhere it fails at once.
 */
extern char *tde_quote_hidden(TdeType *type);

extern void tde_quote_init(void);

#endif							/* TDE_TYPE_QUOTE_H */
