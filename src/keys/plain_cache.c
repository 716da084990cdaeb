/*
 * plain_cache.c - the values decrypted last, by this backend.
 */
#include "postgres.h"

#include "keys/plain_cache.h"
#include "server/memory.h"

/* Powers of two.  160 bytes each: together they fit into a second-level cache. */
#define ROW_ENTRIES		64
#define LONG_SETS		1024
#define LONG_WAYS		4

typedef struct Entries
{
	TdeCachedPlain row[ROW_ENTRIES];
	TdeCachedPlain lasting[LONG_SETS][LONG_WAYS];
} Entries;

/* NULL: there are none.  Made when the first value is remembered, given back when all are forgotten. */
static Entries *entries = NULL;

/* The last bytes of each entry's value, apart: a miss, which is what most lookups are, touches nothing else. */
static uint32 row_tails[ROW_ENTRIES];
static uint32 long_tails[LONG_SETS][LONG_WAYS];
static uint8 long_next[LONG_SETS];	/* to be overwritten next */

/* Tails of values met once: one that is never met again must not push out one that is. */
#define MET_ONCE		4096
static uint32 met_once[MET_ONCE];

/* What finding a value again pays for. */
#define CREDIT_PER_FIND	8
#define MAX_CREDIT		256
int			tde_plain_cache_credit = MAX_CREDIT;
uint32		tde_plain_cache_uses = 0;

/* A value ends with its MAC or with ciphertext, so its last bytes are as good as random. */
static inline uint32
tail_of(const uint8 *value, size_t size)
{
	uint32		tail;

	memcpy(&tail, value + size - sizeof(tail), sizeof(tail));
	return tail;
}

/* The tail of a value may be that of an empty entry, even if there are no entries at all. */
static inline const TdeCachedPlain *
if_same(const TdeCachedPlain *entry, Oid type, uint64 epoch, const uint8 *value, size_t size)
{
	if (entries == NULL || entry->size != size || entry->type != type || entry->epoch != (uint32) epoch || memcmp(entry->value, value, size) != 0)
		return NULL;
	tde_plain_cache_credit = Min(tde_plain_cache_credit + CREDIT_PER_FIND, MAX_CREDIT);
	return entry;
}

const TdeCachedPlain *
tde_plain_cache_find(Oid type, uint64 epoch, const uint8 *value, size_t size)
{
	const TdeCachedPlain *entry;
	const uint32 *set;
	uint32		tail;

	if (size > TDE_PLAIN_CACHE_VALUE || size < sizeof(tail))
		return NULL;
	tail = tail_of(value, size);
	if (row_tails[tail % ROW_ENTRIES] == tail)
	{
		entry = if_same(&entries->row[tail % ROW_ENTRIES], type, epoch, value, size);
		if (entry)
			return entry;
	}
	set = long_tails[tail % LONG_SETS];
	for (int way = 0; way < LONG_WAYS; way++)
		if (set[way] == tail)
			return if_same(&entries->lasting[tail % LONG_SETS][way], type, epoch, value, size);
	return NULL;
}

/* Where a value goes. */
static inline TdeCachedPlain *
choose(TdeRemember where, uint32 tail)
{
	int			way;

	if (where == TDE_REMEMBER_LONG && met_once[tail % MET_ONCE] != tail)
	{
		met_once[tail % MET_ONCE] = tail;
		where = TDE_REMEMBER_ROW;
	}
	if (where == TDE_REMEMBER_ROW)
	{
		tde_plain_cache_credit = Max(tde_plain_cache_credit - 1, 0);
		row_tails[tail % ROW_ENTRIES] = tail;
		return &entries->row[tail % ROW_ENTRIES];
	}
	way = long_next[tail % LONG_SETS]++ % LONG_WAYS;
	long_tails[tail % LONG_SETS][way] = tail;
	return &entries->lasting[tail % LONG_SETS][way];
}

void
tde_plain_cache_put(TdeRemember where, Oid type, uint64 epoch, const uint8 *value, size_t size,
			   const uint8 *plain, size_t plain_size)
{
	TdeCachedPlain *entry;

	if (where == TDE_REMEMBER_NOT || size > TDE_PLAIN_CACHE_VALUE || size < sizeof(uint32) || plain_size > TDE_PLAIN_CACHE_PLAIN)
		return;
	/* what cannot be remembered is decrypted again */
	if (unlikely(entries == NULL) && (entries = tde_secret_pages_new(sizeof(Entries))) == NULL)
		return;
	entry = choose(where, tail_of(value, size));
	entry->epoch = (uint32) epoch;
	entry->type = type;
	entry->size = (uint8) size;
	entry->plain_size = (uint8) plain_size;
	memcpy(entry->value, value, size);
	memcpy(entry->plain, plain, plain_size);
}

void
tde_plain_cache_forget(void)
{
	if (entries == NULL)
		return;
	tde_secret_pages_free(entries, sizeof(Entries), sizeof(Entries));
	entries = NULL;
	memset(row_tails, 0, sizeof(row_tails));
	memset(long_tails, 0, sizeof(long_tails));
}
