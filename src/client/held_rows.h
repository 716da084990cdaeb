/*
 * held_rows.h - rows that PostgreSQL keeps before it sends them are kept in memory if they are decrypted.
 */
#ifndef TDE_CLIENT_HELD_ROWS_H
#define TDE_CLIENT_HELD_ROWS_H

#include "executor/execdesc.h"
#include "utils/portal.h"

/* Before EXECUTE of a statement that decrypts, before FETCH, and before a plan is run. */
extern void tde_held_rows_execute(DestReceiver *dest);
extern void tde_held_rows_fetch(Portal cursor, DestReceiver *dest);
extern void tde_held_rows_run(QueryDesc *query);

#endif							/* TDE_CLIENT_HELD_ROWS_H */
