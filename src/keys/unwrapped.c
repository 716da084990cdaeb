/*
 * unwrapped.c - data keys that some process of this server has unwrapped, for the others.
 *
 * A new session needs the keys of what it reads, and to unwrap one costs more than anything else that it does first with it.  So they stand where the
 * master keys do: in shared memory, out of swap and core dumps.  An entry has the whole row that was authenticated by unwrapping.  It serves for a row
 * with the same bytes, and only in the wallet's generation in which it was made; all are cleansed when the server forgets its secrets.  A key
 * that can be destroyed alone is never here, since its destruction is to be the end of it at once.
 */
#include "postgres.h"

#include <openssl/crypto.h>

#include "storage/lwlock.h"

#include "keys/unwrapped.h"
#include "server/memory.h"
#include "wallet/wallet.h"

#define NAME		"tde_column data keys"
#define UNWRAPPED_KEYS	64		/* ids are consecutive, and each has its place */

/* An entry, read and written under the lock.  It is good for one generation only, and for a row that is the same byte by byte. */
typedef struct Unwrapped
{
	TdeDataKey	row;
	uint64		generation;		/* 0: none is here; the wallet's begin with 1 */
	uint8		data_key[TDE_DATA_KEY_SIZE];
} Unwrapped;

static Unwrapped *all_unwrapped = NULL;
static LWLock *lock = NULL;

static void
startup_unwrapped(void)
{
	bool		found;

	all_unwrapped = tde_memory_secret_shmem(NAME, UNWRAPPED_KEYS * sizeof(Unwrapped), &found);
	lock = tde_memory_shmem_lock(NAME);
}

/* One process does this for all when they are told to forget. */
static void
forget_unwrapped(void)
{
	if (all_unwrapped == NULL)
		return;
	LWLockAcquire(lock, LW_EXCLUSIVE);
	OPENSSL_cleanse(all_unwrapped, UNWRAPPED_KEYS * sizeof(Unwrapped));
	LWLockRelease(lock);
}

void
tde_unwrapped_init(void)
{
	if (tde_memory_shmem_add(tde_memory_secret_shmem_size(UNWRAPPED_KEYS * sizeof(Unwrapped)), NAME, startup_unwrapped))
		tde_memory_forget_shared_by(forget_unwrapped);
}

/* A row with other bytes was changed in the file, and must be unwrapped, which authenticates it. */
bool
tde_unwrapped_find(const TdeDataKey *row, uint8 data_key[TDE_DATA_KEY_SIZE])
{
	const Unwrapped *unwrapped;
	bool		found;

	if (all_unwrapped == NULL)
		return false;
	unwrapped = &all_unwrapped[row->id % UNWRAPPED_KEYS];
	LWLockAcquire(lock, LW_SHARED);
	found = unwrapped->generation == pg_atomic_read_u64(tde_wallet_generation) && memcmp(&unwrapped->row, row, sizeof(*row)) == 0;
	if (found)
		memcpy(data_key, unwrapped->data_key, TDE_DATA_KEY_SIZE);
	LWLockRelease(lock);
	return found;
}

void
tde_unwrapped_keep(const TdeDataKey *row, const uint8 data_key[TDE_DATA_KEY_SIZE], uint64 generation)
{
	Unwrapped  *unwrapped;

	if (all_unwrapped == NULL || row->erasable)
		return;
	unwrapped = &all_unwrapped[row->id % UNWRAPPED_KEYS];
	LWLockAcquire(lock, LW_EXCLUSIVE);
	/* whoever closes the wallet begins another generation first, and cleanses then */
	if (generation == pg_atomic_read_u64(tde_wallet_generation))
	{
		unwrapped->row = *row;
		unwrapped->generation = generation;
		memcpy(unwrapped->data_key, data_key, TDE_DATA_KEY_SIZE);
	}
	LWLockRelease(lock);
}
