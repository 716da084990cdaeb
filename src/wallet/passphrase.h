/*
 * passphrase.h - where passphrases and other secrets come from, COPY, arguments in SQL and the command that prints one, and how strong
 * they have to be.
 */
#ifndef TDE_WALLET_PASSPHRASE_H
#define TDE_WALLET_PASSPHRASE_H

#include "postgres.h"

#include "fmgr.h"

/* GUC: bytes that a new passphrase has at least */
extern int	tde_passphrase_min_length;

/* Longest passphrase, with its terminating zero. */
#define TDE_MAX_PASSPHRASE	1024

/*
 * Copy an SQL argument to where the caller cleanses it, and keep the statement out of the log; the argument NULL: what the session has
 * given by COPY, and ereport if that is nothing.  what: "passphrase" or "secret", for errors.
 */
extern void tde_passphrase_take(FunctionCallInfo fcinfo, int n, const char *what, char passphrase[TDE_MAX_PASSPHRASE]);

/* Is there an argument, or has the session given a passphrase by COPY? */
extern bool tde_passphrase_is_given(FunctionCallInfo fcinfo, int n);

/* ereport if it is empty or too long. */
extern void tde_given_check_size(Size size, const char *what);

/* ereport if it is too weak for a new one; what as above. */
extern PGDLLEXPORT void tde_passphrase_require_strength(const char *passphrase, const char *what);

/* Call a function with such a copy, which is cleansed however the call ends. */
typedef void (*TdePassphraseUse) (const char *passphrase, void *arg);
extern PGDLLEXPORT void tde_passphrase_use(FunctionCallInfo fcinfo, int n, const char *what, TdePassphraseUse use, void *arg);

/*
 * Run the command and read the first line that it prints.  Cancellable; after timeout milliseconds the command and its
 * children are killed.  False with a LOG message if it fails, hangs, prints nothing or too much.
 */
extern bool tde_passphrase_run(const char *command, int timeout, char passphrase[TDE_MAX_PASSPHRASE]);

#endif							/* TDE_WALLET_PASSPHRASE_H */
