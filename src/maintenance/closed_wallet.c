/*
 * closed_wallet.c - VACUUM and REINDEX of many tables while the wallet is closed: what needs no key is done, the rest is told by warnings.
 *
 * An index over encrypted values cannot be built without a key, and in a btree VACUUM searches for the place of a page that it deletes.  The
 * error would end the command, and with it vacuumdb and reindexdb, at the first such table.  So VACUUM leaves the dead
 * entries of the indexes of a table with such a btree to the next one, as INDEX_CLEANUP OFF does, VACUUM FULL leaves out the tables, and REINDEX of a
 * schema or a database these indexes; REINDEX TABLE CONCURRENTLY, too, which goes from one to the next.
 *
 * What is built CONCURRENTLY is in the catalogs before it is built, and stays there if that fails, invalid, but kept up to date by all who
 * write.  So where it needs a key it is refused before it begins.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/index.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "catalog/pg_index.h"
#include "catalog/pg_inherits.h"
#include "commands/dbcommands.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/parsenodes.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "maintenance/closed_wallet.h"
#include "maintenance/index_keys.h"
#include "server/compat.h"
#include "server/error.h"
#include "wallet/wallet.h"

/* ---- tables ---- */

/*
 * Returns true if VACUUM of a table needs a key.  named: its partitions are vacuumed with it; among all tables each comes by itself.  full: the
 * indexes are built anew.
 */
static bool
needs_wallet(Oid table, bool named, bool full)
{
	bool		(*need_key) (Oid) = full ? tde_indexes_need_key : tde_indexes_need_key_for_vacuum;
	ListCell   *cell;

	if (get_rel_relkind(table) != RELKIND_PARTITIONED_TABLE)
		return need_key(table);
	foreach(cell, named ? find_all_inheritors(table, NoLock, NULL) : NIL)
		if (need_key(lfirst_oid(cell)))
			return true;
	return false;
}

/* Returns all tables of users and of the system, in a schema if it is given, without locks.  Other sessions' temporary tables nobody can vacuum. */
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

/* ---- steps ---- */

/* An OID that no relation has: PostgreSQL gives them from FirstGenbkiObjectId on, and writes those below into its sources. */
#define NO_RELATION	((Oid) 1)

/* What to run, or to tell. */
typedef struct TdeStep
{
	Node	   *statement;		/* NULL: a warning */
	Oid			relation;		/* of REINDEX and warnings, which may have another name by then, or be gone; InvalidOid: its own words tell */
	const char *warning;
	bool		needs_key;		/* what the warning is of */
} TdeStep;

static List *
add_step(List *steps, const TdeStep *step)
{
	return lappend(steps, memcpy(palloc(sizeof(TdeStep)), step, sizeof(TdeStep)));
}

static List *
add_skip(List *steps, const char *what, Oid relation)
{
	return add_step(steps, &(TdeStep) {NULL, relation, what, true});
}

/* The relation's name is looked up now: between two steps others may have renamed or dropped it. */
static void
warn(const TdeStep *step)
{
	RangeVar   *name = find_name(step->relation);

	if (name == NULL)
		return;
	ereport(WARNING,
			(errcode(step->needs_key ? ERRCODE_TDE_WALLET_CLOSED : ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg(step->warning, quote_qualified_identifier(name->schemaname, name->relname)),
			 step->needs_key ? errdetail("The wallet is not open, and comparing encrypted values needs a key.") : 0,
			 step->needs_key ? errhint("Run the command again when the wallet is open.") : 0));
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
is_on(List *options, const char *name)
{
	bool		on = false;
	ListCell   *cell;

	foreach(cell, options)
		if (strcmp(((DefElem *) lfirst(cell))->defname, name) == 0)
			on = defGetBoolean(lfirst(cell));
	return on;
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

/* Whose other tables VACUUM leaves out itself, and says so. */
static bool
may_vacuum(Oid table)
{
	return superuser() || (get_rel_relkind(table) != '\0' && (TDE_MAINTAINS_RELATION(table) || TDE_OWNS_DATABASE()));
}

/*
 * For those without indexes all the same.  It comes first: the options may be none that VACUUM knows, and then its error is all that there
 * is to tell.  Where no table is left it is asked of one that there is none of, which VACUUM passes over as if it had been dropped meanwhile.
 */
static List *
add_vacuum(List *steps, VacuumStmt *command, List *tables)
{
	if (tables == NIL)
		tables = list_make1(makeVacuumRelation(NULL, NO_RELATION, NIL));
	return add_step(steps, &(TdeStep) {(Node *) vacuum_of(command, tables)});
}

/*
 * Sorts tables by whether they are vacuumed with their indexes, without, or not at all.  Returns false if the command can be run as it is.  Example:
 * VACUUM; with a closed wallet, in a database with one encrypted column that is indexed.
 */
static bool
split_vacuum(VacuumStmt *command, List **instead)
{
	bool		full = is_on(command->options, "full");
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

		if (!OidIsValid(oid) || !needs_wallet(oid, table->relation != NULL, full) || !may_vacuum(oid))
			others = lappend(others, table);
		else
		{
			needing = lappend(needing, table);
			oids = lappend_oid(oids, oid);
		}
	}
	if (needing == NIL || tde_wallet_ensure_open())
		return false;
	*instead = add_vacuum(*instead, command, others);
	foreach(cell, oids)
		*instead = add_skip(*instead, full ? "skipping table %s with encrypted values in indexes" : "skipping indexes of table %s with encrypted values",
							lfirst_oid(cell));
	if (!full)
	{
		VacuumStmt *without = vacuum_of(command, needing);

		without->options = lappend(list_copy(command->options), makeDefElem("index_cleanup", (Node *) makeString("off"), -1));
		*instead = add_vacuum(*instead, without, needing);
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
	return add_step(steps, &(TdeStep) {(Node *) statement, relation});
}

/* Of an index that REINDEX TABLE CONCURRENTLY passes over, and REINDEX INDEX CONCURRENTLY does not: what it says of it; NULL: it is another one. */
static const char *
passed_over(Oid index)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(index));
	const char *words = NULL;

	if (!HeapTupleIsValid(tuple))
		return NULL;
	if (!((Form_pg_index) GETSTRUCT(tuple))->indisvalid)
		words = "cannot reindex invalid index %s concurrently, skipping";
	else if (((Form_pg_index) GETSTRUCT(tuple))->indisexclusion)
		words = "cannot reindex exclusion constraint index %s concurrently, skipping";
	ReleaseSysCache(tuple);
	return words;
}

/* Adds REINDEX INDEX for the indexes of a table, and of its TOAST table, that need no key, and a warning for each of the others. */
static List *
reindex_others(List *steps, ReindexStmt *command, Oid table)
{
	bool		concurrently = is_on(command->params, "concurrently");
	Oid			toast = GetSysCacheOid1(RELOID, Anum_pg_class_reltoastrelid, ObjectIdGetDatum(table));
	List	   *indexes = list_concat(tde_indexes_of(table), tde_indexes_of(toast));
	ListCell   *cell;

	foreach(cell, indexes)
	{
		Oid			index = lfirst_oid(cell);
		const char *words = concurrently ? passed_over(index) : NULL;

		if (words)
			steps = add_step(steps, &(TdeStep) {NULL, index, words, false});
		else if (tde_index_needs_key(index))
			steps = add_skip(steps, "skipping index %s with encrypted values", index);
		else
			steps = add_reindex(steps, command, REINDEX_OBJECT_INDEX, index);
	}
	return steps;
}

/* Returns what REINDEX of a schema or a database takes; NIL: another command, or PostgreSQL will refuse it. */
static List *
reindexed_tables(ReindexStmt *command)
{
	bool		database = command->kind == REINDEX_OBJECT_DATABASE;
	Oid			schema = InvalidOid;

	if (command->kind == REINDEX_OBJECT_SCHEMA)
		schema = get_namespace_oid(command->name, true);
	if (database && command->name && strcmp(command->name, get_database_name(MyDatabaseId)) != 0)
		return NIL;
	return database || OidIsValid(schema) ? all_tables(schema) : NIL;
}

/* Returns true if REINDEX TABLE CONCURRENTLY names a table (*table) some of whose indexes, but not all, need a key. */
static bool
is_mixed(ReindexStmt *command, Oid *table)
{
	ListCell   *cell;

	if (command->kind != REINDEX_OBJECT_TABLE || !is_on(command->params, "concurrently"))
		return false;
	*table = RangeVarGetRelid(command->relation, NoLock, true);
	if (!OidIsValid(*table) || get_rel_relkind(*table) == RELKIND_PARTITIONED_TABLE || !OidIsValid(tde_index_in_need(*table)))
		return false;
	foreach(cell, tde_indexes_of(*table))
		if (!tde_index_needs_key(lfirst_oid(cell)))
			return true;
	return false;
}

/*
 * Only for superusers, whom no table refuses what the owner of a schema or database may do there.  PostgreSQL's own tables have no encrypted
 * indexes.
 */
static bool
split_reindex(ReindexStmt *command, List **instead)
{
	List	   *tables;
	Oid			mixed;
	ListCell   *cell;
	bool		needed = false;

	if (!superuser())
		return false;
	tables = is_mixed(command, &mixed) ? list_make1_oid(mixed) : reindexed_tables(command);
	foreach(cell, tables)
		needed = needed || tde_indexes_need_key(lfirst_oid(cell));
	if (!needed || tde_wallet_ensure_open())
		return false;
	if (command->kind == REINDEX_OBJECT_DATABASE && TDE_REINDEX_DATABASE_HAS_CATALOGS && !is_on(command->params, "concurrently"))
		*instead = add_reindex(*instead, command, REINDEX_OBJECT_SYSTEM, InvalidOid);
	foreach(cell, tables)
	{
		Oid			table = lfirst_oid(cell);

		if (IsCatalogRelationOid(table) || get_rel_relkind(table) == RELKIND_PARTITIONED_TABLE)
			continue;
		if (tde_indexes_need_key(table))
			*instead = reindex_others(*instead, command, table);
		else
			*instead = add_reindex(*instead, command, REINDEX_OBJECT_TABLE, table);
	}
	return true;
}

/* ---- CONCURRENTLY ---- */

/* Whom PostgreSQL will refuse it, it tells so itself. */
static bool
is_refused(Oid relation)
{
	return get_rel_relkind(relation) == '\0' || !TDE_MAINTAINS_RELATION(relation);
}

/* Returns the first index that REINDEX would build, and that needs a key; InvalidOid: none. */
static Oid
reindex_in_need(ReindexStmt *command)
{
	bool		named = command->kind == REINDEX_OBJECT_TABLE || command->kind == REINDEX_OBJECT_INDEX;
	Oid			relation = named ? RangeVarGetRelid(command->relation, NoLock, true) : InvalidOid;
	Oid			table = command->kind == REINDEX_OBJECT_INDEX ? IndexGetRelation(relation, true) : relation;
	List	   *tables = named ? list_make1_oid(table) : reindexed_tables(command);
	ListCell   *cell;

	if (named && is_refused(table))
		return InvalidOid;
	if (command->kind == REINDEX_OBJECT_INDEX)
		return tde_index_needs_key(relation) && tde_index_holds_rows(table) ? relation : InvalidOid;
	foreach(cell, tables)
	{
		Oid			index = tde_index_in_need(lfirst_oid(cell));

		if (OidIsValid(index))
			return index;
	}
	return InvalidOid;
}

/* Returns the table if CREATE INDEX needs a key to build the index; InvalidOid otherwise, and if the command fails or does nothing anyway. */
static Oid
table_in_need(IndexStmt *command)
{
	Oid			table = RangeVarGetRelid(command->relation, NoLock, true);

	if (is_refused(table) || !tde_index_new_needs_key(command, table) || !tde_index_holds_rows(table) ||
		(command->if_not_exists && command->idxname && OidIsValid(get_relname_relid(command->idxname, get_rel_namespace(table)))))
		return InvalidOid;
	return table;
}

/*
 * Throws ERRCODE_TDE_WALLET_CLOSED if an index that needs a key is to be built CONCURRENTLY.  The wallet is only asked for then: opening it may run a
 * command.
 */
static void
refuse_concurrently(Node *utility)
{
	RangeVar   *name = NULL;
	const char *what = "index";

	if (IsA(utility, ReindexStmt) && is_on(((ReindexStmt *) utility)->params, "concurrently"))
		name = find_name(reindex_in_need((ReindexStmt *) utility));
	else if (IsA(utility, IndexStmt) && ((IndexStmt *) utility)->concurrent)
	{
		what = "an index of table";
		name = find_name(table_in_need((IndexStmt *) utility));
	}
	if (name && !tde_wallet_ensure_open())
		tde_wallet_closed_error(psprintf("to build %s %s", what, quote_qualified_identifier(name->schemaname, name->relname)));
}

bool
tde_closed_wallet_changes(Node *utility, bool isolated, List **instead)
{
	*instead = NIL;
	if (!isolated || IsTransactionBlock() || tde_wallet_info().status == TDE_WALLET_OPEN)
		return false;
	if (IsA(utility, VacuumStmt) ? !split_vacuum((VacuumStmt *) utility, instead) :
		!IsA(utility, ReindexStmt) || !split_reindex((ReindexStmt *) utility, instead))
	{
		refuse_concurrently(utility);
		return false;
	}
	/* not behind other statements of a pipeline either, as PostgreSQL would say itself: they would be committed */
	PreventInTransactionBlock(isolated, IsA(utility, VacuumStmt) ? "VACUUM" : "REINDEX");
	return true;
}

/* Gives a step's relation the name that it has by now.  Returns false if it is gone. */
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
tde_closed_wallet_run(List *instead, TdeRunUtility run, void *arg)
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
		if (((TdeStep *) lfirst(cell))->statement == NULL)
			warn(lfirst(cell));
		else if (name_relation(lfirst(cell)))
			run(((TdeStep *) lfirst(cell))->statement, arg);
	}
	if (ActiveSnapshotSet())
		PopActiveSnapshot();
	MemoryContextSwitchTo(context);
}
