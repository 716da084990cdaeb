/*
 * opclass.c - operator classes of base types that are named for encrypted columns, and those of encrypted types as they are named for plain ones.
 *
 * Schemas that were made by programs often name the operator class that is the default anyway, or text_pattern_ops.  Other classes
 * of the base type stay, and PostgreSQL refuses them.  Programs that read the catalogs compare names: so the pattern classes have the
 * names of the base types', too, in tde_internal and tde, and indexes that are declared by these names have those classes.
 *
 * Commands that make an index again for a column's other type name the class of the base type, which CREATE INDEX on an encrypted column
 * takes for that of the encrypted type.  So do catalogs that tell clients base types.
 */
#include "postgres.h"

#include "access/attnum.h"
#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "operators/blind.h"
#include "operators/blind_class.h"
#include "operators/opclass.h"
#include "server/compat.h"
#include "type/base_functions.h"
#include "type/inside.h"

PG_FUNCTION_INFO_V1(tde_named_opclass);

/* Names of operator classes may begin so, and go on as those of the base types. */
#define ENCRYPTED_PREFIX "encrypted_"

static FormData_pg_opclass
class_row(Oid opclass)
{
	HeapTuple	tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass));
	FormData_pg_opclass row;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator class %u", opclass);
	row = *(Form_pg_opclass) GETSTRUCT(tuple);
	ReleaseSysCache(tuple);
	return row;
}

/* ---- those of base types, for encrypted columns ---- */

/*
 * Returns true if two classes order or hash alike: their input type and their support function 1 tell.  varchar_ops is text_ops.  False if one of
 * them is InvalidOid.
 */
static bool
do_the_same(Oid one, Oid other)
{
	Oid			input;

	if (!OidIsValid(one) || !OidIsValid(other))
		return false;
	input = get_opclass_input_type(one);
	return get_opclass_input_type(other) == input &&
		get_opfamily_proc(get_opclass_family(one), input, input, 1) == get_opfamily_proc(get_opclass_family(other), input, input, 1);
}

Oid
tde_opclass_base_pattern(const TdeType *type)
{
	switch (tde_base_compared_as(type->base))
	{
		case TEXTOID:
			return TEXT_BTREE_PATTERN_OPS_OID;
		case BPCHAROID:
			return BPCHAR_BTREE_PATTERN_OPS_OID;
		default:
			return InvalidOid;
	}
}

/* The schema and the name of a class of an encrypted type that is not its default. */
static List *
class_name(const TdeType *type, const char *suffix)
{
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type->oid));
	Form_pg_type form;
	List	   *name;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for type %u", type->oid);
	form = (Form_pg_type) GETSTRUCT(tuple);
	name = list_make2(makeString(get_namespace_name(form->typnamespace)),
					  makeString(psprintf("%s_%s", NameStr(form->typname), suffix)));
	ReleaseSysCache(tuple);
	return name;
}

/* The schema and the name of the class of an encrypted type that orders by bytes, whether there is one or not. */
static List *
pattern_class(const TdeType *type)
{
	return class_name(type, "pattern_ops");
}

Oid
tde_opclass_pattern(const TdeType *type)
{
	return OidIsValid(tde_opclass_base_pattern(type)) ? get_opclass_oid(BTREE_AM_OID, pattern_class(type), true) : InvalidOid;
}

Oid
tde_opclass_unordered(const TdeType *type)
{
	return get_opclass_oid(BTREE_AM_OID, class_name(type, "unordered_ops"), true);
}

/*
 * The class of the same name, where there is one of this type: varchar has text_pattern_ops, too.  So programs read the name that they have written.
 */
static List *
namesake_class(const TdeType *type, List *name)
{
	static char *const schemas[] = {"tde_internal", "tde"};

	for (int i = 0; i < lengthof(schemas); i++)
	{
		List	   *own = list_make2(makeString(schemas[i]), llast(name));
		Oid			namesake = get_opclass_oid(BTREE_AM_OID, own, true);

		if (OidIsValid(namesake) && get_opclass_input_type(namesake) == type->oid)
			return own;
	}
	return pattern_class(type);
}

/* What a column of this type takes for a class that is named. */
typedef enum Adopted
{
	ADOPTS_ITSELF,
	ADOPTS_DEFAULT,
	ADOPTS_PATTERN
} Adopted;

/* Decides by what the named class does, not by its name: a user's class that orders as the default one does counts as that. */
static Adopted
adopted(const TdeType *type, Oid method, Oid named)
{
	if (do_the_same(named, GetDefaultOpClass(type->base, method)))
		return ADOPTS_DEFAULT;
	if (do_the_same(named, tde_opclass_base_pattern(type)) && OidIsValid(tde_opclass_pattern(type)))
		return ADOPTS_PATTERN;
	return ADOPTS_ITSELF;
}

List *
tde_opclass_adopted(const TdeType *type, Oid method, List *name)
{
	switch (adopted(type, method, get_opclass_oid(method, name, true)))
	{
		case ADOPTS_DEFAULT:
			return NIL;
		case ADOPTS_PATTERN:
			return namesake_class(type, name);
		default:
			return name;
	}
}

/* The same for one that is known by its OID. */
static Oid
adopted_class(const TdeType *type, Oid method, Oid named)
{
	switch (adopted(type, method, named))
	{
		case ADOPTS_DEFAULT:
			return GetDefaultOpClass(type->oid, method);
		case ADOPTS_PATTERN:
			return tde_opclass_pattern(type);
		default:
			return named;
	}
}

void
tde_opclass_infer(OnConflictExpr *conflict)
{
	ListCell   *cell;

	foreach(cell, conflict->arbiterElems)
	{
		InferenceElem *element = lfirst_node(InferenceElem, cell);
		TdeType    *type = OidIsValid(element->inferopclass) ? tde_type_find(exprType(element->expr)) : NULL;

		if (type)
			element->inferopclass = adopted_class(type, BTREE_AM_OID, element->inferopclass);
	}
}

/*
 * A column of an encrypted type, or of an array of one, in an index of GIN gets a class whose entries tell nothing: gin_trgm_ops becomes that of
 * encrypted_text.  Without a named class, PostgreSQL takes the default of the encrypted type.
 */
static void
adopt_blind(IndexElem *element, Oid column)
{
	Oid			named = element->opclass ? get_opclass_oid(GIN_AM_OID, element->opclass, true) : InvalidOid;
	Oid			opclass = OidIsValid(named) && !tde_blind_is_class(named) ? tde_blind_class_for(column, named) : InvalidOid;
	FormData_pg_opclass row;

	if (!OidIsValid(opclass))
		return;
	row = class_row(opclass);
	element->opclass = list_make2(makeString(get_namespace_name(row.opcnamespace)), makeString(pstrdup(NameStr(row.opcname))));
}

/*
 * LIKE copies another table's options, of which the salt is that of one index.  Two indexes with one salt would have the same entries for the same
 * values.
 */
static void
forget_salt(IndexElem *element)
{
	ListCell   *cell;

	foreach(cell, element->opclassopts)
		if (strcmp(lfirst_node(DefElem, cell)->defname, TDE_BLIND_OPTION) == 0)
			element->opclassopts = foreach_delete_current(element->opclassopts, cell);
}

/* Returns true for a column that is declared unordered.  To be asked of elements without a named class; ddl/index_order.c sees to all others. */
static bool
is_unordered(Oid table, const IndexElem *element, TdeType *type)
{
	AttrNumber	column = element->name ? get_attnum(table, element->name) : InvalidAttrNumber;
	Oid			declared;
	int32		typmod;
	Oid			collation;

	if (column <= 0)
		return false;
	get_atttypetypmodcoll(table, column, &declared, &typmod, &collation);
	return tde_type_tells_no_order(type, typmod);
}

Oid
tde_opclass_element_type(const IndexStmt *stmt, Oid table, const IndexElem *element)
{
	AttrNumber	column = element->name ? get_attnum(table, element->name) : InvalidAttrNumber;

	if (column > 0)
		return get_atttype(table, column);
	return element->expr && stmt->transformed ? exprType(element->expr) : InvalidOid;
}

void
tde_opclass_adopt(IndexStmt *stmt)
{
	Oid			method = get_index_am_oid(stmt->accessMethod, true);
	Oid			table = stmt->relation ? RangeVarGetRelid(stmt->relation, NoLock, true) : InvalidOid;
	ListCell   *cell;

	if (!OidIsValid(method) || !OidIsValid(table))
		return;
	foreach(cell, stmt->indexParams)
	{
		IndexElem  *element = lfirst_node(IndexElem, cell);
		Oid			column = tde_opclass_element_type(stmt, table, element);
		TdeType    *type = tde_type_find(column);

		if (method == GIN_AM_OID)
		{
			if (!OidIsValid(column) || !tde_type_holds_encrypted(column))
				continue;
			adopt_blind(element, getBaseType(column));
			if (stmt->transformed)
				forget_salt(element);
		}
		else if (type && element->opclass != NIL)
			element->opclass = tde_opclass_adopted(type, method, element->opclass);
		/* so that PostgreSQL finds those of partitions that are like it */
		else if (type && method == BTREE_AM_OID && is_unordered(table, element, type))
			element->opclass = class_name(type, "unordered_ops");
	}
}

/* ---- those of encrypted types, as of plain columns ---- */

/*
 * The class of the base type for one of ours; InvalidOid: it is not ours, or there is none.  For a default, also of those without order, it is the
 * default; otherwise the one of the same name.
 */
static Oid
base_class(const FormData_pg_opclass *opclass)
{
	TdeType    *type = tde_type_find(opclass->opcintype);
	const char *name = NameStr(opclass->opcname);

	if (opclass->opcmethod == GIN_AM_OID)
		return tde_blind_is_class(opclass->oid) ? tde_blind_base_class(opclass->oid) : InvalidOid;
	if (type == NULL)
		return InvalidOid;
	if (opclass->opcdefault || opclass->oid == tde_opclass_unordered(type))
		return GetDefaultOpClass(type->base, opclass->opcmethod);
	if (strncmp(name, ENCRYPTED_PREFIX, strlen(ENCRYPTED_PREFIX)) == 0)
		name += strlen(ENCRYPTED_PREFIX);
	return get_opclass_oid(opclass->opcmethod, list_make2(makeString("pg_catalog"), makeString(pstrdup(name))), true);
}

Oid
tde_opclass_plain(Oid opclass)
{
	FormData_pg_opclass row;
	Oid			plain;

	if (opclass < FirstNormalObjectId || !SearchSysCacheExists1(CLAOID, ObjectIdGetDatum(opclass)))
		return opclass;
	row = class_row(opclass);
	plain = base_class(&row);
	return OidIsValid(plain) ? plain : opclass;
}

/* A class as it is printed: with a schema, or as it is. */
static char *
printed_class(const FormData_pg_opclass *opclass, bool with_schema)
{
	return quote_qualified_identifier(with_schema ? get_namespace_name(opclass->opcnamespace) : NULL, NameStr(opclass->opcname));
}

/* What comes after a class, without its option. */
static char *
after_option(char *rest)
{
	static const char option[] = " (" TDE_BLIND_OPTION "=";
	char	   *end = strncmp(rest, option, sizeof(option) - 1) == 0 ? strchr(rest, ')') : NULL;

	return end ? end + 1 : rest;
}

/*
 * One class of a definition replaced.  The text is searched for it, with its schema first: PostgreSQL prints one where the search path does not have
 * the class.  A default is not printed for plain columns, so it goes.
 */
static char *
with_plain_class(char *definition, Oid opclass)
{
	Oid			plain = tde_opclass_plain(opclass);
	FormData_pg_opclass from;
	FormData_pg_opclass to;

	if (plain == opclass)
		return definition;
	from = class_row(opclass);
	to = class_row(plain);
	for (int with_schema = 1; with_schema >= 0; with_schema--)
	{
		char	   *named = psprintf(" %s", printed_class(&from, with_schema == 1));
		char	   *found = strstr(definition, named);

		if (found)
			return psprintf("%.*s%s%s%s", (int) (found - definition), definition, to.opcdefault ? "" : " ",
							to.opcdefault ? "" : printed_class(&to, !OpclassIsVisible(plain)), after_option(found + strlen(named)));
	}
	return definition;
}

char *
tde_opclass_plain_texts(char *definition, Datum opclasses)
{
	oidvector  *classes = (oidvector *) DatumGetPointer(opclasses);

	for (int i = 0; i < classes->dim1; i++)
		definition = with_plain_class(definition, classes->values[i]);
	return definition;
}

/*
 * Returns true if an index on a column of this type must name the class, so that it stands for one of the column's other type when it is made again.
 */
static bool
is_to_be_named(Oid column, const FormData_pg_opclass *opclass)
{
	TdeType    *type = tde_type_of_base(column);

	if (tde_opclass_plain(opclass->oid) != opclass->oid)
		return opclass->opcmethod == GIN_AM_OID ||
			!(opclass->opcdefault || opclass->oid == tde_opclass_unordered(tde_type_get(opclass->opcintype)));
	/* a user's class that does the same would not come back */
	if (type == NULL || (opclass->opcmethod != GIN_AM_OID && opclass->oid >= FirstNormalObjectId))
		return false;
	return opclass->opcmethod == GIN_AM_OID ? OidIsValid(tde_blind_class_for(type->oid, opclass->oid)) :
		!opclass->opcdefault && adopted(type, opclass->opcmethod, opclass->oid) != ADOPTS_ITSELF;
}

/*
 * tde_named_opclass(type oid, opclass oid) returns text - the class to be named for a column of this type when it becomes encrypted, or plain; NULL: the
 * default, or there is none.
 */
Datum
tde_named_opclass(PG_FUNCTION_ARGS)
{
	FormData_pg_opclass opclass = class_row(PG_GETARG_OID(1));
	FormData_pg_opclass plain = class_row(tde_opclass_plain(opclass.oid));

	if (!is_to_be_named(getBaseType(PG_GETARG_OID(0)), &opclass))
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(printed_class(&plain, true)));
}
