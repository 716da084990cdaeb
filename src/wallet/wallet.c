/*
 * wallet.c - the wallet's state in shared memory: closing it, handing out master keys.
 *
 * Locking: everything in TdeWalletState but the generation is protected by its lock.  Nothing slow happens under it: the
 * passphrase command runs, and the file is read or written (a good part of a second, on purpose), with the lock released
 * and the state marked busy, so that other processes that need a key, or the file, wait on the condition variable and can
 * be cancelled.
 *
 * The wallet is closed at start.  Who needs a key opens it by the passphrase command, if there is one (open.c); a user opens it by a passphrase.  A
 * command that failed is not run again for a while, and one that a user has closed not at all, until a user opens it.  Each opening and closing is
 * another generation, by which processes know that what they have of keys is stale.  A change (change.c) writes the file first, and then the state: a
 * crash in between leaves what the file says.  Preloaded, all of this is once for the instance; otherwise each process has it for itself.
 */
#include "postgres.h"

#include <openssl/crypto.h>
#include <unistd.h>

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/condition_variable.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "crypto/primitives.h"
#include "server/error.h"
#include "server/memory.h"
#include "wallet/file.h"
#include "wallet/state.h"

#define LOCK_NAME "tde_column"

char	   *tde_wallet_file = NULL;
char	   *tde_passphrase_command = NULL;
int			tde_passphrase_timeout = 30000;

TdeWalletState *tde_wallet_state = NULL;
static TdeWalletState own_state;
static TdeWalletContents own_contents;

pg_atomic_uint64 *tde_wallet_generation = &own_state.generation;

/* ---- set-up ---- */

/* Fills in a state that nobody else uses yet; contents, in pages of their own, are zeros. */
static void
init_state(TdeWalletState *state, TdeWalletContents *contents, LWLock *lock)
{
	memset(state, 0, sizeof(*state));
	state->lock = lock;
	ConditionVariableInit(&state->changed);
	/* starts at 1: 0 is what a cache that has never been filled compares with */
	pg_atomic_init_u64(&state->generation, 1);
	state->status = TDE_WALLET_CLOSED;
	state->contents = contents;
}

/* For shmem_startup_hook: finds the parts, or makes them. */
static void
startup_wallet(void)
{
	bool		found_state;
	bool		found_contents;
	TdeWalletContents *contents;

	tde_wallet_state = ShmemInitStruct("tde_column wallet", sizeof(TdeWalletState), &found_state);
	contents = tde_memory_secret_shmem("tde_column master keys", sizeof(TdeWalletContents), &found_contents);
	if (!found_state)
		init_state(tde_wallet_state, contents, tde_memory_shmem_lock(LOCK_NAME));
	tde_wallet_generation = &tde_wallet_state->generation;
}

void
tde_wallet_init(void)
{
#ifdef TDE_PKCS12_ITERATIONS
	/* in the server log alone if a session loads it */
	ereport(process_shared_preload_libraries_in_progress ? WARNING : LOG,
			(errmsg("this is a build of tde_column for its tests: little protects the passphrase of a wallet that it writes"),
			 errdetail("%d iterations of PBKDF2.", TDE_PKCS12_ITERATIONS),
			 errhint("Rebuild it (make clean, make, make install) before there is anything to protect.")));
#endif
	if (tde_memory_shmem_add(CACHELINEALIGN(sizeof(TdeWalletState)) + tde_memory_secret_shmem_size(sizeof(TdeWalletContents)), LOCK_NAME,
							 startup_wallet))
		return;
	init_state(&own_state, &own_contents, NULL);
	tde_wallet_state = &own_state;
}

bool
tde_wallet_is_shared(void)
{
	return tde_wallet_state->lock != NULL;
}

void
tde_wallet_lock(LWLockMode mode)
{
	if (tde_wallet_state->lock)
		LWLockAcquire(tde_wallet_state->lock, mode);
}

void
tde_wallet_unlock(void)
{
	if (tde_wallet_state->lock)
		LWLockRelease(tde_wallet_state->lock);
}

/* ---- changing the state ---- */

void
tde_wallet_announce(void)
{
	pg_atomic_fetch_add_u64(&tde_wallet_state->generation, 1);
}

void
tde_wallet_install_locked(const TdeWalletContents *contents)
{
	memcpy(tde_wallet_state->contents, contents, sizeof(*contents));
	tde_wallet_state->status = TDE_WALLET_OPEN;
	tde_wallet_state->closed_by_user = false;
	strlcpy(tde_wallet_state->path, tde_wallet_file ? tde_wallet_file : "", sizeof(tde_wallet_state->path));
	tde_wallet_state->opened_at = GetCurrentTimestamp();
	tde_wallet_state->failed_at = 0;
	tde_wallet_announce();
}

void
tde_wallet_forget_keys(void)
{
	if (tde_wallet_is_shared())
		tde_memory_forget_everywhere();
	else
		tde_memory_forget_here();
}

void
tde_wallet_install(const TdeWalletContents *contents)
{
	tde_wallet_lock(LW_EXCLUSIVE);
	tde_wallet_install_locked(contents);
	tde_wallet_unlock();
	tde_wallet_forget_keys();
}

/* Ends being at the file.  Also a callback of before_shmem_exit(): a process that is terminated must not leave it busy. */
static void
release_file(int code, Datum arg)
{
	tde_wallet_lock(LW_EXCLUSIVE);
	tde_wallet_state->busy = false;
	tde_wallet_unlock();
	ConditionVariableBroadcast(&tde_wallet_state->changed);
}

/* Waits until nobody is at the file, and takes that place; release_file() leaves it.  The wait can be cancelled. */
static void
take_file(void)
{
	bool		taken = false;

	ConditionVariablePrepareToSleep(&tde_wallet_state->changed);
	for (;;)
	{
		tde_wallet_lock(LW_EXCLUSIVE);
		if (!tde_wallet_state->busy)
			taken = tde_wallet_state->busy = true;
		tde_wallet_unlock();
		if (taken)
			break;
		ConditionVariableSleep(&tde_wallet_state->changed, PG_WAIT_EXTENSION);
	}
	ConditionVariableCancelSleep();
}

/* If this is canceled or terminated, the next process may try at once. */
void
tde_wallet_at_taken_file(TdeWalletUse use, void *arg)
{
	PG_ENSURE_ERROR_CLEANUP(release_file, (Datum) 0);
	{
		tde_wallet_with_contents(use, arg);
	}
	PG_END_ENSURE_ERROR_CLEANUP(release_file, (Datum) 0);
	release_file(0, (Datum) 0);
}

void
tde_wallet_at_file(TdeWalletUse use, void *arg)
{
	take_file();
	tde_wallet_at_taken_file(use, arg);
}

bool
tde_wallet_has_file(void)
{
	return tde_wallet_file != NULL && tde_wallet_file[0] != '\0';
}

const char *
tde_wallet_path(int elevel)
{
	if (!tde_wallet_has_file())
	{
		ereport(elevel,
				(errcode(ERRCODE_TDE_WALLET_FAILURE),
				 errmsg("no wallet file is configured"),
				 errhint("Set tde_column.wallet_file to a path outside the data directory and reload the configuration.")));
		return NULL;
	}
	return tde_wallet_file;
}

void
tde_wallet_require_shared(void)
{
	if (!tde_wallet_is_shared())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot open the wallet for the whole instance"),
				 errdetail("tde_column is not in shared_preload_libraries, so each session opens the wallet for itself."),
				 errhint("Add tde_column to shared_preload_libraries and restart, or set tde_column.passphrase_command.")));
}

void
tde_wallet_close_now(void)
{
	tde_wallet_lock(LW_EXCLUSIVE);
	OPENSSL_cleanse(tde_wallet_state->contents, sizeof(*tde_wallet_state->contents));
	/* a passphrase command that is running now sees the mark when it is done */
	tde_wallet_state->closed_by_user = true;
	tde_wallet_state->status = TDE_WALLET_CLOSED;
	tde_wallet_announce();
	tde_wallet_unlock();
	ConditionVariableBroadcast(&tde_wallet_state->changed);
	tde_wallet_forget_keys();
	ereport(LOG, (errmsg("wallet closed by user \"%s\"", GetUserNameFromId(GetUserId(), false))));
}

void
tde_wallet_copy(TdeWalletContents *contents)
{
	bool		open;

	tde_wallet_lock(LW_SHARED);
	open = tde_wallet_state->status == TDE_WALLET_OPEN;
	if (open)
		memcpy(contents, tde_wallet_state->contents, sizeof(*contents));
	tde_wallet_unlock();
	if (!open)
		tde_wallet_closed_error("to change the wallet");
}

/* ---- reading the state ---- */

bool
tde_wallet_find_master(const uint8 *id, TdeMasterKey *found)
{
	bool		done = false;

	tde_wallet_lock(LW_SHARED);
	for (int i = 0; tde_wallet_state->status == TDE_WALLET_OPEN && i < tde_wallet_state->contents->keys.count && !done; i++)
	{
		const TdeMasterKey *master = &tde_wallet_state->contents->keys.keys[i];

		done = id ? memcmp(master->id, id, sizeof(master->id)) == 0 : master->state == TDE_MASTER_CURRENT;
		if (done)
			*found = *master;
	}
	tde_wallet_unlock();
	return done;
}

bool
tde_wallet_list_masters(TdeMasterKey *list, int *count)
{
	bool		open;

	tde_wallet_lock(LW_SHARED);
	open = tde_wallet_state->status == TDE_WALLET_OPEN;
	*count = open ? tde_wallet_state->contents->keys.count : 0;
	for (int i = 0; i < *count; i++)
	{
		const TdeMasterKey *master = &tde_wallet_state->contents->keys.keys[i];

		memset(&list[i], 0, sizeof(list[i]));
		memcpy(list[i].id, master->id, sizeof(list[i].id));
		list[i].created = master->created;
		list[i].backed_up = master->backed_up;
		list[i].state = master->state;
	}
	tde_wallet_unlock();
	return open;
}

bool
tde_wallet_digest(uint8 digest[TDE_WALLET_DIGEST_SIZE])
{
	bool		open;

	tde_wallet_lock(LW_SHARED);
	open = tde_wallet_state->status == TDE_WALLET_OPEN;
	if (open)
		memcpy(digest, tde_wallet_state->contents->digest, TDE_WALLET_DIGEST_SIZE);
	tde_wallet_unlock();
	return open;
}

/* With the lock held, so that what is told belongs together. */
TdeWalletInfo
tde_wallet_info(void)
{
	TdeWalletInfo info;

	memset(&info, 0, sizeof(info));
	info.instance_wide = tde_wallet_is_shared();
	tde_wallet_lock(LW_SHARED);
	info.status = tde_wallet_state->status;
	info.closed_by_user = tde_wallet_state->closed_by_user;
	info.opened_at = tde_wallet_state->opened_at;
	info.master_keys = tde_wallet_state->contents->keys.count;
	info.owner = tde_wallet_state->contents->keys.owner;
	for (int i = 0; i < tde_wallet_state->contents->keys.count; i++)
	{
		const TdeMasterKey *master = &tde_wallet_state->contents->keys.keys[i];

		if (master->state == TDE_MASTER_CURRENT)
			memcpy(info.current_master, master->id, sizeof(info.current_master));
		if (master->state == TDE_MASTER_PREPARED)
			info.prepared = true;
	}
	tde_wallet_unlock();
	return info;
}

void
tde_wallet_with_contents(TdeWalletUse use, void *arg)
{
	TdeWalletContents contents;

	PG_TRY();
	{
		memset(&contents, 0, sizeof(contents));
		use(&contents, arg);
	}
	PG_FINALLY();
	{
		OPENSSL_cleanse(&contents, sizeof(contents));
	}
	PG_END_TRY();
}

bool
tde_wallet_has_command(void)
{
	return tde_passphrase_command != NULL && tde_passphrase_command[0] != '\0';
}

/* errhint(): the next step to an open wallet.  The order is that of what is missing first: file, command, the file itself, somebody who opens it. */
static int
how_to_open(void)
{
	TdeWalletInfo info = tde_wallet_info();

	if (!tde_wallet_has_file() && !tde_wallet_has_command() && !info.instance_wide)
		return errhint("No wallet file is configured. Set tde_column.wallet_file, and also tde_column.passphrase_command, or add "
					   "tde_column to shared_preload_libraries.");
	if (!tde_wallet_has_file())
		return errhint("No wallet file is configured. Set tde_column.wallet_file and reload the configuration.");
	if (tde_wallet_has_command() && !info.closed_by_user)
		return errhint("The passphrase command did not open it; the server log says why.");
	if (info.instance_wide && access(tde_wallet_file, F_OK) != 0 && errno == ENOENT)
		/* whoever reads a value may not be told the file's name */
		return errhint("There is no file at tde_column.wallet_file.  Put the wallet back there, from its backup, and open it with tde_wallet_open().  "
					   "Only if this server never had one, make it with tde_wallet_create().");
	if (info.instance_wide)
		return errhint("Open it with tde_wallet_open().");
	return errhint("Set tde_column.passphrase_command, or add tde_column to shared_preload_libraries.");
}

void
tde_wallet_closed_error(const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_TDE_WALLET_CLOSED),
			 errmsg("wallet is not open"),
			 errdetail("Its keys are needed %s.", what),
			 how_to_open()));
	pg_unreachable();
}
