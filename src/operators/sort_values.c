/*
 * sort_values.c - the plaintexts of a sort in memory, equal ones once.
 *
 * Values are kept in two generations.  A sort that writes runs, or a heap of the first few, throws values away without telling; so when comparisons
 * show that a run was sorted, the current generation becomes the previous one, and that one is forgotten.  A number that is too low for either is of
 * a forgotten value.
 */
#include "postgres.h"

#include "utils/memutils.h"
#include "utils/typcache.h"

#include "operators/sort_values.h"
#include "server/memory.h"

/* A number counts 8 bytes, so that an entry is found without another table. */
#define UNIT			sizeof(uint64)
#define MIN_UNITS		1024
#define MIN_SLOTS		256		/* a power of two */

/* So many and more slots are on pages of their own, which go back to the kernel when they grow. */
#define SLOTS_ON_PAGES	(64 * 1024)

/* A generation with fewer values is not worth replacing; more than the comparisons by which a heap takes one value. */
#define MIN_GENERATION	256

/* A plaintext in an arena.  Its size follows from the value, so that entries can be walked from the first to the last. */
typedef struct Entry
{
	uint32		hash;			/* the base type's */
	uint32		key;			/* the caller's */
	uint64		value[FLEXIBLE_ARRAY_MEMBER];	/* by value, or the bytes that the datum points to */
} Entry;

/* The values of one run, and what finds them by their hash.  All zeros: empty. */
typedef struct Generation
{
	uint64	   *arena;			/* entries, one after the other, on pages of their own */
	uint32		first;			/* number of its first unit */
	uint32		used;			/* in units */
	uint32		room;
	uint32	   *slots;			/* number of an entry, or 0; open addressing */
	uint32		slot_count;
	uint32		entries;
	bool		compared;		/* some of its values were, before it was complete */
} Generation;

struct TdeSortValues
{
	TdeType    *type;
	SortSupport base;
	FmgrInfo	hash;
	Size		bound;			/* bytes of both generations */
	Generation	current;
	Generation	previous;		/* of values that the sort has probably done with */
	MemoryContextCallback callback;
};

static void
free_arena(Generation *generation)
{
	if (generation->arena)
		tde_memory_secret_pages_free(generation->arena, generation->room * UNIT, generation->used * UNIT);
	generation->arena = NULL;
}

static void
free_slots(Generation *generation)
{
	if (generation->slot_count >= SLOTS_ON_PAGES)
		tde_memory_secret_pages_free(generation->slots, generation->slot_count * sizeof(uint32), 0);
	else if (generation->slots)
		pfree(generation->slots);
	generation->slots = NULL;
}

static void
forget_generation(Generation *generation)
{
	free_arena(generation);
	free_slots(generation);
	memset(generation, 0, sizeof(*generation));
}

/* A MemoryContextCallback: pages outside of the memory context would stay otherwise, with plaintexts on them. */
static void
cleanse(void *arg)
{
	TdeSortValues *kept = arg;

	forget_generation(&kept->current);
	forget_generation(&kept->previous);
}

TdeSortValues *
tde_sort_values_new(TdeType *type, SortSupport base, Size bound)
{
	TypeCacheEntry *entry = lookup_type_cache(type->base, TYPECACHE_HASH_PROC);
	TdeSortValues *kept;

	if (!OidIsValid(entry->hash_proc))
		return NULL;
	kept = MemoryContextAllocZero(base->ssup_cxt, sizeof(TdeSortValues));
	kept->type = type;
	kept->base = base;
	kept->bound = bound;
	fmgr_info_cxt(entry->hash_proc, &kept->hash, base->ssup_cxt);
	kept->callback.func = cleanse;
	kept->callback.arg = kept;
	MemoryContextRegisterResetCallback(base->ssup_cxt, &kept->callback);
	kept->current.first = 1;	/* 0 is no number */
	return kept;
}

static inline Entry *
entry_at(const Generation *generation, uint32 number)
{
	return (Entry *) (generation->arena + (number - generation->first));
}

static inline Datum
entry_datum(const TdeSortValues *kept, Entry *entry)
{
	return kept->type->base_byval ? (Datum) entry->value[0] : PointerGetDatum(entry->value);
}

/* Returns the slot that holds an equal value, or the free one where it belongs.  At least half of the slots are free, so it ends. */
static uint32 *
find_slot(TdeSortValues *kept, Datum plain, uint32 hash)
{
	Generation *generation = &kept->current;
	uint32		mask = generation->slot_count - 1;

	for (uint32 i = hash & mask;; i = (i + 1) & mask)
	{
		uint32		number = generation->slots[i];
		Entry	   *entry;

		if (number == 0)
			return &generation->slots[i];
		entry = entry_at(generation, number);
		if (entry->hash == hash && kept->base->comparator(plain, entry_datum(kept, entry), kept->base) == 0)
			return &generation->slots[i];
	}
}

/* Bytes of a value as an entry holds it. */
static Size
value_size(const TdeType *type, Datum plain)
{
	if (type->base_byval)
		return sizeof(Datum);
	return type->base_len >= 0 ? type->base_len : VARSIZE_ANY(DatumGetPointer(plain));
}

/* The units of an entry with a value of that size. */
static inline Size
units_for(Size size)
{
	return (offsetof(Entry, value) + size + UNIT - 1) / UNIT;
}

static bool
slots_are_short(const Generation *generation)
{
	return generation->entries * 2 >= generation->slot_count;
}

/* Twice as many slots, so that at most half of them are taken. */
static Size
more_slots(const Generation *generation)
{
	return Max((Size) generation->slot_count * 2, MIN_SLOTS);
}

static void
no_memory(Size size)
{
	ereport(ERROR,
			(errcode(ERRCODE_OUT_OF_MEMORY),
			 errmsg("out of memory"),
			 errdetail("Failed on request of size %zu.", size)));
}

/*
 * Makes more slots, and puts all entries into them.  Throws ERRCODE_OUT_OF_MEMORY; then the old ones stay.  Slots tell nothing of values, but their
 * pages are taken from the same source, since those go back to the kernel.
 */
static void
grow_slots(TdeSortValues *kept)
{
	Generation *generation = &kept->current;
	Size		count = more_slots(generation);
	Size		size = count * sizeof(uint32);
	uint32	   *slots = count >= SLOTS_ON_PAGES ? tde_memory_secret_pages_new(size) : MemoryContextAllocZero(kept->base->ssup_cxt, size);

	if (slots == NULL)
		no_memory(size);
	for (uint32 offset = 0; offset < generation->used;)
	{
		Entry	   *entry = (Entry *) (generation->arena + offset);
		uint32		i = entry->hash & (count - 1);

		while (slots[i] != 0)
			i = (i + 1) & (count - 1);
		slots[i] = generation->first + offset;
		offset += units_for(value_size(kept->type, entry_datum(kept, entry)));
	}
	free_slots(generation);
	generation->slots = slots;
	generation->slot_count = (uint32) count;
}

/* Makes room for so many units more: twice as much as before, within the bound.  Entries may move; numbers stay. */
static void
grow_arena(TdeSortValues *kept, uint32 units)
{
	Generation *generation = &kept->current;
	Size		room = Min(Max((Size) generation->room * 2, MIN_UNITS), kept->bound / UNIT);
	uint64	   *arena;

	room = Max(room, (Size) generation->used + units);
	arena = generation->arena == NULL ? tde_memory_secret_pages_new(room * UNIT) :
		tde_memory_secret_pages_grow(generation->arena, generation->room * UNIT, room * UNIT);
	if (arena == NULL)
		no_memory(room * UNIT);
	generation->arena = arena;
	generation->room = (uint32) room;
}

/* Bytes of a generation: those that are used of the arena, and all slots. */
static Size
bytes_of(const Generation *generation)
{
	return generation->used * UNIT + generation->slot_count * sizeof(uint32);
}

/* Returns true if there is room for so many units more.  While the slots grow, there are the old and the new ones. */
static bool
fits(const TdeSortValues *kept, Size units)
{
	const Generation *generation = &kept->current;
	Size		bytes = bytes_of(&kept->previous) + bytes_of(generation) + units * UNIT;

	if (slots_are_short(generation))
		bytes += more_slots(generation) * sizeof(uint32);
	return bytes <= kept->bound;
}

/* Go on with an empty generation.  Numbers are not used again, as values that were forgotten may still have them. */
static void
start_generation(TdeSortValues *kept)
{
	uint32		next = kept->current.first + kept->current.used;

	memset(&kept->current, 0, sizeof(kept->current));
	kept->current.first = next;
}

void
tde_sort_values_compared(TdeSortValues *kept, uint64 comparisons)
{
	Generation *generation = &kept->current;

	generation->compared = true;
	/* what sorts its values, and not what puts another one into a heap */
	if (generation->entries >= MIN_GENERATION && comparisons >= generation->entries / 2)
	{
		forget_generation(&kept->previous);
		kept->previous = *generation;
		start_generation(kept);
	}
}

/* Room for so many units more in the current generation; false if there is none. */
static bool
make_room(TdeSortValues *kept, Size units)
{
	Generation *generation = &kept->current;

	if (generation->first + generation->used + units >= TDE_SORT_NUMBERS)
		return false;
	if (!fits(kept, units) && kept->previous.arena)
		forget_generation(&kept->previous);
	if (!fits(kept, units) && generation->compared)
	{
		Generation	full = *generation;

		start_generation(kept);
		forget_generation(&full);
	}
	if (!fits(kept, units))
		return false;
	if (slots_are_short(generation))
		grow_slots(kept);
	if (generation->room - generation->used < units)
		grow_arena(kept, (uint32) units);
	return true;
}

uint32
tde_sort_values_add(TdeSortValues *kept, Datum plain, uint32 key)
{
	Generation *generation = &kept->current;
	uint32		hash = DatumGetUInt32(FunctionCall1Coll(&kept->hash, kept->base->ssup_collation, plain));
	Size		size = value_size(kept->type, plain);
	uint32	   *slot = generation->slots ? find_slot(kept, plain, hash) : NULL;
	Entry	   *entry;

	if (slot && *slot != 0)
		return *slot;
	if (!make_room(kept, units_for(size)))
		return 0;
	/* the slots may be others now */
	slot = find_slot(kept, plain, hash);
	*slot = generation->first + generation->used;
	entry = entry_at(generation, *slot);
	entry->hash = hash;
	entry->key = key;
	if (kept->type->base_byval)
		entry->value[0] = plain;
	else
		memcpy(entry->value, DatumGetPointer(plain), size);
	generation->used += units_for(size);
	generation->entries++;
	return *slot;
}

bool
tde_sort_values_get(TdeSortValues *kept, uint32 number, Datum *plain, uint32 *key)
{
	const Generation *generation = number >= kept->current.first ? &kept->current : &kept->previous;
	Entry	   *entry;

	if (number < generation->first || generation->arena == NULL)
		return false;
	entry = entry_at(generation, number);
	*plain = entry_datum(kept, entry);
	*key = entry->key;
	return true;
}
