/*
 * catalog_parts.c - what definitions name besides expressions, as it would be of plain columns; and an expression where a definition prints it.
 */
#include "postgres.h"

#include "access/transam.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

#include "client/catalog_parts.h"
#include "client/catalog_queries.h"
#include "client/catalog_trees.h"
#include "type/type.h"

int32
tde_catalog_shown_typmod(Oid oid, int32 typmod)
{
	Oid			element = oid < FirstNormalObjectId ? InvalidOid : get_element_type(oid);
	TdeType    *type = oid < FirstNormalObjectId ? NULL : tde_type_find(OidIsValid(element) ? element : oid);

	return type ? tde_type_base_typmod(type, typmod) : typmod;
}

Node *
tde_catalog_shown_tree(Node *tree)
{
	TdeShowing	showing = {.query = tde_catalog_show_query, .other = tde_catalog_show_in_query};
	Node	   *shown = tde_catalog_show_tree(tree, &showing);

	return showing.failed ? NULL : shown;
}

char *
tde_catalog_replace_first(char *definition, const char *from, const char *to)
{
	char	   *found = strstr(definition, from);

	return found ? psprintf("%.*s%s%s", (int) (found - definition), definition, to, found + strlen(from)) : definition;
}

static char *
printed(Node *expr, Oid relation, bool pretty)
{
	Datum		tree = CStringGetTextDatum(nodeToString(expr));

	return TextDatumGetCString(DirectFunctionCall3(pg_get_expr_ext, tree, ObjectIdGetDatum(relation), BoolGetDatum(pretty)));
}

/* Where a call is printed without parentheses, anything else needs them. */
char *
tde_catalog_show_expression(char *definition, Node *expr, Oid relation, bool pretty)
{
	Node	   *shown = tde_catalog_shown_tree(expr);
	char	   *to;

	if (shown == NULL || equal(shown, expr))
		return definition;
	to = printed(shown, relation, pretty);
	if (IsA(expr, FuncExpr) && !IsA(shown, FuncExpr))
		to = psprintf("(%s)", to);
	return tde_catalog_replace_first(definition, printed(expr, relation, pretty), to);
}
