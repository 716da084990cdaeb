/*
 * secrets.h - utility commands that bring secrets, or are to end what is kept of one.
 */
#ifndef TDE_FUNCTIONS_SECRETS_H
#define TDE_FUNCTIONS_SECRETS_H

#include "nodes/nodes.h"

/* For ProcessUtility_hook, before the command is run. */
extern void tde_secrets_utility(Node *stmt);

#endif							/* TDE_FUNCTIONS_SECRETS_H */
