/*
 * text_search.c - triggers that fill a tsvector column from encrypted columns call our functions instead of PostgreSQL's, and these again when
 * the columns are decrypted.
 *
 * tsvector_update_trigger() takes columns of strings only, and says so with each INSERT and UPDATE.  Ours calls it with the columns decrypted
 * (client/languages.c).  Everything else of the trigger stays what it is, so only its function is changed.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "client/languages.h"
#include "ddl/text_search.h"
#include "server/compat.h"
#include "type/inside.h"

/* A trigger function of PostgreSQL's, and ours for encrypted columns, which takes the same arguments. */
typedef struct Pair
{
	Oid			core;			/* PostgreSQL's function */
	Oid			own;			/* InvalidOid: it is not in this database */
} Pair;

/* Returns true, and what the trigger calls, if that is one of these functions, of either side. */
static bool
find_pair(const Trigger *trigger, Pair *pair)
{
	const Pair	pairs[] = {
		{F_TSVECTOR_UPDATE_TRIGGER, tde_type_internal_function("tde_tsvector_update_trigger", tde_tsvector_update_trigger, NULL, 0)},
		{F_TSVECTOR_UPDATE_TRIGGER_COLUMN, tde_type_internal_function("tde_tsvector_update_trigger_column", tde_tsvector_update_trigger_column, NULL, 0)}
	};

	for (int i = 0; i < lengthof(pairs); i++)
	{
		*pair = pairs[i];
		if (OidIsValid(pair->own) && (trigger->tgfoid == pair->core || trigger->tgfoid == pair->own))
			return true;
	}
	return false;
}

static bool
is_encrypted_column(Oid relid, const char *column)
{
	AttrNumber	number = get_attnum(relid, column);

	return number > 0 && tde_type_holds_encrypted(get_atttype(relid, number));
}

/* A copy of its row; NULL: it is gone. */
static HeapTuple
copy_trigger(Relation catalog, Oid trigger)
{
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_trigger_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(trigger));
	scan = systable_beginscan(catalog, TriggerOidIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		tuple = heap_copytuple(tuple);
	systable_endscan(scan);
	return tuple;
}

/*
 * Changes the function of a trigger in pg_trigger, as PostgreSQL has no command for.  The dependency goes along, so that DROP EXTENSION finds the
 * trigger, and all sessions read the table's triggers anew.
 */
static void
set_function(Relation rel, const Trigger *trigger, Oid function)
{
	Relation	catalog = table_open(TriggerRelationId, RowExclusiveLock);
	HeapTuple	tuple = copy_trigger(catalog, trigger->tgoid);

	if (HeapTupleIsValid(tuple))
	{
		((Form_pg_trigger) GETSTRUCT(tuple))->tgfoid = function;
		CatalogTupleUpdate(catalog, &tuple->t_self, tuple);
		(void) changeDependencyFor(TriggerRelationId, trigger->tgoid, ProcedureRelationId, trigger->tgfoid, function);
		InvokeObjectPostAlterHook(TriggerRelationId, trigger->tgoid, 0);
		CacheInvalidateRelcache(rel);
	}
	table_close(catalog, RowExclusiveLock);
	ereport(NOTICE,
			(errmsg("trigger \"%s\" of table \"%s\" calls %s() instead of %s()", trigger->tgname, RelationGetRelationName(rel),
					get_func_name(function), get_func_name(trigger->tgfoid))));
}

static void
warn_in_clear(Relation rel, const Trigger *trigger)
{
	ereport(WARNING,
			(errmsg("trigger \"%s\" stores words of encrypted columns in clear", trigger->tgname),
			 errdetail("Column \"%s\" of table \"%s\" has them, and is not encrypted.", trigger->tgargs[0], RelationGetRelationName(rel)),
			 errhint("SELECT tde_create_type('tsvector'); makes an encrypted type for it, which has no GIN index.")));
}

/*
 * The arguments of the trigger name the tsvector column, a configuration and the columns of the text; a name that is no column is not encrypted.
 * created: the trigger that was just made; InvalidOid: none was.
 */
static void
adapt_trigger(Relation rel, const Trigger *trigger, Oid created)
{
	Pair		pair;
	bool		encrypted = false;
	Oid			function;

	if (!find_pair(trigger, &pair))
		return;
	for (int i = 0; i < trigger->tgnargs; i++)
		encrypted = encrypted || is_encrypted_column(RelationGetRelid(rel), trigger->tgargs[i]);
	function = encrypted ? pair.own : pair.core;
	if (function != trigger->tgfoid)
		set_function(rel, trigger, function);
	if (encrypted && (function != trigger->tgfoid || trigger->tgoid == created) && !is_encrypted_column(RelationGetRelid(rel), trigger->tgargs[0]))
		warn_in_clear(rel, trigger);
}

static void
adapt_triggers(Oid relid, Oid created)
{
	ListCell   *cell;

	/* a partition has triggers of its own */
	foreach(cell, find_all_inheritors(relid, NoLock, NULL))
	{
		Relation	rel = try_relation_open(lfirst_oid(cell), AccessShareLock);
		TriggerDesc *triggers;

		CHECK_FOR_INTERRUPTS();
		if (rel == NULL)
			continue;
		triggers = CopyTriggerDesc(rel->trigdesc);
		for (int i = 0; triggers && i < triggers->numtriggers; i++)
			adapt_trigger(rel, &triggers->triggers[i], created);
		relation_close(rel, AccessShareLock);
	}
	CommandCounterIncrement();
}

void
tde_text_search_altered(Oid relid)
{
	adapt_triggers(relid, InvalidOid);
}

void
tde_text_search_created(Oid trigger)
{
	Relation	catalog = table_open(TriggerRelationId, AccessShareLock);
	HeapTuple	tuple = copy_trigger(catalog, trigger);

	table_close(catalog, AccessShareLock);
	if (HeapTupleIsValid(tuple))
		adapt_triggers(((Form_pg_trigger) GETSTRUCT(tuple))->tgrelid, trigger);
}
