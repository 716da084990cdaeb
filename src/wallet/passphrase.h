/*
 * passphrase.h - where passphrases and other secrets come from, COPY, arguments in SQL and the command that prints one, and how strong
 * they have to be.
 */
#ifndef TDE_WALLET_PASSPHRASE_H
#define TDE_WALLET_PASSPHRASE_H

#include "postgres.h"

#include "fmgr.h"

/* GUC tde_column.passphrase_min_length: bytes that a new passphrase has at least. */
extern int	tde_passphrase_min_length;

/* Longest passphrase, with its terminating zero. */
#define TDE_MAX_PASSPHRASE	1024

/*
 * Copies an SQL argument to where the caller cleanses it, and keeps the statement out of the log.  If the argument is NULL it takes what the session
 * has given by COPY; throws ERRCODE_INVALID_PARAMETER_VALUE if that is nothing.  what: "passphrase" or "secret", for errors.
 */
extern void tde_passphrase_take(FunctionCallInfo fcinfo, int n, const char *what, char passphrase[TDE_MAX_PASSPHRASE]);

/* Returns true if there is an argument, or the session has given a passphrase by COPY. */
extern bool tde_passphrase_is_given(FunctionCallInfo fcinfo, int n);

/* Throws ERRCODE_INVALID_PARAMETER_VALUE if it is empty or too long; what as above. */
extern void tde_given_check_size(Size size, const char *what);

/* Throws ERRCODE_INVALID_PARAMETER_VALUE if it is too weak for a new one: too short, or of too few different bytes. */
extern PGDLLEXPORT void tde_passphrase_require_strength(const char *passphrase, const char *what);

/* Calls a function with such a copy, which is cleansed however the call ends. */
typedef void (*TdePassphraseUse) (const char *passphrase, void *arg);
extern PGDLLEXPORT void tde_passphrase_use(FunctionCallInfo fcinfo, int n, const char *what, TdePassphraseUse use, void *arg);

/*
 * Runs the command and reads the first line that it prints, without its end.  It can be cancelled; after timeout milliseconds the command and its
 * children are killed.  Returns false, after a LOG message, if it fails, hangs, or prints nothing or too much.  The caller cleanses the passphrase.
 */
extern bool tde_passphrase_run(const char *command, int timeout, char passphrase[TDE_MAX_PASSPHRASE]);

#endif							/* TDE_WALLET_PASSPHRASE_H */
