/*
 * counts_shared.c - the table in shared memory of who has been given what in clear.
 *
 * A place is taken under the lock and given back by nobody but tde_decryptions_reset(); what finds none is counted in one number for all, so
 * that nothing is lost without a trace.
 *
 * It is a hash table with open addressing and linear probing (Knuth, The Art of Computer Programming, vol. 3, 6.4).  Rows are never removed one by
 * one: forgetting makes it empty, and puts back what stays.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "utils/timestamp.h"

#include "decryptions/counts_shared.h"
#include "server/memory.h"

/* A place of the table.  Its key changes only under the exclusive lock. */
struct TdeDecryptionsPlace
{
	TdeDecryptionsKey key;
	bool		taken;
	pg_atomic_uint64 values;
};
typedef TdeDecryptionsPlace Place;

/* The part of shared memory. */
typedef struct Shared
{
	LWLock	   *lock;			/* shared: for adding to places that are taken */
	pg_atomic_uint32 has_writer;
	pg_atomic_uint64 changed;	/* TimestampTz; 0: nothing has since the file was written */
	pg_atomic_uint64 others;
	TimestampTz since;
	TimestampTz written;
	int64		taken;
	int64		max;			/* so many may be */
	int64		count;			/* and so many are there */
	Place		places[FLEXIBLE_ARRAY_MEMBER];
} Shared;

int			tde_decryptions_max = 10000;

static Shared *shared = NULL;

/* More than may be taken, so that a search ends soon. */
static int64
count_of_places(void)
{
	return (int64) tde_decryptions_max * 3 / 2;
}

Size
tde_decryptions_size(void)
{
	return add_size(offsetof(Shared, places), mul_size(count_of_places(), sizeof(Place)));
}

bool
tde_decryptions_shared(void)
{
	return shared != NULL;
}

/* Returns where a key is, or would be.  With the lock, in either mode; there always is a place that is not taken. */
static Place *
find_place(const TdeDecryptionsKey *key)
{
	int64		at = hash_bytes((const unsigned char *) key, sizeof(*key)) % shared->count;

	while (shared->places[at].taken && memcmp(&shared->places[at].key, key, sizeof(*key)) != 0)
		at = (at + 1) % shared->count;
	return &shared->places[at];
}

/* Adds to a key's row, which is made if there is room; counts that are not in a row go to the others.  With the lock alone. */
static void
add_new(const TdeDecryptionsKey *key, uint64 values)
{
	Place	   *place = find_place(key);

	if (!place->taken && shared->taken >= shared->max)
	{
		pg_atomic_fetch_add_u64(&shared->others, values);
		return;
	}
	if (!place->taken)
	{
		place->key = *key;
		place->taken = true;
		shared->taken++;
	}
	pg_atomic_fetch_add_u64(&place->values, values);
}

static void
note_change(void)
{
	if (pg_atomic_read_u64(&shared->changed) == 0)
		pg_atomic_write_u64(&shared->changed, (uint64) GetCurrentTimestamp());
}

/* Returns true if the place is that key's.  It was, but others may have been forgotten, and places given anew. */
static inline bool
is_of(const Place *place, const TdeDecryptionsKey *key)
{
	return place->taken && memcmp(&place->key, key, sizeof(*key)) == 0;
}

void
tde_decryptions_tell(const TdeDecryptionsKey *key, TdeDecryptionsPlace **place, uint64 values)
{
	bool		found;

	if (shared == NULL)
		return;
	LWLockAcquire(shared->lock, LW_SHARED);
	if (*place == NULL || !is_of(*place, key))
		*place = find_place(key);
	found = (*place)->taken;
	if (found)
		pg_atomic_fetch_add_u64(&(*place)->values, values);
	note_change();
	LWLockRelease(shared->lock);
	if (found)
		return;
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	add_new(key, values);
	note_change();
	LWLockRelease(shared->lock);
}

/* Copies all rows, and what is to be said of them.  The caller has the lock; rows has room. */
static void
copy_rows(TdeDecryptionsRow *rows, TdeDecryptionsInfo *info)
{
	*info = (TdeDecryptionsInfo) {.others = pg_atomic_read_u64(&shared->others), .since = shared->since, .written = shared->written};
	for (int64 i = 0; i < shared->count; i++)
	{
		Place	   *place = &shared->places[i];

		if (place->taken)
			rows[info->rows++] = (TdeDecryptionsRow) {place->key, pg_atomic_read_u64(&place->values)};
	}
}

static TdeDecryptionsRow *
new_rows(void)
{
	return palloc_extended(mul_size(shared->max, sizeof(TdeDecryptionsRow)), MCXT_ALLOC_HUGE);
}

TdeDecryptionsRow *
tde_decryptions_read(TdeDecryptionsInfo *info)
{
	TdeDecryptionsRow *rows = new_rows();

	LWLockAcquire(shared->lock, LW_SHARED);
	copy_rows(rows, info);
	LWLockRelease(shared->lock);
	return rows;
}

/* What is counted while rows are copied may be in the file or not, so it counts as changed. */
TdeDecryptionsRow *
tde_decryptions_take(TdeDecryptionsInfo *info, TimestampTz now)
{
	TdeDecryptionsRow *rows = new_rows();

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	pg_atomic_write_u64(&shared->changed, 0);
	shared->written = now;
	copy_rows(rows, info);
	LWLockRelease(shared->lock);
	return rows;
}

void
tde_decryptions_put_back(TimestampTz changed)
{
	pg_atomic_write_u64(&shared->changed, (uint64) changed);
}

TimestampTz
tde_decryptions_changed(void)
{
	return (TimestampTz) pg_atomic_read_u64(&shared->changed);
}

static void
make_empty(void)
{
	shared->taken = 0;
	for (int64 i = 0; i < shared->count; i++)
	{
		shared->places[i].taken = false;
		pg_atomic_write_u64(&shared->places[i].values, 0);
	}
}

int64
tde_decryptions_forget(int32 before, bool all)
{
	TdeDecryptionsRow *rows = new_rows();
	TdeDecryptionsInfo info;
	int64		forgotten = 0;

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	copy_rows(rows, &info);
	make_empty();
	for (int64 i = 0; i < info.rows; i++)
	{
		if (all || rows[i].key.day < before)
			forgotten++;
		else
			add_new(&rows[i].key, rows[i].values);
	}
	if (all)
	{
		pg_atomic_write_u64(&shared->others, 0);
		shared->since = GetCurrentTimestamp();
	}
	note_change();
	LWLockRelease(shared->lock);
	pfree(rows);
	return forgotten;
}

bool
tde_decryptions_become_writer(void)
{
	uint32		nobody = 0;

	return pg_atomic_compare_exchange_u32(&shared->has_writer, &nobody, 1);
}

void
tde_decryptions_leave_writer(void)
{
	pg_atomic_write_u32(&shared->has_writer, 0);
}

/* info: what was in the file; NULL: there is none. */
void
tde_decryptions_startup(const TdeDecryptionsInfo *info, const TdeDecryptionsRow *rows)
{
	bool		found;

	shared = ShmemInitStruct(TDE_DECRYPTIONS_LOCK, tde_decryptions_size(), &found);
	if (found)
		return;
	memset(shared, 0, tde_decryptions_size());
	shared->lock = tde_memory_shmem_lock(TDE_DECRYPTIONS_LOCK);
	shared->max = tde_decryptions_max;
	shared->count = count_of_places();
	shared->since = info ? info->since : GetCurrentTimestamp();
	shared->written = info ? info->written : 0;
	pg_atomic_init_u32(&shared->has_writer, 0);
	pg_atomic_init_u64(&shared->changed, 0);
	pg_atomic_init_u64(&shared->others, info ? info->others : 0);
	for (int64 i = 0; i < shared->count; i++)
		pg_atomic_init_u64(&shared->places[i].values, 0);
	for (int64 i = 0; info && i < info->rows; i++)
		add_new(&rows[i].key, rows[i].values);
}
