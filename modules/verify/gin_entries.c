/*
 * gin_entries.c - does a GIN index of encrypted values have the entries of its table's rows, and no others?
 *
 * Its entries are keyed hashes, so the operator class makes those of each row again.  The index is read, and what it has goes into a Bloom filter; then
 * the rows of a snapshot that is older, whose entries are looked for in it, and go into another one; then the index once more, whose entries are looked
 * for in that.  What is not there may be of a row that came later, or that VACUUM is to remove: that row's entries are made, if there is one.
 *
 * A filter may say that it has what it has not: of 64 entries about one, where maintenance_work_mem is enough for it.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/gin.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "catalog/pg_type.h"
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

typedef struct GinEntries
{
	TdeEntries *of;
	bool		blind[INDEX_MAX_KEYS];	/* the columns whose entries are keyed hashes */
	bloom_filter *found;		/* pairs of the index */
	bloom_filter *expected;		/* pairs of rows */
	MemoryContext per_row;
	Pair	   *doubtful;		/* pairs of the index that are not expected */
	int			count;
	int			room;
} GinEntries;

static void
add(bloom_filter *filter, const Pair *pair)
{
	bloom_add_element(filter, (unsigned char *) pair, sizeof(Pair));
}

static bool
lacks(bloom_filter *filter, const Pair *pair)
{
	return bloom_lacks_element(filter, (unsigned char *) pair, sizeof(Pair));
}

/* ---- the entries that a row has to have ---- */

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
pair_of(AttrNumber column, Datum key, GinNullCategory category, const ItemPointerData *row)
{
	return (Pair) {category == GIN_CAT_NORM_KEY ? DatumGetInt64(key) : 0, *row, (uint8) column, category};
}

/* TdeGinVisitor.entry of the first reading. */
static void
note(void *arg, AttrNumber column, Datum key, GinNullCategory category, const ItemPointerData *rows, int count)
{
	GinEntries *entries = arg;

	for (int i = 0; i < count && entries->blind[column - 1]; i++)
	{
		Pair		pair = pair_of(column, key, category, &rows[i]);

		CHECK_FOR_INTERRUPTS();
		add(entries->found, &pair);
	}
}

static void
tell_progress(void *arg)
{
	tde_counters_progress_blocks(&((GinEntries *) arg)->of->verification->progress, 1);
}

/* TdeGinVisitor.entry of the second one. */
static void
doubt(void *arg, AttrNumber column, Datum key, GinNullCategory category, const ItemPointerData *rows, int count)
{
	GinEntries *entries = arg;

	for (int i = 0; i < count && entries->blind[column - 1]; i++)
	{
		Pair		pair = pair_of(column, key, category, &rows[i]);

		CHECK_FOR_INTERRUPTS();
		if (!lacks(entries->expected, &pair))
			continue;
		if (entries->count == entries->room)
			entries->doubtful = repalloc_huge(entries->doubtful, (entries->room *= 2) * sizeof(Pair));
		entries->doubtful[entries->count++] = pair;
	}
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

/* An entry and a row take a byte or two where a list of rows is long, and more where each row has entries of its own. */
static bloom_filter *
new_filter(Relation index)
{
	return bloom_create((int64) RelationGetNumberOfBlocks(index) * (BLCKSZ / 4), maintenance_work_mem, pg_prng_uint64(&pg_global_prng_state));
}

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

	if (!find_blind(&entries))
		return;
	entries.found = new_filter(of->index);
	entries.expected = new_filter(of->index);
	entries.per_row = AllocSetContextCreate(CurrentMemoryContext, "tde_column row", ALLOCSET_DEFAULT_SIZES);
	entries.doubtful = palloc(entries.room * sizeof(Pair));
	tde_gin_read(of->index, &(TdeGinVisitor) {&entries, note, tell_progress});
	rows = table_beginscan_strat(of->table, of->snapshot, 0, NULL, true, true);
	(void) table_index_build_scan(of->table, of->index, of->info, true, false, look_for_row, &entries, rows);
	tde_gin_read(of->index, &(TdeGinVisitor) {&entries, doubt, look_at_doubtful_ones});
	bloom_free(entries.found);
	bloom_free(entries.expected);
	MemoryContextDelete(entries.per_row);
}
