/*
 * tde_ddl.c - columns that are declared without modifiers get the default specification; keys are made where columns are
 * declared.
 *
 * Two ways lead to the same end.  A ProcessUtility hook, where the library is loaded, writes the default into the parse tree
 * before the command runs and makes the keys that the command may need while it runs.  An event trigger afterwards mends
 * what came another way (CREATE TABLE AS, or a first statement that only loaded the library), and has tde_guard.c look for
 * what would be stored in clear.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_statistic_ext.h"
#include "catalog/pg_type.h"
#include "commands/event_trigger.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/parsenodes.h"
#include "parser/parse_type.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "tde_compat.h"
#include "tde_ddl.h"
#include "tde_guard.h"
#include "tde_opclass.h"
#include "tde_keystore.h"
#include "tde_log.h"
#include "tde_type.h"

PG_FUNCTION_INFO_V1(tde_ddl_trigger);

static ProcessUtility_hook_type prev_process_utility = NULL;

/* ---- what a declared type means ---- */

/* The encrypted type itself or the element of an array of it; NULL if the type is neither. */
static TdeType *
encrypted_element(Oid type)
{
	Oid			element = get_element_type(type);

	return tde_type_find(OidIsValid(element) ? element : type);
}

/* Make the keys that a declaration needs, now, before anything can be encrypted under them. */
static bool
ensure_keys(TdeType *type, int32 typmod)
{
	TdeModifiers mods;

	if (!tde_keystore_ensure_basic())
		return false;
	if (typmod < 0)
		return true;
	mods = tde_typmod_unpack(type->layout, typmod);
	return tde_keystore_ensure(mods.slot, mods.spec.mac == TDE_NOMAC ? TDE_KIND_NOMAC : TDE_KIND_MAC);
}

/* ---- the hook ---- */

static void
warn_legacy_cipher(TdeType *type, int32 typmod)
{
	if (typmod >= 0 && tde_typmod_unpack(type->layout, typmod).spec.cipher == TDE_3DES168)
		ereport(WARNING,
				(errmsg("triple DES is a legacy cipher"),
				 errdetail("NIST allows at most 2^20 blocks under one key and no new use after 2023 (SP 800-67r2)."),
				 errhint("Use aes256.")));
}

/*
 * needs_keys_now: values may be encrypted by the command itself, as by ALTER TABLE ... ADD COLUMN ... DEFAULT.  Otherwise
 * the event trigger makes the keys, after the command has checked privileges.
 */
static void
declare_type(TypeName *name, bool needs_keys_now)
{
	TypeName	element;
	Oid			oid;
	TdeType    *type;
	int32		typmod;

	if (name == NULL || name->pct_type || name->setof)
		return;
	element = *name;
	element.arrayBounds = NIL;
	element.typmods = NIL;
	oid = LookupTypeNameOid(NULL, &element, true);
	type = OidIsValid(oid) ? encrypted_element(oid) : NULL;
	if (type == NULL)
		return;
	if (name->typmods == NIL && name->typemod < 0)
		name->typemod = tde_typmod_default(type->layout);
	element.typmods = name->typmods;
	element.typemod = name->typemod;
	typenameTypeIdAndMod(NULL, &element, &oid, &typmod);
	warn_legacy_cipher(type, typmod);
	if (needs_keys_now)
		(void) ensure_keys(type, typmod);
}

static void
declare_columns(List *elements)
{
	ListCell   *cell;

	foreach(cell, elements)
		if (IsA(lfirst(cell), ColumnDef))
			declare_type(((ColumnDef *) lfirst(cell))->typeName, false);
}

static Oid
get_rel_owner(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid			owner = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
		ReleaseSysCache(tuple);
	}
	return owner;
}

static void
declare_altered(AlterTableStmt *stmt)
{
	Oid			relid = RangeVarGetRelid(stmt->relation, NoLock, true);
	bool		owner = OidIsValid(relid) && has_privs_of_role(GetUserId(), get_rel_owner(relid));
	ListCell   *cell;

	foreach(cell, stmt->cmds)
	{
		AlterTableCmd *cmd = (AlterTableCmd *) lfirst(cell);

		if ((cmd->subtype == AT_AddColumn || cmd->subtype == AT_AlterColumnType) && cmd->def && IsA(cmd->def, ColumnDef))
			declare_type(((ColumnDef *) cmd->def)->typeName, owner);
	}
}

/* PostgreSQL keeps a domain's default in pg_type as text, too, which would be the value in clear. */
static void
domain_default_error(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("a domain over an encrypted type cannot have a default"),
			 errdetail("PostgreSQL would store the default in clear."),
			 errhint("Give the columns a default instead.")));
}

static void
refuse_domain_default(TypeName *name)
{
	TypeName	bare = *name;
	Oid			oid;

	bare.typmods = NIL;
	oid = LookupTypeNameOid(NULL, &bare, true);
	if (OidIsValid(oid) && encrypted_element(getBaseType(oid)) != NULL)
		domain_default_error();
}

static void
declare_domain(CreateDomainStmt *stmt)
{
	ListCell   *cell;

	foreach(cell, stmt->constraints)
		if (((Constraint *) lfirst(cell))->contype == CONSTR_DEFAULT)
			refuse_domain_default(stmt->typeName);
	declare_type(stmt->typeName, false);
}

static bool
declares_types(Node *stmt)
{
	switch (nodeTag(stmt))
	{
		case T_CreateStmt:
		case T_CreateForeignTableStmt:
		case T_AlterTableStmt:
		case T_CompositeTypeStmt:
		case T_CreateDomainStmt:
		case T_AlterDomainStmt:
			return !IsBinaryUpgrade;
		default:
			return false;
	}
}

static void
declare_statement(Node *stmt)
{
	switch (nodeTag(stmt))
	{
		case T_CreateStmt:
		case T_CreateForeignTableStmt:
			declare_columns(((CreateStmt *) stmt)->tableElts);
			break;
		case T_AlterTableStmt:
			declare_altered((AlterTableStmt *) stmt);
			break;
		case T_CompositeTypeStmt:
			declare_columns(((CompositeTypeStmt *) stmt)->coldeflist);
			break;
		case T_CreateDomainStmt:
			declare_domain((CreateDomainStmt *) stmt);
			break;
		case T_AlterDomainStmt:
			if (((AlterDomainStmt *) stmt)->subtype == 'T' && ((AlterDomainStmt *) stmt)->def != NULL)
				refuse_domain_default(makeTypeNameFromNameList(((AlterDomainStmt *) stmt)->typeName));
			break;
		default:
			break;
	}
}

/*
 * COPY quotes the line that it is at, which may happen before it has called a function of ours.  Takes no lock: nothing has
 * checked yet whether the user may.
 */
static void
mark_copy(CopyStmt *stmt)
{
	Oid			relid = stmt->is_from && stmt->relation ? RangeVarGetRelid(stmt->relation, NoLock, true) : InvalidOid;
	HeapTuple	tuple = OidIsValid(relid) ? SearchSysCache1(RELOID, ObjectIdGetDatum(relid)) : NULL;
	AttrNumber	count;

	if (!HeapTupleIsValid(tuple))
		return;
	count = ((Form_pg_class) GETSTRUCT(tuple))->relnatts;
	ReleaseSysCache(tuple);
	for (AttrNumber i = 1; i <= count; i++)
	{
		Oid			type = get_atttype(relid, i);

		if (OidIsValid(type) && encrypted_element(type))
		{
			tde_log_mark();
			return;
		}
	}
}

static void
process_utility(PlannedStmt *pstmt, const char *query, bool read_only_tree, ProcessUtilityContext context,
				ParamListInfo params, QueryEnvironment *environment, DestReceiver *dest, QueryCompletion *completion)
{
	bool		index = IsA(pstmt->utilityStmt, IndexStmt);

	if (declares_types(pstmt->utilityStmt) || index)
	{
		if (read_only_tree)
		{
			pstmt = copyObject(pstmt);
			read_only_tree = false;
		}
		if (index)
			tde_opclass_adopt((IndexStmt *) pstmt->utilityStmt);
		else
			declare_statement(pstmt->utilityStmt);
	}
	if (IsA(pstmt->utilityStmt, CopyStmt))
		mark_copy((CopyStmt *) pstmt->utilityStmt);
	/* before the planner changes the query */
	if (IsA(pstmt->utilityStmt, CreateTableAsStmt) && !IsBinaryUpgrade)
		tde_guard_query((CreateTableAsStmt *) pstmt->utilityStmt);
	if (prev_process_utility)
		prev_process_utility(pstmt, query, read_only_tree, context, params, environment, dest, completion);
	else
		standard_ProcessUtility(pstmt, query, read_only_tree, context, params, environment, dest, completion);
}

void
tde_ddl_init(void)
{
	prev_process_utility = ProcessUtility_hook;
	ProcessUtility_hook = process_utility;
}

/* ---- the event trigger ---- */

/* The command that gives a column the default specification. */
static char *
alter_command(Relation rel, Form_pg_attribute column, TdeType *type)
{
	bool		composite = rel->rd_rel->relkind == RELKIND_COMPOSITE_TYPE;
	const char *kind = composite ? "TYPE" : rel->rd_rel->relkind == RELKIND_FOREIGN_TABLE ? "FOREIGN TABLE" : "TABLE";

	return psprintf("ALTER %s %s ALTER %s %s TYPE %s", kind,
					quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)), RelationGetRelationName(rel)),
					composite ? "ATTRIBUTE" : "COLUMN", quote_identifier(NameStr(column->attname)),
					format_type_extended(column->atttypid, tde_typmod_default(type->layout),
										 FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY));
}

/* Columns whose specification is their parent's cannot be altered here, and need not be. */
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

/* Make the keys of a relation's columns; the commands that mend its bare ones. */
static List *
inspect_relation(Relation rel)
{
	TupleDesc	columns = RelationGetDescr(rel);
	List	   *commands = NIL;

	for (int i = 0; i < columns->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(columns, i);
		TdeType    *type = column->attisdropped ? NULL : encrypted_element(column->atttypid);

		if (type == NULL)
			continue;
		(void) ensure_keys(type, column->atttypmod);
		if (column->atttypmod < 0 && may_be_altered(rel, column))
			commands = lappend(commands, alter_command(rel, column, type));
	}
	return commands;
}

static void
mend_relation(Oid relid)
{
	Relation	rel = try_relation_open(relid, AccessShareLock);
	List	   *commands;
	ListCell   *cell;

	if (rel == NULL)
		return;
	commands = inspect_relation(rel);
	tde_guard_relation(rel);
	/* ALTER wants it to itself */
	relation_close(rel, AccessShareLock);
	foreach(cell, commands)
		if (SPI_execute((char *) lfirst(cell), false, 0) < 0)
			elog(ERROR, "could not execute: %s", (char *) lfirst(cell));
}

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
	type = form->typtype == TYPTYPE_DOMAIN ? encrypted_element(form->typbasetype) : NULL;
	if (type && form->typtypmod < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("domain \"%s\" does not say how its values are encrypted", NameStr(form->typname)),
				 errhint("Write the modifiers: %s.",
						 format_type_with_typemod(form->typbasetype, tde_typmod_default(type->layout)))));
	/* the hook refuses it before; this is for a session whose first statement it is */
	(void) SysCacheGetAttr(TYPEOID, tuple, Anum_pg_type_typdefault, &no_default);
	if (type && !no_default)
		domain_default_error();
	if (type)
		(void) ensure_keys(type, form->typtypmod);
	ReleaseSysCache(tuple);
}

static void
mend_object(Oid classid, Oid objid)
{
	switch (classid)
	{
		case RelationRelationId:
			mend_relation(objid);
			break;
		case TypeRelationId:
			if (get_typtype(objid) == TYPTYPE_COMPOSITE)
				mend_relation(get_typ_typrelid(objid));
			else
				check_domain(objid);
			break;
		case StatisticExtRelationId:
			tde_guard_statistics(objid);
			break;
	}
}

static void
mend_objects(void)
{
	SPITupleTable *table;
	uint64		count;

	if (SPI_execute("SELECT classid, objid FROM pg_catalog.pg_event_trigger_ddl_commands()", true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not read the list of commands");
	table = SPI_tuptable;
	count = SPI_processed;
	for (uint64 i = 0; i < count; i++)
	{
		bool		isnull;
		Oid			classid = DatumGetObjectId(SPI_getbinval(table->vals[i], table->tupdesc, 1, &isnull));
		Oid			objid = DatumGetObjectId(SPI_getbinval(table->vals[i], table->tupdesc, 2, &isnull));

		mend_object(classid, objid);
	}
}

/* Event trigger function for ddl_command_end. */
Datum
tde_ddl_trigger(PG_FUNCTION_ARGS)
{
	static bool running = false;	/* our own ALTER fires it again */

	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_EVENT_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("tde_ddl_trigger can only be called as an event trigger")));
	if (running || IsBinaryUpgrade)
		PG_RETURN_NULL();
	running = true;
	PG_TRY();
	{
		SPI_connect();
		mend_objects();
		SPI_finish();
	}
	PG_FINALLY();
	{
		running = false;
	}
	PG_END_TRY();
	PG_RETURN_NULL();
}

/* ---- all declarations of the database ---- */

bool
tde_ddl_ensure_declared_keys(void)
{
	bool		complete = tde_keystore_ensure_basic();
	Relation	rel = table_open(AttributeRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	HeapTuple	tuple;

	while (complete && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_attribute column = (Form_pg_attribute) GETSTRUCT(tuple);
		TdeType    *type = NULL;

		if (column->attnum > 0 && !column->attisdropped && column->atttypmod >= 0)
			type = encrypted_element(column->atttypid);
		if (type)
			complete = ensure_keys(type, column->atttypmod);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return complete;
}
