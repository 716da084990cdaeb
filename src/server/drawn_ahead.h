/*
 * drawn_ahead.h - salts that are drawn ahead (crypto/primitives.h) live for a client's statement, and for a tenth of a second.
 */
#ifndef TDE_SERVER_DRAWN_AHEAD_H
#define TDE_SERVER_DRAWN_AHEAD_H

#include "tcop/dest.h"

#include "crypto/primitives.h"

/*
 * Drops what was drawn ahead.  Called when a statement, or a part of one that is run by itself, begins or ends.  dest: where its rows go, which may be
 * NULL.  A statement whose rows a function takes (SPI, the last one of an SQL function) keeps it: the client's statement goes on, and a loop has new
 * salts without new calls of the operating system.  Others within functions are not told from a client's, and drop it.
 */
static inline void
tde_drawn_ahead_drop(const DestReceiver *dest)
{
	if (unlikely(tde_random_is_ahead) && (dest == NULL || (dest->mydest != DestSPI && dest->mydest != DestSQLFunction)))
		tde_random_drop();
}

extern void tde_drawn_ahead_init(void); /* from _PG_init */

#endif							/* TDE_SERVER_DRAWN_AHEAD_H */
