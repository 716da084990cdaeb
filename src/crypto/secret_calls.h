/*
 * secret_calls.h - finds texts of statements that pass a secret to one of our functions.
 *
 * A secret is a passphrase, a share, the secret of exported keys, or a key or password of others' encryption.  The functions are known by
 * their names, since a text is logged before anything of it is looked up.  Nothing is allocated, and the text may be anything.
 */
#ifndef TDE_CRYPTO_SECRET_CALLS_H
#define TDE_CRYPTO_SECRET_CALLS_H

#include <stdbool.h>

/*
 * Returns what the text calls with arguments, or may call: the name of a function, or of the view that takes secrets, a constant; NULL if there is
 * none.  Fast, for texts of any size.
 */
extern const char *tde_secret_call(const char *text);

/* Returns true if the text has a parameter, $1. */
extern bool tde_secret_has_parameter(const char *text);

/* Returns true if the text has the command EXECUTE.  Not the privilege, nor what a trigger does. */
extern bool tde_secret_has_execute(const char *text);

#endif							/* TDE_CRYPTO_SECRET_CALLS_H */
