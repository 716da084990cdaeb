/*
 * plain_cache.c - the values decrypted last, by this backend.
 */
#include "postgres.h"

#include "keys/plain_cache.h"
#include "server/memory.h"

/* A power of two.  160 bytes each: together they fit into a second-level cache. */
#define SETS			1024
#define WAYS			4

typedef TdeCachedPlain Entries[SETS][WAYS];

/* NULL: there are none.  Made when the first value is remembered, given back when all are forgotten. */
static Entries * entries = NULL;

/* The last bytes of each entry's value, apart: a miss, which is what most lookups are, touches nothing else. */
static uint32 tails[SETS][WAYS];
static uint8 next[SETS];		/* to be overwritten next */

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
	if (entry->size != size || entry->type != type || entry->epoch != (uint32) epoch || memcmp(entry->value, value, size) != 0)
		return NULL;
	tde_plain_cache_credit = Min(tde_plain_cache_credit + CREDIT_PER_FIND, MAX_CREDIT);
	return entry;
}

const TdeCachedPlain *
tde_plain_cache_find(Oid type, uint64 epoch, const uint8 *value, size_t size)
{
	uint32		tail;
	uint32		set;

	if (size > TDE_PLAIN_CACHE_VALUE || size < sizeof(tail))
		return NULL;
	tail = tail_of(value, size);
	set = tail % SETS;
	for (int way = 0; way < WAYS; way++)
		if (tails[set][way] == tail)
			return entries ? if_same(&(*entries)[set][way], type, epoch, value, size) : NULL;
	return NULL;
}

void
tde_plain_cache_put(Oid type, uint64 epoch, const uint8 *value, size_t size, const uint8 *plain, size_t plain_size)
{
	TdeCachedPlain *entry;
	uint32		set;
	int			way;

	if (size > TDE_PLAIN_CACHE_VALUE || size < sizeof(uint32) || plain_size > TDE_PLAIN_CACHE_PLAIN)
		return;
	/* what cannot be remembered is decrypted again */
	if (unlikely(entries == NULL) && (entries = tde_secret_pages_new(sizeof(Entries))) == NULL)
		return;
	tde_plain_cache_credit = Max(tde_plain_cache_credit - 1, 0);
	set = tail_of(value, size) % SETS;
	way = next[set]++ % WAYS;
	tails[set][way] = tail_of(value, size);
	entry = &(*entries)[set][way];
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
	memset(tails, 0, sizeof(tails));
}
