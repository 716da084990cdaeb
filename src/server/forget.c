/*
 * forget.c - how every process comes to forget the secrets that it keeps in memory of its own, the idle ones too.
 *
 * An idle backend waits for its client and runs no code of ours.  What wakes it is PostgreSQL's own signal to those who lag behind in
 * reading invalidations: it makes an idle backend read them, outside of the signal handler, whether it is in a transaction or
 * not.  So what forgets is called where invalidations are accepted, can free memory as usual, and costs nothing until then.
 */
#include "postgres.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "storage/procsignal.h"
#include "storage/sinval.h"

#include "server/compat.h"
#include "server/forget.h"

/* How far down the stack remains are looked for.  PostgreSQL keeps twice as much free below the depth that it checks. */
#define STACK_BELOW		(256 * 1024)

#define MAX_FORGETTERS	4

bool		tde_secrets_held = false;

static void (*forgetters[MAX_FORGETTERS]) (void);
static int	forgetter_count = 0;

/* Cleanse remains once more when the transaction ends: the statement that is running now may leave some. */
static bool cleanse_at_end = false;

void
tde_forget_by(void (*forget) (void))
{
	Assert(forgetter_count < MAX_FORGETTERS);
	forgetters[forgetter_count++] = forget;
}

/* What functions that have returned left on the stack. */
static pg_noinline void
cleanse_stack(void)
{
	char		below[STACK_BELOW];

	explicit_bzero(below, sizeof(below));
}

/* Copies of values that were freed without a look at what they held: those in whole pages go back to the kernel. */
static void
cleanse_remains(void)
{
	cleanse_stack();
#ifdef __GLIBC__
	(void) malloc_trim(0);
#endif
}

void
tde_forget_here(void)
{
	if (!tde_secrets_held)
		return;
	tde_secrets_held = false;
	for (int i = 0; i < forgetter_count; i++)
		forgetters[i] ();
	cleanse_remains();
	cleanse_at_end = true;
}

/* Have a process read the invalidations soon.  It is no harm if it has ended, or is another one now. */
static void
wake(const PGPROC *proc)
{
	int			pid = proc->pid;

	if (pid != 0 && pid != MyProcPid && OidIsValid(proc->databaseId))
		(void) SendProcSignal(pid, PROCSIG_CATCHUP_INTERRUPT, INVALID_PROC_NUMBER);
}

void
tde_forget_everywhere(void)
{
	SharedInvalidationMessage message;

	tde_forget_here();
	memset(&message, 0, sizeof(message));
	message.rc.id = SHAREDINVALRELCACHE_ID;
	message.rc.dbId = InvalidOid;	/* all databases */
	message.rc.relId = TDE_FORGET_RELID;
	SendSharedInvalidMessages(&message, 1);
	for (uint32 i = 0; i < ProcGlobal->allProcCount; i++)
		wake(&ProcGlobal->allProcs[i]);
}

static void
transaction_callback(XactEvent event, void *arg)
{
	if (cleanse_at_end && (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT))
	{
		cleanse_at_end = false;
		cleanse_remains();
	}
}

void
tde_forget_init(void)
{
	RegisterXactCallback(transaction_callback, NULL);
}
