/*
 * gin_entries.c - does a GIN index of encrypted values have the entries of its table's rows, and no others?
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

/* ---- a set of pairs that may say that it has one that it has not ---- */

/*
 * All bits of a pair are in one word (Putze, Sanders and Singler, Cache-, Hash- and Space-Efficient Bloom Filters, JEA 14, 2009): with the tens of pairs
 * that a row has, lib/bloomfilter.c would take most of the time.  Up to four pairs for each word, it is wrong about one in a hundred.
 */
typedef struct Filter
{
	uint64		last;			/* number of words, a power of two, - 1 */
	uint64		seed;
	uint64		words[FLEXIBLE_ARRAY_MEMBER];
} Filter;

#define PAIRS_PER_WORD	4

static Filter *
new_filter(int64 pairs)
{
	uint64		most = (uint64) maintenance_work_mem * 1024 / sizeof(uint64);
	uint64		words = 1024;
	Filter	   *filter;

	while (words * PAIRS_PER_WORD < pairs && words * 2 <= most)
		words *= 2;
	filter = MemoryContextAllocExtended(CurrentMemoryContext, offsetof(Filter, words) + words * sizeof(uint64), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	filter->last = words - 1;
	filter->seed = pg_prng_uint64(&pg_global_prng_state);
	return filter;
}

static inline uint64 *
word_of(Filter *filter, const Pair *pair, uint64 *bits)
{
	uint64		hash = hash_bytes_extended((const unsigned char *) pair, sizeof(Pair), filter->seed);

	*bits = UINT64CONST(1) << (hash & 63) | UINT64CONST(1) << (hash >> 6 & 63) | UINT64CONST(1) << (hash >> 12 & 63) | UINT64CONST(1) << (hash >> 18 & 63);
	return &filter->words[hash >> 24 & filter->last];
}

static inline void
add(Filter *filter, const Pair *pair)
{
	uint64		bits;

	*word_of(filter, pair, &bits) |= bits;
}

static inline bool
lacks(Filter *filter, const Pair *pair)
{
	uint64		bits;

	return (*word_of(filter, pair, &bits) & bits) != bits;
}

/* ---- the entries that a row has to have ---- */

typedef struct GinEntries
{
	TdeEntries *of;
	bool		blind[INDEX_MAX_KEYS];	/* the columns whose entries are keyed hashes */
	Filter	   *found;			/* pairs of the index */
	Filter	   *expected;		/* pairs of rows */
	MemoryContext per_row;
	Pair	   *doubtful;		/* pairs of the index that are not expected */
	int			count;
	int			room;
} GinEntries;

typedef struct Row
{
	GinEntries *entries;
	ItemPointerData tid;
	Datum	   *values;			/* of the index's columns */
	bool	   *nulls;
	int			lost;			/* number of the first column one of whose entries the index lacks; 0: it has all */
} Row;

static void
expect(Row *row, AttrNumber column, int8 category, int64 key)
{
	Pair		pair = {key, row->tid, (uint8) column, category};

	add(row->entries->expected, &pair);
	if (row->lost == 0 && lacks(row->entries->found, &pair))
		row->lost = column;
}

/* As GIN itself has it (ginExtractEntries()), but in no order. */
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

/* A TdeAttempt. */
static void
expect_row(void *arg)
{
	Row		   *row = arg;

	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(row->entries->of->index); i++)
		if (row->entries->blind[i])
			expect_column(row, i + 1, row->values[i], row->nulls[i]);
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

/* TdeGinVisitor.entry of the first reading. */
static void
note(void *arg, AttrNumber column, Datum key, GinNullCategory category, ItemPointerData row)
{
	GinEntries *entries = arg;
	Pair		pair = pair_of(column, key, category, row);

	if (entries->blind[column - 1])
		add(entries->found, &pair);
}

static void
tell_progress(void *arg)
{
	tde_counters_progress_blocks(&((GinEntries *) arg)->of->verification->progress, 1);
}

/* TdeGinVisitor.entry of the second one. */
static void
doubt(void *arg, AttrNumber column, Datum key, GinNullCategory category, ItemPointerData row)
{
	GinEntries *entries = arg;
	Pair		pair = pair_of(column, key, category, row);

	if (!entries->blind[column - 1] || !lacks(entries->expected, &pair))
		return;
	if (entries->count == entries->room)
		entries->doubtful = repalloc_huge(entries->doubtful, (entries->room *= 2) * sizeof(Pair));
	entries->doubtful[entries->count++] = pair;
}

/* A TdeAttempt: the entries of the row in the slot, in whatever version; all have the same. */
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

/* What VACUUM has not removed yet points to nothing. */
static void
look_at_doubtful(GinEntries *entries, const Pair *pair)
{
	TdeEntries *of = entries->of;
	Row			row = {entries, pair->row};
	bool		again = false;
	ErrorData  *error;

	/* the row has been looked at, for another one of its entries */
	if (!lacks(entries->expected, pair) || !table_index_fetch_tuple(of->fetch, &row.tid, SnapshotAny, of->slot, &again, NULL))
		return;
	row.tid = pair->row;
	error = tde_attempt(of->verification, expect_fetched, &row);
	ResetPerTupleExprContext(of->estate);
	if (error)
		tde_verify_problem_caught(of->verification, &row.tid, 0, error);
	else if (lacks(entries->expected, pair))
		tde_verify_problem(of->verification, &row.tid, pair->column, ERRCODE_INDEX_CORRUPTED, "entry has another value than its row");
}

/* TdeGinVisitor.page of the second reading. */
static void
look_at_doubtful_ones(void *arg)
{
	GinEntries *entries = arg;
	MemoryContext before = MemoryContextSwitchTo(entries->per_row);

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

/* Other columns, and indexes that PostgreSQL's own classes have made, hold values, not numbers. */
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
	entries.found = new_filter(pairs);
	entries.expected = new_filter(pairs);
	entries.per_row = AllocSetContextCreate(CurrentMemoryContext, "tde_column row", ALLOCSET_DEFAULT_SIZES);
	entries.doubtful = palloc(entries.room * sizeof(Pair));
	tde_gin_read(of->index, &(TdeGinVisitor) {&entries, note, tell_progress});
	rows = table_beginscan_strat(of->table, of->snapshot, 0, NULL, true, true);
	(void) table_index_build_scan(of->table, of->index, of->info, true, false, look_for_row, &entries, rows);
	tde_gin_read(of->index, &(TdeGinVisitor) {&entries, doubt, look_at_doubtful_ones});
	pfree(entries.found);
	pfree(entries.expected);
	MemoryContextDelete(entries.per_row);
}
