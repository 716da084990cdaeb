/*
 * plaintext_alter.c - ALTER TABLE that would store an encrypted column in clear keeps it encrypted, warns, or is refused.
 *
 * Applications and their migrations do not know that a column is encrypted: to make a varchar(50) longer they send ALTER ... TYPE
 * varchar(100), to PostgreSQL the order to decrypt it.  So a plain type becomes the encrypted type of it, with the specification and
 * the key that the column has, as if the statement had said so: USING and everything else stay what they are.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/pg_cast.h"
#include "catalog/pg_constraint.h"
#include "commands/tablecmds.h"
#include "nodes/makefuncs.h"
#include "parser/parse_type.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "ddl/declare.h"
#include "ddl/plaintext_alter.h"
#include "keys/modifiers.h"
#include "type/expressions.h"

int			tde_plaintext_alter = TDE_ALTER_KEEP;

/* A column that is encrypted: the one that is altered, or one whose values will stand in it, too. */
typedef struct EncryptedColumn
{
	Oid			table;
	const char *name;
	Oid			type;
	int32		typmod;
} EncryptedColumn;

/* ---- the type that keeps it encrypted ---- */

/* The encrypted type of a plain one; the column's own, if it is of that base.  NULL: there is none. */
static TdeType *
encrypted_type_of(Oid base, TdeType *own)
{
	CatCList   *casts;
	TdeType    *found = NULL;

	if (own->base == base)
		return own;
	casts = SearchSysCacheList1(CASTSOURCETARGET, ObjectIdGetDatum(base));
	for (int i = 0; i < casts->n_members && found == NULL; i++)
	{
		TdeType    *type = tde_type_find(((Form_pg_cast) GETSTRUCT(&casts->members[i]->tuple))->casttarget);

		if (type && type->base == base)
			found = type;
	}
	ReleaseSysCacheList(casts);
	return found;
}

/* False: no encrypted type can stand for the one that was asked for. */
static bool
keep_encrypted(const EncryptedColumn *column, Oid *type, int32 *typmod)
{
	int32		declared = column->typmod;
	TdeType    *own = tde_ddl_encrypted(getBaseTypeAndTypmod(column->type, &declared));
	Oid			element = get_element_type(*type);
	TdeType    *encrypted = own ? encrypted_type_of(OidIsValid(element) ? element : *type, own) : NULL;
	TdeModifiers modifiers;

	if (encrypted == NULL || !tde_typmod_base_valid(encrypted->layout, *typmod))
		return false;
	modifiers = declared >= 0 ? tde_type_modifiers(own, declared) : tde_typmod_unpack(TDE_MOD_NONE, tde_typmod_default());
	tde_ddl_check_mac(encrypted->base, modifiers.spec);
	modifiers.base_typmod = *typmod;
	*typmod = tde_modifiers_pack(encrypted->layout, &modifiers);
	*type = OidIsValid(element) ? get_array_type(encrypted->oid) : encrypted->oid;
	return true;
}

static void
refuse(const EncryptedColumn *column, const char *name, const char *type)
{
	const char *table = quote_qualified_identifier(get_namespace_name(get_rel_namespace(column->table)), get_rel_name(column->table));

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_TABLE_DEFINITION),
			 errmsg("column \"%s\" cannot become of type %s", name, type),
			 errdetail("Column \"%s\" of table %s is encrypted, and its values would be stored in clear.", column->name, table),
			 errhint("%s  To decrypt the column: CALL tde_decrypt_column(%s, %s).",
					 tde_plaintext_alter == TDE_ALTER_ERROR ? "Declare an encrypted type." : "No encrypted type stands for that one.",
					 quote_literal_cstr(table), quote_literal_cstr(column->name))));
}

/* What is declared for a column would store values of an encrypted one. */
static void
declare_like(ColumnDef *def, const char *name, const EncryptedColumn *column)
{
	Oid			type = def->typeName->setof || def->typeName->pct_type ? InvalidOid : LookupTypeNameOid(NULL, def->typeName, true);
	const char *wanted;
	int32		typmod;

	/* PostgreSQL says itself what is wrong with the type */
	if (!OidIsValid(type) || tde_type_holds_encrypted(type))
		return;
	typenameTypeIdAndMod(NULL, def->typeName, &type, &typmod);
	wanted = format_type_with_typemod(type, typmod);
	if (tde_plaintext_alter == TDE_ALTER_WARN)
		ereport(WARNING,
				(errmsg("column \"%s\" is stored in clear", name),
				 errdetail("It becomes of type %s, and has values of column \"%s\" of table \"%s\", which is encrypted.",
						   wanted, column->name, get_rel_name(column->table)),
				 errhint("Declare an encrypted type.")));
	else if (tde_plaintext_alter == TDE_ALTER_ERROR || !keep_encrypted(column, &type, &typmod))
		refuse(column, name, wanted);
	else
	{
		def->typeName = makeTypeNameFromOid(type, typmod);
		ereport(NOTICE,
				(errmsg("column \"%s\" becomes of type %s instead of %s", name, format_type_with_typemod(type, typmod), wanted),
				 errdetail("Column \"%s\" of table \"%s\" is encrypted.", column->name, get_rel_name(column->table))));
	}
}

/* ---- which columns ---- */

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

static bool
is_dropped(List *cmds, const char *name)
{
	ListCell   *cell;

	foreach(cell, cmds)
	{
		AlterTableCmd *cmd = lfirst(cell);

		if (cmd->subtype == AT_DropColumn && strcmp(cmd->name, name) == 0)
			return true;
	}
	return false;
}

/* The column that a foreign key of one column references. */
static bool
find_referenced(Constraint *key, EncryptedColumn *column)
{
	Oid			table = RangeVarGetRelid(key->pktable, NoLock, true);
	Oid			constraint;
	Bitmapset  *columns;
	int			number;

	if (!OidIsValid(table) || list_length(key->pk_attrs) > 1)
		return false;
	if (key->pk_attrs != NIL)
		return find_encrypted(table, strVal(linitial(key->pk_attrs)), column);
	columns = get_primary_key_attnos(table, false, &constraint);
	if (!bms_get_singleton_member(columns, &number))
		return false;
	return find_encrypted(table, get_attname(table, number + FirstLowInvalidHeapAttributeNumber, false), column);
}

/* The encrypted column whose values a new column will have: that of its name, which goes, or the key that it references. */
static bool
find_source(Oid table, List *cmds, ColumnDef *def, EncryptedColumn *column)
{
	ListCell   *cell;

	if (is_dropped(cmds, def->colname) && find_encrypted(table, def->colname, column))
		return true;
	foreach(cell, def->constraints)
	{
		Constraint *constraint = lfirst(cell);

		if (constraint->contype == CONSTR_FOREIGN && find_referenced(constraint, column))
			return true;
	}
	return false;
}

/* Does it declare columns that are there?  Adding one locks nothing here: that what it references is encrypted meanwhile harms nobody. */
static bool
declares_existing(List *cmds)
{
	ListCell   *cell;

	foreach(cell, cmds)
	{
		AlterTableCmd *cmd = lfirst(cell);
		ColumnDef  *def = tde_ddl_declared_column(cmd);

		if (def && (cmd->subtype == AT_AlterColumnType || is_dropped(cmds, def->colname)))
			return true;
	}
	return false;
}

/* As ALTER TABLE does it next, with the same errors, so that nobody encrypts a column between this and that. */
static Oid
find_table(AlterTableStmt *stmt)
{
	if (!declares_existing(stmt->cmds))
		return RangeVarGetRelid(stmt->relation, NoLock, true);
	return AlterTableLookupRelation(stmt, AlterTableGetLockLevel(stmt->cmds));
}

void
tde_plaintext_alter_prepare(AlterTableStmt *stmt)
{
	Oid			table;
	ListCell   *cell;

	/* it is going to be refused */
	if (tde_plaintext_alter == TDE_ALTER_ALLOW || XactReadOnly || RecoveryInProgress())
		return;
	table = find_table(stmt);
	if (!OidIsValid(table))
		return;
	foreach(cell, stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst(cell);
		ColumnDef  *def = tde_ddl_declared_column(cmd);
		const char *name;
		EncryptedColumn column;

		if (def == NULL || def->typeName == NULL)
			continue;
		name = cmd->subtype == AT_AlterColumnType ? cmd->name : def->colname;
		if (cmd->subtype == AT_AlterColumnType ? find_encrypted(table, name, &column) : find_source(table, stmt->cmds, def, &column))
			declare_like(def, name, &column);
	}
}
