/*
 * declare.c - columns that are declared without modifiers get the default specification; keys are made where columns are
 * declared.
 *
 * Two ways lead to the same end.  A ProcessUtility hook, this file, where the library is loaded, writes the default into the
 * parse tree before the command runs and makes the keys that the command may need while it runs.  An event trigger
 * afterwards, ddl/declare_trigger.c, mends what came another way (CREATE TABLE AS, or a first statement that only loaded the
 * library).
 *
 * Before a command runs, in this order: what it would store in clear is kept encrypted or refused (plaintext_alter.c, plaintext_guard.c, which has the
 * queries of views, rules and CREATE TABLE AS); types without modifiers get the default; keys are made; expressions of indexes, generated columns and
 * partition keys get their encrypted form (kept_encrypted.c).  ALTER TABLE does so for each of its commands (alter_table.c).  Everything is done to the parse tree, which has been copied if somebody
 * else may run it again, and nothing evaluates an expression.  What a command names is looked up as the command will look it up, without locks but
 * where it would take them itself; so the event trigger looks again at what there is afterwards.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/parsenodes.h"
#include "parser/parse_type.h"
#include "parser/parser.h"
#include "tcop/pquery.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "ddl/declare.h"
#include "ddl/declared_type.h"
#include "ddl/kept_encrypted.h"
#include "ddl/plaintext_alter.h"
#include "ddl/plaintext_guard.h"
#include "ddl/sql_names.h"
#include "ddl/widened_calls.h"
#include "keys/table.h"
#include "operators/opclass.h"
#include "server/compat.h"
#include "server/error.h"
#include "server/statement.h"
#include "type/masks.h"
#include "type/type.h"

/* ---- what a declared type means ---- */

bool
tde_ddl_ensure_keys(TdeType *type, int32 typmod)
{
	TdeModifiers mods;

	if (!tde_keys_ensure_basic())
		return false;
	if (typmod < 0)
		return true;
	mods = tde_modifiers_unpack(type->layout, typmod);
	return tde_keys_ensure(mods.slot, mods.spec.mac == TDE_NOMAC ? TDE_KIND_NOMAC : TDE_KIND_MAC);
}

/* ---- the hook ---- */

/* It is declarations that are warned of, and not each value, of which there may be millions. */
static void
warn_legacy_cipher(TdeType *type, int32 typmod)
{
	if (typmod >= 0 && tde_modifiers_unpack(type->layout, typmod).spec.cipher == TDE_3DES168)
		ereport(WARNING,
				(errmsg("triple DES is a legacy cipher"),
				 errdetail("NIST allows at most 2^20 blocks under one key and no new use after 2023 (SP 800-67r2)."),
				 errhint("Use aes256.")));
}

/*
 * Returns true if the type is an encrypted one, or an array of it; default modifiers are put into a name that has none.  The modifier function reads
 * the others here for the first time, and throws its errors.  needs_keys_now: values may be encrypted by the command itself, as by ALTER TABLE ...
 * ADD COLUMN ... DEFAULT.  Otherwise the event trigger makes the keys, after the command has checked privileges.
 */
static bool
declare_type(TypeName *name, bool needs_keys_now)
{
	TypeName	element;
	Oid			oid;
	TdeType    *type;
	int32		typmod;

	if (name == NULL || name->pct_type || name->setof)
		return false;
	tde_sql_names_adopt(name);
	element = *name;
	element.arrayBounds = NIL;
	element.typmods = NIL;
	oid = LookupTypeNameOid(NULL, &element, true);
	type = OidIsValid(oid) ? tde_ddl_encrypted(oid) : NULL;
	if (type == NULL)
		return false;
	if (name->typmods == NIL && name->typemod < 0)
		name->typemod = tde_ddl_default_typmod(type);
	element.typmods = name->typmods;
	element.typemod = name->typemod;
	typenameTypeIdAndMod(NULL, &element, &oid, &typmod);
	warn_legacy_cipher(type, typmod);
	if (needs_keys_now)
		(void) tde_ddl_ensure_keys(type, typmod);
	return true;
}

/* CREATE TABLE and CREATE TYPE ... AS store no value: the keys can wait. */
static void
declare_columns(List *elements)
{
	ListCell   *cell;

	foreach(cell, elements)
		if (IsA(lfirst(cell), ColumnDef))
			(void) declare_type(((ColumnDef *) lfirst(cell))->typeName, false);
}

/*
 * ADD COLUMN c encrypted_text DEFAULT NULL: where a type has no modifiers, PostgreSQL takes that for no default.  With modifiers it would be a value to
 * be put into all rows, and the table would be rewritten.
 */
static void
drop_null_default(ColumnDef *column)
{
	ListCell   *cell;

	foreach(cell, column->constraints)
	{
		Constraint *constraint = lfirst_node(Constraint, cell);

		if (constraint->contype == CONSTR_DEFAULT && constraint->raw_expr && IsA(constraint->raw_expr, A_Const) &&
			((A_Const *) constraint->raw_expr)->isnull)
			column->constraints = foreach_delete_current(column->constraints, cell);
	}
}

void
tde_ddl_declare_altered(ColumnDef *column)
{
	if (declare_type(column->typeName, true))
		drop_null_default(column);
}

void
tde_ddl_refuse_default(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("a domain over an encrypted type cannot have a default"),
			 errdetail("PostgreSQL would store the default in clear."),
			 errhint("Give the columns a default instead.")));
}

/* CREATE DOMAIN d AS encrypted_text DEFAULT 'x', and ALTER DOMAIN d SET DEFAULT 'x' of a domain that is there. */
static void
refuse_domain_default(TypeName *name)
{
	TypeName	bare = *name;
	Oid			oid;

	bare.typmods = NIL;
	oid = LookupTypeNameOid(NULL, &bare, true);
	if (OidIsValid(oid) && tde_ddl_encrypted(getBaseType(oid)) != NULL)
		tde_ddl_refuse_default();
}

/* A default is refused before the domain exists.  Its key is left to the event trigger. */
static void
declare_domain(CreateDomainStmt *stmt)
{
	ListCell   *cell;

	foreach(cell, stmt->constraints)
		if (((Constraint *) lfirst(cell))->contype == CONSTR_DEFAULT)
			refuse_domain_default(stmt->typeName);
	(void) declare_type(stmt->typeName, false);
}

/* Returns true for statements that declare_statement() or ALTER TABLE may change.  During pg_upgrade all is declared as it was. */
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

/* Returns true for IF NOT EXISTS of what exists: nothing is declared, and no key made. */
static bool
is_skipped(CreateStmt *stmt)
{
	return stmt->if_not_exists && tde_declared_exists(stmt->relation);
}

/* The first ones have types in expressions, as arguments, or in the commands that they consist of; those of declares_types() have them in columns. */
bool
tde_ddl_stores_types(Node *stmt)
{
	switch (nodeTag(stmt))
	{
		case T_ViewStmt:
		case T_RuleStmt:
		case T_CreateFunctionStmt:
		case T_CreatePolicyStmt:
		case T_AlterPolicyStmt:
		case T_CreateStatsStmt:
		case T_CreateTrigStmt:
		case T_DefineStmt:
		case T_CreateSchemaStmt:
			return true;
		default:
			return declares_types(stmt);
	}
}

/*
 * The statements of the client's message; NIL if it cannot be parsed as a whole: what a setting means may change within it.  (A raw parse
 * takes memory and nothing else, so that no subtransaction is needed to leave its error behind.)
 */
static List *
client_statements(void)
{
	MemoryContext context = CurrentMemoryContext;
	List	   *volatile statements = NIL;

	PG_TRY();
	{
		statements = raw_parser(debug_query_string, RAW_PARSE_DEFAULT);
	}
	PG_CATCH();
	{
		if (ERRCODE_TO_CATEGORY(geterrcode()) == ERRCODE_INSUFFICIENT_RESOURCES)
			PG_RE_THROW();
		MemoryContextSwitchTo(context);
		FlushErrorState();
	}
	PG_END_TRY();
	return statements;
}

/* Returns true for CREATE TABLE AS, CREATE MATERIALIZED VIEW and SELECT INTO, also under EXPLAIN, in a raw parse tree. */
static bool
is_stored_query(const Node *stmt)
{
	const SelectStmt *select;

	if (IsA(stmt, ExplainStmt))
		stmt = ((const ExplainStmt *) stmt)->query;
	if (!IsA(stmt, SelectStmt))
		return IsA(stmt, CreateTableAsStmt);
	/* of a UNION it is the first SELECT that has the INTO */
	for (select = (const SelectStmt *) stmt; select->op != SETOP_NONE; select = select->larg)
		;
	return select->intoClause != NULL;
}

/*
 * Returns true if a query is being analyzed whose result a command of the client will store.  That is done before the command has a portal and comes
 * to the hook.  PostgreSQL does not tell which statement of a message it is at: one that stores speaks for all.  The text is searched first, since a
 * parse of each message would be dear.
 */
static bool
stores_query(void)
{
	ListCell   *cell;

	if (ActivePortal != NULL || MyBackendType != B_BACKEND || debug_query_string == NULL ||
		(strcasestr(debug_query_string, "create") == NULL && strcasestr(debug_query_string, "into") == NULL))
		return false;
	foreach(cell, client_statements())
		if (is_stored_query(lfirst_node(RawStmt, cell)->stmt))
			return true;
	return false;
}

bool
tde_ddl_declares(void)
{
	/* a first statement that has only just loaded this library has not come through the hook */
	if (ActivePortal && list_length(ActivePortal->stmts) == 1)
	{
		Node	   *stmt = linitial_node(PlannedStmt, ActivePortal->stmts)->utilityStmt;

		if (stmt && tde_ddl_stores_types(stmt))
			return true;
	}
	return tde_statement.declares || stores_query();
}

/*
 * The order matters.  A column that references an encrypted one gets its type first, then all types get their modifiers, and generated columns and
 * partition keys are computed from the types that result.
 */
static void
declare_statement(Node *stmt, const char *source)
{
	switch (nodeTag(stmt))
	{
		case T_CreateStmt:
		case T_CreateForeignTableStmt:
			if (is_skipped((CreateStmt *) stmt))
				break;
			if (IsA(stmt, CreateStmt))
				tde_plaintext_create_prepare((CreateStmt *) stmt);
			declare_columns(((CreateStmt *) stmt)->tableElts);
			tde_kept_generated_create((CreateStmt *) stmt, source);
			if (IsA(stmt, CreateStmt))
				tde_kept_partition_key((CreateStmt *) stmt, source);
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
 * COPY FROM quotes the line that it is at, which may happen before it has called a function of ours: of a table with an encrypted column the
 * statement is marked as one whose errors may have values.  Takes no lock: nothing has checked yet whether the user may.
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

		if (OidIsValid(type) && tde_ddl_encrypted(type))
		{
			tde_log_mark();
			return;
		}
	}
}

/*
 * Tells which column it is that makes PostgreSQL refuse an index, since its own message says nothing of encryption.  column: what tde_guard_index()
 * returned.
 */
static void
explain_index_error(void *column)
{
	if (geterrcode() != ERRCODE_INVALID_OBJECT_DEFINITION)
		return;
	errdetail("Column \"%s\" is encrypted, and decryption is not IMMUTABLE, so no index can hold plaintext.", (char *) column);
	errhint("Index the column itself, or what PostgreSQL's own IMMUTABLE functions make of it: lower(name).  "
			"A function of your own must take and return encrypted types.");
}

bool
tde_ddl_rewrites(Node *stmt)
{
	return declares_types(stmt) || IsA(stmt, IndexStmt) || IsA(stmt, RuleStmt);
}

void
tde_ddl_prepare(Node *stmt, const char *source, ErrorContextCallback *explain)
{
	explain->arg = NULL;
	if (IsA(stmt, IndexStmt))
	{
		explain->arg = (void *) tde_guard_index((IndexStmt *) stmt);
		if (explain->arg)
			tde_guard_expression_index_prepare((IndexStmt *) stmt, source);
		tde_opclass_adopt((IndexStmt *) stmt);
	}
	else if (declares_types(stmt))
		declare_statement(stmt, source);
	else if (IsA(stmt, RuleStmt))
		tde_kept_view_rule((RuleStmt *) stmt);
	else if (IsA(stmt, CopyStmt))
	{
		mark_copy((CopyStmt *) stmt);
		tde_widened_calls_copy((CopyStmt *) stmt, source);
	}
	else if (IsA(stmt, SecLabelStmt))
		tde_masks_load();		/* which provides our labels */
	/* before the planner changes the query */
	else if (!IsBinaryUpgrade)
		tde_guard_query(stmt);
	if (explain->arg == NULL)
		return;
	explain->callback = explain_index_error;
	explain->previous = error_context_stack;
	error_context_stack = explain;
}

/* ---- all declarations of the database ---- */

bool
tde_ddl_ensure_declared_keys(void)
{
	bool		complete = tde_keys_ensure_basic();
	Relation	rel = table_open(AttributeRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	HeapTuple	tuple;

	while (complete && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_attribute column = (Form_pg_attribute) GETSTRUCT(tuple);
		TdeType    *type = NULL;

		CHECK_FOR_INTERRUPTS();
		if (column->attnum > 0 && !column->attisdropped && column->atttypmod >= 0)
			type = tde_ddl_encrypted(column->atttypid);
		if (type)
			complete = tde_ddl_ensure_keys(type, column->atttypmod);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return complete;
}
