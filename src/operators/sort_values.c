/*
 * sort_values.c - the plaintexts of a sort in memory, equal ones once.
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

typedef struct Entry
{
	uint32		hash;			/* the base type's */
	uint32		units;			/* of the whole entry */
	uint64		value[FLEXIBLE_ARRAY_MEMBER];	/* by value, or the bytes that the datum points to */
} Entry;

typedef struct Generation
{
	uint64	   *arena;			/* entries, one after the other, on pages of their own */
	uint32		first;			/* number of its first unit */
	uint32		used;			/* in units */
	uint32		room;
	uint32	   *slots;			/* number of an entry, or 0; open addressing */
	uint32		slot_count;
	uint32		entries;
} Generation;

struct TdeSortValues
{
	TdeType    *type;
	SortSupport base;
	FmgrInfo	hash;
	Size		bound;			/* bytes */
	Generation	current;
	Generation	previous;
	MemoryContextCallback callback;
};

static void
free_arena(Generation *generation)
{
	if (generation->arena)
		tde_secret_pages_free(generation->arena, generation->room * UNIT, generation->used * UNIT);
	generation->arena = NULL;
}

static void
forget(Generation *generation)
{
	free_arena(generation);
	if (generation->slots)
		pfree(generation->slots);
	memset(generation, 0, sizeof(*generation));
}

/* The other memory goes with its context. */
static void
cleanse(void *arg)
{
	TdeSortValues *kept = arg;

	free_arena(&kept->current);
	free_arena(&kept->previous);
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

/* The slot that holds an equal value, or the free one where it belongs. */
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

/* Twice as many slots, so that at most half of them are taken. */
static void
grow_slots(TdeSortValues *kept)
{
	Generation *generation = &kept->current;
	uint32		count = Max(generation->slot_count * 2, MIN_SLOTS);
	uint32	   *slots = MemoryContextAllocExtended(kept->base->ssup_cxt, count * sizeof(uint32),
												   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

	for (uint32 offset = 0; offset < generation->used;)
	{
		Entry	   *entry = (Entry *) (generation->arena + offset);
		uint32		i = entry->hash & (count - 1);

		while (slots[i] != 0)
			i = (i + 1) & (count - 1);
		slots[i] = generation->first + offset;
		offset += entry->units;
	}
	if (generation->slots)
		pfree(generation->slots);
	generation->slots = slots;
	generation->slot_count = count;
}

static void
grow_arena(TdeSortValues *kept, uint32 units)
{
	Generation *generation = &kept->current;
	Size		room = Max((Size) generation->room * 2, MIN_UNITS);
	uint64	   *arena;

	room = Min(Max(room, (Size) generation->used + units), UINT32_MAX);
	arena = generation->arena == NULL ? tde_secret_pages_new(room * UNIT) :
		tde_secret_pages_grow(generation->arena, generation->room * UNIT, room * UNIT);
	if (arena == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("Failed on request of size %zu.", room * UNIT)));
	generation->arena = arena;
	generation->room = (uint32) room;
}

/* Bytes of a value as an entry holds it. */
static Size
value_size(const TdeType *type, Datum plain)
{
	if (type->base_byval)
		return sizeof(Datum);
	return type->base_len >= 0 ? type->base_len : VARSIZE_ANY(DatumGetPointer(plain));
}

/* Room for so many units more in the current generation, which is a new one if this one is full; false: no numbers left. */
static bool
make_room(TdeSortValues *kept, uint32 units)
{
	Generation *generation = &kept->current;
	uint32		next = generation->first + generation->used;

	if ((uint64) next + units >= UINT32_MAX)
		return false;
	if (generation->entries > 0 &&
		((Size) generation->used + units) * UNIT + generation->slot_count * sizeof(uint32) > kept->bound)
	{
		forget(&kept->previous);
		kept->previous = *generation;
		memset(generation, 0, sizeof(*generation));
	}
	if (generation->arena == NULL)
		generation->first = Max(next, 1);	/* 0 is no number */
	if (generation->entries * 2 >= generation->slot_count)
		grow_slots(kept);
	if (generation->room - generation->used < units)
		grow_arena(kept, units);
	return true;
}

uint32
tde_sort_values_add(TdeSortValues *kept, Datum plain)
{
	Generation *generation = &kept->current;
	uint32		hash = DatumGetUInt32(FunctionCall1Coll(&kept->hash, kept->base->ssup_collation, plain));
	Size		size = value_size(kept->type, plain);
	uint32		units = (uint32) ((offsetof(Entry, value) + size + UNIT - 1) / UNIT);
	uint32	   *slot;
	Entry	   *entry;

	if (!make_room(kept, units))
		return 0;
	slot = find_slot(kept, plain, hash);
	if (*slot != 0)
		return *slot;
	*slot = generation->first + generation->used;
	entry = entry_at(generation, *slot);
	entry->hash = hash;
	entry->units = units;
	if (kept->type->base_byval)
		entry->value[0] = plain;
	else
		memcpy(entry->value, DatumGetPointer(plain), size);
	generation->used += units;
	generation->entries++;
	return *slot;
}

bool
tde_sort_values_get(TdeSortValues *kept, uint32 number, Datum *plain)
{
	const Generation *generation = number >= kept->current.first ? &kept->current : &kept->previous;

	if (number < generation->first || generation->arena == NULL)
		return false;
	*plain = entry_datum(kept, entry_at(generation, number));
	return true;
}
