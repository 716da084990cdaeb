/*
 * index_salt.c - the salts of indexes of GIN whose entries tell nothing.
 *
 * The salt is an option of our classes (operators/blind.c).  An index that comes without one draws it when its rows in the catalogs are made,
 * before it is built: there CREATE INDEX, LIKE, ALTER COLUMN TYPE, partitions and REINDEX CONCURRENTLY meet.  Where a definition has one, as in a dump, it stays.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/reloptions.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/pg_am.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "storage/bufmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "ddl/index_salt.h"
#include "operators/blind.h"
#include "server/compat.h"
#include "server/statement.h"

/* Returns false, quickly, for nearly all indexes. */
static bool
may_have_salts(Relation rel, int count, const Oid *classes)
{
	if (rel->rd_rel->relam != GIN_AM_OID)
		return false;
	for (int i = 0; i < count; i++)
		if (tde_blind_is_class(classes[i]))
			return true;
	return false;
}

/* column: its number in the index.  The salt is the only option of our classes, so that any option is one. */
static bool
lacks_salt(Relation rel, AttrNumber column, Oid class)
{
	return tde_blind_is_class(class) && get_attoptions(RelationGetRelid(rel), column) == (Datum) 0;
}

bool
tde_index_salts_missing(Relation rel, int count, const Oid *classes)
{
	if (!may_have_salts(rel, count, classes))
		return false;
	for (int i = 0; i < count; i++)
		if (lacks_salt(rel, i + 1, classes[i]))
			return true;
	return false;
}

/*
 * Writes a new random salt into the column's row of pg_attribute.  The caller has called CommandCounterIncrement(), since this command has made the
 * row.
 */
static void
draw(Relation catalog, Relation rel, AttrNumber column)
{
	HeapTuple	row = SearchSysCacheCopy2(ATTNUM, ObjectIdGetDatum(RelationGetRelid(rel)), Int16GetDatum(column));
	DefElem    *salt = makeDefElem(TDE_BLIND_OPTION, (Node *) makeString(tde_blind_new_salt()), -1);
	Datum		values[Natts_pg_attribute] = {0};
	bool		nulls[Natts_pg_attribute] = {0};
	bool		replaced[Natts_pg_attribute] = {0};

	if (!HeapTupleIsValid(row))
		elog(ERROR, "cache lookup failed for column %d of index \"%s\"", column, RelationGetRelationName(rel));
	values[Anum_pg_attribute_attoptions - 1] = transformRelOptions((Datum) 0, list_make1(salt), NULL, NULL, false, false);
	replaced[Anum_pg_attribute_attoptions - 1] = true;
	row = heap_modify_tuple(row, RelationGetDescr(catalog), values, nulls, replaced);
	CatalogTupleUpdate(catalog, &row->t_self, row);
}

/*
 * What is built without a salt, and comes to stand under one, would find nothing: pg_upgrade brings files, ALTER TABLE keeps one, and REPACK
 * CONCURRENTLY builds one for the index that it is a copy of.
 */
static bool
is_for_itself(Relation rel)
{
	return !IsBinaryUpgrade && !TDE_IS_REPACK(tde_statement.utility) &&
		(rel->rd_rel->relkind != RELKIND_INDEX || RelationGetNumberOfBlocks(rel) == 0);
}

bool
tde_index_salts_draw(Relation rel, int count, const Oid *classes)
{
	Relation	catalog;
	bool		drawn = false;

	if (!may_have_salts(rel, count, classes) || !is_for_itself(rel))
		return false;
	/* its rows are there from now on, and may be changed */
	CommandCounterIncrement();
	catalog = table_open(AttributeRelationId, RowExclusiveLock);
	for (int i = 0; i < count; i++)
	{
		if (!lacks_salt(rel, i + 1, classes[i]))
			continue;
		draw(catalog, rel, i + 1);
		drawn = true;
	}
	table_close(catalog, RowExclusiveLock);
	return drawn;
}
