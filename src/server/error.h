/*
 * error.h - our SQLSTATEs, the one place where a status becomes an error, and what of an error gets into the server log.
 *
 * Class TD is ours.  Applications may branch on these codes; they do not change.
 */
#ifndef TDE_SERVER_ERROR_H
#define TDE_SERVER_ERROR_H

#include "access/xact.h"
#include "fmgr.h"

#include "crypto/status.h"
#include "server/compat.h"

/* ---- a status becomes an error ---- */

#define ERRCODE_TDE_WALLET_CLOSED	MAKE_SQLSTATE('T','D','E','0','1')
#define ERRCODE_TDE_WALLET_FAILURE	MAKE_SQLSTATE('T','D','E','0','2')
#define ERRCODE_TDE_KEY_NOT_FOUND	MAKE_SQLSTATE('T','D','E','0','3')
#define ERRCODE_TDE_NOT_AUTHENTIC	MAKE_SQLSTATE('T','D','E','0','4')
#define ERRCODE_TDE_CRYPTO_FAILURE	MAKE_SQLSTATE('T','D','E','0','5')
#define ERRCODE_TDE_OTHER_KEY		MAKE_SQLSTATE('T','D','E','0','6')

/*
 * Raise the error that stands for a status other than TDE_OK.  Anything wrong with a value's bytes gives one and the
 * same message, whatever it was.
 */
pg_noreturn extern PGDLLEXPORT void tde_error_throw(TdeStatus status);

static inline void
tde_check(TdeStatus status)
{
	if (unlikely(status != TDE_OK))
		tde_error_throw(status);
}

/* ---- the server log ---- */

/*
 * Start time of the last statement in which a value of an encrypted type was seen in clear: by this process or, where there is
 * shared memory of ours, by its parallel workers, too.
 */
extern TimestampTz *tde_log_sensitive;

extern void tde_sensitive_mark_statement(TimestampTz start);

/* Is it the running one?  Are the marks of parallel workers known? */
extern bool tde_sensitive_is_marked(void);
extern bool tde_sensitive_marks_are_shared(void);

/* To be called before plaintext can get into an error. */
static inline void
tde_log_mark(void)
{
	TimestampTz start = GetCurrentStatementStartTimestamp();

	if (unlikely(*tde_log_sensitive != start))
		tde_sensitive_mark_statement(start);
}

/* Has this session statements whose parameters are values for encrypted columns, and are read without us? */
extern bool tde_log_plain_params;

/* For the hook of the log.  False: the entry has something that must not be read; it has been logged without that, and is the client's. */
extern bool tde_log_filter(ErrorData *edata);

extern void tde_sensitive_init(void);

/*
 * A line in the server's log about the call, before it does anything: role, function, and the key that is meant (NULL: none by name).  Tools
 * as pgaudit leave functions in pg_catalog out.  Never a secret: no other argument is logged, and the statement is not either.
 */
extern PGDLLEXPORT void tde_log_call(FunctionCallInfo fcinfo, const char *key);

#endif							/* TDE_SERVER_ERROR_H */
