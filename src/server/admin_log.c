/*
 * admin_log.c - who calls what administers the wallet and keys.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/lsyscache.h"

#include "server/admin_log.h"
#include "server/compat.h"

void
tde_log_call(FunctionCallInfo fcinfo, const char *key)
{
	char	   *function = get_func_name(fcinfo->flinfo->fn_oid);
	char	   *user = GetUserNameFromId(GetUserId(), false);
	char	   *session = GetUserNameFromId(GetSessionUserId(), false);

	/* without parentheses: what looks like a call that passes a secret is hidden */
	ereport(LOG_SERVER_ONLY,
			(key ? errmsg("function %s called for key \"%s\" by user \"%s\", session user \"%s\"", function, key, user, session) :
			 errmsg("function %s called by user \"%s\", session user \"%s\"", function, user, session),
			 errhidestmt(true), errhidecontext(true)));
}
