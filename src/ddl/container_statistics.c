/*
 * container_statistics.c - ANALYZE of arrays, composites, ranges and domains that hold encrypted values is tde_typanalyze()'s, too.
 *
 * Such types are made by users, or by PostgreSQL for each type, and no command gives them a function for ANALYZE.  So they get ours in the catalog
 * when a column gets the type, whichever command does that; a dump and pg_upgrade make columns, too.  There is no dependency, by which DROP EXTENSION
 * CASCADE would take along a composite type with all of its fields: when the function goes, they are what they were.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/indexing.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "ddl/container_statistics.h"
#include "server/compat.h"
#include "type/inside.h"

extern Datum tde_typanalyze(PG_FUNCTION_ARGS);

/* The function in this database; InvalidOid: it is not there. */
static Oid
our_function(void)
{
	Oid			internal = INTERNALOID;

	return tde_type_internal_function("tde_typanalyze", tde_typanalyze, &internal, 1);
}

/* ---- types ---- */

/* A cached copy of the row must not be changed in place. */
static void
set_function(Relation catalog, HeapTuple row, Oid function)
{
	row = heap_copytuple(row);
	((Form_pg_type) GETSTRUCT(row))->typanalyze = function;
	CatalogTupleUpdate(catalog, &row->t_self, row);
}

/* Gives a type our function, unless it has it. */
static void
take_over(Oid type, Oid function)
{
	Relation	catalog = table_open(TypeRelationId, RowExclusiveLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	row;

	/* others may make columns of it, too */
	LockDatabaseObject(TypeRelationId, type, 0, ShareUpdateExclusiveLock);
	ScanKeyInit(&key, Anum_pg_type_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(type));
	/* what this command has changed is to be seen */
	scan = systable_beginscan(catalog, TypeOidIndexId, true, SnapshotSelf, 1, &key);
	row = systable_getnext(scan);
	if (HeapTupleIsValid(row) && ((Form_pg_type) GETSTRUCT(row))->typanalyze != function)
		set_function(catalog, row, function);
	systable_endscan(scan);
	table_close(catalog, RowExclusiveLock);
}

/*
 * tde_typanalyze() goes, and ANALYZE of a type that still names it would fail.  Composite types of users stay, and their arrays; types that depend on
 * the extension go themselves.
 */
static void
give_back(Oid function)
{
	Relation	catalog = table_open(TypeRelationId, RowExclusiveLock);
	SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0, NULL);
	HeapTuple	row;

	while (HeapTupleIsValid(row = systable_getnext(scan)))
	{
		Form_pg_type form = (Form_pg_type) GETSTRUCT(row);

		CHECK_FOR_INTERRUPTS();
		if (form->typanalyze == function && tde_type_find(form->oid) == NULL)
			set_function(catalog, row, IsTrueArrayType(form) ? F_ARRAY_TYPANALYZE : InvalidOid);
	}
	systable_endscan(scan);
	table_close(catalog, RowExclusiveLock);
}

/* ---- columns ---- */

/* Returns true for a type of users that holds encrypted values and is not an encrypted type, which has the function from its CREATE TYPE. */
static bool
is_container(Oid type)
{
	return type >= FirstNormalObjectId && tde_type_find(type) == NULL && tde_type_holds_encrypted(type);
}

/*
 * Looks at a column that this command has made or changed; 0: at all columns of a relation that it has made.  The rows are read by SnapshotSelf,
 * since no CommandCounterIncrement() has made them visible yet.
 */
static void
look_at_columns(Oid relation, AttrNumber column)
{
	Relation	catalog = table_open(AttributeRelationId, AccessShareLock);
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	row;
	List	   *containers = NIL;
	ListCell   *cell;
	Oid			function;

	ScanKeyInit(&keys[0], Anum_pg_attribute_attrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relation));
	ScanKeyInit(&keys[1], Anum_pg_attribute_attnum, column == 0 ? BTGreaterStrategyNumber : BTEqualStrategyNumber,
				column == 0 ? F_INT2GT : F_INT2EQ, Int16GetDatum(column));
	scan = systable_beginscan(catalog, AttributeRelidNumIndexId, true, SnapshotSelf, 2, keys);
	while (HeapTupleIsValid(row = systable_getnext(scan)))
	{
		Oid			type = ((Form_pg_attribute) GETSTRUCT(row))->atttypid;

		CHECK_FOR_INTERRUPTS();
		if (is_container(type))
			containers = list_append_unique_oid(containers, type);
		/* ALTER TYPE ... ADD ATTRIBUTE: columns may have it already */
		if (column > 0 && get_rel_relkind(relation) == RELKIND_COMPOSITE_TYPE && tde_type_holds_encrypted(type))
		{
			containers = list_append_unique_oid(containers, get_rel_type_id(relation));
			containers = list_append_unique_oid(containers, get_array_type(get_rel_type_id(relation)));
		}
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	function = containers == NIL ? InvalidOid : our_function();
	if (OidIsValid(function))
		foreach(cell, containers)
			take_over(lfirst_oid(cell), function);
}

void
tde_container_statistics(ObjectAccessType access, Oid catalog, Oid object, int part)
{
	if (object < FirstNormalObjectId || IsBootstrapProcessingMode())
		return;
	if (catalog == RelationRelationId && part >= 0 && (access == OAT_POST_CREATE || (access == OAT_POST_ALTER && part > 0)))
		look_at_columns(object, part);
	else if (catalog == ProcedureRelationId && access == OAT_DROP && object == our_function())
		give_back(object);
}
