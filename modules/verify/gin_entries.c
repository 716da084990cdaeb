/*
 * gin_entries.c - whether a GIN index of encrypted values has the entries of its table's rows, and no others.
 *
 * Its entries are keyed hashes, so the operator class makes those of each row again.  The index is read, and what it has goes into a Bloom filter; then
 * the rows of a snapshot that is older, whose entries are looked for in it, and go into another one; then the index once more, whose entries are looked
 * for in that.  What is not there may be of a row that came later, or that VACUUM is to remove: that row's entries are made, if there is one.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/gin.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "common/pg_prng.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "server/compat.h"
#include "verify/gin_entries.h"
#include "verify/gin_pages.h"

/* An entry and one of its rows; no byte of it is unused, since all are hashed. */
typedef struct Pair
{
	int64		key;			/* 0 unless it is a GIN_CAT_NORM_KEY */
	ItemPointerData row;
	uint8		column;
	int8		category;
} Pair;

StaticAssertDecl(sizeof(Pair) == 16, "a pair has no gaps");

/* ---- two sets of pairs that may say that they have one that they have not ---- */

/*
 * All bits of a pair are in one word (Putze, Sanders and Singler, Cache-, Hash- and Space-Efficient Bloom Filters, JEA 14, 2009): with the tens of pairs
 * that a row has, lib/bloomfilter.c would take most of the time.  Up to four pairs for each word, it is wrong about one in a hundred.  The words of both
 * sets stand beside each other.
 */
typedef struct Words
{
	uint64		found;			/* pairs of the index */
	uint64		expected;		/* pairs of rows */
} Words;

typedef struct Filters
{
	uint64		last;			/* number of words of each, a power of two, - 1 */
	uint64		seed;
	Words		words[FLEXIBLE_ARRAY_MEMBER];
} Filters;

#define PAIRS_PER_WORD	4

/* Makes filters for so many pairs, within maintenance_work_mem.  Too small ones miss errors, and invent none. */
static Filters *
new_filters(int64 pairs)
{
	uint64		most = (uint64) maintenance_work_mem * 1024 / sizeof(uint64);
	uint64		words = 1024;
	Filters    *filters;

	while (words * PAIRS_PER_WORD < pairs && words * 2 <= most)
		words *= 2;
	filters = MemoryContextAllocExtended(CurrentMemoryContext, offsetof(Filters, words) + words * sizeof(Words), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	filters->last = words - 1;
	filters->seed = pg_prng_uint64(&pg_global_prng_state);
	return filters;
}

/* A pair, and where it is in both. */
typedef struct Place
{
	Pair		pair;
	Words	   *words;
	uint64		bits;
} Place;

static inline Place
place_of(Filters *filters, const Pair *pair)
{
	uint64		hash = hash_bytes_extended((const unsigned char *) pair, sizeof(Pair), filters->seed);
	uint64		bits = UINT64CONST(1) << (hash & 63) | UINT64CONST(1) << (hash >> 6 & 63) | UINT64CONST(1) << (hash >> 12 & 63) | UINT64CONST(1) << (hash >> 18 & 63);

	return (Place) {*pair, &filters->words[hash >> 24 & filters->last], bits};
}

static inline bool
lacks(uint64 word, const Place *place)
{
	return (word & place->bits) != place->bits;
}

static bool
is_expected(Filters *filters, const Pair *pair)
{
	Place		place = place_of(filters, pair);

	return !lacks(place.words->expected, &place);
}

/* ---- the entries that a row has to have ---- */

/* Words are far apart in memory: many are looked at in a row, so that the processor fetches them at once. */
#define TOGETHER	64

/* The verification of one index. */
typedef struct GinEntries
{
	TdeEntries *of;
	bool		blind[INDEX_MAX_KEYS];	/* the columns whose entries are keyed hashes */
	Filters    *filters;
	Place		places[TOGETHER];	/* that have not been looked at yet */
	int			waiting;
	MemoryContext per_row;
	Pair	   *doubtful;		/* pairs of the index that are not expected */
	int			count;
	int			room;
} GinEntries;

/* Adds a pair to those that wait.  Returns true if there are as many as are looked at together. */
static inline bool
put(GinEntries *entries, const Pair *pair)
{
	entries->places[entries->waiting++] = place_of(entries->filters, pair);
	return entries->waiting == TOGETHER;
}

/* A row whose entries are made. */
typedef struct Row
{
	GinEntries *entries;
	ItemPointerData tid;
	Datum	   *values;			/* of the index's columns */
	bool	   *nulls;
	int			lost;			/* number of the first column one of whose entries the index lacks; 0: it has all */
} Row;

/* Notes the waiting pairs as expected, and whether the index has each. */
static void
expect_waiting(Row *row)
{
	GinEntries *entries = row->entries;

	for (int i = 0; i < entries->waiting; i++)
	{
		Place	   *place = &entries->places[i];

		place->words->expected |= place->bits;
		if (lacks(place->words->found, place) && row->lost == 0)
			row->lost = place->pair.column;
	}
	entries->waiting = 0;
}

static void
expect(Row *row, AttrNumber column, int8 category, int64 key)
{
	Pair		pair = {key, row->tid, (uint8) column, category};

	if (put(row->entries, &pair))
		expect_waiting(row);
}

/* Makes a column's entries as GIN itself does (ginExtractEntries()), but in no order. */
static void
expect_column(Row *row, AttrNumber column, Datum value, bool isnull)
{
	Relation	index = row->entries->of->index;
	int32		count = 0;
	bool	   *nulls = NULL;
	Datum	   *keys;

	if (isnull)
	{
		expect(row, column, GIN_CAT_NULL_ITEM, 0);
		return;
	}
	keys = (Datum *) DatumGetPointer(FunctionCall3Coll(index_getprocinfo(index, column, GIN_EXTRACTVALUE_PROC), index->rd_indcollation[column - 1],
													   value, PointerGetDatum(&count), PointerGetDatum(&nulls)));
	if (keys == NULL || count <= 0)
		expect(row, column, GIN_CAT_EMPTY_ITEM, 0);
	for (int i = 0; keys && i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (nulls && nulls[i])
			expect(row, column, GIN_CAT_NULL_KEY, 0);
		else
			expect(row, column, GIN_CAT_NORM_KEY, DatumGetInt64(keys[i]));
	}
}

/* A TdeAttempt: all entries of a row. */
static void
expect_row(void *arg)
{
	Row		   *row = arg;

	/* the attempt before may have failed */
	row->entries->waiting = 0;
	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(row->entries->of->index); i++)
		if (row->entries->blind[i])
			expect_column(row, i + 1, row->values[i], row->nulls[i]);
	expect_waiting(row);
}

/* An IndexBuildCallback. */
static void
look_for_row(Relation index, ItemPointer tid, Datum *values, bool *isnull, bool is_alive, void *arg)
{
	GinEntries *entries = arg;
	TdeVerification *verification = entries->of->verification;
	Row			row = {entries, *tid, values, isnull};
	MemoryContext before = MemoryContextSwitchTo(entries->per_row);
	ErrorData  *error = tde_attempt(verification, expect_row, &row);

	if (error)
		tde_verify_problem_caught(verification, tid, 0, error);
	else if (row.lost > 0)
		tde_verify_problem(verification, tid, row.lost, ERRCODE_INDEX_CORRUPTED, "row has no entry in the index");
	MemoryContextSwitchTo(before);
	MemoryContextReset(entries->per_row);
}

/* ---- the entries of the index ---- */

static Pair
pair_of(AttrNumber column, Datum key, GinNullCategory category, ItemPointerData row)
{
	return (Pair) {category == GIN_CAT_NORM_KEY ? DatumGetInt64(key) : 0, row, (uint8) column, category};
}

static void
note_waiting(GinEntries *entries)
{
	for (int i = 0; i < entries->waiting; i++)
		entries->places[i].words->found |= entries->places[i].bits;
	entries->waiting = 0;
}

/* TdeGinVisitor.entry of the first reading. */
static void
note(void *arg, AttrNumber column, Datum key, GinNullCategory category, ItemPointerData row)
{
	GinEntries *entries = arg;
	Pair		pair = pair_of(column, key, category, row);

	if (entries->blind[column - 1] && put(entries, &pair))
		note_waiting(entries);
}

/* TdeGinVisitor.page of it. */
static void
tell_progress(void *arg)
{
	tde_counters_progress_blocks(&((GinEntries *) arg)->of->verification->progress, 1);
}

/* Keeps the waiting pairs of the index that no row is known to have. */
static void
doubt_waiting(GinEntries *entries)
{
	for (int i = 0; i < entries->waiting; i++)
	{
		const Place *place = &entries->places[i];

		if (!lacks(place->words->expected, place))
			continue;
		if (entries->count == entries->room)
			entries->doubtful = repalloc_huge(entries->doubtful, (entries->room *= 2) * sizeof(Pair));
		entries->doubtful[entries->count++] = place->pair;
	}
	entries->waiting = 0;
}

/* TdeGinVisitor.entry of the second one. */
static void
doubt(void *arg, AttrNumber column, Datum key, GinNullCategory category, ItemPointerData row)
{
	GinEntries *entries = arg;
	Pair		pair = pair_of(column, key, category, row);

	if (entries->blind[column - 1] && put(entries, &pair))
		doubt_waiting(entries);
}

/* A TdeAttempt: makes the entries of the row in the slot, in whatever version; all have the same. */
static void
expect_fetched(void *arg)
{
	Row		   *row = arg;
	TdeEntries *of = row->entries->of;
	Datum		values[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];

	GetPerTupleExprContext(of->estate)->ecxt_scantuple = of->slot;
	FormIndexDatum(of->info, of->slot, of->estate, values, nulls);
	row->values = values;
	row->nulls = nulls;
	expect_row(row);
}

/* Looks at the row that an entry points to.  What VACUUM has not removed yet points to nothing. */
static void
look_at_doubtful(GinEntries *entries, const Pair *pair)
{
	TdeEntries *of = entries->of;
	Row			row = {entries, pair->row};
	bool		again = false;
	ErrorData  *error;

	/* the row has been looked at, for another one of its entries */
	if (is_expected(entries->filters, pair) || !table_index_fetch_tuple(of->fetch, &row.tid, SnapshotAny, of->slot, &again, NULL))
		return;
	row.tid = pair->row;
	error = tde_attempt(of->verification, expect_fetched, &row);
	ResetPerTupleExprContext(of->estate);
	if (error)
		tde_verify_problem_caught(of->verification, &row.tid, 0, error);
	else if (!is_expected(entries->filters, pair))
		tde_verify_problem(of->verification, &row.tid, pair->column, ERRCODE_INDEX_CORRUPTED, "entry has another value than its row");
}

/* TdeGinVisitor.page of the second reading. */
static void
look_at_doubtful_ones(void *arg)
{
	GinEntries *entries = arg;
	MemoryContext before = MemoryContextSwitchTo(entries->per_row);

	doubt_waiting(entries);
	for (int i = 0; i < entries->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		look_at_doubtful(entries, &entries->doubtful[i]);
		MemoryContextReset(entries->per_row);
	}
	entries->count = 0;
	MemoryContextSwitchTo(before);
}

/* ---- all of them ---- */

/* Finds the columns whose entries are keyed hashes.  Others, and indexes that PostgreSQL's own classes have made, hold values, not numbers. */
static bool
find_blind(GinEntries *entries)
{
	Relation	index = entries->of->index;
	bool		found = false;

	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); i++)
		found |= entries->blind[i] = TupleDescAttr(RelationGetDescr(index), i)->atttypid == INT8OID &&
			tde_inside_find(index->rd_opcintype[i], -1) != NULL;
	return found;
}

void
tde_gin_entries_verify(TdeEntries *of)
{
	GinEntries	entries = {of, .room = 64};
	TableScanDesc rows;
	int64		pairs;

	if (!find_blind(&entries))
		return;
	/* of a long list of rows each takes two bytes */
	pairs = (int64) RelationGetNumberOfBlocks(of->index) * (BLCKSZ / 2);
	entries.filters = new_filters(pairs);
	entries.per_row = AllocSetContextCreate(CurrentMemoryContext, "tde_column row", ALLOCSET_DEFAULT_SIZES);
	entries.doubtful = palloc(entries.room * sizeof(Pair));
	tde_gin_read(of->index, &(TdeGinVisitor) {&entries, note, tell_progress});
	note_waiting(&entries);
	rows = table_beginscan_strat(of->table, of->snapshot, 0, NULL, true, true);
	(void) table_index_build_scan(of->table, of->index, of->info, true, false, look_for_row, &entries, rows);
	tde_gin_read(of->index, &(TdeGinVisitor) {&entries, doubt, look_at_doubtful_ones});
	pfree(entries.filters);
	MemoryContextDelete(entries.per_row);
}
