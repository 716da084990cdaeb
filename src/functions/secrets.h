/*
 * secrets.h - utility commands that bring secrets, or are to end what is kept of one.
 */
#ifndef TDE_FUNCTIONS_SECRETS_H
#define TDE_FUNCTIONS_SECRETS_H

#include "nodes/nodes.h"

/*
 * Before a utility command is run: hides what COPY passphrase FROM reads from the log and from other sessions, and drops the secret that the session
 * has given at DISCARD.  Does nothing for other commands.
 */
extern void tde_secrets_utility(Node *stmt);

#endif							/* TDE_FUNCTIONS_SECRETS_H */
