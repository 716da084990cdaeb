/*
 * share_pool.h - the shares of the wallet that came in and wait for the others, in shared memory.
 *
 * They are forgotten as soon as there are enough, when the wallet is opened, changed or closed meanwhile, and after
 * tde_column.share_timeout.
 */
#ifndef TDE_CEREMONY_SHARE_POOL_H
#define TDE_CEREMONY_SHARE_POOL_H

#include "ceremony/shamir.h"
#include "server/compat.h"

/* What became of a share. */
typedef enum TdeShareVerdict
{
	TDE_SHARE_ADDED,
	TDE_SHARE_REPEATED,
	TDE_SHARE_FOREIGN			/* of another split than those that are in */
} TdeShareVerdict;

extern void tde_share_pool_init(void);	/* when the module is loaded */

/* Returns true if the library was in shared_preload_libraries.  Otherwise nothing of the following may be called. */
extern bool tde_share_pool_exists(void);

/*
 * Puts a share to the others.  *in: how many of its split, or of the other one, are in then.  When there are enough, they are moved to enough[],
 * which the caller cleanses, and the pool is empty.
 */
extern TdeShareVerdict tde_share_pool_add(const TdeShare *share, int *in, TdeShare enough[TDE_MAX_SHARES]);

/* Forgets all.  Returns how many there were. */
extern int	tde_share_pool_forget(void);

#endif							/* TDE_CEREMONY_SHARE_POOL_H */
