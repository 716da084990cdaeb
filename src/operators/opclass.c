/*
 * opclass.c - operator classes of base types that are named for encrypted columns.
 *
 * Schemas that were made by programs often name the operator class that is the default anyway, or text_pattern_ops.  Other classes
 * of the base type stay, and PostgreSQL refuses them.  Programs that read the catalogs compare names: so the pattern classes have the
 * names of the base types', too, in tde_internal and tde, and indexes that are declared by these names have those classes.
 */
#include "postgres.h"

#include "access/attnum.h"
#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "operators/blind.h"
#include "operators/blind_class.h"
#include "operators/opclass.h"
#include "server/compat.h"
#include "type/base_functions.h"
#include "type/inside.h"

/* By what a class orders or hashes, its input type and its support function 1 tell: varchar_ops is text_ops. */
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

/* The class of the same name, where there is one of this type: varchar has text_pattern_ops, too. */
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

/* The schema and the name of a class. */
static List *
name_of(Oid opclass)
{
	HeapTuple	tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass));
	Form_pg_opclass form;
	List	   *name;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator class %u", opclass);
	form = (Form_pg_opclass) GETSTRUCT(tuple);
	name = list_make2(makeString(get_namespace_name(form->opcnamespace)), makeString(pstrdup(NameStr(form->opcname))));
	ReleaseSysCache(tuple);
	return name;
}

/* A column of an encrypted type, or of an array of one, in an index of GIN: a class whose entries tell nothing, under a salt of their own. */
static void
adopt_blind(IndexElem *element, Oid column)
{
	Oid			opclass = element->opclass ? get_opclass_oid(GIN_AM_OID, element->opclass, true) : GetDefaultOpClass(column, GIN_AM_OID);
	ListCell   *cell;

	if (!OidIsValid(opclass))
		return;
	if (!tde_blind_is_class(opclass))
		opclass = tde_blind_class_for(column, opclass);
	if (!OidIsValid(opclass))
		return;
	/* also the default: options stand behind a name, where the statement is written down for other nodes */
	element->opclass = name_of(opclass);
	foreach(cell, element->opclassopts)
		if (strcmp(lfirst_node(DefElem, cell)->defname, TDE_BLIND_OPTION) == 0)
			return;
	element->opclassopts = lappend(element->opclassopts,
								   makeDefElem(TDE_BLIND_OPTION, (Node *) makeString(tde_blind_new_salt()), -1));
}

/* The type of an element of an index; InvalidOid: not yet known. */
static Oid
element_type(const IndexStmt *stmt, Oid table, const IndexElem *element)
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
		Oid			column = element_type(stmt, table, element);
		TdeType    *type = tde_type_find(column);

		if (method == GIN_AM_OID)
		{
			if (OidIsValid(column) && tde_type_holds_encrypted(column))
				adopt_blind(element, getBaseType(column));
		}
		else if (type && element->opclass != NIL)
			element->opclass = tde_opclass_adopted(type, method, element->opclass);
	}
}
