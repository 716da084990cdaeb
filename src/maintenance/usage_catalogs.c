/*
 * usage_catalogs.c - encrypted values in system catalogs: constants of stored expressions, statistics, fast defaults.
 *
 * A key that only a view or a default still names is in use: without it the view could not be read.  So all columns of the catalogs below are looked
 * at that can hold a tree, an array of sampled values or a statistic.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_index.h"
#include "catalog/pg_partitioned_table.h"
#include "catalog/pg_policy.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_publication_rel.h"
#include "catalog/pg_rewrite.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_statistic_ext.h"
#include "catalog/pg_statistic_ext_data.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "rewrite/rewriteSupport.h"
#include "statistics/extended_stats_internal.h"
#include "statistics/statistics.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "maintenance/usage_scan.h"
#include "server/compat.h"

/* Where rows hold expressions or values, and whose they are. */
typedef struct Catalog
{
	Oid			catalog;
	Oid			class;			/* the catalog of the object that a row is about */
	AttrNumber	object;			/* columns: its OID, ... */
	AttrNumber	column;			/* ... the number of its column (0: none), ... */
	AttrNumber	table;			/* ... and the table that it belongs to (0: none) */
	const char *kind;			/* NULL: what PostgreSQL calls such an object */
} Catalog;

static const Catalog catalogs[] = {
	{AttrDefaultRelationId, RelationRelationId, Anum_pg_attrdef_adrelid, Anum_pg_attrdef_adnum, Anum_pg_attrdef_adrelid,
	"default"},
	{AttributeRelationId, RelationRelationId, Anum_pg_attribute_attrelid, Anum_pg_attribute_attnum,
	Anum_pg_attribute_attrelid, "fast default"},
	{ConstraintRelationId, ConstraintRelationId, Anum_pg_constraint_oid, 0, Anum_pg_constraint_conrelid, NULL},
	{IndexRelationId, RelationRelationId, Anum_pg_index_indexrelid, 0, Anum_pg_index_indrelid, "index definition"},
	{PartitionedRelationId, RelationRelationId, Anum_pg_partitioned_table_partrelid, 0, Anum_pg_partitioned_table_partrelid,
	"partition key"},
	{PolicyRelationId, PolicyRelationId, Anum_pg_policy_oid, 0, Anum_pg_policy_polrelid, NULL},
	{ProcedureRelationId, ProcedureRelationId, Anum_pg_proc_oid, 0, 0, NULL},
	{PublicationRelRelationId, PublicationRelRelationId, Anum_pg_publication_rel_oid, 0, Anum_pg_publication_rel_prrelid, NULL},
	{RelationRelationId, RelationRelationId, Anum_pg_class_oid, 0, Anum_pg_class_oid, "partition bound"},
	{RewriteRelationId, RewriteRelationId, Anum_pg_rewrite_oid, 0, Anum_pg_rewrite_ev_class, NULL},
	{StatisticRelationId, RelationRelationId, Anum_pg_statistic_starelid, Anum_pg_statistic_staattnum,
	Anum_pg_statistic_starelid, "statistics"},
	{StatisticExtRelationId, StatisticExtRelationId, Anum_pg_statistic_ext_oid, 0, Anum_pg_statistic_ext_stxrelid, NULL},
	{StatisticExtDataRelationId, StatisticExtRelationId, Anum_pg_statistic_ext_data_stxoid, 0, 0, "statistics"},
	{TriggerRelationId, TriggerRelationId, Anum_pg_trigger_oid, 0, Anum_pg_trigger_tgrelid, NULL},
	{TypeRelationId, TypeRelationId, Anum_pg_type_oid, 0, 0, NULL},
};

/* ---- what a row holds ---- */

/* pg_statistic_ext_data.stxdmcv: lists of most common combinations, decoded as the planner does it. */
static void
walk_most_common(Datum value, TdeUsage *usage)
{
	MCVList    *list = statext_mcv_deserialize(DatumGetByteaP(value));

	for (int i = 0; i < list->nitems; i++)
		for (int j = 0; j < list->ndimensions; j++)
		{
			CHECK_FOR_INTERRUPTS();
			if (!list->items[i].isnull[j] && tde_type_holds_encrypted(list->types[j]))
				tde_inside_headers_of_datum(list->types[j], list->items[i].values[j], tde_usage_count, usage);
		}
}

/* Statistics of expressions are rows of pg_statistic. */
static void
walk_statistics(Datum value, TdeUsage *usage)
{
	Oid			row_type = get_rel_type_id(StatisticRelationId);
	Datum	   *rows;
	bool	   *nulls;
	int			count;

	deconstruct_array(DatumGetArrayTypeP(value), row_type, -1, false, TYPALIGN_DOUBLE, &rows, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!nulls[i])
			tde_inside_headers_of_datum(row_type, rows[i], tde_usage_count, usage);
	}
}

/* The types of the columns tell what a row can hold, whichever catalog it is from. */
static void
walk_row(TupleTableSlot *slot, TdeUsage *usage)
{
	TupleDesc	desc = slot->tts_tupleDescriptor;
	Oid			statistics = get_array_type(get_rel_type_id(StatisticRelationId));

	for (int i = 0; i < desc->natts; i++)
	{
		Oid			type = TupleDescAttr(desc, i)->atttypid;

		if (slot->tts_isnull[i])
			continue;
		if (type == PG_NODE_TREEOID)
			tde_inside_headers_of_tree(stringToNode(TextDatumGetCString(slot->tts_values[i])), tde_usage_count, usage);
		else if (type == PG_MCV_LISTOID)
			walk_most_common(slot->tts_values[i], usage);
		else if (type == ANYARRAYOID)
			tde_inside_headers_of_datum(type, slot->tts_values[i], tde_usage_count, usage);
		else if (type == statistics)
			walk_statistics(slot->tts_values[i], usage);
	}
}

/* ---- whose it is ---- */

static Oid
oid_of(TupleTableSlot *slot, AttrNumber column)
{
	return DatumGetObjectId(slot->tts_values[column - 1]);
}

/* Returns true if the row is of what was asked for.  A row of pg_statistic_ext_data does not name its table itself. */
static bool
is_wanted(const Catalog *catalog, TupleTableSlot *slot, TdeUsage *usage)
{
	if (catalog->catalog == StatisticExtDataRelationId)
		return tde_usage_wants(usage, GetSysCacheOid1(STATEXTOID, Anum_pg_statistic_ext_stxrelid, ObjectIdGetDatum(oid_of(slot, catalog->object))));
	return tde_usage_wants(usage, catalog->table ? oid_of(slot, catalog->table) : InvalidOid);
}

/* Names the object that the row is about as PostgreSQL's messages do. */
static void
name_place(const Catalog *catalog, TupleTableSlot *slot, TdeUsage *usage)
{
	ObjectAddress address = {catalog->class, oid_of(slot, catalog->object), 0};
	AttrNumber	column = catalog->column ? DatumGetInt16(slot->tts_values[catalog->column - 1]) : 0;
	const char *identity;

	/* the rule of a view is the view */
	if (catalog->catalog == RewriteRelationId &&
		strcmp(NameStr(*DatumGetName(slot->tts_values[Anum_pg_rewrite_rulename - 1])), ViewSelectRuleName) == 0)
		ObjectAddressSet(address, RelationRelationId, oid_of(slot, Anum_pg_rewrite_ev_class));

	identity = getObjectIdentity(&address, true);
	if (identity)
		tde_usage_end_place(usage, catalog->kind ? catalog->kind : getObjectTypeDescription(&address, true), identity,
							column ? get_attname(address.objectId, column, true) : NULL);
	else						/* of a transaction that has not committed, or an old version */
		tde_usage_end_place(usage, psprintf("row of %s", get_rel_name(catalog->catalog)),
							psprintf("%u", address.objectId), NULL);
}

/*
 * Old versions of rows and those of transactions on their way count, as in tables: a constant may be copied from a row that
 * is removed into one that was read before.
 */
static void
count_catalog(const Catalog *catalog, TdeUsage *usage)
{
	MemoryContext per_row = AllocSetContextCreate(CurrentMemoryContext, "tde_column row", ALLOCSET_DEFAULT_SIZES);
	Relation	rel = table_open(catalog->catalog, AccessShareLock);
	TdeRows    *rows = tde_scan_rows_begin(rel);
	TupleTableSlot *slot;

	while ((slot = tde_scan_rows_next(rows)) != NULL)
	{
		MemoryContext before = MemoryContextSwitchTo(per_row);

		slot_getallattrs(slot);
		if (is_wanted(catalog, slot, usage))
		{
			tde_usage_begin_place(usage);
			walk_row(slot, usage);
			if (tde_usage_counted(usage))
				name_place(catalog, slot, usage);
		}
		MemoryContextSwitchTo(before);
		MemoryContextReset(per_row);
	}
	tde_scan_rows_end(rows);
	table_close(rel, AccessShareLock);
	MemoryContextDelete(per_row);
}

void
tde_usage_of_catalogs(TdeUsage *usage)
{
	for (int i = 0; i < lengthof(catalogs); i++)
		count_catalog(&catalogs[i], usage);
}
