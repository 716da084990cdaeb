/*
 * held_rows.c - rows that PostgreSQL keeps before it sends them are kept in memory if they are decrypted.
 *
 * It keeps those of RETURNING, of SELECT with a data-changing WITH clause, of EXECUTE and of FETCH, and writes them to
 * a temporary file beyond work_mem.  The values would stand there in clear, so such a portal gets a store without that
 * limit.
 */
#include "postgres.h"

#include "executor/tstoreReceiver.h"
#include "tcop/pquery.h"
#include "utils/guc.h"
#include "utils/portal.h"
#include "utils/tuplestore.h"

#include "client/held_rows.h"
#include "client/result.h"

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
	/* the descriptor as the portal has it: what has been prepared anew since then may have other types */
	SetTuplestoreDestReceiverParams(dest, store, portal->holdContext, false, portal->tupDesc,
									gettext_noop("query result type does not match portal result type"));
}

static bool
fills_store(DestReceiver *dest, PortalStrategy strategy)
{
	return dest->mydest == DestTuplestore && ActivePortal && ActivePortal->strategy == strategy &&
		ActivePortal->holdStore;
}

static bool
fetches_decrypted(Portal cursor)
{
	ListCell   *cell;

	foreach(cell, cursor->stmts)
		if (tde_result_in_plan(lfirst(cell)))
			return true;
	return false;
}

void
tde_held_rows_execute(DestReceiver *dest)
{
	if (fills_store(dest, PORTAL_UTIL_SELECT))
		keep_in_memory(dest);
}

void
tde_held_rows_fetch(Portal cursor, DestReceiver *dest)
{
	if (fetches_decrypted(cursor))
		tde_held_rows_execute(dest);
}

void
tde_held_rows_run(QueryDesc *query)
{
	/* a function that the statement calls may fill a store of its own */
	if ((fills_store(query->dest, PORTAL_ONE_RETURNING) || fills_store(query->dest, PORTAL_ONE_MOD_WITH)) &&
		list_member_ptr(ActivePortal->stmts, query->plannedstmt) && tde_result_in_plan(query->plannedstmt))
		keep_in_memory(query->dest);
}
