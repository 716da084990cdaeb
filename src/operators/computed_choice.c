/*
 * computed_choice.c - what chooses one of several values, so that it can choose encrypted ones: COALESCE, CASE, GREATEST, LEAST.
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"

#include "operators/computed_choice.h"
#include "server/compat.h"
#include "type/type.h"

static TdeConditionForm condition_form = NULL;

void
tde_choices_init(TdeConditionForm form)
{
	condition_form = form;
}

bool
tde_is_choice(const Node *node)
{
	return IsA(node, CoalesceExpr) || IsA(node, CaseExpr) || IsA(node, MinMaxExpr);
}

bool
tde_choice_is_encrypted(const Node *node)
{
	return tde_is_choice(node) && tde_type_find(exprType(node));
}

List *
tde_choice_alternatives(Node *choice)
{
	List	   *alternatives = NIL;
	ListCell   *cell;

	if (IsA(choice, CoalesceExpr))
		return ((CoalesceExpr *) choice)->args;
	if (IsA(choice, MinMaxExpr))
		return ((MinMaxExpr *) choice)->args;
	foreach(cell, ((CaseExpr *) choice)->args)
		alternatives = lappend(alternatives, lfirst_node(CaseWhen, cell)->result);
	return lappend(alternatives, ((CaseExpr *) choice)->defresult);
}

/*
 * A CASE of other alternatives.  CASE x WHEN ... has its value as CaseTestExpr in the conditions, which have no form then; the argument is copied
 * with the node.
 */
static Node *
case_of(CaseExpr *choice, Oid type, List *alternatives, HTAB *remembered)
{
	CaseExpr   *result = makeNode(CaseExpr);
	ListCell   *cell;

	*result = *choice;
	result->casetype = type;
	result->location = -1;
	result->args = NIL;
	foreach(cell, choice->args)
	{
		CaseWhen   *when = makeNode(CaseWhen);

		when->expr = (Expr *) condition_form((Node *) lfirst_node(CaseWhen, cell)->expr, remembered);
		when->result = list_nth(alternatives, foreach_current_index(cell));
		when->location = -1;
		result->args = lappend(result->args, when);
	}
	result->defresult = llast(alternatives);
	return (Node *) result;
}

Node *
tde_choice_of(Node *choice, Oid type, List *alternatives, HTAB *remembered)
{
	CoalesceExpr *coalesce;
	MinMaxExpr *least_or_greatest;

	if (IsA(choice, CaseExpr))
		return case_of((CaseExpr *) choice, type, alternatives, remembered);
	if (IsA(choice, MinMaxExpr))
	{
		least_or_greatest = makeNode(MinMaxExpr);
		least_or_greatest->minmaxtype = type;
		least_or_greatest->op = ((MinMaxExpr *) choice)->op;
		least_or_greatest->args = alternatives;
		least_or_greatest->location = -1;
		return (Node *) least_or_greatest;
	}
	coalesce = makeNode(CoalesceExpr);
	coalesce->coalescetype = type;
	coalesce->args = alternatives;
	coalesce->location = -1;
	return (Node *) coalesce;
}
