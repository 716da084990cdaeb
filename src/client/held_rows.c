/*
 * held_rows.c - rows that PostgreSQL keeps before it sends them are kept in memory if they are decrypted.
 *
 * It keeps those of RETURNING, of SELECT with a data-changing WITH clause, of EXECUTE and of FETCH, and writes them to
 * a temporary file beyond work_mem.  The values would stand there in clear, so such a portal gets a store without that
 * limit.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "executor/tstoreReceiver.h"
#include "tcop/pquery.h"
#include "utils/guc.h"
#include "utils/portal.h"
#include "utils/tuplestore.h"

#include "client/held_rows.h"
#include "client/result.h"
#include "server/compat.h"

static ExecutorRun_hook_type prev_executor_run = NULL;

/* dest fills the store of the active portal, which is still empty. */
static void
keep_in_memory(DestReceiver *dest)
{
	Portal		portal = ActivePortal;
	MemoryContext context = MemoryContextSwitchTo(portal->holdContext);
	Tuplestorestate *store = tuplestore_begin_heap(portal->cursorOptions & CURSOR_OPT_SCROLL, true, MAX_KILOBYTES);

	MemoryContextSwitchTo(context);
	tuplestore_end(portal->holdStore);
	portal->holdStore = store;
	SetTuplestoreDestReceiverParams(dest, store, portal->holdContext, false, NULL, NULL);
}

static bool
fills_store(DestReceiver *dest, PortalStrategy strategy)
{
	return dest->mydest == DestTuplestore && ActivePortal && ActivePortal->strategy == strategy &&
		ActivePortal->holdStore;
}

static bool
fetches_decrypted(const char *cursor)
{
	Portal		portal = GetPortalByName(cursor);
	ListCell   *cell;

	if (!PortalIsValid(portal))
		return false;
	foreach(cell, portal->stmts)
		if (tde_result_in_plan(lfirst(cell)))
			return true;
	return false;
}

void
tde_portal_keep_in_memory(DestReceiver *dest)
{
	if (fills_store(dest, PORTAL_UTIL_SELECT))
		keep_in_memory(dest);
}

void
tde_portal_prepare_fetch(const char *cursor, DestReceiver *dest)
{
	if (fetches_decrypted(cursor))
		tde_portal_keep_in_memory(dest);
}

static void
executor_run(TDE_EXECUTOR_RUN_PARAMETERS)
{
	/* a function that the statement calls may fill a store of its own */
	if ((fills_store(query->dest, PORTAL_ONE_RETURNING) || fills_store(query->dest, PORTAL_ONE_MOD_WITH)) &&
		list_member_ptr(ActivePortal->stmts, query->plannedstmt) && tde_result_in_plan(query->plannedstmt))
		keep_in_memory(query->dest);

	if (prev_executor_run)
		prev_executor_run(TDE_EXECUTOR_RUN_ARGUMENTS);
	else
		standard_ExecutorRun(TDE_EXECUTOR_RUN_ARGUMENTS);
}

void
tde_portal_init(void)
{
	prev_executor_run = ExecutorRun_hook;
	ExecutorRun_hook = executor_run;
}
