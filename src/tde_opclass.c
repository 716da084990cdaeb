/*
 * tde_opclass.c - operator classes of base types that are named for encrypted columns.
 *
 * Schemas that were made by programs often name the operator class that is the default anyway.  Other classes of the base
 * type (text_pattern_ops) stay, and PostgreSQL refuses them.
 */
#include "postgres.h"

#include "access/attnum.h"
#include "catalog/namespace.h"
#include "commands/defrem.h"
#include "utils/lsyscache.h"

#include "tde_compat.h"
#include "tde_opclass.h"
#include "tde_type.h"

/* Is the class that is named the base type's default, or another name of it (varchar_ops)? */
static bool
says_default(const TdeType *type, Oid method, List *name)
{
	Oid			named = get_opclass_oid(method, name, true);
	Oid			usual = GetDefaultOpClass(type->base, method);

	return OidIsValid(named) && OidIsValid(usual) && get_opclass_family(named) == get_opclass_family(usual) &&
		get_opclass_input_type(named) == get_opclass_input_type(usual);
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
		AttrNumber	column = element->opclass && element->name ? get_attnum(table, element->name) : InvalidAttrNumber;
		TdeType    *type = column > 0 ? tde_type_find(get_atttype(table, column)) : NULL;

		if (type && says_default(type, method, element->opclass))
			element->opclass = NIL;
	}
}
