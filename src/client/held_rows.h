/*
 * held_rows.h - rows that PostgreSQL keeps before it sends them are kept in memory if they are decrypted.
 */
#ifndef TDE_CLIENT_HELD_ROWS_H
#define TDE_CLIENT_HELD_ROWS_H

#include "tcop/dest.h"

/* Before EXECUTE of a statement that decrypts, and before FETCH. */
extern void tde_portal_keep_in_memory(DestReceiver *dest);
extern void tde_portal_prepare_fetch(const char *cursor, DestReceiver *dest);

extern void tde_portal_init(void);

#endif							/* TDE_CLIENT_HELD_ROWS_H */
