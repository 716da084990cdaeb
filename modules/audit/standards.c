/*
 * standards.c - what tde_audit() says of tde_column.require: what it excludes of columns and indexes, and what of this server is in its way.
 *
 * The judgement itself is keys/required.c's.  Here it is asked of what is declared already.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/tuplestore.h"

#include "keys/modifiers.h"
#include "keys/required.h"
#include "operators/computed.h"
#include "server/compat.h"
#include "type/type.h"

PG_FUNCTION_INFO_V1(tde_audit_type_excluded);
PG_FUNCTION_INFO_V1(tde_audit_tree_excluded);
PG_FUNCTION_INFO_V1(tde_audit_required_of_server);
PG_FUNCTION_INFO_V1(tde_audit_requires);

/*
 * tde_type_excluded(type oid, typmod int4) returns text - what tde_column.require excludes of a declared type; NULL: nothing.  Of an array it is
 * asked of the elements.  How this server runs is not considered: that is an obstacle, not the column's.
 */
Datum
tde_audit_type_excluded(PG_FUNCTION_ARGS)
{
	Oid			element = get_element_type(PG_GETARG_OID(0));
	TdeType    *type = tde_type_find(OidIsValid(element) ? element : PG_GETARG_OID(0));
	const TdeExclusion *exclusion = NULL;

	if (type && PG_GETARG_INT32(1) >= 0)
		exclusion = tde_required_excludes(tde_modifiers_unpack(type->layout, PG_GETARG_INT32(1)).spec);
	if (exclusion == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(tde_required_text(exclusion)));
}

/* An expression_tree_walker: stops at the first computed value whose encryption is excluded, and leaves why in *context. */
static bool
find_excluded(Node *node, void *context)
{
	const TdeExclusion **found = context;

	CHECK_FOR_INTERRUPTS();
	check_stack_depth();
	if (node == NULL)
		return false;
	if (tde_is_computed(node))
		*found = tde_required_excludes(tde_type_modifiers(tde_type_get(exprType(node)), exprTypmod(linitial(((FuncExpr *) node)->args))).spec);
	return *found != NULL || expression_tree_walker(node, find_excluded, context);
}

/* tde_tree_excluded(tree pg_node_tree) returns text - what tde_column.require excludes of how the expressions of an index are encrypted. */
Datum
tde_audit_tree_excluded(PG_FUNCTION_ARGS)
{
	const TdeExclusion *found = NULL;

	if (!find_excluded(stringToNode(TextDatumGetCString(PG_GETARG_DATUM(0))), &found))
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(tde_required_text(found)));
}

/* tde_required_of_server(OUT standard, OUT severity, OUT finding, OUT hint) returns setof record - what is in the way of tde_column.require here. */
Datum
tde_audit_required_of_server(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	ListCell   *cell;

	InitMaterializedSRF(fcinfo, 0);
	foreach(cell, tde_required_obstacles())
	{
		const TdeObstacle *obstacle = lfirst(cell);
		Datum		values[4] = {CStringGetTextDatum(obstacle->standard), CStringGetTextDatum(obstacle->severity), CStringGetTextDatum(obstacle->finding),
		CStringGetTextDatum(obstacle->hint)};
		bool		nulls[4] = {0};

		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	PG_RETURN_NULL();
}

/* tde_requires(standard text) returns boolean - whether tde_column.require has it. */
Datum
tde_audit_requires(PG_FUNCTION_ARGS)
{
	int			standard;

	PG_RETURN_BOOL(tde_required_parse(list_make1(TextDatumGetCString(PG_GETARG_DATUM(0))), &standard) && (tde_required & standard) != 0);
}
