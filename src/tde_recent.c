/*
 * tde_recent.c - the values decrypted last, by this backend.
 */
#include "postgres.h"

#include <openssl/crypto.h>

#include "tde_recent.h"

/* Powers of two.  160 bytes each: together they fit into a second-level cache. */
#define ROW_ENTRIES		64
#define LONG_SETS		1024
#define LONG_WAYS		2

typedef struct Entry
{
	uint32		epoch;			/* the lower half will do: entries do not live through 2^32 changes of keys */
	Oid			type;
	uint8		size;			/* 0: empty */
	uint8		plain_size;
	uint8		value[TDE_RECENT_VALUE];
	uint8		plain[TDE_RECENT_PLAIN];
} Entry;

static Entry row_entries[ROW_ENTRIES];
static Entry long_entries[LONG_SETS][LONG_WAYS];

/* The last bytes of each entry's value, apart: a miss, which is what most lookups are, touches nothing else. */
static uint32 row_tails[ROW_ENTRIES];
static uint32 long_tails[LONG_SETS][LONG_WAYS];
static uint8 long_next[LONG_SETS];	/* to be overwritten next */

/* Tails of values met once: one that is never met again must not push out one that is. */
#define MET_ONCE		4096
static uint32 met_once[MET_ONCE];
static bool used = false;

/* A value with a MAC ends with it, so its last bytes are as good as random. */
static inline uint32
tail_of(const uint8 *value, size_t size)
{
	uint32		tail;

	memcpy(&tail, value + size - sizeof(tail), sizeof(tail));
	return tail;
}

bool
tde_recent_find(Oid type, uint64 epoch, const uint8 *value, size_t size, uint8 *plain, size_t *plain_size)
{
	const Entry *entry;
	const uint32 *set;
	uint32		tail;

	if (size > TDE_RECENT_VALUE || size < sizeof(tail))
		return false;
	tail = tail_of(value, size);
	set = long_tails[tail % LONG_SETS];
	if (row_tails[tail % ROW_ENTRIES] == tail)
		entry = &row_entries[tail % ROW_ENTRIES];
	else if (set[0] == tail || set[1] == tail)
		entry = &long_entries[tail % LONG_SETS][set[0] == tail ? 0 : 1];
	else
		return false;
	if (entry->size != size || entry->type != type || entry->epoch != (uint32) epoch ||
		memcmp(entry->value, value, size) != 0)
		return false;
	memcpy(plain, entry->plain, entry->plain_size);
	*plain_size = entry->plain_size;
	return true;
}

void
tde_recent_put(TdeRemember where, Oid type, uint64 epoch, const uint8 *value, size_t size,
			   const uint8 *plain, size_t plain_size)
{
	Entry	   *entry;
	uint32		tail;

	if (where == TDE_REMEMBER_NOT || size > TDE_RECENT_VALUE || size < sizeof(tail) || plain_size > TDE_RECENT_PLAIN)
		return;
	tail = tail_of(value, size);
	if (where == TDE_REMEMBER_LONG && met_once[tail % MET_ONCE] != tail)
	{
		met_once[tail % MET_ONCE] = tail;
		where = TDE_REMEMBER_ROW;
	}
	if (where == TDE_REMEMBER_ROW)
	{
		row_tails[tail % ROW_ENTRIES] = tail;
		entry = &row_entries[tail % ROW_ENTRIES];
	}
	else
	{
		int			way = long_next[tail % LONG_SETS]++ % LONG_WAYS;

		long_tails[tail % LONG_SETS][way] = tail;
		entry = &long_entries[tail % LONG_SETS][way];
	}
	entry->epoch = (uint32) epoch;
	entry->type = type;
	entry->size = (uint8) size;
	entry->plain_size = (uint8) plain_size;
	memcpy(entry->value, value, size);
	memcpy(entry->plain, plain, plain_size);
	used = true;
}

void
tde_recent_forget(void)
{
	if (used)
	{
		OPENSSL_cleanse(row_entries, sizeof(row_entries));
		OPENSSL_cleanse(long_entries, sizeof(long_entries));
	}
	used = false;
}
