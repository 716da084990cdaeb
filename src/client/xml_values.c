/*
 * xml_values.c - XMLELEMENT and XMLFOREST print encrypted values as they print plain ones.
 *
 * XML has forms of its own for booleans, dates and binary data, by the OID of the type; of any other type it prints the text.  So what
 * they are given is cast to the base type when a statement, a view or a function's query is analyzed.
 */
#include "postgres.h"

#include "access/transam.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "tcop/utility.h"
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
		Oid			shown = tde_shown_type(inner);

		if (shown != inner)
			lfirst(cell) = coerce_to_target_type(NULL, value, type, shown, -1, COERCION_EXPLICIT, COERCE_IMPLICIT_CAST, -1);
	}
}

/* A query_or_expression_tree_walker. */
static bool
show_xml(Node *node, void *context)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, show_xml, context, 0);
	if (IsA(node, XmlExpr))
	{
		show_values(((XmlExpr *) node)->named_args);
		if (((XmlExpr *) node)->op == IS_XMLELEMENT)
			show_values(((XmlExpr *) node)->args);
	}
	return expression_tree_walker(node, show_xml, context);
}

/* The words stand nowhere but in the text, and few texts have them: only these trees are looked through. */
static bool
has_xml(const char *text)
{
	for (; (text = strpbrk(text, "xX")) != NULL; text++)
		if (pg_strncasecmp(text, "xmlelement", 10) == 0 || pg_strncasecmp(text, "xmlforest", 9) == 0)
			return true;
	return false;
}

void
tde_xml_values(Query *query, const char *text)
{
	if (unlikely(has_xml(text)))
	{
		if (query->commandType == CMD_UTILITY)
			query = UtilityContainsQuery(query->utilityStmt);
		(void) show_xml((Node *) query, NULL);
	}
}
