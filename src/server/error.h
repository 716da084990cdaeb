/*
 * error.h - our SQLSTATEs, the one place where a status becomes an error, and what of an error gets into the server log.
 *
 * Class TD is ours.  Applications may branch on these codes; they do not change.
 */
#ifndef TDE_SERVER_ERROR_H
#define TDE_SERVER_ERROR_H

#include "access/xact.h"

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
pg_noreturn extern void tde_throw(TdeStatus status);

static inline void
tde_check(TdeStatus status)
{
	if (unlikely(status != TDE_OK))
		tde_throw(status);
}

/* ---- the server log ---- */

/*
 * Start time of the last statement in which a value of an encrypted type was seen in clear: by this process or, where there is
 * shared memory of ours, by its parallel workers, too.
 */
extern TimestampTz *tde_log_sensitive;

extern void tde_log_mark_statement(TimestampTz start);

/* To be called before plaintext can get into an error. */
static inline void
tde_log_mark(void)
{
	TimestampTz start = GetCurrentStatementStartTimestamp();

	if (unlikely(*tde_log_sensitive != start))
		tde_log_mark_statement(start);
}

/* Start time of the last statement that had a passphrase as an argument. */
extern TimestampTz tde_log_secret;

/* Has this session statements whose parameters are values for encrypted columns, and are read without us? */
extern bool tde_log_plain_params;

/* This statement EXECUTEs a prepared one, which passes these of its parameters, as in TdeCalls, to functions that take secrets. */
extern void tde_log_executes(uint64 parameters);

/* How the server reads literals, for crypto/statement_secrets.h. */
extern int	tde_log_redact_flags(void);

/*
 * The client's statement without its secrets, overwritten in place.  Only where it is in memory that nobody reads as SQL again: in
 * sessions of clients.  Returns it if that changed it, else NULL.
 */
extern const char *tde_log_clean_statement(void);

/* Is a text the one that tde_log_clean_statement(), called before, has looked through? */
extern bool tde_log_is_cleaned(const char *text);

/* The same for the text of a portal, which is a copy of its own. */
extern void tde_log_clean_text(const char *text);

/*
 * For the hook of the log: change the entry in place, so that it holds nothing that must not be read.  False: what the client is to
 * get differs, so the entry has been logged already, and is the client's again.
 */
extern bool tde_log_filter(ErrorData *edata);

extern void tde_log_init(void);

#endif							/* TDE_SERVER_ERROR_H */
