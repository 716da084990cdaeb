/*
 * share_pool.c - the shares of the wallet that came in and wait for the others, in shared memory.
 *
 * They are of one split.  Stale ones are forgotten by whoever looks next, and a background worker that lives as long as
 * there are any looks often.
 */
#include "postgres.h"

#include <openssl/crypto.h>

#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "ceremony/share_pool.h"
#include "functions/settings.h"
#include "server/memory.h"
#include "wallet/wallet.h"

extern PGDLLEXPORT void tde_share_expiry_main(Datum number);

#define NAME "tde_column shares"

/* How often the worker looks. */
#define LOOK_EVERY_MS 1000

/* All of it is on pages for secrets, and read and written under the lock.  The shares are of one split, and all are gone when count is 0. */
typedef struct Pool
{
	LWLock	   *lock;
	uint32		number;			/* grows with every first share, so that a worker knows those it was started for */
	int			count;
	uint64		generation;		/* of the wallet, when the first share came in */
	TimestampTz expires_at;
	Latch	   *worker;			/* of the newest worker, to be told when there is nothing left to watch; or NULL */
	TdeShare	shares[TDE_MAX_SHARES]; /* all different */
} Pool;


static Pool *pool = NULL;		/* NULL: not preloaded */

/* ---- set-up ---- */

static void
startup_share_pool(void)
{
	bool		found;

	pool = tde_memory_secret_shmem(NAME, sizeof(Pool), &found);
	if (!found)
		pool->lock = tde_memory_shmem_lock(NAME);
}

void
tde_share_pool_init(void)
{
	(void) tde_memory_shmem_add(tde_memory_secret_shmem_size(sizeof(Pool)), NAME, startup_share_pool);
}

bool
tde_share_pool_exists(void)
{
	return pool != NULL;
}

/* ---- what ends in _locked is called with the lock held ---- */

/* Cleanses all shares.  The worker is woken, to end now: background workers are few. */
static void
forget_locked(void)
{
	OPENSSL_cleanse(pool->shares, sizeof(pool->shares));
	pool->count = 0;
	if (pool->worker)
		SetLatch(pool->worker);
}

/* Forgets shares that are not to be kept any longer.  Returns how many had expired; a wallet that has changed is no matter for the log. */
static int
forget_stale_locked(void)
{
	int			count = pool->count;

	if (count == 0)
		return 0;
	if (pool->generation != pg_atomic_read_u64(tde_wallet_generation))
	{
		forget_locked();
		return 0;
	}
	if (GetCurrentTimestamp() < pool->expires_at)
		return 0;
	forget_locked();
	return count;
}

static void
log_expired(int count)
{
	if (count > 0)
		ereport(LOG, (errmsg("shares of the wallet expired: %d", count)));
}

static bool
is_in_locked(const TdeShare *share)
{
	for (int i = 0; i < pool->count; i++)
		if (pool->shares[i].x == share->x)
			return true;
	return false;
}

/* Adds a share; the first one of a split begins its time.  There is room: a split has no more than TDE_MAX_SHARES, and all are different. */
static void
add_locked(const TdeShare *share)
{
	if (pool->count == 0)
	{
		pool->number++;
		pool->generation = pg_atomic_read_u64(tde_wallet_generation);
		pool->expires_at = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), tde_share_timeout * INT64CONST(1000));
	}
	pool->shares[pool->count++] = *share;
}

/* ---- the worker ---- */

/* Returns true if the shares that this worker was started for still wait. */
static bool
is_waiting(uint32 number)
{
	bool		waiting;
	int			expired;

	LWLockAcquire(pool->lock, LW_EXCLUSIVE);
	expired = forget_stale_locked();
	waiting = pool->count > 0 && pool->number == number;
	LWLockRelease(pool->lock);
	log_expired(expired);
	return waiting;
}

/* For before_shmem_exit(), so also at a FATAL.  The latch will be another process's, and whoever forgets shares would wake that. */
static void
stop_watching(int code, Datum number)
{
	LWLockAcquire(pool->lock, LW_EXCLUSIVE);
	if (pool->worker == MyLatch)
		pool->worker = NULL;
	/* what nobody watches over does not stay */
	if (pool->number == DatumGetUInt32(number))
		forget_locked();
	LWLockRelease(pool->lock);
}

/* The worker's main function.  It needs no database, and ends as soon as its shares are gone. */
void
tde_share_expiry_main(Datum number)
{
	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	BackgroundWorkerUnblockSignals();
	before_shmem_exit(stop_watching, number);
	LWLockAcquire(pool->lock, LW_EXCLUSIVE);
	pool->worker = MyLatch;
	LWLockRelease(pool->lock);
	while (is_waiting(DatumGetUInt32(number)) && !ShutdownRequestPending)
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, LOOK_EVERY_MS, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}

/* Starts a worker that watches over the shares with this number.  Without one they are forgotten by the next call of a function for shares. */
static void
start_worker(uint32 number)
{
	BackgroundWorker worker = {
		.bgw_name = "tde_column share expiry",
		.bgw_type = "tde_column share expiry",
		.bgw_flags = BGWORKER_SHMEM_ACCESS,
		.bgw_start_time = BgWorkerStart_ConsistentState,
		.bgw_restart_time = BGW_NEVER_RESTART,
		.bgw_library_name = "tde_column_ceremony",
		.bgw_function_name = "tde_share_expiry_main",
		.bgw_main_arg = UInt32GetDatum(number)
	};

	if (!RegisterDynamicBackgroundWorker(&worker, NULL))
		ereport(LOG,
				(errmsg("no background worker is free to forget expired shares of the wallet"),
				 errdetail("The next call of a function for shares forgets them."),
				 errhint("Increase max_worker_processes.")));
}


/* ---- what the SQL functions do ---- */

/* The lock is not held while anything is logged or a worker is started: both may fail, or wait. */
TdeShareVerdict
tde_share_pool_add(const TdeShare *share, int *in, TdeShare enough[TDE_MAX_SHARES])
{
	TdeShareVerdict verdict = TDE_SHARE_ADDED;
	uint32		number;
	int			expired;

	LWLockAcquire(pool->lock, LW_EXCLUSIVE);
	expired = forget_stale_locked();
	if (pool->count > 0 && !tde_shamir_same_split(share, &pool->shares[0]))
		verdict = TDE_SHARE_FOREIGN;
	else if (is_in_locked(share))
		verdict = TDE_SHARE_REPEATED;
	else
		add_locked(share);
	*in = pool->count;
	number = pool->number;
	if (verdict == TDE_SHARE_ADDED && *in == share->k)
	{
		memcpy(enough, pool->shares, *in * sizeof(TdeShare));
		forget_locked();
	}
	LWLockRelease(pool->lock);
	log_expired(expired);
	if (verdict == TDE_SHARE_ADDED && *in == 1)
		start_worker(number);
	return verdict;
}

int
tde_share_pool_forget(void)
{
	int			count;

	LWLockAcquire(pool->lock, LW_EXCLUSIVE);
	(void) forget_stale_locked();
	count = pool->count;
	forget_locked();
	LWLockRelease(pool->lock);
	return count;
}
