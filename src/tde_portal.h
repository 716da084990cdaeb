/*
 * tde_portal.h - rows that PostgreSQL keeps before it sends them are kept in memory if they are decrypted.
 *
 * layer: 9
 */
#ifndef TDE_PORTAL_H
#define TDE_PORTAL_H

#include "nodes/parsenodes.h"
#include "tcop/dest.h"
#include "utils/plancache.h"

/* Before a utility command; executed: the prepared statement that it executes, or NULL. */
extern void tde_portal_prepare(Node *stmt, CachedPlanSource *executed, DestReceiver *dest);

extern void tde_portal_init(void);

#endif							/* TDE_PORTAL_H */
