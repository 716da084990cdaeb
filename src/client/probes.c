/*
 * probes.c - statements that compare encrypted columns with values that one can guess: a search for values that the role does not see.
 *
 * They are counted before the statement runs, by its plan: a comparison with a constant or a parameter as one for each time that its node is to
 * run, one with plain columns as one for each of their rows, as many as the planner expects.
 */
#include "postgres.h"

#include <math.h>

#include "access/parallel.h"
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

#include "client/probes.h"
#include "server/compat.h"
#include "server/probe_counts.h"
#include "type/access.h"
#include "type/inside.h"

/* A look at one node of a plan. */
typedef struct Search
{
	PlanState  *node;			/* NULL: above the top node */
	double		loops;			/* how often the node is to run */
	double		probes;			/* counted so far, of this node and those below */
} Search;

/* ---- expressions ---- */

/* Returns true for an expression of an encrypted type, or of one that has parts of those: an array, a row, a range, a domain. */
static bool
is_encrypted(Node *expr)
{
	Oid			type = exprType(expr);

	return type >= FirstNormalObjectId && tde_type_holds_encrypted(type);
}

/* Returns with how many values an operand without columns compares.  A constant array has several; how many a parameter's has, is not known. */
static double
values_of(Node *operand)
{
	Const	   *constant = (Const *) operand;

	if (!IsA(operand, Const) || constant->constisnull || !OidIsValid(get_element_type(constant->consttype)))
		return 1;
	return ArrayGetNItems(ARR_NDIM(DatumGetArrayTypeP(constant->constvalue)), ARR_DIMS(DatumGetArrayTypeP(constant->constvalue)));
}

/* Returns how many rows the planner expects of the node that the operand's columns come from. */
static double
rows_of(List *columns, Search *search)
{
	Plan	   *plan = search->node->plan;
	int			varno = linitial_node(Var, columns)->varno;

	if (varno == OUTER_VAR && outerPlan(plan))
		plan = outerPlan(plan);
	else if (varno == INNER_VAR && innerPlan(plan))
		plan = innerPlan(plan);
	return plan->plan_rows;
}

/*
 * email = $1 counts once, email = other.address once for each row of other, email IN ('a', 'b') twice.  Two encrypted columns tell nothing that one
 * could guess.
 */
static void
count_comparison(Node *left, Node *right, Search *search)
{
	Node	   *other = is_encrypted(left) ? right : left;
	Node	   *encrypted = is_encrypted(left) ? left : right;
	List	   *columns = pull_var_clause(other, PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS | PVC_RECURSE_PLACEHOLDERS);

	if (!is_encrypted(encrypted))
		return;
	if (!is_encrypted(other))
		search->probes += search->loops * (columns ? rows_of(columns, search) : values_of(other));
	/* a constant in quotes has become an encrypted one */
	else if (contain_var_clause(encrypted) != (columns != NIL))
		search->probes += search->loops * values_of(columns ? encrypted : other);
}

/*
 * Operators and functions tell something if what they return is not encrypted: pan = 'x', pans @> '{x}', array_position(pans, 'x').  PostgreSQL's own
 * are among them, for arrays and rows of any type.
 */
static void
count_operands(Node *call, List *operands, Search *search)
{
	if (list_length(operands) >= 2 && !is_encrypted(call))
		count_comparison(linitial(operands), lsecond(operands), search);
}

/* An expression_tree_walker. */
static bool
look(Node *node, void *context)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (IsA(node, OpExpr) || IsA(node, DistinctExpr))
		count_operands(node, ((OpExpr *) node)->args, context);
	else if (IsA(node, NullIfExpr))
		count_comparison(linitial(((NullIfExpr *) node)->args), lsecond(((NullIfExpr *) node)->args), context);
	else if (IsA(node, ScalarArrayOpExpr))
		count_operands(node, ((ScalarArrayOpExpr *) node)->args, context);
	/* the other arguments of a cast's function are modifiers */
	else if (IsA(node, FuncExpr) && ((FuncExpr *) node)->funcformat == COERCE_EXPLICIT_CALL)
		count_operands(node, ((FuncExpr *) node)->args, context);
	else if (IsA(node, RowCompareExpr))
	{
		ListCell   *left;
		ListCell   *right;

		forboth(left, ((RowCompareExpr *) node)->largs, right, ((RowCompareExpr *) node)->rargs)
			count_comparison(lfirst(left), lfirst(right), context);
	}
	return expression_tree_walker(node, look, context);
}

/* ---- plans ---- */

/* Returns conditions as they were before an index, a hash table or a merge has taken them; plan->qual has the others. */
static List *
own_conditions(Plan *plan)
{
	switch (nodeTag(plan))
	{
		case T_IndexScan:
			return ((IndexScan *) plan)->indexqualorig;
		case T_IndexOnlyScan:
			return ((IndexOnlyScan *) plan)->indexqual;
		case T_BitmapHeapScan:
			return ((BitmapHeapScan *) plan)->bitmapqualorig;
		case T_Result:
			return (List *) ((Result *) plan)->resconstantqual;
		case T_NestLoop:
			return ((Join *) plan)->joinqual;
		case T_HashJoin:
			return list_concat_copy(((HashJoin *) plan)->hashclauses, ((Join *) plan)->joinqual);
		case T_MergeJoin:
			return list_concat_copy(((MergeJoin *) plan)->mergeclauses, ((Join *) plan)->joinqual);
		default:
			return NIL;
	}
}

static bool count_node(PlanState *node, void *context);

/* A planstate_tree_walker's function, of subplans, too: how often these run is not known before, at least as often as there are rows. */
static bool
count_node(PlanState *node, void *context)
{
	Search	   *outer = context;
	Search		search = {node, outer->loops, 0};
	bool		is_inner = outer->node && IsA(outer->node, NestLoopState) && innerPlanState(outer->node) == node;
	ListCell   *cell;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (is_inner)
		search.loops *= Max(outerPlanState(outer->node)->plan->plan_rows, 1);
	foreach(cell, outer->node ? outer->node->subPlan : NIL)
		if (lfirst_node(SubPlanState, cell)->planstate == node)
			search.loops *= Max(outer->node->plan->plan_rows, 1);
	(void) look((Node *) node->plan->targetlist, &search);
	(void) look((Node *) node->plan->qual, &search);
	(void) look((Node *) own_conditions(node->plan), &search);
	(void) planstate_tree_walker(node, count_node, &search);
	outer->probes += search.probes;
	return false;
}

/* What a foreign key looks up is a row's own value; what workers run, their leader has counted. */
void
tde_probes_count(QueryDesc *query)
{
	Search		search = {NULL, 1, 0};

	if (query->planstate == NULL || IsParallelWorker() || tde_access_is_permitted() || InNoForceRLSOperation())
		return;
	(void) count_node(query->planstate, &search);
	if (search.probes >= 1)
		tde_probes_add(search.probes < (double) PG_INT64_MAX ? (uint64) search.probes : PG_INT64_MAX);
}
