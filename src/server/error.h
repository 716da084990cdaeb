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
 * Throws the error that stands for a status other than TDE_OK.  Anything wrong with a value's bytes gives one and the same message, whatever it was:
 * else whoever changes bytes could learn from the differences (a padding oracle).
 */
pg_noreturn extern PGDLLEXPORT void tde_error_throw(TdeStatus status);

/* Throws unless the status is TDE_OK.  The caller has cleansed what must not stay behind. */
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

/* Marks the statement that began then.  The mark is where the leader and its workers see it, if there is such a place. */
extern void tde_sensitive_mark_statement(TimestampTz start);

/* Return true if the running statement is marked, and if the marks of parallel workers are known. */
extern bool tde_sensitive_is_marked(void);
extern bool tde_sensitive_marks_are_shared(void);

/* To be called before plaintext can get into an error.  It costs a comparison for all values of a statement but the first. */
static inline void
tde_log_mark(void)
{
	TimestampTz start = GetCurrentStatementStartTimestamp();

	if (unlikely(*tde_log_sensitive != start))
		tde_sensitive_mark_statement(start);
}

/* This session has statements whose parameters are values for encrypted columns, and are read without us: by the base type's input function. */
extern bool tde_log_plain_params;

/*
 * For emit_log_hook.  Returns false if the entry has something that must not be read; then it has been logged without that, and is the client's
 * alone.  It is called in every process and state, and looks nothing up.
 */
extern bool tde_log_filter(ErrorData *edata);

extern void tde_sensitive_init(void);	/* from _PG_init */

/*
 * Writes a line into the server's log about the call, before it does anything: role, function, and the key that is meant (NULL: none by name).  Tools
 * such as pgaudit leave functions in pg_catalog out.  It never has a secret: no other argument is logged, and neither is the statement.
 */
extern PGDLLEXPORT void tde_log_call(FunctionCallInfo fcinfo, const char *key);

#endif							/* TDE_SERVER_ERROR_H */
