/*
 * errors.c - errors about keys tell which node they are from.
 *
 * Citus passes on what another node says, but of rows that it copies, and of what goes through a third node, not which node says it.
 * With one wallet for each node that is what one has to know.
 */
#include "postgres.h"

#include "common/ip.h"
#include "libpq/libpq-be.h"
#include "miscadmin.h"
#include "utils/guc.h"

#include "distributed/errors.h"
#include "distributed/table.h"
#include "server/error.h"

/* How the names begin that Citus gives to its own connections. */
#define CITUS_APPLICATION	"citus_"

#define NAMES_SERVER		"This is said by the server at "

static bool
is_for_node(void)
{
	return MyProcPort && tde_citus_is_loaded() && application_name && strncmp(application_name, CITUS_APPLICATION, strlen(CITUS_APPLICATION)) == 0;
}

void
tde_distributed_error(ErrorData *edata)
{
	char		host[NI_MAXHOST];
	char		port[NI_MAXSERV];

	if (ERRCODE_TO_CATEGORY(edata->sqlerrcode) != ERRCODE_TO_CATEGORY(ERRCODE_TDE_WALLET_CLOSED) || !is_for_node())
		return;
	/* from another node, which has named itself */
	if (edata->detail && strstr(edata->detail, NAMES_SERVER))
		return;
	if (pg_getnameinfo_all(&MyProcPort->laddr.addr, MyProcPort->laddr.salen, host, sizeof(host), port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return;
	edata->detail = psprintf("%s%s" NAMES_SERVER "%s:%s.", edata->detail ? edata->detail : "", edata->detail ? "  " : "", host, port);
}
