/*
 * foreign_keys.c - foreign keys between an encrypted and a plain column of different types, as plain columns have them: encrypted_int8 and
 * integer, varchar and encrypted_bpchar.
 *
 * PostgreSQL checks a foreign key by an operator of the referenced column's index, between the types of both columns or such as they become
 * implicitly.  For a bigint and an integer there is one, and it does for an encrypted bigint, too: once a foreign key has it, PostgreSQL
 * casts the values itself.  But it looks for it by the types of the columns, in a family that is not ours to add to: what stands there is
 * for the planner as well, and pg_upgrade would not bring it.  So it is there while the statement runs, and nobody else ever sees it.
 *
 * Two transactions that do so for the same types wait for each other, as for any unique entry.
 *
 * From 19 on PostgreSQL no longer casts so, and every row would be refused: there it says that the foreign key cannot be implemented.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/catalog.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_constraint.h"
#include "commands/defrem.h"
#include "parser/parse_coerce.h"
#include "parser/parse_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "ddl/declared_type.h"
#include "ddl/foreign_keys.h"
#include "operators/opclass.h"
#include "server/compat.h"
#include "server/table_name.h"
#include "type/inside.h"
#include "type/type.h"

/* ---- foreign keys of a statement ---- */

List *
tde_foreign_keys_added(List *parts)
{
	List	   *keys = NIL;
	ListCell   *cell;

	foreach(cell, parts)
	{
		Node	   *part = lfirst(cell);

		if (IsA(part, AlterTableCmd))
			part = ((AlterTableCmd *) part)->subtype == AT_AddConstraint ? ((AlterTableCmd *) part)->def : part;
		if (IsA(part, Constraint) && ((Constraint *) part)->contype == CONSTR_FOREIGN)
			keys = lappend(keys, part);
	}
	return keys;
}

/* Returns the name of the column at this place in the primary key, in the order of the key; NULL if there is none. */
static const char *
primary_key_column(Oid table, int place)
{
	Oid			constraint;
	HeapTuple	tuple;
	ArrayType  *columns;
	bool		none;
	const char *name = NULL;

	if (get_primary_key_attnos(table, false, &constraint) == NULL)
		return NULL;
	tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(constraint));
	if (!HeapTupleIsValid(tuple))
		return NULL;
	columns = DatumGetArrayTypeP(SysCacheGetAttr(CONSTROID, tuple, Anum_pg_constraint_conkey, &none));
	if (!none && place < ARR_DIMS(columns)[0])
		name = get_attname(table, ((int16 *) ARR_DATA_PTR(columns))[place], true);
	ReleaseSysCache(tuple);
	return name;
}

const char *
tde_foreign_key_referenced(Constraint *key, int place, Oid *table)
{
	*table = RangeVarGetRelid(key->pktable, NoLock, true);
	if (!OidIsValid(*table) || (key->pk_attrs != NIL && place >= list_length(key->pk_attrs)))
		return NULL;
	return key->pk_attrs ? strVal(list_nth(key->pk_attrs, place)) : primary_key_column(*table, place);
}

/* ---- what PostgreSQL looks for ---- */

/*
 * Inserts an operator into a family for a statement, unless one is there; the row is appended to members.  Between values of these types the operator
 * does what the method's equality does.  Its access method is given as GiST and its purpose as ordering, so that the planner finds nothing in it.
 */
static List *
add_member(List *members, Oid family, Oid left, Oid right, Oid operator)
{
	Relation	catalog;
	HeapTuple	tuple;
	Datum		values[Natts_pg_amop];
	bool		nulls[Natts_pg_amop] = {0};

	if (!OidIsValid(operator) || OidIsValid(get_opfamily_member(family, left, right, BTEqualStrategyNumber)))
		return members;
	catalog = table_open(AccessMethodOperatorRelationId, RowExclusiveLock);
	values[Anum_pg_amop_oid - 1] = ObjectIdGetDatum(GetNewOidWithIndex(catalog, AccessMethodOperatorOidIndexId, Anum_pg_amop_oid));
	values[Anum_pg_amop_amopfamily - 1] = ObjectIdGetDatum(family);
	values[Anum_pg_amop_amoplefttype - 1] = ObjectIdGetDatum(left);
	values[Anum_pg_amop_amoprighttype - 1] = ObjectIdGetDatum(right);
	values[Anum_pg_amop_amopstrategy - 1] = Int16GetDatum(BTEqualStrategyNumber);
	values[Anum_pg_amop_amoppurpose - 1] = CharGetDatum(AMOP_ORDER);
	values[Anum_pg_amop_amopopr - 1] = ObjectIdGetDatum(operator);
	values[Anum_pg_amop_amopmethod - 1] = ObjectIdGetDatum(GIST_AM_OID);
	values[Anum_pg_amop_amopsortfamily - 1] = ObjectIdGetDatum(InvalidOid);
	tuple = heap_form_tuple(RelationGetDescr(catalog), values, nulls);
	CatalogTupleInsert(catalog, tuple);
	table_close(catalog, RowExclusiveLock);
	CommandCounterIncrement();
	return lappend(members, tuple);
}

/* Returns the family of a type's default btree index, and the type that its class takes; InvalidOid for both if there is no such class. */
static Oid
index_family(Oid type, Oid *input)
{
	Oid			opclass = GetDefaultOpClass(type, BTREE_AM_OID);

	*input = OidIsValid(opclass) ? get_opclass_input_type(opclass) : InvalidOid;
	return OidIsValid(opclass) ? get_opclass_family(opclass) : InvalidOid;
}

static Oid
equality(Oid family, Oid left, Oid right)
{
	return get_opfamily_member(family, left, right, BTEqualStrategyNumber);
}

/*
 * Adds what a foreign key needs from a column of one type to one of another, of which one is encrypted.  PostgreSQL looks for two operators: one
 * between the key's index and the foreign column (pfeqop in tablecmds.c), and one that compares foreign values with each other (ffeqop).
 */
static List *
add_members(List *members, Oid foreign, Oid key)
{
	TdeType    *own = tde_type_find(foreign = getBaseType(foreign));
	TdeType    *referenced = tde_type_find(key = getBaseType(key));
	Oid			input;
	Oid			family = (own == NULL) == (referenced == NULL) ? InvalidOid : index_family(key, &input);
	Oid			both;
	Oid			alone;

	if (!OidIsValid(family) || OidIsValid(equality(family, input, foreign)) || can_coerce_type(1, &foreign, &input, COERCION_IMPLICIT))
		return members;
	if (own)
	{
		both = equality(family, input, own->base);
		alone = equality(family, own->base, own->base);
	}
	else
	{
		Oid			base_input;
		Oid			base_family = index_family(referenced->base, &base_input);

		both = equality(family, key, referenced->base);
		alone = can_coerce_type(1, &foreign, &base_input, COERCION_IMPLICIT) ? equality(base_family, base_input, base_input) : InvalidOid;
	}
	if (!OidIsValid(both) || !OidIsValid(alone))
		return members;
	members = add_member(members, family, input, foreign, both);
	members = add_member(members, family, foreign, foreign, alone);
	/* the key may be in the order that tells nothing */
	family = referenced && OidIsValid(tde_opclass_unordered(referenced)) ? get_opclass_family(tde_opclass_unordered(referenced)) : InvalidOid;
	if (OidIsValid(family))
	{
		members = add_member(members, family, input, foreign, both);
		members = add_member(members, family, foreign, foreign, alone);
	}
	return members;
}

/* ---- which types ---- */

/* Returns the type of a column, as the statement is going to have it; InvalidOid if there is no such column. */
static Oid
column_type(const TdeAlterTable *alter, const char *name)
{
	ColumnDef  *def = tde_ddl_declared_by_name(alter, name);
	AttrNumber	number;

	if (def && def->typeName)
		return LookupTypeNameOid(NULL, def->typeName, true);
	number = get_attnum(RelationGetRelid(alter->rel), name);
	return number > 0 ? get_atttype(RelationGetRelid(alter->rel), number) : InvalidOid;
}

/* Adds what one column of a foreign key needs.  name: of the column that references.  place: its place in the foreign key. */
static List *
add_for_column(List *members, const TdeAlterTable *alter, const char *name, Constraint *key, int place)
{
	Oid			key_table;
	const char *key_name = tde_foreign_key_referenced(key, place, &key_table);
	Oid			type = column_type(alter, name);
	Oid			key_type = key_name == NULL ? InvalidOid :
	key_table == RelationGetRelid(alter->rel) ? column_type(alter, key_name) : get_atttype(key_table, get_attnum(key_table, key_name));

	return OidIsValid(type) && OidIsValid(key_type) ? add_members(members, type, key_type) : members;
}

static List *
add_for_columns(List *members, const TdeAlterTable *alter, Constraint *key)
{
	ListCell   *cell;

	foreach(cell, key->fk_attrs)
		members = add_for_column(members, alter, strVal(lfirst(cell)), key, foreach_current_index(cell));
	return members;
}

/* ALTER c TYPE: PostgreSQL makes the foreign keys of a column anew whose type changes, and looks for their operators again. */
static List *
add_for_existing(List *members, const TdeAlterTable *alter)
{
	ListCell   *cell;

	foreach(cell, RelationGetFKeyList(alter->rel))
	{
		ForeignKeyCacheInfo *key = lfirst(cell);

		for (int i = 0; i < key->nkeys; i++)
			members = add_members(members, column_type(alter, get_attname(RelationGetRelid(alter->rel), key->conkey[i], false)),
								  get_atttype(key->confrelid, key->confkey[i]));
	}
	return members;
}

/* Adds what the foreign keys of one command need: ADD FOREIGN KEY, or REFERENCES in a new column. */
static List *
add_for_command(List *members, const TdeAlterTable *alter, const AlterTableCmd *cmd)
{
	ColumnDef  *def = tde_ddl_declared_column(cmd);
	ListCell   *cell;

	if (list_member_ptr(alter->foreign_keys, cmd->def))
		members = add_for_columns(members, alter, (Constraint *) cmd->def);
	foreach(cell, def ? def->constraints : NIL)
		if (((Constraint *) lfirst(cell))->contype == CONSTR_FOREIGN)
			members = add_for_column(members, alter, def->colname, lfirst(cell), 0);
	return members;
}

/* Those of CREATE TABLE come in an ALTER TABLE of their own. */
List *
tde_foreign_keys_begin(const TdeAlterTable *alter)
{
	List	   *members = NIL;
	bool		alters_type = false;
	ListCell   *cell;

	if (!TDE_FOREIGN_KEYS_CAST_TO_OPERAND)
		return NIL;
	foreach(cell, alter->stmt->cmds)
	{
		members = add_for_command(members, alter, lfirst(cell));
		alters_type |= lfirst_node(AlterTableCmd, cell)->subtype == AT_AlterColumnType;
	}
	return alters_type ? add_for_existing(members, alter) : members;
}

void
tde_foreign_keys_end(List *members)
{
	Relation	catalog;
	ListCell   *cell;

	if (members == NIL)
		return;
	catalog = table_open(AccessMethodOperatorRelationId, RowExclusiveLock);
	foreach(cell, members)
		CatalogTupleDelete(catalog, &((HeapTuple) lfirst(cell))->t_self);
	table_close(catalog, RowExclusiveLock);
	CommandCounterIncrement();
}

/* ---- foreign keys whose columns hold in clear what is encrypted elsewhere ---- */

/* CREATE TABLE b (x int REFERENCES a (x)), of an encrypted a.x, where nothing has made b.x encrypted. */
static void
report_foreign_key(Relation rel, AttrNumber column, Oid key_table, AttrNumber key)
{
	const char *table = tde_table_name(RelationGetRelid(rel));
	const char *name = get_attname(RelationGetRelid(rel), column, false);

	ereport(TDE_PLAINTEXT_ALTER == TDE_ALTER_ERROR ? ERROR : WARNING,
			(errcode(TDE_PLAINTEXT_ALTER == TDE_ALTER_ERROR ? ERRCODE_INVALID_TABLE_DEFINITION : ERRCODE_WARNING),
			 errmsg("column \"%s\" is stored in clear", name),
			 errdetail("It references column \"%s\" of table \"%s\", which is encrypted, and has the same values.",
					   get_attname(key_table, key, false), get_rel_name(key_table)),
			 errhint("To encrypt it, too: CALL tde_encrypt_column(%s, %s).", quote_literal_cstr(table), quote_literal_cstr(name))));
}

/*
 * Returns true if the foreign key was made in this transaction, and not because a parent has it.  Of older ones nobody wants to hear with each ALTER
 * TABLE.
 */
static bool
is_new_constraint(Oid constraint)
{
	HeapTuple	tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(constraint));
	bool		result;

	if (!HeapTupleIsValid(tuple))
		return false;
	result = !OidIsValid(((Form_pg_constraint) GETSTRUCT(tuple))->conparentid) &&
		TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetRawXmin(tuple->t_data));
	ReleaseSysCache(tuple);
	return result;
}

void
tde_foreign_keys_check_clear(Relation rel)
{
	ListCell   *cell;

	if (TDE_PLAINTEXT_ALTER == TDE_ALTER_ALLOW)
		return;
	foreach(cell, RelationGetFKeyList(rel))
	{
		ForeignKeyCacheInfo *key = lfirst(cell);

		if (!is_new_constraint(key->conoid))
			continue;
		for (int i = 0; i < key->nkeys; i++)
			if (!tde_type_holds_encrypted(get_atttype(key->conrelid, key->conkey[i])) &&
				tde_type_holds_encrypted(get_atttype(key->confrelid, key->confkey[i])))
				report_foreign_key(rel, key->conkey[i], key->confrelid, key->confkey[i]);
	}
}
