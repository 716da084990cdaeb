/*
 * given.h - the secret that this session has given by COPY, until a function takes it.
 *
 * COPY tde.passphrase FROM STDIN (functions/secrets.c) puts a secret here, and the next call of a function without that argument takes it.  So the
 * secret is in no statement's text, no log and no history of a client.
 */
#ifndef TDE_WALLET_GIVEN_H
#define TDE_WALLET_GIVEN_H

#include "postgres.h"

#include "wallet/passphrase.h"

/* Keeps a copy for a minute, in place of another one.  Throws ERRCODE_INVALID_PARAMETER_VALUE if it has no passphrase's size. */
extern void tde_given_put(const char *secret, Size size);

/* Returns true if there is one, and the session's user is still the one who gave it. */
extern bool tde_given_waits(void);

/* Takes it: it is gone then.  Returns false if there is none.  The caller cleanses the copy, whatever is returned. */
extern bool tde_given_take(char secret[TDE_MAX_PASSPHRASE]);

/* Cleanses it, if there is one; on DISCARD and at the end of a transaction that fails. */
extern void tde_given_drop(void);

#endif							/* TDE_WALLET_GIVEN_H */
