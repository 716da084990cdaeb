/*
 * error.h - our SQLSTATEs, and the one place where a status becomes an error.
 *
 * Class TD is ours.  Applications may branch on these codes; they do not change.
 */
#ifndef TDE_SERVER_ERROR_H
#define TDE_SERVER_ERROR_H

#include "crypto/status.h"
#include "server/compat.h"

#define ERRCODE_TDE_WALLET_CLOSED	MAKE_SQLSTATE('T','D','E','0','1')
#define ERRCODE_TDE_WALLET_FAILURE	MAKE_SQLSTATE('T','D','E','0','2')
#define ERRCODE_TDE_KEY_NOT_FOUND	MAKE_SQLSTATE('T','D','E','0','3')
#define ERRCODE_TDE_NOT_AUTHENTIC	MAKE_SQLSTATE('T','D','E','0','4')
#define ERRCODE_TDE_CRYPTO_FAILURE	MAKE_SQLSTATE('T','D','E','0','5')

/*
 * Raise the error that stands for a status other than TDE_OK.  Anything wrong with a value's bytes gives one and the
 * same message, whatever it was.
 */
pg_noreturn extern void tde_throw(TdeStatus status);

static inline void
tde_check(TdeStatus status)
{
	if (unlikely(status != TDE_OK))
		tde_throw(status);
}

#endif							/* TDE_SERVER_ERROR_H */
