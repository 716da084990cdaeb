/*
 * xml_values.c - XMLELEMENT and XMLFOREST print encrypted values as they print plain ones.
 *
 * XML has forms of its own for booleans, dates and binary data, by the OID of the type; of any other type it prints the text.  So what
 * they are given is cast to the base type when a statement, a view or a function's query is analyzed.
 */
#include "postgres.h"

#include "access/transam.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "utils/lsyscache.h"

#include "client/catalog_trees.h"
#include "client/xml_values.h"

static void
show_values(List *values)
{
	ListCell   *cell;

	foreach(cell, values)
	{
		Node	   *value = lfirst(cell);
		Oid			type = exprType(value);
		Oid			inner = type < FirstNormalObjectId ? type : getBaseType(type);
		Oid			shown = tde_catalog_shown_type(inner);

		if (shown != inner)
			lfirst(cell) = coerce_to_target_type(NULL, value, type, shown, -1, COERCION_EXPLICIT, COERCE_IMPLICIT_CAST, -1);
	}
}

void
tde_xml_values(XmlExpr *xml)
{
	show_values(xml->named_args);
	if (xml->op == IS_XMLELEMENT)
		show_values(xml->args);
}
