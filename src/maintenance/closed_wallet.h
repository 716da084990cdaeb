/*
 * closed_wallet.h - VACUUM and REINDEX of many tables while the wallet is closed.
 *
 * functions/hooks.c asks of a utility command whether another one is to be run in its place, and then has tde_closed_wallet_run() call it back for
 * each step.
 */
#ifndef TDE_MAINTENANCE_CLOSED_WALLET_H
#define TDE_MAINTENANCE_CLOSED_WALLET_H

#include "nodes/pg_list.h"

/*
 * Returns true if a command would end at the first encrypted index, and steps are to be run in its place.  They are in *instead, each for
 * transactions of its own, and may be none.  A WARNING tells of each table or index that is left out.  Returns false if the command is run as it is.
 * isolated: it stands outside of a transaction block.
 *
 * Throws ERRCODE_TDE_WALLET_CLOSED for what is built CONCURRENTLY and needs a key.
 */
extern bool tde_closed_wallet_changes(Node *utility, bool isolated, List **instead);

/*
 * Runs the steps, each in a new transaction: what the caller has read of catalogs is of an earlier one then.  The list lives on, in the caller's
 * memory context.
 */
typedef void (*TdeRunUtility) (Node *utility, void *arg);
extern void tde_closed_wallet_run(List *instead, TdeRunUtility run, void *arg);

#endif							/* TDE_MAINTENANCE_CLOSED_WALLET_H */
