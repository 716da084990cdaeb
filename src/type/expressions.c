/*
 * expressions.c - encrypted values wherever they are: inside arrays, domains, composites, ranges, and constants of expressions.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "nodes/primnodes.h"
#include "parser/parse_oper.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "server/compat.h"
#include "type/datum.h"
#include "type/expressions.h"
#include "type/inside.h"

bool
tde_type_holds_encrypted(Oid type)
{
	return tde_inside_find(type, -1) != NULL;
}

typedef struct HeaderWalk
{
	TdeHeaderVisitor visit;
	void	   *arg;
} HeaderWalk;

static void
walk_value(Datum value, TdeHeaderVisitor visit, void *arg)
{
	TdeHeader	header;

	visit(tde_datum_header(value, &header) ? &header : NULL, arg);
}

/* As if to change it. */
static Datum
walk_nested(TdeType *type, Datum value, int32 declared, void *arg)
{
	HeaderWalk *walk = arg;

	walk_value(value, walk->visit, walk->arg);
	return value;
}

void
tde_headers_in_datum(Oid type, Datum value, TdeHeaderVisitor visit, void *arg)
{
	HeaderWalk	walk = {visit, arg};
	TdeInside  *nested;

	/* mostly it is one, and there are many */
	if (tde_type_find(type))
	{
		walk_value(value, visit, arg);
		return;
	}
	if (type == ANYARRAYOID)
		type = get_array_type(ARR_ELEMTYPE(DatumGetArrayTypeP(value)));
	/* an element without an array type is not ours */
	nested = OidIsValid(type) ? tde_inside_find(type, -1) : NULL;
	if (nested)
		(void) tde_inside_replace(nested, value, walk_nested, &walk);
}

static bool
walk_node(Node *node, void *context)
{
	HeaderWalk   *walk = context;

	if (node == NULL)
		return false;
	if (IsA(node, Const))
	{
		Const	   *constant = (Const *) node;

		if (!constant->constisnull && tde_type_holds_encrypted(constant->consttype))
			tde_headers_in_datum(constant->consttype, constant->constvalue, walk->visit, walk->arg);
		return false;
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, walk_node, context, 0);
	/* the server's walker does not know these two */
	if (IsA(node, PartitionBoundSpec))
	{
		PartitionBoundSpec *bound = (PartitionBoundSpec *) node;

		return walk_node((Node *) bound->listdatums, context) || walk_node((Node *) bound->lowerdatums, context) ||
			walk_node((Node *) bound->upperdatums, context);
	}
	if (IsA(node, PartitionRangeDatum))
		return walk_node(((PartitionRangeDatum *) node)->value, context);
	return expression_tree_walker(node, walk_node, context);
}

void
tde_headers_in_tree(Node *tree, TdeHeaderVisitor visit, void *arg)
{
	HeaderWalk	walk = {visit, arg};

	walk_node(tree, &walk);
}

void *
tde_stored_tree(int cache, HeapTuple tuple, AttrNumber column)
{
	bool		none;
	Datum		stored = SysCacheGetAttr(cache, tuple, column, &none);

	return none ? NULL : stringToNode(TextDatumGetCString(stored));
}

Oid
tde_operator_for(Oid schema, const char *name, Oid *left, Oid *right)
{
	List	   *names = list_make2(makeString(get_namespace_name(schema)), makeString(pstrdup(name)));
	Operator	tuple = OidIsValid(*left) ? oper(NULL, names, *left, *right, true, -1) : left_oper(NULL, names, *right, true, -1);
	Oid			operator;

	if (tuple == NULL)
		return InvalidOid;
	operator = oprid(tuple);
	ReleaseSysCache(tuple);
	op_input_types(operator, left, right);
	return operator;
}

Plan *
tde_projection_above(Plan *plan)
{
	Result	   *result = makeNode(Result);
	ListCell   *cell;

	result->plan.startup_cost = plan->startup_cost;
	result->plan.total_cost = plan->total_cost;
	result->plan.plan_rows = plan->plan_rows;
	result->plan.plan_width = plan->plan_width;
	result->plan.plan_node_id = plan->plan_node_id; /* what is counted by it is so in parallel workers, where no row is written */
	result->plan.extParam = bms_copy(plan->extParam);
	result->plan.allParam = bms_copy(plan->allParam);
	result->plan.lefttree = plan;
	foreach(cell, plan->targetlist)
	{
		TargetEntry *entry = flatCopyTargetEntry(lfirst_node(TargetEntry, cell));

		entry->expr = (Expr *) makeVarFromTargetEntry(OUTER_VAR, entry);
		result->plan.targetlist = lappend(result->plan.targetlist, entry);
	}
	return &result->plan;
}
