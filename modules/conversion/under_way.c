/*
 * under_way.c - whether a column of a table is being converted: triggers that say so, whose they are, and what keeps them from going on.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "conversion/under_way.h"
#include "ddl/declared_type.h"
#include "server/compat.h"
#include "server/table_name.h"
#include "type/type.h"

/* What SQL knows of it is the core's. */
extern Datum tde_convert_trigger(PG_FUNCTION_ARGS);

/* Returns true if the name consists of these words and a number, the same as in the other name from there on. */
static bool
is_numbered(const char *name, const char *words, const char *number)
{
	size_t		size = strlen(words);

	return strncmp(name, words, size) == 0 && strcmp(name + size, number) == 0;
}

/* Returns true of one column or array of an encrypted type, and one of its base type. */
static bool
are_pair(Oid one, Oid other)
{
	TdeType    *type;

	if (OidIsValid(get_element_type(one)) && OidIsValid(get_element_type(other)))
	{
		one = get_element_type(one);
		other = get_element_type(other);
	}
	type = tde_type_find(one);
	if (type && type->base == other)
		return true;
	type = tde_type_find(other);
	return type && type->base == one;
}

/* Returns true if the columns are there still, and of types that a conversion has.  To erase one takes no other. */
static bool
are_convertible(Relation rel, const TdeRoles *roles)
{
	AttrNumber	numbers[] = {get_attnum(RelationGetRelid(rel), roles->target), get_attnum(RelationGetRelid(rel), roles->original)};
	Form_pg_attribute target;
	Form_pg_attribute original;

	if (numbers[0] <= 0 || (roles->source && numbers[1] <= 0))
		return false;
	target = TupleDescAttr(RelationGetDescr(rel), numbers[0] - 1);
	if (target->attgenerated != '\0' || target->attidentity != '\0')
		return false;
	if (roles->source == NULL)
		return true;
	original = TupleDescAttr(RelationGetDescr(rel), numbers[1] - 1);
	/* the other column's type is what the function takes */
	return roles->opener ? tde_ddl_encrypted(target->atttypid) != NULL : are_pair(target->atttypid, original->atttypid);
}

static const char words[] = "~tde_convert_";

/* Returns true, and what its arguments say, of a trigger whose name goes with them. */
static bool
read_roles(const Trigger *trigger, TdeRoles *roles)
{
	const char *number = trigger->tgname + strlen(words);
	bool		copies;

	if (strncmp(trigger->tgname, words, strlen(words)) != 0 || *number == '\0' || strspn(number, "0123456789") != strlen(number) ||
		trigger->tgnargs < 3 || trigger->tgnargs > 4)
		return false;
	copies = strcmp(trigger->tgargs[0], "copy") == 0;
	if (!copies && strcmp(trigger->tgargs[0], "erase") != 0)
		return false;
	roles->source = copies ? trigger->tgargs[1] : NULL;
	roles->target = trigger->tgargs[copies ? 2 : 1];
	roles->original = trigger->tgargs[copies ? 1 : 2];
	roles->opener = trigger->tgnargs == 4 ? trigger->tgargs[3] : NULL;
	return is_numbered(roles->target, "tde_convert_", number) || (!copies && is_numbered(roles->target, "tde_erase_", number));
}

/* See is_owners(): whoever may make triggers on a table can make such a one. */
static bool
is_conversion(Relation rel, const Trigger *trigger, TdeRoles *roles)
{
	return read_roles(trigger, roles) && are_convertible(rel, roles);
}

/*
 * Returns true if the trigger stands for the decision of the table's owner, that the column's values are copied as it says.  It is ENABLE ALWAYS, which
 * nobody but the owner can make it: CREATE TRIGGER, with OR REPLACE, too, makes one that is not.  A partition has its table's, whose owner
 * must be somebody who could become that of the partition.
 */
static bool
is_owners(Relation rel, const Trigger *trigger)
{
	ListCell   *cell;

	if (trigger->tgenabled != TRIGGER_FIRES_ALWAYS)
		return false;
	foreach(cell, trigger->tgisclone ? get_partition_ancestors(RelationGetRelid(rel)) : NIL)
	{
		Oid			owner = GetSysCacheOid1(RELOID, Anum_pg_class_relowner, ObjectIdGetDatum(lfirst_oid(cell)));

		if (!has_privs_of_role(owner, rel->rd_rel->relowner))
			return false;
	}
	return true;
}

/* Returns the table that is converted: the one whose trigger partitions have a copy of. */
static Oid
converted_table(Relation rel, const Trigger *trigger)
{
	List	   *ancestors = trigger->tgisclone ? get_partition_ancestors(RelationGetRelid(rel)) : NIL;

	return ancestors ? llast_oid(ancestors) : RelationGetRelid(rel);
}

/* Nobody has decided this conversion; or its trigger was disabled, and there may be rows whose copies are not right. */
pg_noreturn static void
refuse_disabled(Relation rel, const Trigger *trigger, const TdeRoles *roles)
{
	const char *table = tde_table_name(converted_table(rel, trigger));
	const char *column = quote_literal_cstr(roles->original);

	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("conversion of column \"%s\" of table \"%s\" cannot go on", roles->original, RelationGetRelationName(rel)),
			 errdetail("Trigger \"%s\" is not enabled as the owner's conversion has made it, ENABLE ALWAYS.  Rows may have been written without it.",
					   trigger->tgname),
			 roles->source ? errhint("CALL tde_abort_conversion(%s, %s); and begin again.", quote_literal_cstr(table), column) :
			 errhint("ALTER TABLE %s ENABLE ALWAYS TRIGGER %s; CALL tde_finish_conversion(%s, %s);", table, quote_identifier(trigger->tgname),
					 quote_literal_cstr(table), column)));
}

/* ---- what is late ---- */

/* Returns the transaction that has written the trigger's row in the catalog.  *parent: the trigger that it is a copy of, or InvalidOid. */
static TransactionId
trigger_written(Relation catalog, Oid trigger, Oid *parent)
{
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	TransactionId result;

	ScanKeyInit(&key, Anum_pg_trigger_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(trigger));
	scan = systable_beginscan(catalog, TriggerOidIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	*parent = HeapTupleIsValid(tuple) ? ((Form_pg_trigger) GETSTRUCT(tuple))->tgparentid : InvalidOid;
	result = HeapTupleIsValid(tuple) ? HeapTupleHeaderGetRawXmin(tuple->t_data) : InvalidTransactionId;
	systable_endscan(scan);
	return result;
}

/*
 * Returns true of a partition that was attached, or whose trigger was disabled and enabled, when the conversion had begun.  All copies of a trigger are
 * written together with it, by one transaction; one that comes later is written by another.
 */
static bool
is_late(const Trigger *trigger)
{
	Relation	catalog;
	Oid			parent;
	TransactionId own;
	TransactionId top;

	if (!trigger->tgisclone)
		return false;
	catalog = table_open(TriggerRelationId, AccessShareLock);
	own = top = trigger_written(catalog, trigger->tgoid, &parent);
	while (OidIsValid(parent))
		top = trigger_written(catalog, parent, &parent);
	table_close(catalog, AccessShareLock);
	return own != top;
}

bool
tde_under_way_find(Relation rel, const char *source, const char *target, TdeUnderWay *found)
{
	/* look-ups on the way may have the relation's read anew */
	TriggerDesc *triggers = CopyTriggerDesc(rel->trigdesc);

	for (int i = 0; triggers && i < triggers->numtriggers; i++)
	{
		Trigger    *trigger = &triggers->triggers[i];
		TdeRoles	roles;
		FmgrInfo	finfo;

		if (!is_conversion(rel, trigger, &roles) || strcmp(roles.target, target) != 0 ||
			(roles.source == NULL) != (source == NULL) || (source && strcmp(roles.source, source) != 0))
			continue;
		fmgr_info(trigger->tgfoid, &finfo);
		if (finfo.fn_addr != tde_convert_trigger)
			continue;
		if (!is_owners(rel, trigger))
			refuse_disabled(rel, trigger, &roles);
		found->opener = roles.opener ? pstrdup(roles.opener) : NULL;
		found->is_late = is_late(trigger);
		return true;
	}
	return false;
}

/* ---- the trigger ---- */

void
tde_under_way_refuse(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
			 errmsg("tde_convert_trigger can only be called as the trigger that tde_encrypt_column() makes")));
}

/*
 * Returns what the column that had the old values is called by now, if the table has none of its name; NULL if it is there, or not known.  It had the
 * number that the trigger's name ends with.
 */
static const char *
renamed(Oid table, const Trigger *trigger, const TdeRoles *roles)
{
	const char *name = roles->source ? roles->source : roles->target;
	const char *other = roles->source ? roles->target : roles->original;
	AttrNumber	number = strtol(trigger->tgname + strlen(words), NULL, 10);
	const char *result = get_attname(table, number, true);
	Oid			type = get_atttype(table, number);

	/* a dropped column has no type */
	if (get_attnum(table, name) > 0 || result == NULL || strcmp(result, other) == 0 || !OidIsValid(type) ||
		(roles->opener == NULL && !are_pair(type, get_atttype(table, get_attnum(table, other)))))
		return NULL;
	return quote_identifier(result);
}

/* Returns true if the table has this column, and its values are in clear. */
static bool
is_clear(Oid table, const char *name)
{
	AttrNumber	number = get_attnum(table, name);

	return number > 0 && tde_ddl_encrypted(get_atttype(table, number)) == NULL;
}

/*
 * Returns commands that end a conversion that cannot go on.  A dropped column's values stay in the rows, where nothing but a rewrite of the table finds
 * them, so those in clear are removed before.
 */
static const char *
way_out(Oid table, const Trigger *trigger, const TdeRoles *roles)
{
	const char *name = tde_table_name(table);
	const char *column = quote_identifier(roles->target);
	const char *now = renamed(table, trigger, roles);
	const char *dropped = psprintf("End the conversion: DROP TRIGGER %s ON %s;", quote_identifier(trigger->tgname), name);

	if (now && roles->source)
		return psprintf("ALTER TABLE %s RENAME COLUMN %s TO %s; CALL tde_abort_conversion(%s, %s);", name, now, quote_identifier(roles->source),
						quote_literal_cstr(name), quote_literal_cstr(roles->source));
	if (now)
		return psprintf("ALTER TABLE %s RENAME COLUMN %s TO %s;", name, now, column);
	if (is_clear(table, roles->target))
		return psprintf("%s ALTER TABLE %s DROP CONSTRAINT IF EXISTS %s; UPDATE %s SET %s = NULL; ALTER TABLE %s DROP COLUMN %s; "
						"CALL tde_wipe_free_space(%s);", dropped, name, column, name, column, name, column, quote_literal_cstr(name));
	if (get_attnum(table, roles->target) > 0)
		return psprintf("%s ALTER TABLE %s DROP COLUMN %s;", dropped, name, column);
	return is_clear(table, roles->original) ? dropped : psprintf("%s VACUUM FULL %s;", dropped, name);
}

/* The trigger is as it was made; somebody has renamed, altered or dropped one of its columns. */
static void
refuse_altered(Relation rel, const Trigger *trigger)
{
	TdeRoles	roles;

	if (!read_roles(trigger, &roles))
		tde_under_way_refuse();
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("conversion of column \"%s\" of table \"%s\" cannot go on", roles.original, RelationGetRelationName(rel)),
			 roles.source ? errdetail("The column or its copy \"%s\" was renamed, altered or dropped.", roles.target) :
			 errdetail("Column \"%s\", which has the old values, was renamed, altered or dropped.", roles.target),
			 errhint("%s", way_out(converted_table(rel, trigger), trigger, &roles))));
}

/* Returns true of a trigger that can change the row before it is written. */
static bool
changes_rows(const Trigger *trigger)
{
	return trigger->tgenabled != TRIGGER_DISABLED && TRIGGER_FOR_ROW(trigger->tgtype) && TRIGGER_FOR_BEFORE(trigger->tgtype) &&
		(TRIGGER_FOR_INSERT(trigger->tgtype) || TRIGGER_FOR_UPDATE(trigger->tgtype));
}

/* Throws if one of the triggers behind this one could change the row without its copy.  They fire in the order of their names. */
static void
refuse_later(Relation rel, const Trigger *trigger, const TdeRoles *roles)
{
	const TriggerDesc *triggers = rel->trigdesc;
	bool		is_behind = false;

	for (int i = 0; i < triggers->numtriggers; i++)
	{
		const Trigger *other = &triggers->triggers[i];

		if (is_behind && other->tgfoid != trigger->tgfoid && changes_rows(other))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("conversion of column \"%s\" of table \"%s\" cannot go on", roles->original, RelationGetRelationName(rel)),
					 errdetail("Trigger \"%s\" fires after that of the conversion, and could change the row without its copy.", other->tgname),
					 errhint("ALTER TRIGGER %s ON %s RENAME TO %s;", quote_identifier(other->tgname),
							 tde_table_name(converted_table(rel, other)),
							 quote_identifier(psprintf("z_%s", other->tgname)))));
		is_behind = is_behind || other->tgoid == trigger->tgoid;
	}
}

void
tde_under_way_read(Relation rel, const Trigger *trigger, TdeRoles *roles)
{
	if (!is_conversion(rel, trigger, roles))
		refuse_altered(rel, trigger);
	/* to erase takes nobody's rights, and nothing is copied */
	if (roles->source == NULL)
		return;
	if (!is_owners(rel, trigger))
		refuse_disabled(rel, trigger, roles);
	refuse_later(rel, trigger, roles);
}
