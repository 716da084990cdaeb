/*
 * held_cursors.c - rows that PostgreSQL keeps before it sends them: decrypted ones in memory, those of cursors WITH HOLD as ciphertext.
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/tstoreReceiver.h"
#include "lib/ilist.h"
#include "tcop/pquery.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/portal.h"
#include "utils/tuplestore.h"

#include "client/held_cursors.h"
#include "client/result.h"
#include "type/masks.h"
#include "type/opened.h"

/*
 * ---- rows that are decrypted are kept in memory ----
 *
 * PostgreSQL keeps those of RETURNING, of SELECT with a data-changing WITH clause, of EXECUTE and of FETCH, and writes them to
 * a temporary file beyond work_mem.  The values would stand there in clear, so such a portal gets a store without that
 * limit.
 */

/* Gives the active portal another store, without a limit of memory, in place of the one that dest fills, which is still empty. */
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

/* Returns true if dest fills the store of the active portal, and that runs by this strategy: it keeps all rows before it sends them. */
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

/*
 * ---- cursors WITH HOLD ----
 *
 * At the end of the transaction PostgreSQL puts all rows of such a cursor into a store, which it writes to a temporary file beyond
 * work_mem.  They are put there as the executor makes them.  The client has been told the base types, so the portal goes on
 * saying these; and since its rows are others, nobody may read them meanwhile: not a function that fetches by the server's
 * programming interface, nor an Execute message, which no hook sees.  PostgreSQL refuses to run a portal that is done, and so is ours,
 * except while FETCH or MOVE runs: then it says what its rows are, and a receiver in front of FETCH's decrypts them.
 */

/* Lives in the portal's holdContext, as long as its rows do. */
typedef struct HeldCursor
{
	Portal		portal;
	TupleDesc	shown;			/* what the client was told */
	TupleDesc	encrypted;		/* what the rows are */
	Bitmapset  *columns;		/* the indexes of those to decrypt */
	TdeOrigin  *origins;		/* of all columns, by their indexes */
	dlist_node	node;			/* in cursors */
	MemoryContextCallback gone;
} HeldCursor;

static dlist_head cursors = DLIST_STATIC_INIT(cursors);

static void
forget_cursor(void *cursor)
{
	dlist_delete(&((HeldCursor *) cursor)->node);
}

bool
tde_held_cursor_persists(QueryDesc *query)
{
	return query->dest->mydest == DestTuplestore && ActivePortal && ActivePortal->queryDesc == query && ActivePortal->holdStore;
}

void
tde_held_cursors_seal(void)
{
	dlist_iter	iter;

	dlist_foreach(iter, &cursors)
	{
		HeldCursor *cursor = dlist_container(HeldCursor, node, iter.cur);

		if (cursor->portal->status != PORTAL_READY)
			continue;
		cursor->portal->status = PORTAL_DONE;
		cursor->portal->tupDesc = cursor->shown;
	}
}

static void
cursors_at_end(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT)
		tde_held_cursors_seal();
}

/* Returns where each column comes from, in the current memory context: the plan may be gone when the rows are read. */
static TdeOrigin *
origins_of(QueryDesc *query, Bitmapset *columns)
{
	TdeOrigin  *origins = palloc0(query->tupDesc->natts * sizeof(TdeOrigin));
	int			index = -1;

	while ((index = bms_next_member(columns, index)) >= 0)
	{
		origins[index].masked = tde_masks_result(query->plannedstmt->invalItems, index);
		if (tde_track_decryptions)
			origins[index].counted = tde_decryptions->result(query, index);
	}
	return origins;
}

void
tde_held_cursor_keep(QueryDesc *query, Bitmapset *columns)
{
	Portal		portal = ActivePortal;
	MemoryContext context = MemoryContextSwitchTo(portal->holdContext);
	HeldCursor *cursor = palloc(sizeof(HeldCursor));
	static bool registered = false;

	if (!registered)
		RegisterXactCallback(cursors_at_end, NULL);
	registered = true;
	cursor->portal = portal;
	cursor->shown = portal->tupDesc;
	cursor->encrypted = CreateTupleDescCopy(query->tupDesc);
	cursor->columns = bms_copy(columns);
	cursor->origins = origins_of(query, columns);
	/* until it is sealed, a deferred trigger may read it, for example */
	portal->tupDesc = cursor->encrypted;
	dlist_push_head(&cursors, &cursor->node);
	cursor->gone.func = forget_cursor;
	cursor->gone.arg = cursor;
	MemoryContextRegisterResetCallback(portal->holdContext, &cursor->gone);
	MemoryContextSwitchTo(context);
}

bool
tde_held_cursor_open(Portal portal, TupleDesc *encrypted, Bitmapset **columns, const TdeOrigin **origins)
{
	dlist_iter	iter;

	dlist_foreach(iter, &cursors)
	{
		HeldCursor *cursor = dlist_container(HeldCursor, node, iter.cur);

		if (cursor->portal != portal)
			continue;
		if (portal->status == PORTAL_DONE)
			portal->status = PORTAL_READY;
		portal->tupDesc = *encrypted = cursor->encrypted;
		*columns = cursor->columns;
		*origins = cursor->origins;
		return true;
	}
	return false;
}
