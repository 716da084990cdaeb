/*
 * admin_log.h - who calls what administers the wallet and keys.
 */
#ifndef TDE_SERVER_ADMIN_LOG_H
#define TDE_SERVER_ADMIN_LOG_H

#include "fmgr.h"

/*
 * A line in the server's log about the call, before it does anything: role, function, and the key that is meant (NULL: none by name).  Tools
 * as pgaudit leave functions in pg_catalog out.  Never a secret: no other argument is logged, and the statement is not either.
 */
extern PGDLLEXPORT void tde_log_call(FunctionCallInfo fcinfo, const char *key);

#endif							/* TDE_SERVER_ADMIN_LOG_H */
