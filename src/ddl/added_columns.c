/*
 * added_columns.c - new columns of tables that have encrypted ones: encrypted, too, where tde_column.encrypt_new_columns says so; otherwise it is
 * said that they are in clear, where all columns before them are not.
 *
 * A migration tool knows nothing of encryption.  So a table whose columns are all encrypted would have one in clear after the next ADD COLUMN.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/dependency.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "commands/extension.h"
#include "commands/sequence.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "ddl/added_columns.h"
#include "ddl/declared_type.h"
#include "server/compat.h"
#include "server/table_name.h"
#include "type/inside.h"

bool		tde_encrypt_new_columns = false;

/* ---- the table ---- */

/*
 * Returns true if a sequence belongs to the column, as serial makes one.  DEPENDENCY_AUTO leaves out those of identity columns, which attidentity
 * tells.
 */
static bool
is_numbered(Oid table, AttrNumber column)
{
	ListCell   *cell;

	foreach(cell, getOwnedSequences(table))
	{
		Oid			owner;
		int32		number;

		if (sequenceIsOwned(lfirst_oid(cell), DEPENDENCY_AUTO, &owner, &number) && number == column)
			return true;
	}
	return false;
}

/*
 * Returns true for a plain column that could be encrypted.  That serial and identity columns stay plain is nobody's mistake; sql/69_audit.sql says
 * the same.
 */
static bool
is_left_plain(Form_pg_attribute column)
{
	Oid			element = get_element_type(column->atttypid);

	return !column->attidentity && !column->attgenerated && tde_type_of_base(OidIsValid(element) ? element : column->atttypid) != NULL &&
		!is_numbered(column->attrelid, column->attnum);
}

/* Returns the table's last encrypted column; InvalidAttrNumber if it has none.  *all: no column before it is left plain. */
static AttrNumber
find_encrypted(Oid table, bool *all)
{
	AttrNumber	encrypted = InvalidAttrNumber;
	bool		left = false;

	*all = true;
	for (AttrNumber i = 1;; i++)
	{
		HeapTuple	tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(table), Int16GetDatum(i));
		Form_pg_attribute column;

		CHECK_FOR_INTERRUPTS();
		if (!HeapTupleIsValid(tuple))
			return encrypted;
		column = (Form_pg_attribute) GETSTRUCT(tuple);
		if (!column->attisdropped && tde_ddl_encrypted(getBaseType(column->atttypid)))
		{
			encrypted = i;
			*all = *all && !left;
		}
		else if (!column->attisdropped)
			left = left || is_left_plain(column);
		ReleaseSysCache(tuple);
	}
}

/* ---- the column ---- */

/*
 * Returns true for identity and generated columns.  PostgreSQL numbers integers only, and what is generated has a rule of its own (kept_encrypted.c).
 */
static bool
is_computed(const ColumnDef *def)
{
	ListCell   *cell;

	foreach(cell, def->constraints)
	{
		ConstrType	kind = lfirst_node(Constraint, cell)->contype;

		if (kind == CONSTR_IDENTITY || kind == CONSTR_GENERATED)
			return true;
	}
	return false;
}

/* All columns up to the last encrypted one are, so that somebody may believe that the whole table is.  encrypted: that column. */
static void
tell_in_clear(Oid table, const ColumnDef *def, AttrNumber encrypted)
{
	const char *name = tde_table_name(table);

	ereport(NOTICE,
			(errmsg("column \"%s\" is stored in clear", def->colname),
			 errdetail("The columns of table \"%s\" up to \"%s\" are encrypted.", get_rel_name(table), get_attname(table, encrypted, false)),
			 errhint("To encrypt it, too: CALL tde_encrypt_column(%s, %s).  SET tde_column.encrypt_new_columns = on has this done for all that are added.",
					 quote_literal_cstr(name), quote_literal_cstr(def->colname))));
}

void
tde_added_column_prepare(Oid table, const AlterTableCmd *cmd)
{
	ColumnDef  *def = (ColumnDef *) cmd->def;
	char		kind = get_rel_relkind(table);
	AttrNumber	encrypted;
	bool		all;
	const char *wanted;
	Oid			type;
	int32		typmod;

	/* what an extension makes, is as it says */
	if ((kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE) || creating_extension || is_computed(def))
		return;
	encrypted = find_encrypted(table, &all);
	if (encrypted == InvalidAttrNumber || !tde_declared_type(def, &type, &typmod))
		return;
	wanted = format_type_with_typemod(type, typmod);
	if (!(tde_encrypt_new_columns || all) || !tde_declared_like(get_atttype(table, encrypted), -1, &type, &typmod))
		return;
	if (!tde_encrypt_new_columns)
	{
		tell_in_clear(table, def, encrypted);
		return;
	}
	def->typeName = makeTypeNameFromOid(type, typmod);
	ereport(NOTICE,
			(errmsg("column \"%s\" has type %s instead of %s", def->colname, format_type_with_typemod(type, typmod), wanted),
			 errdetail("Table \"%s\" has encrypted columns, and %s is on.", get_rel_name(table), "tde_column.encrypt_new_columns")));
}
