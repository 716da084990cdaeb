/*
 * counters.c - how many values each key has encrypted since the server started.
 *
 * Each process counts for itself and adds that to shared memory at the end of its transactions.  Without
 * shared_preload_libraries there is only what the session has counted.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "server/compat.h"
#include "server/counters.h"
#include "server/shmem.h"

/* Keys that are counted; what comes later than these is not. */
#define MAX_COUNTED 4096

typedef struct SharedCount
{
	Oid			database;
	uint32		key_id;
	pg_atomic_uint64 values;
} SharedCount;

typedef struct SharedCounts
{
	slock_t		lock;			/* for adding one */
	pg_atomic_uint32 used;
	SharedCount counts[MAX_COUNTED];
} SharedCounts;

typedef struct OwnCount
{
	uint32		key_id;			/* hash key */
	uint64		values;			/* not in shared memory yet */
	SharedCount *shared;		/* NULL: not known yet */
	struct OwnCount *next;
} OwnCount;

static SharedCounts *shared_counts = NULL;
static HTAB *own_counts = NULL;
/* All of them: transactions go through the few that there are, and a walk through the table takes ten times as long. */
static OwnCount *first_own = NULL;
static uint64 flushed = 0;		/* tde_stats.encryptions then */

static SharedCount *
find_shared(uint32 key_id)
{
	uint32		used = pg_atomic_read_u32(&shared_counts->used);

	pg_read_barrier();
	for (uint32 i = 0; i < used; i++)
	{
		SharedCount *count = &shared_counts->counts[i];

		if (count->key_id == key_id && count->database == MyDatabaseId)
			return count;
	}
	return NULL;
}

/* NULL if there is no room. */
static SharedCount *
find_or_add_shared(uint32 key_id)
{
	SharedCount *count = find_shared(key_id);

	if (count != NULL)
		return count;
	SpinLockAcquire(&shared_counts->lock);
	count = find_shared(key_id);
	if (count == NULL && pg_atomic_read_u32(&shared_counts->used) < MAX_COUNTED)
	{
		count = &shared_counts->counts[pg_atomic_read_u32(&shared_counts->used)];
		count->database = MyDatabaseId;
		count->key_id = key_id;
		pg_write_barrier();
		pg_atomic_fetch_add_u32(&shared_counts->used, 1);
	}
	SpinLockRelease(&shared_counts->lock);
	return count;
}

uint64 *
tde_counters_for(uint32 key_id)
{
	OwnCount   *own;
	bool		found;

	if (own_counts == NULL)
	{
		HASHCTL		ctl = {.keysize = sizeof(uint32), .entrysize = sizeof(OwnCount), .hcxt = TopMemoryContext};

		own_counts = hash_create("tde_column counters", 64, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	own = hash_search(own_counts, &key_id, HASH_ENTER, &found);
	if (!found)
	{
		own->values = 0;
		own->shared = NULL;
		own->next = first_own;
		first_own = own;
	}
	return &own->values;
}

static void
flush_counts(XactEvent event, void *arg)
{
	if (tde_stats.encryptions == flushed || shared_counts == NULL)
		return;
	flushed = tde_stats.encryptions;
	for (OwnCount *own = first_own; own != NULL; own = own->next)
	{
		if (own->values == 0)
			continue;
		if (own->shared == NULL)
			own->shared = find_or_add_shared(own->key_id);
		if (own->shared)
			pg_atomic_fetch_add_u64(&own->shared->values, own->values);
		own->values = 0;
	}
}

uint64
tde_counters_read(uint32 key_id)
{
	SharedCount *shared = shared_counts ? find_shared(key_id) : NULL;

	return *tde_counters_for(key_id) + (shared ? pg_atomic_read_u64(&shared->values) : 0);
}

uint64
tde_counters_read_all(void)
{
	uint64		sum = 0;

	for (OwnCount *own = first_own; own != NULL; own = own->next)
		sum += own->values;
	if (shared_counts != NULL)
	{
		uint32		used = pg_atomic_read_u32(&shared_counts->used);

		pg_read_barrier();
		for (uint32 i = 0; i < used; i++)
			sum += pg_atomic_read_u64(&shared_counts->counts[i].values);
	}
	return sum;
}

static void
startup_shmem(void)
{
	bool		found;

	shared_counts = ShmemInitStruct("tde_column counters", sizeof(SharedCounts), &found);
	if (!found)
	{
		memset(shared_counts, 0, sizeof(SharedCounts));
		SpinLockInit(&shared_counts->lock);
		pg_atomic_init_u32(&shared_counts->used, 0);
		for (int i = 0; i < MAX_COUNTED; i++)
			pg_atomic_init_u64(&shared_counts->counts[i].values, 0);
	}
}

void
tde_counters_init(void)
{
	RegisterXactCallback(flush_counts, NULL);
	(void) tde_shmem_add(sizeof(SharedCounts), NULL, startup_shmem);
}
