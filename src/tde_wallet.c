/*
 * tde_wallet.c - the wallet's state in shared memory: opening, closing, changing, handing out master keys.
 *
 * Locking: everything in TdeWalletState but the generation is protected by its lock.  Nothing slow happens under it: the
 * passphrase command runs, and the file is read or written (a good part of a second, on purpose), with the lock released
 * and the state marked busy, so that other processes that need a key, or the file, wait on the condition variable and can
 * be cancelled.
 */
#include "postgres.h"

#include <openssl/crypto.h>

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/condition_variable.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

#include "tde_crypto.h"
#include "tde_error.h"
#include "tde_passphrase.h"
#include "tde_secret_shmem.h"
#include "tde_wallet.h"
#include "tde_wallet_file.h"

/* After a failure the passphrase command rests, so that not every query of a busy server waits for its timeout. */
#define RETRY_AFTER_MS 5000

typedef struct TdeWalletState
{
	LWLock	   *lock;			/* NULL in a backend's own state */
	ConditionVariable changed;
	pg_atomic_uint64 generation;
	TdeWalletStatus status;
	bool		busy;			/* some process runs the passphrase command, or is at the file */
	bool		closed_by_user; /* tde_wallet_close(): the passphrase command stays out of it */
	TimestampTz opened_at;
	TimestampTz failed_at;		/* 0: the last try did not fail */
	TdeWalletContents *contents;	/* on pages of their own */
} TdeWalletState;

char	   *tde_wallet_file = NULL;
char	   *tde_passphrase_command = NULL;
int			tde_passphrase_timeout = 30000;

static TdeWalletState *wallet = NULL;
static TdeWalletState own_state;
static TdeWalletContents own_contents;

pg_atomic_uint64 *tde_wallet_generation = &own_state.generation;

static shmem_request_hook_type prev_shmem_request_hook = NULL;
static shmem_startup_hook_type prev_shmem_startup_hook = NULL;

/* ---- set-up ---- */

static void
request_shmem(void)
{
	if (prev_shmem_request_hook)
		prev_shmem_request_hook();
	RequestAddinShmemSpace(MAXALIGN(sizeof(TdeWalletState)) + tde_secret_shmem_size(sizeof(TdeWalletContents)));
	RequestNamedLWLockTranche("tde_column", 1);
}

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

static void
startup_shmem(void)
{
	bool		found_state;
	bool		found_contents;
	TdeWalletContents *contents;

	if (prev_shmem_startup_hook)
		prev_shmem_startup_hook();

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	wallet = ShmemInitStruct("tde_column wallet", sizeof(TdeWalletState), &found_state);
	contents = tde_secret_shmem("tde_column master keys", sizeof(TdeWalletContents), &found_contents);
	if (!found_state)
		init_state(wallet, contents, &(GetNamedLWLockTranche("tde_column"))->lock);
	tde_wallet_generation = &wallet->generation;
	LWLockRelease(AddinShmemInitLock);
}

void
tde_wallet_init(void)
{
	if (process_shared_preload_libraries_in_progress)
	{
		prev_shmem_request_hook = shmem_request_hook;
		shmem_request_hook = request_shmem;
		prev_shmem_startup_hook = shmem_startup_hook;
		shmem_startup_hook = startup_shmem;
		return;
	}
	init_state(&own_state, &own_contents, NULL);
	wallet = &own_state;
}

bool
tde_wallet_is_shared(void)
{
	return wallet->lock != NULL;
}

static void
lock_wallet(LWLockMode mode)
{
	if (wallet->lock)
		LWLockAcquire(wallet->lock, mode);
}

static void
unlock_wallet(void)
{
	if (wallet->lock)
		LWLockRelease(wallet->lock);
}

/* ---- changing the state ---- */

static void
announce(void)
{
	pg_atomic_fetch_add_u64(&wallet->generation, 1);
}

/* With the lock held. */
static void
install_locked(const TdeWalletContents *contents)
{
	memcpy(wallet->contents, contents, sizeof(*contents));
	wallet->status = TDE_WALLET_OPEN;
	wallet->closed_by_user = false;
	wallet->opened_at = GetCurrentTimestamp();
	wallet->failed_at = 0;
	announce();
}

static void
install_contents(const TdeWalletContents *contents)
{
	lock_wallet(LW_EXCLUSIVE);
	install_locked(contents);
	unlock_wallet();
}

static void
release_busy(int code, Datum arg)
{
	lock_wallet(LW_EXCLUSIVE);
	wallet->busy = false;
	unlock_wallet();
	ConditionVariableBroadcast(&wallet->changed);
}

/* Wait until nobody is at the file, and take that place; release_busy() leaves it. */
static void
take_busy(void)
{
	bool		taken = false;

	ConditionVariablePrepareToSleep(&wallet->changed);
	for (;;)
	{
		lock_wallet(LW_EXCLUSIVE);
		if (!wallet->busy)
			taken = wallet->busy = true;
		unlock_wallet();
		if (taken)
			break;
		ConditionVariableSleep(&wallet->changed, PG_WAIT_EXTENSION);
	}
	ConditionVariableCancelSleep();
}

static const char *
configured_path(int elevel)
{
	if (tde_wallet_file == NULL || tde_wallet_file[0] == '\0')
	{
		ereport(elevel,
				(errcode(ERRCODE_TDE_WALLET_FAILURE),
				 errmsg("no wallet file is configured"),
				 errhint("Set tde_column.wallet_file to a path outside the data directory and reload the configuration.")));
		return NULL;
	}
	return tde_wallet_file;
}

static void
require_shared(void)
{
	if (!tde_wallet_is_shared())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot open the wallet for the whole instance"),
				 errdetail("tde_column is not in shared_preload_libraries, so each session opens the wallet for itself."),
				 errhint("Add tde_column to shared_preload_libraries and restart, or set tde_column.passphrase_command.")));
}

void
tde_wallet_open_with(const char *passphrase)
{
	TdeWalletContents contents;

	require_shared();
	(void) configured_path(ERROR);
	strlcpy(contents.passphrase, passphrase, sizeof(contents.passphrase));
	take_busy();
	PG_ENSURE_ERROR_CLEANUP(release_busy, (Datum) 0);
	{
		tde_wallet_file_read(tde_wallet_file, &contents, ERROR);
		tde_wallet_file_warn_place(tde_wallet_file);
		install_contents(&contents);
	}
	PG_END_ENSURE_ERROR_CLEANUP(release_busy, (Datum) 0);
	release_busy(0, (Datum) 0);
	OPENSSL_cleanse(&contents, sizeof(contents));
	ereport(LOG, (errmsg("wallet opened by user \"%s\"", GetUserNameFromId(GetUserId(), false))));
}

TdeMasterKey *
tde_wallet_add_master(TdeMasterKeys *keys, TdeMasterState state)
{
	TdeMasterKey *key;

	if (keys->count >= TDE_MAX_MASTER_KEYS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("wallet is full"),
				 errdetail("It has room for %d master keys, retired ones and those of erasable keys included.",
						   TDE_MAX_MASTER_KEYS),
				 errhint("Remove retired master keys that nothing needs with tde_purge_master_key().")));
	key = &keys->keys[keys->count++];
	tde_check(tde_random_key(key->id, sizeof(key->id)));
	tde_check(tde_random_key(key->key, sizeof(key->key)));
	key->state = state;
	key->created = GetCurrentTimestamp() +
		(int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * SECS_PER_DAY * USECS_PER_SEC;
	return key;
}

void
tde_wallet_remove_master(TdeMasterKeys *keys, const uint8 *id)
{
	for (int i = 0; i < keys->count; i++)
		if (memcmp(keys->keys[i].id, id, TDE_MASTER_ID_SIZE) == 0)
		{
			keys->keys[i] = keys->keys[--keys->count];
			OPENSSL_cleanse(&keys->keys[keys->count], sizeof(TdeMasterKey));
			return;
		}
}

void
tde_wallet_create_with(const char *passphrase)
{
	TdeWalletContents contents;
	const char *path = configured_path(ERROR);

	tde_wallet_file_warn_place(path);
	memset(&contents, 0, sizeof(contents));
	strlcpy(contents.passphrase, passphrase, sizeof(contents.passphrase));
	(void) tde_wallet_add_master(&contents.keys, TDE_MASTER_CURRENT);
	tde_wallet_file_create(path, &contents);
	ereport(LOG, (errmsg("wallet file \"%s\" created by user \"%s\"", path, GetUserNameFromId(GetUserId(), false))));
	if (tde_wallet_is_shared())
		install_contents(&contents);
	OPENSSL_cleanse(&contents, sizeof(contents));
}

/* A copy of the open wallet's contents; ereport if it is closed. */
static void
copy_contents(TdeWalletContents *contents)
{
	bool		open;

	lock_wallet(LW_SHARED);
	open = wallet->status == TDE_WALLET_OPEN;
	if (open)
		memcpy(contents, wallet->contents, sizeof(*contents));
	unlock_wallet();
	if (!open)
		tde_wallet_closed_error("to change the wallet");
}

static void
edit_file_with(TdeWalletEdit edit, void *arg, TdeWalletContents *contents)
{
	copy_contents(contents);
	contents->keep_previous = true;
	edit(contents, arg);
	tde_wallet_file_replace(configured_path(ERROR), contents);
	lock_wallet(LW_EXCLUSIVE);
	if (wallet->status == TDE_WALLET_OPEN)
	{
		/* still open, so opened_at stays */
		memcpy(wallet->contents, contents, sizeof(*contents));
		announce();
	}
	unlock_wallet();
}

static void
edit_file(TdeWalletEdit edit, void *arg)
{
	TdeWalletContents contents;

	PG_TRY();
	{
		edit_file_with(edit, arg, &contents);
	}
	PG_FINALLY();
	{
		OPENSSL_cleanse(&contents, sizeof(contents));
	}
	PG_END_TRY();
}

void
tde_wallet_edit(TdeWalletEdit edit, void *arg)
{
	require_shared();
	if (!tde_wallet_ensure_open())
		tde_wallet_closed_error("to change the wallet");
	take_busy();
	PG_ENSURE_ERROR_CLEANUP(release_busy, (Datum) 0);
	{
		edit_file(edit, arg);
	}
	PG_END_ENSURE_ERROR_CLEANUP(release_busy, (Datum) 0);
	release_busy(0, (Datum) 0);
}

static void
set_passphrase(TdeWalletContents *contents, void *arg)
{
	memset(contents->passphrase, 0, sizeof(contents->passphrase));
	strlcpy(contents->passphrase, (const char *) arg, sizeof(contents->passphrase));
}

void
tde_wallet_change_passphrase_to(const char *passphrase)
{
	tde_wallet_edit(set_passphrase, (void *) passphrase);
	ereport(LOG, (errmsg("passphrase of the wallet changed by user \"%s\"", GetUserNameFromId(GetUserId(), false))));
}

void
tde_wallet_close_now(void)
{
	lock_wallet(LW_EXCLUSIVE);
	OPENSSL_cleanse(wallet->contents, sizeof(*wallet->contents));
	/* a passphrase command that is running now sees the mark when it is done */
	wallet->closed_by_user = true;
	wallet->status = TDE_WALLET_CLOSED;
	announce();
	unlock_wallet();
	ConditionVariableBroadcast(&wallet->changed);
	ereport(LOG, (errmsg("wallet closed by user \"%s\"", GetUserNameFromId(GetUserId(), false))));
}

/* ---- opening by command ---- */

/* contents NULL: it did not open; failed: and not by its own will. */
static void
finish_opening(const TdeWalletContents *contents, bool failed)
{
	lock_wallet(LW_EXCLUSIVE);
	wallet->failed_at = failed ? GetCurrentTimestamp() : 0;
	if (contents && !wallet->closed_by_user)
		install_locked(contents);
	unlock_wallet();
}

static void
open_by_command(void)
{
	TdeWalletContents contents;

	/* canceled or terminated: the next process may try at once */
	PG_ENSURE_ERROR_CLEANUP(release_busy, (Datum) 0);
	{
		bool		good = configured_path(LOG) != NULL &&
			tde_passphrase_run(tde_passphrase_command, tde_passphrase_timeout, contents.passphrase) &&
			tde_wallet_file_read(tde_wallet_file, &contents, LOG);

		finish_opening(good ? &contents : NULL, !good);
	}
	PG_END_ENSURE_ERROR_CLEANUP(release_busy, (Datum) 0);
	release_busy(0, (Datum) 0);
	OPENSSL_cleanse(&contents, sizeof(contents));
}

/* May this process run the command now?  Takes the place at the file if so. */
static bool
take_opening(bool *wait)
{
	bool		taken = false;

	lock_wallet(LW_EXCLUSIVE);
	*wait = wallet->busy && wallet->status == TDE_WALLET_CLOSED;
	if (wallet->status == TDE_WALLET_CLOSED && !wallet->busy && !wallet->closed_by_user &&
		tde_passphrase_command != NULL && tde_passphrase_command[0] != '\0' &&
		(wallet->failed_at == 0 ||
		 TimestampDifferenceExceeds(wallet->failed_at, GetCurrentTimestamp(), RETRY_AFTER_MS)))
		taken = wallet->busy = true;
	unlock_wallet();
	return taken;
}

static TdeWalletStatus
current_status(void)
{
	TdeWalletStatus status;

	lock_wallet(LW_SHARED);
	status = wallet->status;
	unlock_wallet();
	return status;
}

static bool
closed_but_busy(void)
{
	bool		result;

	lock_wallet(LW_SHARED);
	result = wallet->status == TDE_WALLET_CLOSED && wallet->busy;
	unlock_wallet();
	return result;
}

bool
tde_wallet_ensure_open(void)
{
	bool		wait;

	if (current_status() == TDE_WALLET_OPEN)
		return true;
	if (take_opening(&wait))
		open_by_command();
	else if (wait)
	{
		ConditionVariablePrepareToSleep(&wallet->changed);
		while (closed_but_busy())
			ConditionVariableSleep(&wallet->changed, PG_WAIT_EXTENSION);
		ConditionVariableCancelSleep();
	}
	return current_status() == TDE_WALLET_OPEN;
}

void
tde_wallet_open_by_command(void)
{
	if (tde_passphrase_command == NULL || tde_passphrase_command[0] == '\0')
	{
		if (current_status() == TDE_WALLET_OPEN)
			return;
		ereport(ERROR,
				(errcode(ERRCODE_TDE_WALLET_FAILURE),
				 errmsg("no passphrase command is configured"),
				 errhint("Give the passphrase to tde_wallet_open(), or set tde_column.passphrase_command.")));
	}
	/* whoever asks for it wants it now: neither an earlier closing nor an earlier failure counts */
	lock_wallet(LW_EXCLUSIVE);
	wallet->closed_by_user = false;
	wallet->failed_at = 0;
	unlock_wallet();
	if (!tde_wallet_ensure_open())
		ereport(ERROR,
				(errcode(ERRCODE_TDE_WALLET_FAILURE),
				 errmsg("could not open the wallet through the passphrase command"),
				 errhint("The server log says why.")));
}

void
tde_wallet_closed_error(const char *what)
{
	TdeWalletInfo info = tde_wallet_info();
	bool		has_command = tde_passphrase_command != NULL && tde_passphrase_command[0] != '\0';

	ereport(ERROR,
			(errcode(ERRCODE_TDE_WALLET_CLOSED),
			 errmsg("wallet is not open"),
			 errdetail("Its keys are needed %s.", what),
			 has_command && !info.closed_by_user ?
			 errhint("The passphrase command did not open it; the server log says why.") :
			 info.instance_wide ?
			 errhint("Open it with tde_wallet_open().") :
			 errhint("Set tde_column.passphrase_command, or add tde_column to shared_preload_libraries.")));
	pg_unreachable();
}

/* ---- reading the state ---- */

bool
tde_wallet_find_master(const uint8 *id, TdeMasterKey *found)
{
	bool		done = false;

	lock_wallet(LW_SHARED);
	for (int i = 0; wallet->status == TDE_WALLET_OPEN && i < wallet->contents->keys.count && !done; i++)
	{
		const TdeMasterKey *master = &wallet->contents->keys.keys[i];

		done = id ? memcmp(master->id, id, sizeof(master->id)) == 0 : master->state == TDE_MASTER_CURRENT;
		if (done)
			*found = *master;
	}
	unlock_wallet();
	return done;
}

bool
tde_wallet_list_masters(TdeMasterKey *list, int *count)
{
	bool		open;

	lock_wallet(LW_SHARED);
	open = wallet->status == TDE_WALLET_OPEN;
	*count = open ? wallet->contents->keys.count : 0;
	for (int i = 0; i < *count; i++)
	{
		const TdeMasterKey *master = &wallet->contents->keys.keys[i];

		memset(&list[i], 0, sizeof(list[i]));
		memcpy(list[i].id, master->id, sizeof(list[i].id));
		list[i].created = master->created;
		list[i].state = master->state;
	}
	unlock_wallet();
	return open;
}

TdeWalletInfo
tde_wallet_info(void)
{
	TdeWalletInfo info;

	memset(&info, 0, sizeof(info));
	info.instance_wide = tde_wallet_is_shared();
	lock_wallet(LW_SHARED);
	info.status = wallet->status;
	info.closed_by_user = wallet->closed_by_user;
	info.opened_at = wallet->opened_at;
	info.master_keys = wallet->contents->keys.count;
	for (int i = 0; i < wallet->contents->keys.count; i++)
	{
		const TdeMasterKey *master = &wallet->contents->keys.keys[i];

		if (master->state == TDE_MASTER_CURRENT)
			memcpy(info.current_master, master->id, sizeof(info.current_master));
		if (master->state == TDE_MASTER_PREPARED)
			info.prepared = true;
	}
	unlock_wallet();
	return info;
}
