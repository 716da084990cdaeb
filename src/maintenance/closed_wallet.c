/*
 * closed_wallet.c - VACUUM and REINDEX of many tables while the wallet is closed: what needs no key is done, the rest is told by warnings.
 *
 * An index over encrypted values cannot be built without their order, and VACUUM searches in it for the place of a page that it deletes.  The
 * error would end the command, and with it vacuumdb and reindexdb, at the first such table.  So VACUUM leaves the dead
 * entries of these indexes to the next one, as INDEX_CLEANUP OFF does, VACUUM FULL leaves out these tables, and REINDEX of a schema or a database
 * these indexes.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "commands/dbcommands.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "maintenance/closed_wallet.h"
#include "server/compat.h"
#include "server/error.h"
#include "type/inside.h"
#include "wallet/wallet.h"

/* ---- what needs a key ---- */

/* The types in an index tell, of columns and of expressions.  No table is locked here: whoever holds it must not hold up the others. */
static bool
is_index_encrypted(Oid index)
{
	Oid			type;

	for (AttrNumber column = 1; OidIsValid(type = get_atttype(index, column)); column++)
		if (tde_type_holds_encrypted(type))
			return true;
	return false;
}

static List *
indexes_of(Oid table)
{
	Relation	catalog = table_open(IndexRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	List	   *indexes = NIL;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_index_indrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(table));
	scan = systable_beginscan(catalog, IndexIndrelidIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		CHECK_FOR_INTERRUPTS();
		indexes = lappend_oid(indexes, ((Form_pg_index) GETSTRUCT(tuple))->indexrelid);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return indexes;
}

static bool
has_encrypted_index(Oid table)
{
	ListCell   *cell;

	foreach(cell, indexes_of(table))
		if (is_index_encrypted(lfirst_oid(cell)))
			return true;
	return false;
}

/* Of a table that is named, with its partitions; or of one among all, with all partitions. */
static bool
needs_wallet(Oid table, bool named)
{
	ListCell   *cell;

	if (get_rel_relkind(table) != RELKIND_PARTITIONED_TABLE)
		return has_encrypted_index(table);
	foreach(cell, named ? find_all_inheritors(table, NoLock, NULL) : NIL)
		if (has_encrypted_index(lfirst_oid(cell)))
			return true;
	return false;
}

/* All tables of users and of the system, in a schema if it is given. */
static List *
all_tables(Oid schema)
{
	Relation	catalog = table_open(RelationRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0, NULL);
	List	   *tables = NIL;
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);
		bool		foreign_temp = form->relpersistence == RELPERSISTENCE_TEMP && isOtherTempNamespace(form->relnamespace);

		CHECK_FOR_INTERRUPTS();
		if ((form->relkind == RELKIND_RELATION || form->relkind == RELKIND_MATVIEW || form->relkind == RELKIND_PARTITIONED_TABLE) &&
			!foreign_temp && (!OidIsValid(schema) || form->relnamespace == schema))
			tables = lappend_oid(tables, form->oid);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return tables;
}

/* No lock keeps a relation from being dropped: then, NULL. */
static RangeVar *
find_name(Oid relation)
{
	char	   *name = get_rel_name(relation);
	char	   *schema = name ? get_namespace_name(get_rel_namespace(relation)) : NULL;

	return schema ? makeRangeVar(schema, name, -1) : NULL;
}

static void
warn(const char *what, Oid relation)
{
	RangeVar   *name = find_name(relation);

	if (name == NULL)
		return;
	ereport(WARNING,
			(errcode(ERRCODE_TDE_WALLET_CLOSED),
			 errmsg(what, quote_qualified_identifier(name->schemaname, name->relname)),
			 errdetail("The wallet is not open, and comparing encrypted values needs a key."),
			 errhint("Run the command again when the wallet is open.")));
}

/* ---- steps ---- */

/* What to run.  relation: of REINDEX, which may have another name by then, or be gone; InvalidOid: its own words tell. */
typedef struct TdeStep
{
	Node	   *statement;
	Oid			relation;
} TdeStep;

static List *
add_step(List *steps, Node *statement, Oid relation)
{
	TdeStep    *step = palloc(sizeof(TdeStep));

	*step = (TdeStep) {statement, relation};
	return lappend(steps, step);
}

/* ---- VACUUM ---- */

static bool
has_option(List *options, const char *name)
{
	ListCell   *cell;

	foreach(cell, options)
		if (strcmp(((DefElem *) lfirst(cell))->defname, name) == 0)
			return true;
	return false;
}

static bool
is_full(List *options)
{
	ListCell   *cell;

	foreach(cell, options)
		if (strcmp(((DefElem *) lfirst(cell))->defname, "full") == 0)
			return defGetBoolean(lfirst(cell));
	return false;
}

static VacuumStmt *
vacuum_of(VacuumStmt *command, List *tables)
{
	VacuumStmt *statement = makeNode(VacuumStmt);

	*statement = *command;
	statement->rels = tables;
	return statement;
}

/* Named ones, or all. */
static List *
tables_of(VacuumStmt *command)
{
	List	   *tables = NIL;
	ListCell   *cell;

	if (command->rels != NIL)
		return command->rels;
	foreach(cell, all_tables(InvalidOid))
		tables = lappend(tables, makeVacuumRelation(NULL, lfirst_oid(cell), NIL));
	return tables;
}

/* Which are vacuumed with their indexes, which without, or not at all. */
static bool
split_vacuum(VacuumStmt *command, List **instead)
{
	bool		full = is_full(command->options);
	List	   *others = NIL;
	List	   *needing = NIL;
	List	   *oids = NIL;
	ListCell   *cell;

	/* who wants the indexes vacuumed gets the error; the last does not look at tables */
	if (!command->is_vacuumcmd || has_option(command->options, "index_cleanup") || has_option(command->options, "only_database_stats"))
		return false;
	foreach(cell, tables_of(command))
	{
		VacuumRelation *table = lfirst(cell);
		Oid			oid = OidIsValid(table->oid) ? table->oid : RangeVarGetRelid(table->relation, NoLock, true);

		if (!OidIsValid(oid) || !needs_wallet(oid, table->relation != NULL))
			others = lappend(others, table);
		else
		{
			needing = lappend(needing, table);
			oids = lappend_oid(oids, oid);
		}
	}
	if (needing == NIL || tde_wallet_ensure_open())
		return false;
	foreach(cell, oids)
		warn(full ? "skipping table %s with encrypted values in indexes" : "skipping indexes of table %s with encrypted values",
			 lfirst_oid(cell));
	if (others != NIL)
		*instead = add_step(*instead, (Node *) vacuum_of(command, others), InvalidOid);
	if (!full)
	{
		VacuumStmt *without = vacuum_of(command, needing);

		without->options = lappend(list_copy(command->options), makeDefElem("index_cleanup", (Node *) makeString("off"), -1));
		*instead = add_step(*instead, (Node *) without, InvalidOid);
	}
	return true;
}

/* ---- REINDEX ---- */

static List *
add_reindex(List *steps, ReindexStmt *command, ReindexObjectType kind, Oid relation)
{
	ReindexStmt *statement = makeNode(ReindexStmt);

	*statement = *command;
	statement->kind = kind;
	if (OidIsValid(relation))
		statement->name = NULL;
	return add_step(steps, (Node *) statement, relation);
}

/* Of a table with encrypted indexes the others. */
static List *
reindex_others(List *steps, ReindexStmt *command, Oid table)
{
	ListCell   *cell;

	foreach(cell, indexes_of(table))
		if (is_index_encrypted(lfirst_oid(cell)))
			warn("skipping index %s with encrypted values", lfirst_oid(cell));
		else
			steps = add_reindex(steps, command, REINDEX_OBJECT_INDEX, lfirst_oid(cell));
	return steps;
}

/*
 * Only for superusers, whom no table refuses what the owner of a schema or database may do there.  PostgreSQL's own tables have no encrypted
 * indexes.
 */
static bool
split_reindex(ReindexStmt *command, List **instead)
{
	bool		database = command->kind == REINDEX_OBJECT_DATABASE;
	List	   *tables;
	ListCell   *cell;
	bool		needed = false;

	if (!superuser() || (!database && command->kind != REINDEX_OBJECT_SCHEMA))
		return false;
	if (database && command->name && strcmp(command->name, get_database_name(MyDatabaseId)) != 0)
		return false;
	tables = all_tables(database ? InvalidOid : get_namespace_oid(command->name, true));
	foreach(cell, tables)
		needed = needed || has_encrypted_index(lfirst_oid(cell));
	if (!needed || tde_wallet_ensure_open())
		return false;
	if (database && TDE_REINDEX_DATABASE_HAS_CATALOGS && !has_option(command->params, "concurrently"))
		*instead = add_reindex(*instead, command, REINDEX_OBJECT_SYSTEM, InvalidOid);
	foreach(cell, tables)
	{
		Oid			table = lfirst_oid(cell);

		if (IsCatalogRelationOid(table) || get_rel_relkind(table) == RELKIND_PARTITIONED_TABLE)
			continue;
		if (has_encrypted_index(table))
			*instead = reindex_others(*instead, command, table);
		else
			*instead = add_reindex(*instead, command, REINDEX_OBJECT_TABLE, table);
	}
	return true;
}

bool
tde_without_wallet(Node *utility, bool isolated, List **instead)
{
	*instead = NIL;
	if (!isolated || IsTransactionBlock() || tde_wallet_info().status == TDE_WALLET_OPEN)
		return false;
	if (IsA(utility, VacuumStmt) ? !split_vacuum((VacuumStmt *) utility, instead) :
		!IsA(utility, ReindexStmt) || !split_reindex((ReindexStmt *) utility, instead))
		return false;
	/* not behind other statements of a pipeline either, as PostgreSQL would say itself: they would be committed */
	PreventInTransactionBlock(isolated, IsA(utility, VacuumStmt) ? "VACUUM" : "REINDEX");
	return true;
}

/* False: it is gone. */
static bool
name_relation(TdeStep *step)
{
	if (!OidIsValid(step->relation))
		return true;
	((ReindexStmt *) step->statement)->relation = find_name(step->relation);
	return ((ReindexStmt *) step->statement)->relation != NULL;
}

/* As vacuum() and REINDEX of many tables go from one to the next. */
void
tde_run_without_wallet(List *instead, TdeRunUtility run, void *arg)
{
	MemoryContext context = CurrentMemoryContext;
	ListCell   *cell;

	foreach(cell, instead)
	{
		if (ActiveSnapshotSet())
			PopActiveSnapshot();
		CommitTransactionCommand();
		StartTransactionCommand();
		PushActiveSnapshot(GetTransactionSnapshot());
		MemoryContextSwitchTo(context);
		if (name_relation(lfirst(cell)))
			run(((TdeStep *) lfirst(cell))->statement, arg);
	}
	if (ActiveSnapshotSet())
		PopActiveSnapshot();
	MemoryContextSwitchTo(context);
}
