/*
 * usage.c - tde_key_usage(): where the data keys are used in this database.
 *
 * Only the heads of values are read, so that it works with the wallet closed.  Other databases, foreign tables and large
 * objects are not looked into.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/index.h"
#include "catalog/namespace.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_am.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/tuplestore.h"

#include "distributed/distribution.h"
#include "keys/table.h"
#include "maintenance/usage.h"
#include "maintenance/usage_scan.h"
#include "server/compat.h"
#include "server/counters.h"

PG_FUNCTION_INFO_V1(tde_key_usage);

/* ---- progress ---- */

/* The scan's page(): each page is a block of the total that survey_relations() has found. */
static void
tell_progress(TdeScan *scan)
{
	tde_counters_progress_blocks(&((TdeUsage *) scan)->progress, 1);
}

/* ---- relations ---- */

static bool
has_values_of_its_own(Oid relation)
{
	char		kind = get_rel_relkind(relation);

	return kind == RELKIND_RELATION || kind == RELKIND_MATVIEW || kind == RELKIND_INDEX;
}

static bool
is_part_of_tables(Oid relation, List *tables)
{
	if (tables == NIL || list_member_oid(tables, relation))
		return true;
	return get_rel_relkind(relation) == RELKIND_INDEX && list_member_oid(tables, IndexGetRelation(relation, true));
}

/*
 * Returns the tables, materialized views and indexes that have a column which may hold encrypted values.  pg_attribute tells of all of them at once,
 * those of TOAST tables excepted, whose values are read with their tables.
 */
static List *
relations_with_values(List *tables)
{
	Relation	rel = table_open(AttributeRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	List	   *relations = NIL;
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_attribute column = (Form_pg_attribute) GETSTRUCT(tuple);

		CHECK_FOR_INTERRUPTS();
		/* the rows of a relation mostly stand together */
		if (column->attnum > 0 && !column->attisdropped && (relations == NIL || llast_oid(relations) != column->attrelid) &&
			tde_type_holds_encrypted(column->atttypid) && has_values_of_its_own(column->attrelid) &&
			is_part_of_tables(column->attrelid, tables))
			relations = lappend_oid(relations, column->attrelid);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	list_sort(relations, list_oid_cmp);
	list_deduplicate_oid(relations);
	return relations;
}

/* Nobody is left that could read the temporary tables of a session which has crashed. */
static bool
is_orphan(Relation rel)
{
	return RELATION_IS_OTHER_TEMP(rel) &&
		checkTempNamespaceStatus(RelationGetNamespace(rel)) != TEMP_NAMESPACE_IN_USE;
}

/* Counts what a table or an index has.  One that cannot be read has one use of an unknown key, with a count of -1. */
static void
count_relation(TdeUsage *usage, Oid relation, bool keep_lock)
{
	Relation	rel = try_relation_open(relation, AccessShareLock);
	ObjectAddress address = {RelationRelationId, relation, 0};

	if (rel == NULL)
		return;					/* dropped meanwhile */
	usage->rel = rel;
	tde_usage_begin_place(usage);
	if (!is_orphan(rel) && !tde_scan_relation(rel, &usage->scan))
	{
		TdeUse	   *use = palloc0(sizeof(TdeUse));

		use->count = -1;
		usage->uses = lappend(usage->uses, use);
	}
	if (tde_usage_counted(usage))
		tde_usage_end_place(usage, getObjectTypeDescription(&address, false), getObjectIdentity(&address, false), NULL);
	usage->rel = NULL;
	relation_close(rel, keep_lock ? NoLock : AccessShareLock);
}

/* Locks all of them before the first one is read, if locks are to be kept.  Returns how many blocks they have. */
static int64
survey_relations(TdeUsage *usage, bool keep_locks)
{
	int64		blocks = 0;
	ListCell   *cell;

	foreach(cell, usage->relations)
	{
		Relation	rel = try_relation_open(lfirst_oid(cell), AccessShareLock);

		if (rel == NULL)
			continue;
		if (!RELATION_IS_OTHER_TEMP(rel))
			blocks += RelationGetNumberOfBlocks(rel);
		/* VACUUM copies values into summaries, and has no snapshot that would keep their rows */
		if (keep_locks && rel->rd_rel->relam == BRIN_AM_OID)
			LockRelationOid(IndexGetRelation(RelationGetRelid(rel), false), ShareUpdateExclusiveLock);
		relation_close(rel, keep_locks ? NoLock : AccessShareLock);
	}
	return blocks;
}

/* ---- the result ---- */

static int
compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

/* The order of the result.  What is equal in it is one use. */
static int
compare_uses(const ListCell *a, const ListCell *b)
{
	const TdeUse *x = lfirst(a);
	const TdeUse *y = lfirst(b);
	int			order;

	if (x->key_id != y->key_id)
		return x->key_id < y->key_id ? -1 : 1;
	if ((order = strcmp(x->object_type, y->object_type)) != 0)
		return order;
	if ((order = strcmp(x->object, y->object)) != 0)
		return order;
	return compare_text(x->column, y->column);
}

/* Makes one use of those that are alike: several rows of a catalog, or several versions of one, may be about the same object. */
static List *
merge_uses(List *uses)
{
	List	   *merged = NIL;

	list_sort(uses, compare_uses);
	for (int i = 0; i < list_length(uses); i++)
	{
		TdeUse	   *use = list_nth(uses, i);

		if (i > 0 && compare_uses(list_nth_cell(uses, i - 1), list_nth_cell(uses, i)) == 0)
			use->count += ((TdeUse *) list_nth(uses, i - 1))->count;
		else if (i > 0)
			merged = lappend(merged, list_nth(uses, i - 1));
	}
	return uses == NIL ? NIL : lappend(merged, llast(uses));
}

List *
tde_usage_collect(Oid table, bool keep_locks)
{
	TdeUsage   *usage = palloc0(sizeof(TdeUsage));
	ListCell   *cell;

	tde_usage_begin(usage);
	usage->scan.page = tell_progress;
	if (OidIsValid(table))
		usage->tables = find_all_inheritors(table, NoLock, NULL);
	usage->relations = relations_with_values(usage->tables);
	tde_counters_progress_start(&usage->progress, table, TDE_PHASE_LOOK);
	tde_counters_progress_phase(&usage->progress, TDE_PHASE_LOOK, survey_relations(usage, keep_locks));
	foreach(cell, usage->relations)
		count_relation(usage, lfirst_oid(cell), keep_locks);
	tde_usage_of_catalogs(usage);
	tde_counters_progress_end();
	hash_destroy(usage->counts);
	return merge_uses(usage->uses);
}

/* ---- SQL ---- */

/* The row that a use's key has, if it is there still. */
typedef struct FindKey
{
	uint32		id;
	bool		found;
	TdeDataKey	row;
} FindKey;

static void
find_key(const TdeDataKey *row, void *arg)
{
	FindKey    *find = arg;

	if (row->id == find->id)
	{
		find->row = *row;
		find->found = true;
	}
}

static const char *
kind_word(char kind)
{
	switch (kind)
	{
		case TDE_KIND_MAC:
			return "mac";
		case TDE_KIND_NOMAC:
			return "nomac";
		case TDE_KIND_CATALOG:
			return "catalog";
		default:
			return "hash";
	}
}

/* A key that is not there any more has its number alone. */
static void
put_use(ReturnSetInfo *result, const TdeUse *use)
{
	FindKey		find = {.id = use->key_id};
	Datum		values[8] = {0};
	bool		nulls[8] = {0};

	tde_keys_scan(find_key, &find);
	values[0] = Int32GetDatum(use->key_id);
	nulls[0] = use->key_id == 0;
	values[1] = Int32GetDatum(find.row.slot);
	values[2] = Int32GetDatum(find.row.version);
	values[3] = CStringGetTextDatum(kind_word(find.row.kind));
	nulls[1] = nulls[2] = nulls[3] = !find.found;
	values[4] = CStringGetTextDatum(use->object_type);
	values[5] = CStringGetTextDatum(use->object);
	values[6] = CStringGetTextDatum(use->column ? use->column : "");
	nulls[6] = use->column == NULL;
	values[7] = Int64GetDatum(use->count);
	nulls[7] = use->count < 0;
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* Throws on a view, or what another server stores: an empty result would say nothing of these. */
static void
check_has_storage(Oid relation)
{
	char		kind = get_rel_relkind(relation);

	if (kind == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", relation)));
	if (kind != RELKIND_PARTITIONED_TABLE && kind != RELKIND_PARTITIONED_INDEX && !has_values_of_its_own(relation))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("relation \"%s\" stores no values here", get_rel_name(relation)),
				 errdetail_relkind_not_supported(kind),
				 kind == RELKIND_FOREIGN_TABLE ? errhint("Ask the server that stores them.") : 0));
}

/* tde_key_usage(relation regclass, OUT key_id, slot, version, kind, object_type, object, column, count) */
Datum
tde_key_usage(PG_FUNCTION_ARGS)
{
	List	   *uses;
	ListCell   *cell;

	InitMaterializedSRF(fcinfo, 0);
	if (!PG_ARGISNULL(0))
	{
		check_has_storage(PG_GETARG_OID(0));
		tde_distributed_refuse(PG_GETARG_OID(0), tde_distributed_call("SELECT array_agg(tde_key_usage) FROM", fcinfo));
	}
	uses = tde_usage_collect(PG_ARGISNULL(0) ? InvalidOid : PG_GETARG_OID(0), false);
	foreach(cell, uses)
		put_use((ReturnSetInfo *) fcinfo->resultinfo, lfirst(cell));
	return (Datum) 0;
}
