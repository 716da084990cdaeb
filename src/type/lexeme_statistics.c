/*
 * lexeme_statistics.c - the most common lexemes of encrypted tsvectors: ANALYZE keeps them encrypted, and words @@ 'a & b' is estimated by them.
 *
 * PostgreSQL keeps those of a tsvector column as texts in pg_statistic, and its estimator reads them there.  What we keep are tsvectors of one
 * lexeme each, of the column's type and under its key, as a kind of statistics of our own: whoever does not know it, pg_stats and dumps of statistics
 * among them, has nothing there.  The planner is given them as PostgreSQL has them.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "tsearch/ts_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "server/compat.h"
#include "type/access.h"
#include "type/datum.h"
#include "type/lexeme_statistics.h"
#include "wallet/wallet.h"

/* A kind as STATISTIC_KIND_MCELEM, of those that pg_statistic.h leaves to others. */
#define KIND_LEXEMES	21584

bool
tde_lexemes_are_of(const TdeType *type)
{
	return type && type->base == TSVECTOROID;
}

/* ---- ANALYZE ---- */

/* While a column is analyzed; one at a time. */
typedef struct Sample
{
	AnalyzeAttrComputeStatsFunc compute;	/* PostgreSQL's */
	TdeType    *type;
	AnalyzeAttrFetchFunc fetch;
	Datum		one;			/* a value, whose key is that of the column; 0: none yet */
	Datum		plain;			/* of the row at hand, or 0 */
	double		width;			/* of all values, as they are stored */
	int			values;
} Sample;

static void
forget_row(Sample *sample)
{
	if (sample->plain)
		tde_datum_free(sample->type, sample->plain);
	sample->plain = 0;
}

/* An AnalyzeAttrFetchFunc: gives PostgreSQL's own function a tsvector in clear, one row's at a time, and counts the width of what is stored. */
static Datum
fetch_plain(VacAttrStats *stats, int row, bool *isnull)
{
	Sample	   *sample = stats->extra_data;
	Datum		value = sample->fetch(stats, row, isnull);

	forget_row(sample);
	if (*isnull)
		return value;
	sample->one = value;
	sample->width += VARSIZE_ANY(DatumGetPointer(value));
	sample->values++;
	return sample->plain = tde_datum_decrypt_once(sample->type, value, -1);
}

/* A tsvector of one lexeme, to be given to tde_datum_free().  What it was made of is cleansed. */
static Datum
vector_of(Datum lexeme)
{
	ArrayType  *array = construct_array(&lexeme, 1, TEXTOID, -1, false, TYPALIGN_INT);
	Datum		vector = OidFunctionCall1(F_ARRAY_TO_TSVECTOR, PointerGetDatum(array));

	explicit_bzero(array, ARR_SIZE(array));
	pfree(array);
	return vector;
}

/* Puts encrypted tsvectors in place of the texts that PostgreSQL has kept, which are overwritten.  The frequencies stay as they are. */
static void
encrypt_kept(VacAttrStats *stats, const Sample *sample, int slot)
{
	MemoryContext before = MemoryContextSwitchTo(stats->anl_context);

	for (int i = 0; i < stats->numvalues[slot]; i++)
	{
		Datum		lexeme = stats->stavalues[slot][i];
		Datum		vector = vector_of(lexeme);

		CHECK_FOR_INTERRUPTS();
		stats->stavalues[slot][i] = tde_datum_encrypt_beside(sample->type, vector, sample->one);
		tde_datum_free(sample->type, vector);
		explicit_bzero(DatumGetPointer(lexeme), VARSIZE_ANY(DatumGetPointer(lexeme)));
	}
	MemoryContextSwitchTo(before);
	stats->stakind[slot] = KIND_LEXEMES;
	stats->statypid[slot] = sample->type->oid;
	stats->statyplen[slot] = -1;
	stats->statypbyval[slot] = false;
	stats->statypalign[slot] = TYPALIGN_INT;
}

/* An AnalyzeAttrComputeStatsFunc: PostgreSQL's own is called with values in clear.  The width is that of the stored ones, though. */
static void
compute(VacAttrStats *stats, AnalyzeAttrFetchFunc fetch, int rows, double all_rows)
{
	Sample	   *sample = stats->extra_data;

	sample->fetch = fetch;
	sample->compute(stats, fetch_plain, rows, all_rows);
	forget_row(sample);
	if (!stats->stats_valid)
		return;
	if (sample->values > 0)
		stats->stawidth = sample->width / sample->values;
	for (int slot = 0; slot < STATISTIC_NUM_SLOTS; slot++)
		if (stats->stakind[slot] == STATISTIC_KIND_MCELEM)
			encrypt_kept(stats, sample, slot);
}

bool
tde_lexemes_typanalyze(VacAttrStats *stats)
{
	Sample	   *sample;

	if (!DatumGetBool(OidFunctionCall1(F_TS_TYPANALYZE, PointerGetDatum(stats))))
		return false;
	sample = palloc0(sizeof(Sample));
	sample->compute = stats->compute_stats;
	sample->type = tde_type_get(getBaseType(stats->attrtypid));
	stats->compute_stats = compute;
	stats->extra_data = sample;
	return true;
}

/* ---- the planner ---- */

/* The lexeme of such a tsvector, as a text in clear. */
static Datum
lexeme_of(TdeType *type, Datum value)
{
	TSVector	vector = DatumGetTSVector(tde_datum_decrypt_once(type, value, -1));
	text	   *lexeme = cstring_to_text_with_len(STRPTR(vector) + ARRPTR(vector)->pos, ARRPTR(vector)->len);

	tde_datum_free(type, TSVectorGetDatum(vector));
	return PointerGetDatum(lexeme);
}

/* Returns true if this slot of a row of pg_statistic has them, and sets *stored.  Another extension may have chosen the same number. */
static bool
has_lexemes(HeapTuple row, int slot, Datum *stored)
{
	bool		isnull;

	if ((&((Form_pg_statistic) GETSTRUCT(row))->stakind1)[slot] != KIND_LEXEMES)
		return false;
	*stored = SysCacheGetAttr(STATRELATTINH, row, Anum_pg_statistic_stavalues1 + slot, &isnull);
	if (isnull)
		return false;
	*stored = PointerGetDatum(DatumGetArrayTypeP(*stored));
	return tde_lexemes_are_of(tde_type_find(ARR_ELEMTYPE(DatumGetArrayTypeP(*stored))));
}

/* As PostgreSQL has them there. */
static Datum
plain_lexemes(Datum stored)
{
	ArrayType  *array = DatumGetArrayTypeP(stored);
	TdeType    *type = tde_type_get(ARR_ELEMTYPE(array));
	Datum	   *lexemes;
	int			count;

	deconstruct_array(array, type->oid, -1, false, TYPALIGN_INT, &lexemes, NULL, &count);
	for (int i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		lexemes[i] = lexeme_of(type, lexemes[i]);
	}
	return PointerGetDatum(construct_array(lexemes, count, TEXTOID, -1, false, TYPALIGN_INT));
}

/* A copy of a row of pg_statistic with what this slot has in clear.  It lives in the planner's memory, and is stored nowhere. */
static HeapTuple
plain_row(HeapTuple row, int slot, Datum stored)
{
	Relation	catalog = table_open(StatisticRelationId, AccessShareLock);
	int			columns[] = {Anum_pg_statistic_stakind1 + slot, Anum_pg_statistic_stavalues1 + slot};
	Datum		values[] = {Int16GetDatum(STATISTIC_KIND_MCELEM), plain_lexemes(stored)};
	bool		isnull[] = {false, false};
	HeapTuple	copy = heap_modify_tuple_by_cols(row, RelationGetDescr(catalog), lengthof(columns), columns, values, isnull);

	table_close(catalog, AccessShareLock);
	return copy;
}

/*
 * Who may not decrypt, or has no wallet, is given none: what is estimated would tell which lexemes are frequent.  Nothing in *variable is looked
 * at: estimates of an index's cost ask with one that has nothing in it.
 */
static bool
give_lexemes(Oid relation, AttrNumber column, bool inherited, VariableStatData *variable)
{
	HeapTuple	row = NULL;
	Datum		stored;

	if (relation >= FirstNormalObjectId)
		row = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(relation), Int16GetDatum(column), BoolGetDatum(inherited));
	if (!HeapTupleIsValid(row))
		return false;
	variable->statsTuple = NULL;
	for (int slot = 0; slot < STATISTIC_NUM_SLOTS && !HeapTupleIsValid(variable->statsTuple); slot++)
		if (has_lexemes(row, slot, &stored) && tde_access_is_permitted() && tde_wallet_ensure_open())
			variable->statsTuple = plain_row(row, slot, stored);
	ReleaseSysCache(row);
	if (!HeapTupleIsValid(variable->statsTuple))
		return false;
	variable->freefunc = heap_freetuple;
	variable->vartype = TSVECTOROID;	/* tsmatchsel() wants no other */
	return true;
}

bool
tde_lexemes_of_column(RangeTblEntry *entry, AttrNumber column, VariableStatData *variable)
{
	return entry->rtekind == RTE_RELATION && give_lexemes(entry->relid, column, entry->inh, variable);
}

bool
tde_lexemes_of_index(Oid index, AttrNumber column, VariableStatData *variable)
{
	return give_lexemes(index, column, false, variable);
}
