/*
 * plaintext_cache.c - the plaintexts of the values that this backend decrypted last, so that a value met again costs a comparison.
 *
 * One literal is decrypted by the coercion that follows its input; one row's column is used several times in a query; the
 * upper pages of an index and the representatives of groups are met again and again.  Found by all of a value's bytes,
 * never by its address.  Only short values that were authenticated, or else verified; a fixed number of them, on pages of
 * their own; cleansed as server/memory.h says.
 */
#include "postgres.h"

#include "keys/cache.h"
#include "server/memory.h"
#include "type/plaintext_cache.h"

/*
 * Powers of two.  160 bytes for each value: those of rows together stay in a first-level cache, the others in a second-level one.  Apart,
 * because rows' values, of which there are ever new ones, would push out the others, and would be written where it takes longer.
 */
#define ROW_SETS		16
#define ROW_WAYS		2
#define LONG_SETS		1024
#define LONG_WAYS		4

typedef struct Entries
{
	TdeCachedPlain row[ROW_SETS * ROW_WAYS];
	TdeCachedPlain longer[LONG_SETS * LONG_WAYS];
} Entries;

/* NULL: there are none.  Made when the first value is remembered, given back when all are forgotten. */
static Entries *entries = NULL;

/* The last bytes of each entry's value, apart: a miss, which is what most lookups are, touches nothing else. */
static uint32 row_tails[ROW_SETS * ROW_WAYS];
static uint32 long_tails[LONG_SETS * LONG_WAYS];
static uint8 row_next[ROW_SETS];	/* to be overwritten next */
static uint8 long_next[LONG_SETS];

#define CREDIT_PER_FIND	8		/* what finding a value again pays for */
#define MAX_CREDIT		256
static int	credit = MAX_CREDIT;
static uint32 uses = 0;

/*
 * Most queries use a row's value once, and then remembering it is work for nothing.  So each one that is found again pays for
 * so many to be remembered; without credit, only a few in a row of many are tried.  What rows are compared with does not count: it is always
 * found again.
 */
#define TRIED	64
#define UNTRIED	960

bool
tde_plaintext_passes_over(void)
{
	return credit <= 0 && uses++ % (TRIED + UNTRIED) >= TRIED;
}

/* One half of the last bytes of values that others were compared with, by the other half. */
#define MET_PLACES	8192
static uint16 met_tails[MET_PLACES];

/* A value ends with its MAC or with ciphertext, so its last bytes are as good as random. */
static inline uint32
tail_of(const uint8 *value, size_t size)
{
	uint32		tail;

	memcpy(&tail, value + size - sizeof(tail), sizeof(tail));
	return tail;
}

bool
tde_plaintext_is_met_again(const uint8 *value, size_t size)
{
	uint32		tail = tail_of(value, size);
	uint16	   *met = &met_tails[tail % MET_PLACES];
	bool		again = *met == tail >> 16;

	*met = tail >> 16;
	return again;
}

/* The tail of a value may be that of an empty entry. */
static inline const TdeCachedPlain *
if_same(const TdeCachedPlain *entry, Oid type, uint64 epoch, const uint8 *value, size_t size)
{
	bool		same = entry->size == size && entry->type == type && entry->epoch == (uint32) epoch && memcmp(entry->value, value, size) == 0;

	return same ? entry : NULL;
}

/* Where it would be; -1: it is not there. */
static pg_attribute_always_inline int
place_of(const uint32 *tails, int sets, int ways, uint32 tail)
{
	int			first = tail % sets * ways;

	for (int way = 0; way < ways; way++)
		if (tails[first + way] == tail)
			return first + way;
	return -1;
}

const TdeCachedPlain *
tde_plaintext_find(Oid type, uint64 epoch, const uint8 *value, size_t size)
{
	uint32		tail;
	int			place;

	if (size > TDE_CACHED_VALUE || size < sizeof(tail) || entries == NULL)
		return NULL;
	tail = tail_of(value, size);
	place = place_of(row_tails, ROW_SETS, ROW_WAYS, tail);
	if (place >= 0)
	{
		const TdeCachedPlain *entry = if_same(&entries->row[place], type, epoch, value, size);

		if (entry)
			credit = Min(credit + CREDIT_PER_FIND, MAX_CREDIT);
		return entry;
	}
	place = place_of(long_tails, LONG_SETS, LONG_WAYS, tail);
	return place >= 0 ? if_same(&entries->longer[place], type, epoch, value, size) : NULL;
}

/* The place that is overwritten next. */
static pg_attribute_always_inline int
take_place(uint32 *tails, uint8 *next, int sets, int ways, uint32 tail)
{
	int			set = tail % sets;
	int			place = set * ways + next[set]++ % ways;

	tails[place] = tail;
	return place;
}

/* Cleanse them all. */
static void
forget_plain(void)
{
	if (entries == NULL)
		return;
	tde_memory_secret_pages_free(entries, sizeof(Entries), sizeof(Entries));
	entries = NULL;
	memset(row_tails, 0, sizeof(row_tails));
	memset(long_tails, 0, sizeof(long_tails));
}

void
tde_plaintext_remember(TdeRemember remember, Oid type, uint64 epoch, const uint8 *value, size_t size, const uint8 *plain, size_t plain_size)
{
	TdeCachedPlain *entry;
	uint32		tail;

	if (size > TDE_CACHED_VALUE || size < sizeof(uint32) || plain_size > TDE_CACHED_PLAIN)
		return;
	/* what cannot be remembered is decrypted again */
	if (unlikely(entries == NULL))
	{
		if ((entries = tde_memory_secret_pages_new(sizeof(Entries))) == NULL)
			return;
		tde_forget_decrypted = forget_plain;
	}
	tail = tail_of(value, size);
	if (remember == TDE_REMEMBER_ROW)
	{
		credit = Max(credit - 1, 0);
		entry = &entries->row[take_place(row_tails, row_next, ROW_SETS, ROW_WAYS, tail)];
	}
	else
		entry = &entries->longer[take_place(long_tails, long_next, LONG_SETS, LONG_WAYS, tail)];
	entry->epoch = (uint32) epoch;
	entry->type = type;
	entry->size = (uint8) size;
	entry->plain_size = (uint8) plain_size;
	memcpy(entry->value, value, size);
	memcpy(entry->plain, plain, plain_size);
}
