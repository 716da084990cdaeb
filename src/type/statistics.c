/*
 * statistics.c - ANALYZE of encrypted columns: what it keeps of their values belongs to no row.
 *
 * PostgreSQL copies the most common values and the bounds of a histogram into pg_statistic, the latter in order.  As byte for byte the same values stand
 * in the table, each would tell the rank of a row, or how frequent its value is, to whoever has the files (Naveed, Kamara and Wright, CCS 2015, show what
 * that is worth).  So what is kept is encrypted once more, with a salt, under the same key.  The planner decrypts what it compares: plans stay
 * the same.  So are values inside arrays, composites, ranges and domains, which ddl/container_statistics.c brings here.  Statistics over several columns are built of the same sample of rows, after all columns; so there the values of the sample are replaced.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/pg_type.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/relcache.h"

#include "server/compat.h"
#include "type/datum.h"
#include "type/inside.h"
#include "type/lexeme_statistics.h"
#include "wallet/wallet.h"

PG_FUNCTION_INFO_V1(tde_typanalyze);

/* What PostgreSQL's own typanalyze has set. */
typedef struct Wrapped
{
	AnalyzeAttrComputeStatsFunc compute;
	void	   *data;
} Wrapped;

/* Nothing keeps larger values (WIDTH_THRESHOLD in PostgreSQL's analyze.c and mcv.c). */
#define LARGEST_KEPT	1024

/* ---- what is kept of one column ---- */

/* A TdeInsideChange. */
static Datum
encrypt_apart(TdeType *type, Datum value, int32 declared, void *arg)
{
	return tde_datum_encrypt_apart(type, value);
}

/* Encrypts once more what is kept in every slot that has values.  A slot whose values are of another type is left as it is. */
static void
replace_kept(VacAttrStats *stats)
{
	MemoryContext before = MemoryContextSwitchTo(stats->anl_context);

	for (int slot = 0; slot < STATISTIC_NUM_SLOTS; slot++)
	{
		TdeInside  *inside = stats->numvalues[slot] > 0 ? tde_inside_find(stats->statypid[slot], -1) : NULL;

		for (int i = 0; inside && i < stats->numvalues[slot]; i++)
		{
			CHECK_FOR_INTERRUPTS();
			stats->stavalues[slot][i] = tde_inside_replace(inside, stats->stavalues[slot][i], encrypt_apart, NULL);
		}
	}
	MemoryContextSwitchTo(before);
}

/* ---- what statistics over several columns are built of ---- */

/*
 * Returns true if the table of a column has statistics objects, which are built of the same sample.  Of an expression of an index the rows are
 * others.
 */
static bool
has_extended_statistics(VacAttrStats *stats)
{
	Relation	rel;
	bool		has;

	/* of an expression the rows are others */
	if (stats->tupattnum <= 0 || stats->rows == NULL)
		return false;
	rel = relation_open(TupleDescAttr(stats->tupDesc, stats->tupattnum - 1)->attrelid, NoLock);
	has = rel->rd_rel->relkind != RELKIND_INDEX && RelationGetStatExtList(rel) != NIL;
	relation_close(rel, NoLock);
	return has;
}

/*
 * Replaces the column's values in the rows of the sample.  These are copies of PostgreSQL's own; larger values stay, since no statistics keep them.
 */
static void
replace_sample(VacAttrStats *stats, const TdeInside *inside, int rows)
{
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "tde_column sample", ALLOCSET_DEFAULT_SIZES);
	MemoryContext before = MemoryContextSwitchTo(scratch);
	int			column = stats->tupattnum;
	bool		isnull;

	for (int i = 0; i < rows; i++)
	{
		Datum		value = heap_getattr(stats->rows[i], column, stats->tupDesc, &isnull);

		CHECK_FOR_INTERRUPTS();
		if (isnull || toast_raw_datum_size(value) > LARGEST_KEPT)
			continue;
		value = tde_inside_replace(inside, value, encrypt_apart, NULL);
		MemoryContextSwitchTo(stats->anl_context);
		stats->rows[i] = heap_modify_tuple_by_cols(stats->rows[i], stats->tupDesc, 1, &column, &value, &isnull);
		MemoryContextSwitchTo(scratch);
		MemoryContextReset(scratch);
	}
	MemoryContextSwitchTo(before);
	MemoryContextDelete(scratch);
}

/* ---- ANALYZE ---- */

/* An AnalyzeAttrComputeStatsFunc: calls the one that was set without us, with its own data, and then replaces what it has kept. */
static void
compute(VacAttrStats *stats, AnalyzeAttrFetchFunc fetch, int rows, double all_rows)
{
	Wrapped    *wrapped = stats->extra_data;
	TdeInside  *inside = tde_inside_find(stats->attrtypid, -1);

	stats->extra_data = wrapped->data;
	wrapped->compute(stats, fetch, rows, all_rows);
	stats->extra_data = wrapped;
	if (stats->stats_valid)
		replace_kept(stats);
	if (inside && has_extended_statistics(stats))
		replace_sample(stats, inside, rows);
}

/* The function that the type had without us. */
static bool
analyze_by_default(VacAttrStats *stats)
{
	Oid			type = getBaseType(stats->attrtypid);

	if (tde_lexemes_are_of(tde_type_find(type)))
		return tde_lexemes_typanalyze(stats);
	if (OidIsValid(get_element_type(type)))
		return DatumGetBool(OidFunctionCall1(F_ARRAY_TYPANALYZE, PointerGetDatum(stats)));
	switch (get_typtype(type))
	{
		case TYPTYPE_RANGE:
			return DatumGetBool(OidFunctionCall1(F_RANGE_TYPANALYZE, PointerGetDatum(stats)));
		case TYPTYPE_MULTIRANGE:
			return DatumGetBool(OidFunctionCall1(F_MULTIRANGE_TYPANALYZE, PointerGetDatum(stats)));
		default:
			return std_typanalyze(stats);
	}
}

/*
 * tde_typanalyze(internal) returns boolean - false while the wallet is closed: the column's old statistics stay, and the
 * other columns of the table are analyzed.  An error would end ANALYZE of the whole table, and autovacuum would try again
 * every minute.  It is one for a statistics object's expression (they have no number in the row), though: minor releases of
 * PostgreSQL crash at false there (16.2 was seen to).
 */
Datum
tde_typanalyze(PG_FUNCTION_ARGS)
{
	VacAttrStats *stats = (VacAttrStats *) PG_GETARG_POINTER(0);
	Wrapped    *wrapped;

	if (!tde_wallet_ensure_open())
	{
		if (stats->tupattnum == InvalidAttrNumber)
			tde_wallet_closed_error("to analyze an expression of a statistics object");
		PG_RETURN_BOOL(false);
	}
	if (!analyze_by_default(stats))
		PG_RETURN_BOOL(false);
	/* not in anl_context, which is not always set yet; std_typanalyze() does so, too */
	wrapped = palloc(sizeof(Wrapped));
	*wrapped = (Wrapped) {stats->compute_stats, stats->extra_data};
	stats->compute_stats = compute;
	stats->extra_data = wrapped;
	PG_RETURN_BOOL(true);
}
