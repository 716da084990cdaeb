/*
 * copied_database.c - settings of this extension follow a database into its copies.
 *
 * CREATE DATABASE ... TEMPLATE copies keys, encrypted values and the rights to tables, but not what ALTER DATABASE ... SET says, for which
 * tde_column.decrypt_role is meant: whoever owns the database, and no more, would read in the copy what is kept from him in the original.
 * Both come with one commit, so there is no moment in between.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/pg_database.h"
#include "catalog/pg_db_role_setting.h"
#include "catalog/pg_type.h"
#include "commands/dbcommands.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "ddl/copied_database.h"
#include "server/compat.h"

/* What CREATE DATABASE copies if nothing is said. */
#define USUAL_TEMPLATE	"template1"

static const char prefix[] = "tde_column.";

/* Returns ours among settings, NAME=VALUE each; NULL if there are none.  Names of settings do not depend on case. */
static ArrayType *
our_settings(ArrayType *settings)
{
	Datum	   *entries;
	int			count;
	int			ours = 0;

	deconstruct_array(settings, TEXTOID, -1, false, TYPALIGN_INT, &entries, NULL, &count);
	for (int i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (pg_strncasecmp(TextDatumGetCString(entries[i]), prefix, strlen(prefix)) == 0)
			entries[ours++] = entries[i];
	}
	return ours ? construct_array(entries, ours, TEXTOID, -1, false, TYPALIGN_INT) : NULL;
}

/* Copies ours of a row of pg_db_role_setting, which is for all roles of the database or for one of them. */
static void
copy_row(Relation catalog, HeapTuple tuple, Oid copy)
{
	bool		isnull;
	Datum		settings = heap_getattr(tuple, Anum_pg_db_role_setting_setconfig, RelationGetDescr(catalog), &isnull);
	ArrayType  *ours = isnull ? NULL : our_settings(DatumGetArrayTypeP(settings));
	Datum		values[Natts_pg_db_role_setting];
	bool		nulls[Natts_pg_db_role_setting] = {false};

	if (ours == NULL)
		return;
	values[Anum_pg_db_role_setting_setdatabase - 1] = ObjectIdGetDatum(copy);
	values[Anum_pg_db_role_setting_setrole - 1] = ObjectIdGetDatum(((Form_pg_db_role_setting) GETSTRUCT(tuple))->setrole);
	values[Anum_pg_db_role_setting_setconfig - 1] = PointerGetDatum(ours);
	CatalogTupleInsert(catalog, heap_form_tuple(RelationGetDescr(catalog), values, nulls));
}

/* CREATE DATABASE keeps the original locked until it commits, so that its name still means the same database. */
static void
copy_settings(Oid original, Oid copy)
{
	Relation	catalog = table_open(DbRoleSettingRelationId, RowExclusiveLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_db_role_setting_setdatabase, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(original));
	scan = systable_beginscan(catalog, DbRoleSettingDatidRolidIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		CHECK_FOR_INTERRUPTS();
		copy_row(catalog, tuple, copy);
	}
	systable_endscan(scan);
	table_close(catalog, RowExclusiveLock);
}

void
tde_database_copied(Node *utility)
{
	const char *template = USUAL_TEMPLATE;
	CreatedbStmt *command = (CreatedbStmt *) utility;
	ListCell   *cell;

	if (!IsA(utility, CreatedbStmt))
		return;
	foreach(cell, command->options)
	{
		DefElem    *option = lfirst(cell);

		if (strcmp(option->defname, "template") == 0 && option->arg != NULL)
			template = defGetString(option);
	}
	CommandCounterIncrement();
	copy_settings(get_database_oid(template, false), get_database_oid(command->dbname, false));
}
