/*
 * lexeme_statistics.c - the most common lexemes of encrypted tsvectors: ANALYZE keeps them encrypted, and words @@ 'a & b' is estimated by them.
 *
 * PostgreSQL keeps those of a tsvector column as texts in pg_statistic, and its estimator reads them there.  What we keep are tsvectors of one
 * lexeme each, of the column's type and under its key, as a kind of statistics of our own: whoever does not know it, pg_stats and dumps of statistics
 * among them, has nothing there.  The planner is given them as PostgreSQL has them, but those alone that the query names: there may be thousands.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
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

/* What tsmatchsel() is called with in a query. */
typedef struct Searches
{
	List	   *queries;		/* TSQuery */
	bool		others;			/* what may turn out to be any tsquery */
} Searches;

/*
 * An expression_tree_walker: finds operators that tsmatchsel() estimates.  A query below is planned by itself.  PostgreSQL evaluates operands that are
 * no constants yet, as to_tsquery('word'), which is STABLE, where it estimates their clause; here they are never evaluated.
 */
static bool
find_searches(Node *node, void *context)
{
	Searches   *searches = context;
	ListCell   *cell;

	CHECK_FOR_INTERRUPTS();
	if (node == NULL || IsA(node, Query))
		return false;
	if (IsA(node, OpExpr) && get_oprrest(((OpExpr *) node)->opno) == F_TSMATCHSEL)
		foreach(cell, ((OpExpr *) node)->args)
		{
			Const	   *operand = lfirst(cell);

			if (exprType((Node *) operand) != TSQUERYOID)
				continue;
			if (!IsA(operand, Const))
				searches->others |= !contain_var_clause((Node *) operand);
			else if (!operand->constisnull)
				searches->queries = lappend(searches->queries, DatumGetTSQuery(operand->constvalue));
		}
	return expression_tree_walker(node, find_searches, context);
}

static Searches
searches_of(PlannerInfo *root)
{
	Searches	searches = {NIL};
	ListCell   *cell;

	(void) find_searches((Node *) root->parse->jointree, &searches);
	(void) find_searches(root->parse->havingQual, &searches);
	foreach(cell, root->parse->rtable)
		(void) find_searches((Node *) lfirst_node(RangeTblEntry, cell)->securityQuals, &searches);
	return searches;
}

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

/* What a row of pg_statistic has, in ts_typanalyze()'s order, in which PostgreSQL searches, too: by length, then by bytes.  plain: those decrypted so far, or 0. */
typedef struct Lexemes
{
	TdeType    *type;
	Datum	   *stored;
	Datum	   *plain;
	int			count;
} Lexemes;

static text *
plain_lexeme(Lexemes *lexemes, int i)
{
	if (lexemes->plain[i] == 0)
		lexemes->plain[i] = lexeme_of(lexemes->type, lexemes->stored[i]);
	return DatumGetTextPP(lexemes->plain[i]);
}

/* Returns the place of a lexeme, by some ten decryptions of a thousand; -1: it is not frequent. */
static int
find_lexeme(Lexemes *lexemes, const char *wanted, int length)
{
	int			low = 0;
	int			high = lexemes->count - 1;

	while (low <= high)
	{
		int			middle = (low + high) / 2;
		text	   *lexeme = plain_lexeme(lexemes, middle);
		int			difference = length - (int) VARSIZE_ANY_EXHDR(lexeme);

		if (difference == 0)
			difference = memcmp(wanted, VARDATA_ANY(lexeme), length);
		if (difference == 0)
			return middle;
		if (difference < 0)
			high = middle - 1;
		else
			low = middle + 1;
	}
	return -1;
}

static Bitmapset *
add_all(Bitmapset *named, Lexemes *lexemes)
{
	return lexemes->count > 0 ? bms_add_range(named, 0, lexemes->count - 1) : named;
}

/* Adds the places of what a tsquery names; a prefix may be that of any. */
static Bitmapset *
add_named(Bitmapset *named, Lexemes *lexemes, TSQuery query)
{
	QueryItem  *items = GETQUERY(query);

	for (int i = 0; i < query->size; i++)
	{
		int			place;

		CHECK_FOR_INTERRUPTS();
		if (items[i].type != QI_VAL)
			continue;
		if (items[i].qoperand.prefix)
			return add_all(named, lexemes);
		place = find_lexeme(lexemes, GETOPERAND(query) + items[i].qoperand.distance, items[i].qoperand.length);
		if (place >= 0)
			named = bms_add_member(named, place);
	}
	return named;
}

/* Returns these frequencies, and the least and the greatest of all, which are the last two; 0 if the row does not have them so. */
static Datum
frequencies_of(HeapTuple row, int slot, Bitmapset *named, int count)
{
	bool		isnull;
	Datum		stored = SysCacheGetAttr(STATRELATTINH, row, Anum_pg_statistic_stanumbers1 + slot, &isnull);
	ArrayType  *array = isnull ? NULL : DatumGetArrayTypeP(stored);
	float4	   *all = array && ARR_NDIM(array) == 1 && ARR_DIMS(array)[0] == count + 2 ? (float4 *) ARR_DATA_PTR(array) : NULL;
	Datum	   *chosen;
	int			number = 0;

	if (all == NULL)
		return 0;
	chosen = palloc((bms_num_members(named) + 2) * sizeof(Datum));
	for (int i = -1; (i = bms_next_member(named, i)) >= 0;)
		chosen[number++] = Float4GetDatum(all[i]);
	chosen[number++] = Float4GetDatum(all[count]);
	chosen[number++] = Float4GetDatum(all[count + 1]);
	return PointerGetDatum(construct_array(chosen, number, FLOAT4OID, sizeof(float4), true, TYPALIGN_INT));
}

/* Returns the lexemes at these places as PostgreSQL has them, an array of texts. */
static Datum
lexemes_at(Lexemes *lexemes, Bitmapset *named)
{
	Datum	   *chosen = palloc(bms_num_members(named) * sizeof(Datum));
	int			number = 0;

	for (int i = -1; (i = bms_next_member(named, i)) >= 0;)
	{
		CHECK_FOR_INTERRUPTS();
		chosen[number++] = PointerGetDatum(plain_lexeme(lexemes, i));
	}
	return PointerGetDatum(construct_array(chosen, number, TEXTOID, -1, false, TYPALIGN_INT));
}

/*
 * A copy of a row of pg_statistic with what is searched for of this slot in clear; NULL if there is none.  It lives in the planner's memory, and
 * is stored nowhere.
 */
static HeapTuple
plain_row(HeapTuple row, int slot, Datum stored, Searches searches)
{
	Lexemes		lexemes = {tde_type_get(ARR_ELEMTYPE(DatumGetArrayTypeP(stored)))};
	int			columns[] = {Anum_pg_statistic_stakind1 + slot, Anum_pg_statistic_stavalues1 + slot, Anum_pg_statistic_stanumbers1 + slot};
	Datum		values[lengthof(columns)] = {Int16GetDatum(STATISTIC_KIND_MCELEM)};
	bool		isnull[lengthof(columns)] = {false};
	Bitmapset  *named = NULL;
	ListCell   *cell;
	Relation	catalog;
	HeapTuple	copy;

	deconstruct_array(DatumGetArrayTypeP(stored), lexemes.type->oid, -1, false, TYPALIGN_INT, &lexemes.stored, NULL, &lexemes.count);
	lexemes.plain = palloc0(lexemes.count * sizeof(Datum));
	foreach(cell, searches.queries)
		named = add_named(named, &lexemes, lfirst(cell));
	if (searches.others)
		named = add_all(named, &lexemes);
	values[1] = lexemes_at(&lexemes, named);
	values[2] = frequencies_of(row, slot, named, lexemes.count);
	if (values[2] == 0)
		return NULL;
	catalog = table_open(StatisticRelationId, AccessShareLock);
	copy = heap_modify_tuple_by_cols(row, RelationGetDescr(catalog), lengthof(columns), columns, values, isnull);
	table_close(catalog, AccessShareLock);
	return copy;
}

/*
 * Who may not decrypt, or has no wallet, is given none: what is estimated would tell which lexemes are frequent.  Nothing in *variable is looked
 * at: estimates of an index's cost ask with one that has nothing in it.
 */
static bool
give_lexemes(PlannerInfo *root, Oid relation, AttrNumber column, bool inherited, VariableStatData *variable)
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
			variable->statsTuple = plain_row(row, slot, stored, searches_of(root));
	ReleaseSysCache(row);
	if (!HeapTupleIsValid(variable->statsTuple))
		return false;
	variable->freefunc = heap_freetuple;
	variable->vartype = TSVECTOROID;	/* tsmatchsel() wants no other */
	return true;
}

bool
tde_lexemes_of_column(PlannerInfo *root, RangeTblEntry *entry, AttrNumber column, VariableStatData *variable)
{
	return entry->rtekind == RTE_RELATION && give_lexemes(root, entry->relid, column, entry->inh, variable);
}

bool
tde_lexemes_of_index(PlannerInfo *root, Oid index, AttrNumber column, VariableStatData *variable)
{
	return give_lexemes(root, index, column, false, variable);
}
