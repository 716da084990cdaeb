/*
 * drawn_ahead.c - salts that are drawn ahead (crypto/primitives.h) live for a client's statement, and for a tenth of a second.
 *
 * A snapshot of a virtual machine that is resumed twice has what was drawn ahead twice: two values under one salt.  So nothing of it is left when a
 * backend waits for its client.  The hooks see statements begin and end (functions/hooks.c, functions/execution.c); an error passes by
 * them, and so do the workers of logical replication: that is what transactions are for.  What else runs functions (a fast-path call), and
 * statements that take long, meet the time.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/timeout.h"

#include "server/drawn_ahead.h"

#define LONGEST_MS	100

/* In a signal handler. */
static void
time_is_over(void)
{
	tde_random_expire();
}

static void
end_transaction(XactEvent event, void *arg)
{
	tde_drawn_ahead_drop(NULL);
}

static void
end_subtransaction(SubXactEvent event, SubTransactionId mine, SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		tde_drawn_ahead_drop(NULL);
}

/*
 * What runs still since an earlier statement drew something ends early, at most once in that time.  A session that draws nothing has
 * nothing to do at the end of a transaction.
 */
static void
begin_time(void)
{
	static bool registered = false;
	static TimeoutId timeout;

	if (!registered)
	{
		timeout = RegisterTimeout(USER_TIMEOUT, time_is_over);
		RegisterXactCallback(end_transaction, NULL);
		RegisterSubXactCallback(end_subtransaction, NULL);
	}
	registered = true;
	if (!get_timeout_active(timeout))
		enable_timeout_after(timeout, LONGEST_MS);
}

void
tde_drawn_ahead_init(void)
{
	tde_random_draws = begin_time;
}
