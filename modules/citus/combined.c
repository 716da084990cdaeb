/*
 * combined.c - aggregates that Citus combines from those of its nodes.
 *
 * Citus knows min and max of PostgreSQL's own types by name.  Those of other types it combines by a call of coord_combine_agg(), to which
 * it gives no collation (13.2), so that min and max of encrypted strings would be errors.  Which collation they have, the query tells.
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_namespace.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"

#include "citus/combined.h"
#include "server/compat.h"
#include "type/type.h"

/* An aggregate, and its collation; InvalidOid: the query has it with more than one. */
typedef struct Collated
{
	Oid			aggregate;
	Oid			collation;
} Collated;

static Collated *
find_collated(List *collations, Oid aggregate)
{
	ListCell   *cell;

	foreach(cell, collations)
		if (((Collated *) lfirst(cell))->aggregate == aggregate)
			return lfirst(cell);
	return NULL;
}

/* Notes an aggregate's collation.  One aggregate with two collations has none that could be told apart in Citus' plan. */
static void
add_collated(List **collations, const Aggref *call)
{
	Collated   *collated = find_collated(*collations, call->aggfnoid);

	if (collated)
	{
		if (collated->collation != call->inputcollid)
			collated->collation = InvalidOid;
		return;
	}
	collated = palloc(sizeof(Collated));
	*collated = (Collated) {call->aggfnoid, call->inputcollid};
	*collations = lappend(*collations, collated);
}

/* A query_or_expression_tree_walker. */
static bool
collect(Node *node, void *collations)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, collect, collations, 0);
	if (IsA(node, Aggref) && ((Aggref *) node)->aggfnoid >= FirstNormalObjectId && OidIsValid(((Aggref *) node)->inputcollid) &&
		tde_type_find(((Aggref *) node)->aggtype))
		add_collated(collations, (Aggref *) node);
	return expression_tree_walker(node, collect, collations);
}

List *
tde_combined_collations(Query *query)
{
	List	   *collations = NIL;

	(void) collect((Node *) query, &collations);
	return collations;
}

/* Returns true of a call of coord_combine_agg() that has no collation. */
static bool
is_combination(const Aggref *call)
{
	char	   *name;

	if (OidIsValid(call->inputcollid) || call->aggfnoid < FirstNormalObjectId || list_length(call->args) != 3 ||
		get_func_namespace(call->aggfnoid) != PG_CATALOG_NAMESPACE)
		return false;
	name = get_func_name(call->aggfnoid);
	return name && strcmp(name, "coord_combine_agg") == 0;
}

/* An expression_tree_walker: the first argument is the aggregate that is combined. */
static bool
set_collation(Node *node, void *collations)
{
	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (IsA(node, Aggref) && is_combination((Aggref *) node))
	{
		Expr	   *aggregate = linitial_node(TargetEntry, ((Aggref *) node)->args)->expr;
		Collated   *collated = IsA(aggregate, Const) ? find_collated(collations, DatumGetObjectId(((Const *) aggregate)->constvalue)) : NULL;

		if (collated)
			((Aggref *) node)->inputcollid = collated->collation;
	}
	return expression_tree_walker(node, set_collation, collations);
}

/* Goes through the nodes that Citus puts on top of its own: aggregates and subqueries. */
static void
collate_plan(Plan *plan, List *collations)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (plan == NULL)
		return;
	if (IsA(plan, Agg))
	{
		(void) set_collation((Node *) plan->targetlist, collations);
		(void) set_collation((Node *) plan->qual, collations);
	}
	else if (IsA(plan, SubqueryScan))
		collate_plan(((SubqueryScan *) plan)->subplan, collations);
	collate_plan(plan->lefttree, collations);
	collate_plan(plan->righttree, collations);
}

void
tde_combined_collate(PlannedStmt *plan, List *collations)
{
	ListCell   *cell;

	if (collations == NIL)
		return;
	collate_plan(plan->planTree, collations);
	foreach(cell, plan->subplans)
		collate_plan(lfirst(cell), collations);
}
