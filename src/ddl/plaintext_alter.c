/*
 * plaintext_alter.c - ALTER TABLE that would store an encrypted column in clear keeps it encrypted, warns, or is refused.
 *
 * Applications and their migrations do not know that a column is encrypted: to make a varchar(50) longer they send ALTER ... TYPE
 * varchar(100), to PostgreSQL the order to decrypt it.  So a plain type becomes the encrypted type of it, with the specification and
 * the key that the column has, as if the statement had said so: USING and everything else stay what they are.  So does that of a new
 * column that references an encrypted key, whose values it will have.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_policy.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_rewrite.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "storage/bufmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "ddl/added_columns.h"
#include "ddl/declared_type.h"
#include "ddl/foreign_keys.h"
#include "ddl/plaintext_alter.h"
#include "server/compat.h"
#include "server/table_name.h"
#include "type/inside.h"

/* A column that is encrypted: the one that is altered, or one whose values will stand in it, too. */
typedef struct EncryptedColumn
{
	Oid			table;
	const char *name;
	Oid			type;
	int32		typmod;
} EncryptedColumn;

/* Returns true if tde_create_type() could make an encrypted type of this one, and nobody has.  What it refuses: sql/32_make.sql. */
static bool
lacks_encrypted(Oid type)
{
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	Form_pg_type form;
	bool		result;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_type) GETSTRUCT(tuple);
	result = (form->typtype == TYPTYPE_BASE || form->typtype == TYPTYPE_ENUM) && form->typlen != -2 &&
		!(OidIsValid(form->typelem) && form->typlen == -1) && type != OIDOID && tde_type_of_base(type) == NULL;
	ReleaseSysCache(tuple);
	return result;
}

/* Returns a sentence for the hint: what makes the statement succeed without decrypting the column. */
static const char *
way_out(Oid type)
{
	Oid			element = get_element_type(type);

	type = OidIsValid(element) ? element : type;
	if (TDE_PLAINTEXT_ALTER == TDE_ALTER_ERROR)
		return "Declare an encrypted type.";
	if (!lacks_encrypted(type))
		return "No encrypted type stands for that one.";
	return psprintf("Let a superuser run SELECT tde_create_type(%s); then repeat the command.", quote_literal_cstr(format_type_be_qualified(type)));
}

/* The column called name would hold the values in clear; it may be another one than the encrypted column. */
static void
refuse(const EncryptedColumn *column, const char *name, Oid type, const char *wanted)
{
	const char *table = tde_table_name(column->table);

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_TABLE_DEFINITION),
			 errmsg("cannot change column \"%s\" to type %s", name, wanted),
			 errdetail("Column \"%s\" of table %s is encrypted, and its values would be stored in clear.", column->name, table),
			 errhint("%s  To decrypt the column: CALL tde_decrypt_column(%s, %s).", way_out(type), quote_literal_cstr(table),
					 quote_literal_cstr(column->name))));
}

/* Puts the encrypted type into the statement.  Returns false, and the column stays what it is, if no encrypted type can stand for the plain one. */
static bool
declare_encrypted(ColumnDef *def, const char *name, const EncryptedColumn *column, Oid type, int32 typmod)
{
	const char *wanted = format_type_with_typemod(type, typmod);

	if (!tde_declared_like(column->type, column->typmod, &type, &typmod))
		return false;
	def->typeName = makeTypeNameFromOid(type, typmod);
	ereport(NOTICE,
			(errmsg("column \"%s\" has type %s instead of %s", name, format_type_with_typemod(type, typmod), wanted),
			 errdetail("Column \"%s\" of table \"%s\" is encrypted.", column->name, get_rel_name(column->table)),
			 strcmp(name, column->name) == 0 ? errhint("To decrypt it: CALL tde_decrypt_column(%s, %s);",
													   quote_literal_cstr(tde_table_name(column->table)), quote_literal_cstr(name)) : 0));
	return true;
}

/*
 * A plain type is declared for an encrypted column, or for a new one in the place of one that is dropped: ALTER c TYPE varchar(100), or DROP c, ADD c
 * text.  Its values would be stored in clear.
 */
static void
declare_like(ColumnDef *def, const char *name, const EncryptedColumn *column)
{
	const char *wanted;
	Oid			type;
	int32		typmod;

	if (!tde_declared_type(def, &type, &typmod))
		return;
	/* PostgreSQL says so next */
	if (!TDE_MAY_USE_TYPE(type))
		return;
	wanted = format_type_with_typemod(type, typmod);
	if (TDE_PLAINTEXT_ALTER == TDE_ALTER_WARN)
		ereport(WARNING,
				(errmsg("column \"%s\" is stored in clear", name),
				 errdetail("Its type becomes %s, and it holds values of column \"%s\" of table \"%s\", which is encrypted.",
						   wanted, column->name, get_rel_name(column->table)),
				 errhint("Declare an encrypted type.")));
	else if (TDE_PLAINTEXT_ALTER == TDE_ALTER_ERROR || !declare_encrypted(def, name, column, type, typmod))
		refuse(column, name, type, wanted);
}

/*
 * A column references an encrypted key.  If it cannot be like that, tde_foreign_keys_check_clear() will say so.  An array references no scalar, which
 * PostgreSQL says itself.
 */
static bool
declare_like_key(ColumnDef *def, const char *name, const EncryptedColumn *key)
{
	Oid			type;
	int32		typmod;

	return TDE_PLAINTEXT_ALTER == TDE_ALTER_KEEP && tde_declared_type(def, &type, &typmod) &&
		OidIsValid(get_base_element_type(type)) == OidIsValid(get_base_element_type(key->type)) &&
		declare_encrypted(def, name, key, type, typmod);
}

/* ---- which columns ---- */

/* Returns true, and the column, if the table has an encrypted one of this name. */
static bool
find_encrypted(Oid table, const char *name, EncryptedColumn *column)
{
	AttrNumber	number = get_attnum(table, name);
	Oid			collation;

	if (number <= 0)
		return false;
	column->table = table;
	column->name = name;
	get_atttypetypmodcoll(table, number, &column->type, &column->typmod, &collation);
	return tde_type_holds_encrypted(column->type);
}

/* DROP COLUMN c, ADD COLUMN c of one statement is how some migrations change a type. */
static bool
is_dropped(const TdeAlterTable *alter, const char *name)
{
	ListCell   *cell;

	foreach(cell, alter->stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst(cell);

		if (cmd->subtype == AT_DropColumn && strcmp(cmd->name, name) == 0)
			return true;
	}
	return false;
}

/* The column that the one of this place in a foreign key references, if it is encrypted. */
static bool
find_referenced(Constraint *key, int place, EncryptedColumn *column)
{
	Oid			table;
	const char *name = tde_foreign_key_referenced(key, place, &table);

	return name && find_encrypted(table, name, column);
}

/*
 * Returns true if a foreign key references the table that is still to be made, by its name.  Its columns become like each other when the key is
 * added.
 */
static bool
references_itself(Constraint *key, RangeVar *made)
{
	return made && strcmp(key->pktable->relname, made->relname) == 0 &&
		(key->pktable->schemaname == NULL || made->schemaname == NULL || strcmp(key->pktable->schemaname, made->schemaname) == 0);
}

/*
 * Finds the encrypted column that a new one references: by REFERENCES of its own, or by one of the table's foreign keys.  made: the name of the
 * table, if it is still to be made; NULL if it is there.
 */
static bool
find_key(ColumnDef *def, List *foreign_keys, RangeVar *made, EncryptedColumn *column)
{
	bool		generated = false;
	bool		found = false;
	ListCell   *cell;
	ListCell   *name;

	foreach(cell, def->constraints)
	{
		Constraint *constraint = lfirst(cell);

		/* PostgreSQL makes numbers for integers only, and a generated column has its own type */
		generated = generated || constraint->contype == CONSTR_IDENTITY || constraint->contype == CONSTR_GENERATED;
		found = found || (constraint->contype == CONSTR_FOREIGN && !references_itself(constraint, made) &&
						  find_referenced(constraint, 0, column));
	}
	foreach(cell, foreign_keys)
	{
		Constraint *key = lfirst(cell);

		foreach(name, key->fk_attrs)
			found = found || (strcmp(strVal(lfirst(name)), def->colname) == 0 && !references_itself(key, made) &&
							  find_referenced(key, foreach_current_index(name), column));
	}
	return found && !generated;
}

void
tde_plaintext_alter_column(const TdeAlterTable *alter, AlterTableCmd *cmd)
{
	Oid			table = RelationGetRelid(alter->rel);
	ColumnDef  *def = (ColumnDef *) cmd->def;
	bool		added = cmd->subtype == AT_AddColumn;
	const char *name = added ? def->colname : cmd->name;
	EncryptedColumn column;

	if (TDE_PLAINTEXT_ALTER == TDE_ALTER_ALLOW || def->typeName == NULL)
		return;
	if ((!added || is_dropped(alter, name)) && find_encrypted(table, name, &column))
		declare_like(def, name, &column);
	else if (added && find_key(def, alter->foreign_keys, NULL, &column))
		(void) declare_like_key(def, name, &column);
	else if (added)
		tde_added_column_prepare(table, cmd);
}

/* ---- foreign keys of columns that are there ---- */

/*
 * Returns true if something reads the column with which PostgreSQL gives it no other type: a view or rule, a trigger UPDATE OF it, a policy, a generated
 * column, the body of a function in SQL (RememberAllDependentForRebuilding() in tablecmds.c).
 */
static bool
is_read(Oid table, AttrNumber number)
{
	Relation	depends = table_open(DependRelationId, AccessShareLock);
	ScanKeyData keys[3];
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		found = false;

	ScanKeyInit(&keys[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(RelationRelationId));
	ScanKeyInit(&keys[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(table));
	ScanKeyInit(&keys[2], Anum_pg_depend_refobjsubid, BTEqualStrategyNumber, F_INT4EQ, Int32GetDatum(number));
	scan = systable_beginscan(depends, DependReferenceIndexId, true, NULL, lengthof(keys), keys);
	while (!found && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend form = (Form_pg_depend) GETSTRUCT(tuple);

		CHECK_FOR_INTERRUPTS();
		found = form->deptype == DEPENDENCY_NORMAL &&
			(form->classid == RewriteRelationId || form->classid == TriggerRelationId || form->classid == PolicyRelationId ||
			 form->classid == AttrDefaultRelationId || form->classid == ProcedureRelationId);
	}
	systable_endscan(scan);
	table_close(depends, AccessShareLock);
	return found;
}

/*
 * Returns a command that declares a plain column once more, ALTER c TYPE as it is, for declare_like_key() to change; NULL if the column cannot become
 * another: an identity, generated or inherited one, a part of the partition key, or one that others read.
 */
static AlterTableCmd *
declare_again(Relation rel, const char *name)
{
	AttrNumber	number = get_attnum(RelationGetRelid(rel), name);
	Form_pg_attribute column = number > 0 ? TupleDescAttr(RelationGetDescr(rel), number - 1) : NULL;
	AlterTableCmd *cmd;
	ColumnDef  *def;

	if (column == NULL || tde_type_holds_encrypted(column->atttypid) || column->attidentity || column->attgenerated ||
		column->attinhcount > 0 || OidIsValid(rel->rd_rel->reloftype) ||
		has_partition_attrs(rel, bms_make_singleton(number - FirstLowInvalidHeapAttributeNumber), NULL) ||
		is_read(RelationGetRelid(rel), number))
		return NULL;
	def = makeNode(ColumnDef);
	def->typeName = makeTypeNameFromOid(column->atttypid, column->atttypmod);
	cmd = makeNode(AlterTableCmd);
	cmd->subtype = AT_AlterColumnType;
	cmd->name = pstrdup(name);
	cmd->def = (Node *) def;
	return cmd;
}

/*
 * Returns true if this transaction has made the table and it is empty.  What makes a table adds its foreign keys at the end: CREATE TABLE itself, and
 * an ORM's migration.  A table that is older, or has rows, as one that pg_restore has filled, stays what it is.
 */
static bool
is_being_made(Relation rel)
{
	return rel->rd_createSubid != InvalidSubTransactionId &&
		(!RELKIND_HAS_STORAGE(rel->rd_rel->relkind) || RelationGetNumberOfBlocks(rel) == 0);
}

void
tde_plaintext_alter_foreign_key(TdeAlterTable *alter, Constraint *key)
{
	ListCell   *column;

	if (TDE_PLAINTEXT_ALTER != TDE_ALTER_KEEP || !is_being_made(alter->rel))
		return;
	foreach(column, key->fk_attrs)
	{
		const char *name = strVal(lfirst(column));
		EncryptedColumn referenced;
		AlterTableCmd *cmd;

		if (tde_ddl_declared_by_name(alter, name) || !find_referenced(key, foreach_current_index(column), &referenced))
			continue;
		cmd = declare_again(alter->rel, name);
		if (cmd && declare_like_key((ColumnDef *) cmd->def, name, &referenced))
			alter->stmt->cmds = lappend(alter->stmt->cmds, cmd);
	}
}

/* ---- CREATE TABLE ---- */

/* Returns true if a parent has the column, too: it is of the parent's type then, and PostgreSQL merges both declarations. */
static bool
is_inherited(const CreateStmt *stmt, const char *name)
{
	ListCell   *cell;

	foreach(cell, stmt->inhRelations)
	{
		Oid			parent = RangeVarGetRelid(lfirst(cell), NoLock, true);

		if (OidIsValid(parent) && get_attnum(parent, name) > 0)
			return true;
	}
	return false;
}

void
tde_plaintext_create_prepare(CreateStmt *stmt)
{
	List	   *keys = tde_foreign_keys_added(stmt->tableElts);
	ListCell   *cell;

	if (TDE_PLAINTEXT_ALTER != TDE_ALTER_KEEP || XactReadOnly || RecoveryInProgress())
		return;
	foreach(cell, stmt->tableElts)
	{
		ColumnDef  *def = lfirst(cell);
		EncryptedColumn column;

		if (IsA(def, ColumnDef) && def->typeName && !is_inherited(stmt, def->colname) && find_key(def, keys, stmt->relation, &column))
			(void) declare_like_key(def, def->colname, &column);
	}
}
