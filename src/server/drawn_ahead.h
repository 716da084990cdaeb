/*
 * drawn_ahead.h - salts that are drawn ahead (crypto/primitives.h) live for a statement, and for a tenth of a second.
 */
#ifndef TDE_SERVER_DRAWN_AHEAD_H
#define TDE_SERVER_DRAWN_AHEAD_H

#include "crypto/primitives.h"

/* Drops what was drawn ahead.  Called when a statement, or a part of one that is run by itself, begins or ends. */
static inline void
tde_drawn_ahead_drop(void)
{
	if (unlikely(tde_random_is_ahead))
		tde_random_drop();
}

extern void tde_drawn_ahead_init(void); /* from _PG_init */

#endif							/* TDE_SERVER_DRAWN_AHEAD_H */
