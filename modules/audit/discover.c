/*
 * discover.c - tde_sampled(): how many values in a sample of tables look like what should be encrypted.
 *
 * Rows are read from the heap itself, and values shown by PostgreSQL's own functions.  No statement is planned, so that nothing runs of what owners
 * have put into indexes, statistics, policies, domains and generated columns.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/tableam.h"
#include "catalog/pg_am.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "common/pg_prng.h"
#include "executor/executor.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "parser/parse_relation.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/rls.h"
#include "utils/sampling.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "audit/shapes.h"
#include "server/compat.h"
#include "server/counters.h"
#include "server/table_name.h"

PG_FUNCTION_INFO_V1(tde_audit_sampled);

/* Of a value no more bytes are looked at. */
#define MOST_BYTES	2000

/* On so many rows a sample has a page at most, so that rows come from all over a table, and reading is bounded. */
#define ROWS_OF_PAGE 10

/* A value as a text, in the current memory context. */
typedef char *(*Reader) (Datum value);

/* A column that is looked at, and what was found in it. */
typedef struct Column
{
	AttrNumber	number;
	Reader		reader;
	int64		filled;			/* values that are not NULL */
	int64		shaped[TDE_SHAPES]; /* values that have the shape; valid ones included */
	int64		valid[TDE_SHAPES];
} Column;

/* A table that is looked at. */
typedef struct Sample
{
	Relation	rel;
	Column	   *columns;		/* in the order of their numbers */
	int			count;
} Sample;

/* ---- values ---- */

static void
append(StringInfo text, const char *bytes, int length)
{
	appendBinaryStringInfo(text, bytes, Min(length, MOST_BYTES));
	appendStringInfoChar(text, '\n');
}

/* One element on a line, as far as MOST_BYTES; a card number is found in any of them. */
static char *
text_of_array(Datum value)
{
	ArrayIterator elements = array_create_iterator(DatumGetArrayTypeP(value), 0, NULL);
	StringInfoData text;
	bool		isnull;

	initStringInfo(&text);
	while (text.len < MOST_BYTES && array_iterate(elements, &value, &isnull))
	{
		CHECK_FOR_INTERRUPTS();
		if (!isnull)
			append(&text, VARDATA_ANY(DatumGetPointer(value)), VARSIZE_ANY_EXHDR(DatumGetPointer(value)));
	}
	return text.data;
}

static char *
text_of_number(Datum value)
{
	return DatumGetCString(DirectFunctionCall1(numeric_out, value));
}

/* Keys, strings and numbers, without what stands around them, as far as MOST_BYTES. */
static char *
text_of_jsonb(Datum value)
{
	JsonbIterator *parts = JsonbIteratorInit(&DatumGetJsonbP(value)->root);
	StringInfoData text;
	JsonbIteratorToken token;
	JsonbValue	part;

	initStringInfo(&text);
	while (text.len < MOST_BYTES && (token = JsonbIteratorNext(&parts, &part, false)) != WJB_DONE)
	{
		CHECK_FOR_INTERRUPTS();
		if (token != WJB_KEY && token != WJB_VALUE && token != WJB_ELEM)
			continue;
		if (part.type == jbvString)
			append(&text, part.val.string.val, part.val.string.len);
		else if (part.type == jbvNumeric)
		{
			char	   *number = text_of_number(NumericGetDatum(part.val.numeric));

			append(&text, number, strlen(number));
		}
	}
	return text.data;
}

static char *
text_of_integer(Datum value)
{
	return psprintf(INT64_FORMAT, DatumGetInt64(value));
}

/* The beginning: only that of a large value is fetched. */
static char *
text_of_string(Datum value)
{
	return text_to_cstring(DatumGetTextPSlice(value, 0, MOST_BYTES));
}

/* A type whose values are looked at. */
typedef struct ReadType
{
	Oid			type;
	Reader		reader;
} ReadType;

static const ReadType read_types[] = {
	{TEXTOID, text_of_string},
	{VARCHAROID, text_of_string},
	{BPCHAROID, text_of_string},
	{JSONOID, text_of_string},
	{JSONBOID, text_of_jsonb},
	{INT8OID, text_of_integer},
	{NUMERICOID, text_of_number},
	{TEXTARRAYOID, text_of_array},
	{VARCHARARRAYOID, text_of_array},
};

/* NULL: values of the type are not looked at. */
static Reader
reader_of(Oid type)
{
	for (size_t i = 0; i < lengthof(read_types); i++)
		if (read_types[i].type == type)
			return read_types[i].reader;
	return NULL;
}

/* Counts what shapes a value has, each once, however often it is in there. */
static void
look_at_value(Column *column, Datum value)
{
	TdeMatch	matches[TDE_SHAPES];

	tde_shapes_look(column->reader(value), matches);
	column->filled++;
	for (int i = 0; i < TDE_SHAPES; i++)
	{
		column->shaped[i] += matches[i] != TDE_MATCH_NONE;
		column->valid[i] += matches[i] == TDE_MATCH_VALID;
	}
}

/* ---- rows ---- */

/* Looks at rows of one page, at most so many.  Returns their number. */
static int64
look_at_page(Sample *sample, TableScanDesc scan, TupleTableSlot *slot, MemoryContext per_row, int64 most)
{
	int64		rows = 0;

	while (rows < most && table_scan_getnextslot_tidrange(scan, ForwardScanDirection, slot))
	{
		MemoryContext before = MemoryContextSwitchTo(per_row);

		CHECK_FOR_INTERRUPTS();
		slot_getsomeattrs(slot, sample->columns[sample->count - 1].number);
		for (Column *column = sample->columns; column < sample->columns + sample->count; column++)
			if (!slot->tts_isnull[column->number - 1])
				look_at_value(column, slot->tts_values[column->number - 1]);
		rows++;
		MemoryContextSwitchTo(before);
		MemoryContextReset(per_row);
	}
	return rows;
}

/* Reads a sample of pages, chosen by Knuth's algorithm S as in ANALYZE.  Each gives as many rows as the others, and those after it what it lacks. */
static void
look_at_rows(Sample *sample, int64 rows)
{
	MemoryContext per_row = AllocSetContextCreate(CurrentMemoryContext, "tde_column row", ALLOCSET_DEFAULT_SIZES);
	TupleTableSlot *slot = table_slot_create(sample->rel, NULL);
	TableScanDesc scan = NULL;
	BlockSamplerData sampler;
	BlockNumber pages = BlockSampler_Init(&sampler, RelationGetNumberOfBlocks(sample->rel), rows / ROWS_OF_PAGE + 1, pg_prng_uint32(&pg_global_prng_state));

	PushActiveSnapshot(GetLatestSnapshot());
	for (; rows > 0 && BlockSampler_HasMore(&sampler); pages--)
	{
		BlockNumber page = BlockSampler_Next(&sampler);
		ItemPointerData first;
		ItemPointerData last;

		ItemPointerSet(&first, page, FirstOffsetNumber);
		ItemPointerSet(&last, page, MaxOffsetNumber);
		if (scan == NULL)
			scan = TDE_BEGINSCAN_TIDRANGE(sample->rel, &first, &last);
		else
			table_rescan_tidrange(scan, &first, &last);
		rows -= look_at_page(sample, scan, slot, per_row, (rows + pages - 1) / pages);
	}
	if (scan)
		table_endscan(scan);
	PopActiveSnapshot();
	ExecDropSingleTupleTableSlot(slot);
	MemoryContextDelete(per_row);
}

/* ---- tables ---- */

/* Finds the columns that the current user may read, and whose type is looked at.  Generated columns are computed of others. */
static void
find_columns(Sample *sample)
{
	TupleDesc	desc = RelationGetDescr(sample->rel);
	Oid			relid = RelationGetRelid(sample->rel);
	bool		all = pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) == ACLCHECK_OK;

	sample->columns = palloc0(Max(desc->natts, 1) * sizeof(Column));
	if (!TDE_MAY_USE_SCHEMA(RelationGetNamespace(sample->rel)))
		return;
	for (AttrNumber number = 1; number <= desc->natts; number++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, number - 1);
		Column	   *column = &sample->columns[sample->count];

		if (attribute->attisdropped || attribute->attgenerated != '\0')
			continue;
		column->number = number;
		column->reader = reader_of(getBaseType(attribute->atttypid));
		if (column->reader && (all || pg_attribute_aclcheck(relid, number, GetUserId(), ACL_SELECT) == ACLCHECK_OK))
			sample->count++;
	}
}

/* Asks PostgreSQL as a SELECT of these columns does: libraries may want to know of it, or refuse it. */
static bool
may_select(Sample *sample)
{
	RangeTblEntry *rte = makeNode(RangeTblEntry);
	Bitmapset  *columns = NULL;
	List	   *permissions pg_attribute_unused() = NIL;

	rte->rtekind = RTE_RELATION;
	rte->relid = RelationGetRelid(sample->rel);
	rte->relkind = sample->rel->rd_rel->relkind;
	rte->rellockmode = AccessShareLock;
	for (int i = 0; i < sample->count; i++)
		columns = bms_add_member(columns, sample->columns[i].number - FirstLowInvalidHeapAttributeNumber);
	return TDE_MAY_SELECT(rte, columns, permissions);
}

/* Nobody must take a table that was not read for one in which nothing was found. */
static void
tell_unread(Oid relid, const char *reason, const char *hint)
{
	char	   *name = tde_table_name(relid);

	if (name)
		ereport(NOTICE,
				(errmsg("table %s was not read: %s", name, reason),
				 hint ? errhint("%s", hint) : 0));
}

/*
 * Samples a table that is a heap and that the user may read all rows of.  Under row-level security a policy would have to be evaluated, which is
 * somebody's code.
 */
static void
sample_table(Sample *sample, int64 rows)
{
	Form_pg_class table = sample->rel->rd_rel;

	if (table->relkind != RELKIND_RELATION || table->relam != HEAP_TABLE_AM_OID || RELATION_IS_OTHER_TEMP(sample->rel))
		return;
	find_columns(sample);
	if (sample->count == 0)
		return;
	if (check_enable_rls(RelationGetRelid(sample->rel), InvalidOid, true) == RLS_ENABLED)
		tell_unread(RelationGetRelid(sample->rel), "row-level security applies to it", "Have its owner or a role with BYPASSRLS call tde_discover().");
	else if (!may_select(sample))
		tell_unread(RelationGetRelid(sample->rel), "permission denied", NULL);
	else
		look_at_rows(sample, rows);
}

/* Returns rows for a table's columns.  Of a partition it tells also what was not found: the partitioned table's percentages are of all its values. */
static void
put_counts(Sample *sample, ReturnSetInfo *result)
{
	for (Column *column = sample->columns; column < sample->columns + sample->count; column++)
		for (int i = 0; i < TDE_SHAPES; i++)
		{
			Datum		values[] = {
				ObjectIdGetDatum(RelationGetRelid(sample->rel)),
				NameGetDatum(&TupleDescAttr(RelationGetDescr(sample->rel), column->number - 1)->attname),
				CStringGetTextDatum(tde_shapes_kind(i)), Int64GetDatum(column->filled), Int64GetDatum(column->shaped[i]), Int64GetDatum(column->valid[i])
			};
			bool		nulls[lengthof(values)] = {0};

			if (column->shaped[i] > 0 || (column->filled > 0 && sample->rel->rd_rel->relispartition))
				tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
		}
}

/* A table that is locked is left out: an audit does not wait, nor have others wait behind it. */
static void
sample_relation(Oid relid, int64 rows, ReturnSetInfo *result)
{
	Sample		sample = {0};

	if (!ConditionalLockRelationOid(relid, AccessShareLock))
	{
		tell_unread(relid, "it is locked", NULL);
		return;
	}
	sample.rel = try_relation_open(relid, NoLock);
	if (sample.rel == NULL)
		return;
	sample_table(&sample, rows);
	put_counts(&sample, result);
	relation_close(sample.rel, AccessShareLock);
}

/*
 * tde_sampled(relations oid[], sample_rows int4, OUT relation, OUT attname, OUT kind, OUT filled, OUT shaped, OUT valid) returns setof record - of
 * each column the values looked at, those that have a shape, and those of which that is true.  It asks itself what the current user may read.
 *
 * Of a table nothing is kept in memory when it has been read: a database may have very many.
 */
Datum
tde_audit_sampled(PG_FUNCTION_ARGS)
{
	MemoryContext per_table = AllocSetContextCreate(CurrentMemoryContext, "tde_column table", ALLOCSET_DEFAULT_SIZES);
	int32		rows = PG_GETARG_INT32(1);
	TdeProgress progress;
	Datum	   *relations;
	int			count;

	if (rows < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("number of sampled rows must not be negative")));
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(0), OIDOID, sizeof(Oid), true, TYPALIGN_INT, &relations, NULL, &count);
	InitMaterializedSRF(fcinfo, 0);
	tde_counters_progress_start(&progress, InvalidOid, TDE_PHASE_SAMPLES);
	tde_counters_progress_phase(&progress, TDE_PHASE_SAMPLES, count);
	for (int i = 0; i < count; i++)
	{
		MemoryContext before = MemoryContextSwitchTo(per_table);

		CHECK_FOR_INTERRUPTS();
		sample_relation(DatumGetObjectId(relations[i]), rows, (ReturnSetInfo *) fcinfo->resultinfo);
		MemoryContextSwitchTo(before);
		MemoryContextReset(per_table);
		tde_counters_progress_blocks(&progress, 1);
	}
	tde_counters_progress_end();
	return (Datum) 0;
}
