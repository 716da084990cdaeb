/*
 * closed_wallet.h - VACUUM and REINDEX of many tables while the wallet is closed.
 */
#ifndef TDE_MAINTENANCE_CLOSED_WALLET_H
#define TDE_MAINTENANCE_CLOSED_WALLET_H

#include "nodes/pg_list.h"

/*
 * What to run in place of a command that would end at the first encrypted index: true, and steps in *instead, each in transactions of its
 * own, which may be none; those that are left out are told by a WARNING.  False: it is run as it is.  isolated: outside of a transaction block.
 */
extern bool tde_closed_wallet_changes(Node *utility, bool isolated, List **instead);

/* Run them. */
typedef void (*TdeRunUtility) (Node *utility, void *arg);
extern void tde_closed_wallet_run(List *instead, TdeRunUtility run, void *arg);

#endif							/* TDE_MAINTENANCE_CLOSED_WALLET_H */
