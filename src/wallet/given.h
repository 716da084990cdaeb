/*
 * given.h - the secret that this session has given by COPY, until a function takes it.
 */
#ifndef TDE_WALLET_GIVEN_H
#define TDE_WALLET_GIVEN_H

#include "postgres.h"

#include "wallet/passphrase.h"

/* Keep it, in place of another one; ereport if it has no passphrase's size. */
extern void tde_given_put(const char *secret, Size size);

/* Is there one, of the user who is asking? */
extern bool tde_given_waits(void);

/* Take it: it is gone then.  False if there is none. */
extern bool tde_given_take(char secret[TDE_MAX_PASSPHRASE]);

extern void tde_given_drop(void);

#endif							/* TDE_WALLET_GIVEN_H */
