/*
 * tde_log.h - keeps plaintext that PostgreSQL itself would write into the server log out of it.
 *
 * layer: 2
 */
#ifndef TDE_LOG_H
#define TDE_LOG_H

#include "access/xact.h"

/* Start time of the last statement in which a value of an encrypted type was seen in clear. */
extern TimestampTz tde_log_sensitive;

/* Start time of the last statement that had a passphrase as an argument. */
extern TimestampTz tde_log_secret;

/* To be called before plaintext can get into an error's DETAIL or CONTEXT. */
static inline void
tde_log_mark(void)
{
	tde_log_sensitive = GetCurrentStatementStartTimestamp();
}

/* Has this session statements whose parameters are values for encrypted columns, and are read without us? */
extern bool tde_log_plain_params;

extern void tde_log_init(void);

#endif							/* TDE_LOG_H */
