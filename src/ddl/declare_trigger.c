/*
 * declare_trigger.c - after a command: what it has declared gets the default specification, or a key of its own; wide tables a larger
 * toast_tuple_target; ddl/plaintext_guard.c looks for what would be stored in clear, ddl/taken_names.c for names that would be called.
 *
 * PostgreSQL calls tde_ddl_trigger() at the end of each command that sql/90_last.sql lists, as the user who runs it, in its transaction.  What is
 * thrown here takes back all of the command.  What the hook has settled before (ddl/declare.c) is found as it should be, and costs no more than a
 * look.  Of declarations only two come here alone: what CREATE TABLE AS makes, and all that a first statement makes that has only just loaded the
 * library.
 */
#include "postgres.h"

#include "access/heaptoast.h"
#include "access/relation.h"
#include "catalog/namespace.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_cast.h"
#include "catalog/pg_class.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_statistic_ext.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/event_trigger.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "tcop/cmdtag.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"

#include "ddl/declare.h"
#include "ddl/declared_type.h"
#include "ddl/foreign_keys.h"
#include "ddl/index_order.h"
#include "ddl/plaintext_guard.h"
#include "ddl/taken_names.h"
#include "ddl/text_search.h"
#include "ddl/widened_calls.h"
#include "keys/required.h"
#include "keys/table.h"
#include "server/compat.h"
#include "server/statement.h"
#include "server/table_name.h"
#include "type/plain_bytes.h"

PG_FUNCTION_INFO_V1(tde_ddl_trigger);

bool		tde_key_per_table = false;

/* Returns the command that gives a column this specification.  It names the type with its schema, whatever the search_path is. */
static char *
alter_command(Relation rel, Form_pg_attribute column, int32 typmod)
{
	bool		composite = rel->rd_rel->relkind == RELKIND_COMPOSITE_TYPE;
	const char *kind = composite ? "TYPE" : rel->rd_rel->relkind == RELKIND_FOREIGN_TABLE ? "FOREIGN TABLE" : "TABLE";

	return psprintf("ALTER %s %s ALTER %s %s TYPE %s", kind,
					tde_table_name(RelationGetRelid(rel)),
					composite ? "ATTRIBUTE" : "COLUMN", quote_identifier(NameStr(column->attname)),
					format_type_extended(column->atttypid, typmod, FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY));
}

/*
 * Returns true if the column's type is its own.  That of a child, a partition or a typed table is its parent's: it cannot be altered here, and need
 * not be.
 */
static bool
may_be_altered(Relation rel, Form_pg_attribute column)
{
	switch (rel->rd_rel->relkind)
	{
		case RELKIND_RELATION:
		case RELKIND_PARTITIONED_TABLE:
		case RELKIND_FOREIGN_TABLE:
		case RELKIND_COMPOSITE_TYPE:
			return column->attinhcount == 0 && !rel->rd_rel->relispartition &&
				!OidIsValid(rel->rd_rel->reloftype);
		default:
			return false;
	}
}

/*
 * Makes a new key, named after the table: "public.cards".  If there is one of that name, it belongs to a table of former days, and this becomes
 * "public.cards~2".  Eight bytes of NAMEDATALEN are left for that number.  Returns the key's slot.
 */
static int32
make_table_key(Relation rel)
{
	char	   *full = psprintf("%s.%s", get_namespace_name(RelationGetNamespace(rel)), RelationGetRelationName(rel));
	char	   *name = pnstrdup(full, pg_mbcliplen(full, strlen(full), NAMEDATALEN - 8));

	for (int i = 2; tde_keys_slot(name) != TDE_NO_SLOT && i < 1000000; i++)
		name = psprintf("%.*s~%d", pg_mbcliplen(full, strlen(full), NAMEDATALEN - 8), full, i);
	return tde_keys_create(name, NULL);
}

/* Returns true if each new table gets a key, and this is one.  A temporary one would leave a key behind with each session. */
static bool
gets_own_key(Relation rel, bool new_table)
{
	return new_table && tde_key_per_table && rel->rd_rel->relpersistence != RELPERSISTENCE_TEMP &&
		(rel->rd_rel->relkind == RELKIND_RELATION || rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE);
}

/*
 * Returns the typmod that a column should have.  *table_key: the slot of the table's own key, 0 as long as there is none; it is made for the first
 * column that names no key itself.
 */
static int32
wanted_typmod(Relation rel, Form_pg_attribute column, TdeType *type, bool own_key, int32 *table_key)
{
	int32		typmod = column->atttypmod >= 0 ? column->atttypmod : tde_ddl_default_typmod(type);
	TdeModifiers mods = tde_modifiers_unpack(type->layout, typmod);

	if (!own_key || mods.slot != TDE_SLOT_DEFAULT)
		return typmod;
	if (*table_key == 0)
		*table_key = make_table_key(rel);
	mods.slot = *table_key;
	return tde_modifiers_pack(type->layout, &mods);
}

/*
 * Returns how many bytes encryption adds to a short value in a row, in which a varlena header of one byte precedes it; half of the padding, on
 * average.
 */
static int
added_bytes(TdeType *type, int32 typmod)
{
	TdeModifiers mods = tde_modifiers_unpack(type->layout, typmod >= 0 ? typmod : tde_typmod_default());

	return 1 + (int) tde_header_sealed_size(mods.spec, 1, tde_plain_pad(type->base, &mods) / 2);
}

/*
 * The command that keeps a table's rows in one piece, if it has many encrypted columns; NULL: there is no need.
 *
 * Of rows larger than 2 kB PostgreSQL stores the largest values out of line, one by one, until the rest is smaller.  For documents that
 * pays, but 50 numbers that became so large by encryption take several times as long then, to write and to read.  So the table's target
 * rises by what encryption adds, and a row is taken apart when it would be without.  Where somebody has set a lower target than
 * PostgreSQL's own, it stays.
 */
static char *
keep_rows_whole(Relation rel, int added)
{
	int			wanted = Min(TOAST_TUPLE_TARGET + added, TOAST_TUPLE_TARGET_MAIN);
	int			target;

	if (added <= TOAST_TUPLE_TARGET / 2 || rel->rd_rel->relkind != RELKIND_RELATION)
		return NULL;
	target = RelationGetToastTupleTarget(rel, TOAST_TUPLE_TARGET);
	if (target < TOAST_TUPLE_TARGET || target >= wanted)
		return NULL;
	return psprintf("ALTER TABLE %s SET (toast_tuple_target = %d)",
					tde_table_name(RelationGetRelid(rel)),
					wanted);
}

/*
 * Makes the keys of a relation's columns, and returns the commands that mend what its declaration lacks; NIL for most.  Of a new table, what
 * tde_column.require excludes is refused here, too: CREATE TABLE AS has come no other way.
 */
static List *
inspect_relation(Relation rel, bool new_table)
{
	TupleDesc	columns = RelationGetDescr(rel);
	bool		own_key = gets_own_key(rel, new_table);
	int32		table_key = 0;
	int			added = 0;
	char	   *whole;
	List	   *commands = NIL;
	TdeType    *ensured = NULL; /* its keys are there, for this typmod */
	int32		ensured_typmod = -1;

	for (int i = 0; i < columns->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(columns, i);
		TdeType    *type = column->attisdropped ? NULL : tde_ddl_encrypted(column->atttypid);
		int32		typmod;

		if (type == NULL)
			continue;
		typmod = may_be_altered(rel, column) ? wanted_typmod(rel, column, type, own_key, &table_key) : column->atttypmod;
		/* a table may have many columns that are declared the same */
		if (type != ensured || typmod != ensured_typmod)
		{
			if (new_table && typmod >= 0 && !IsBinaryUpgrade)
				tde_required_check(tde_modifiers_unpack(type->layout, typmod).spec);
			(void) tde_ddl_ensure_keys(type, typmod);
		}
		ensured = type;
		ensured_typmod = typmod;
		if (typmod != column->atttypmod)
			commands = lappend(commands, alter_command(rel, column, typmod));
		added += added_bytes(type, typmod);
	}
	whole = keep_rows_whole(rel, added);
	return whole ? lappend(commands, whole) : commands;
}

/*
 * The commands run through SPI, as the user: they check rights, lock and fire event triggers as his own would.  Nothing is changed where somebody has
 * dropped the relation since.
 */
static void
mend_relation(Oid relid, bool new_table)
{
	Relation	rel = try_relation_open(relid, AccessShareLock);
	List	   *commands;
	ListCell   *cell;

	if (rel == NULL)
		return;
	commands = inspect_relation(rel, new_table);
	tde_guard_relation(rel);
	/* otherwise the hook has seen each index that was made */
	if (tde_statement.utility == NULL)
		tde_index_order_check(rel);
	/* ALTER wants it to itself */
	relation_close(rel, AccessShareLock);
	if (commands == NIL)
		return;
	SPI_connect();
	foreach(cell, commands)
		if (SPI_execute((char *) lfirst(cell), false, 0) < 0)
			elog(ERROR, "could not execute: %s", (char *) lfirst(cell));
	SPI_finish();
}

/* It is called after ALTER TABLE, which adds the foreign keys of CREATE TABLE, too.  command: as PostgreSQL has collected it. */
static void
check_altered(Oid relid, const CollectedCommand *command)
{
	Relation	rel = try_relation_open(relid, AccessShareLock);

	if (rel == NULL)
		return;
	tde_foreign_keys_check_clear(rel);
	tde_guard_using(rel, command);
	tde_widened_calls_altered(command);
	if (rel->rd_rel->relhasindex)
		tde_guard_expression_index_check(rel);
	relation_close(rel, AccessShareLock);
	tde_text_search_altered(relid);
}

/*
 * A domain must say how its values are encrypted: PostgreSQL gives columns of it no modifier, so there is no other place.  Types that are no domain
 * over an encrypted type pass.
 */
static void
check_domain(Oid domain)
{
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(domain));
	Form_pg_type form;
	TdeType    *type;
	bool		no_default;

	if (!HeapTupleIsValid(tuple))
		return;
	form = (Form_pg_type) GETSTRUCT(tuple);
	type = form->typtype == TYPTYPE_DOMAIN ? tde_ddl_encrypted(form->typbasetype) : NULL;
	if (type && form->typtypmod < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("domain \"%s\" does not say how its values are encrypted", NameStr(form->typname)),
				 errhint("Write the modifiers: %s.",
						 format_type_with_typemod(form->typbasetype, tde_ddl_default_typmod(type)))));
	/* the hook refuses it before; this is for a session whose first statement it is */
	(void) SysCacheGetAttr(TYPEOID, tuple, Anum_pg_type_typdefault, &no_default);
	if (type && !no_default)
		tde_ddl_refuse_default();
	if (type)
		(void) tde_ddl_ensure_keys(type, form->typtypmod);
	ReleaseSysCache(tuple);
}

/*
 * Looks at one object that the command has made or altered, by its class.  Of other classes only the trees that are stored matter, which
 * mend_objects() looks at.
 */
static void
mend_object(Oid classid, Oid objid, bool new_table)
{
	switch (classid)
	{
		case RelationRelationId:
			mend_relation(objid, new_table);
			break;
		case TypeRelationId:
			tde_name_guard(classid, objid);
			if (get_typtype(objid) == TYPTYPE_COMPOSITE)
				mend_relation(get_typ_typrelid(objid), false);
			else
				check_domain(objid);
			break;
		case StatisticExtRelationId:
			tde_guard_statistics(objid);
			break;
		case TriggerRelationId:
			tde_text_search_created(objid);
			break;
		case ProcedureRelationId:
		case OperatorRelationId:
		case CastRelationId:
			tde_name_guard(classid, objid);
			break;
	}
}

/*
 * Read pg_event_trigger_ddl_commands().  Not by a query: those who log or measure queries would see one after each CREATE TABLE
 * that has nothing to do with us.
 */
static void
read_commands(ReturnSetInfo *result)
{
	LOCAL_FCINFO(fcinfo, 0);
	FmgrInfo	flinfo;

	memset(result, 0, sizeof(*result));
	result->type = T_ReturnSetInfo;
	result->econtext = CreateStandaloneExprContext();
	result->allowedModes = SFRM_Materialize;
	fmgr_info(F_PG_EVENT_TRIGGER_DDL_COMMANDS, &flinfo);
	InitFunctionCallInfoData(*fcinfo, &flinfo, 0, InvalidOid, NULL, (Node *) result);
	(void) FunctionCallInvoke(fcinfo);
}

/* The columns are those of pg_event_trigger_ddl_commands(): 1 class, 2 object, 4 command tag, 9 the command, as an internal pointer. */
static void
mend_objects(CommandTag command)
{
	bool		new_table = command == CMDTAG_CREATE_TABLE || command == CMDTAG_CREATE_TABLE_AS ||
	command == CMDTAG_SELECT_INTO;
	ReturnSetInfo commands;
	TupleTableSlot *slot;

	read_commands(&commands);
	slot = MakeSingleTupleTableSlot(commands.setDesc, &TTSOpsMinimalTuple);
	while (tuplestore_gettupleslot(commands.setResult, true, false, slot))
	{
		bool		isnull;
		Oid			classid = DatumGetObjectId(slot_getattr(slot, 1, &isnull));
		Oid			objid = DatumGetObjectId(slot_getattr(slot, 2, &isnull));

		CHECK_FOR_INTERRUPTS();
		if (isnull)
			continue;
		tde_widened_calls_stored(classid, objid);
		mend_object(classid, objid, new_table);
		/* foreign keys of a new table, too, are added by an ALTER TABLE */
		if (classid == RelationRelationId && strcmp(TextDatumGetCString(slot_getattr(slot, 4, &isnull)), "ALTER TABLE") == 0)
			check_altered(objid, (CollectedCommand *) DatumGetPointer(slot_getattr(slot, 9, &isnull)));
	}
	ExecDropSingleTupleTableSlot(slot);
	tuplestore_end(commands.setResult);
	FreeExprContext(commands.econtext, true);
}

/* Event trigger function for ddl_command_end, and for ddl_command_start of what drops the extension, where to be called is to be loaded. */
Datum
tde_ddl_trigger(PG_FUNCTION_ARGS)
{
	static bool running = false;	/* our own ALTER fires it again */

	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_EVENT_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("tde_ddl_trigger can only be called as an event trigger")));
	if (running || IsBinaryUpgrade || strcmp(((EventTriggerData *) fcinfo->context)->event, "ddl_command_end") != 0)
		PG_RETURN_NULL();
	running = true;
	PG_TRY();
	{
		mend_objects(((EventTriggerData *) fcinfo->context)->tag);
	}
	PG_FINALLY();
	{
		running = false;
	}
	PG_END_TRY();
	PG_RETURN_NULL();
}
