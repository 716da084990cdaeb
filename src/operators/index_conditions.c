/*
 * index_conditions.c - conditions that decrypt although an index serves them: lower(email) = 'x', ON CONFLICT (lower(email)), WHERE ok,
 * name::text LIKE 'a%', doc @> '{}'.
 *
 * PostgreSQL finds an index by the expression that a query has.  So before a query is planned, an expression that one of its tables
 * has in an index is put in the form that it has there (operators/computed_form.c), and its comparison becomes that of the encrypted
 * type, which gives the same.
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"

#include "operators/arrays.h"
#include "operators/blind_class.h"
#include "operators/computed.h"
#include "operators/index_conditions.h"
#include "operators/indexed_forms.h"
#include "operators/indexed_order.h"
#include "operators/indexed_tables.h"
#include "operators/opclass.h"
#include "operators/prepared.h"
#include "server/compat.h"
#include "type/core.h"
#include "type/inside.h"

/* ---- comparisons ---- */

/* The operator of the same name beside an encrypted type, which takes what is encrypted as it is; *left and *right: what it takes. */
static Oid
encrypted_operator(Oid operator, Oid *left, Oid *right)
{
	TdeType    *encrypted[] = {tde_type_find(*left), tde_type_find(*right)};
	Oid			found;

	if (!tde_inside_is_base_operator(operator))
		return InvalidOid;
	found = tde_core_operator_with(encrypted[0] ? *left : *right, get_opname(operator), left, right);
	if (!OidIsValid(found))
		return InvalidOid;
	return tde_type_find(*left) == encrypted[0] && tde_type_find(*right) == encrypted[1] && get_op_rettype(found) == BOOLOID ? found : InvalidOid;
}

/* An operand of the type that the operator takes, which differs from its own at most by a name. */
static Node *
as_operand(Node *node, Oid type)
{
	if (exprType(node) == type)
		return node;
	return coerce_to_target_type(NULL, node, exprType(node), type, -1, COERCION_IMPLICIT, COERCE_IMPLICIT_CAST, -1);
}

/* What is remembered of forms has no collations yet. */
static Node *
completed(Node *form, const TdeUsable *usable)
{
	return usable->remembered ? tde_form_collated(form) : form;
}

/* A comparison of what an index has, with anything; NULL if it is none.  left and right: the operands' forms, or NULL. */
static Node *
compare_encrypted(OpExpr *op, Node *left, Node *right, const TdeUsable *usable)
{
	Oid			left_type;
	Oid			right_type;
	Oid			operator;
	OpExpr	   *changed;

	if (left == NULL && right == NULL)
		return NULL;
	left_type = exprType(left ? left : linitial(op->args));
	right_type = exprType(right ? right : lsecond(op->args));
	operator = encrypted_operator(op->opno, &left_type, &right_type);
	if (!OidIsValid(operator))
		return NULL;
	left = left ? completed(left, usable) : copyObject(linitial(op->args));
	right = right ? completed(right, usable) : copyObject(lsecond(op->args));
	changed = makeNode(OpExpr);
	*changed = *op;
	changed->opno = operator;
	changed->opfuncid = get_opcode(operator);
	changed->args = list_make2(as_operand(left, left_type), as_operand(right, right_type));
	return (Node *) changed;
}

/*
 * doc @> '{"a": 1}', and the other way round: by the operator that classes of GIN have for the encrypted type; NULL: it is none of these.  That takes
 * the query in clear, so only the column's side is replaced.
 */
static Node *
search_encrypted(OpExpr *op, Node *left, Node *right)
{
	Node	   *forms[2] = {left, right};
	Oid			operators[2] = {op->opno, get_commutator(op->opno)};

	for (int column = 0; column < 2; column++)
	{
		Node	   *form = OidIsValid(operators[column]) ? forms[column] : NULL;
		Oid			type = form ? getBaseType(exprType(form)) : InvalidOid;
		Oid			operator = form ? tde_blind_operator_for(operators[column], type) : InvalidOid;
		OpExpr	   *changed;

		if (!OidIsValid(operator))
			continue;
		changed = makeNode(OpExpr);
		*changed = *op;
		changed->opno = operator;
		changed->opfuncid = get_opcode(operator);
		changed->args = list_make2(as_operand(form, type), copyObject(list_nth(op->args, 1 - column)));
		return (Node *) changed;
	}
	return NULL;
}

/* lower(email) = ANY (...), which IN (...) becomes.  hashfuncid and negfuncid are the planner's to set anew. */
static Node *
compare_any_encrypted(ScalarArrayOpExpr *op, const TdeUsable *usable)
{
	Node	   *form = tde_indexed_form(linitial(op->args), usable);
	Oid			type = form ? exprType(form) : InvalidOid;
	Oid			element = get_element_type(exprType(lsecond(op->args)));
	Oid			operator = form && OidIsValid(element) ? encrypted_operator(op->opno, &type, &element) : InvalidOid;

	if (!OidIsValid(operator))
		return NULL;
	op = copyObject(op);
	op->opno = operator;
	op->opfuncid = get_opcode(operator);
	op->hashfuncid = op->negfuncid = InvalidOid;
	op->args = list_make2(completed(form, usable), as_operand(lsecond(op->args), get_array_type(element)));
	return (Node *) op;
}

/* WHERE ok, or WHERE NOT ok, as a comparison of what is encrypted: ok = true.  PostgreSQL matches a bare boolean with an index of booleans only. */
static Node *
compare_boolean(Node *node, bool value, const TdeUsable *usable)
{
	Node	   *form = exprType(node) == BOOLOID ? tde_indexed_form(node, usable) : NULL;
	Oid			left = form ? exprType(form) : InvalidOid;
	Oid			right = BOOLOID;
	Oid			operator = form ? encrypted_operator(BooleanEqualOperator, &left, &right) : InvalidOid;
	OpExpr	   *op;

	if (!OidIsValid(operator))
		return NULL;
	op = (OpExpr *) make_opclause(operator, BOOLOID, false, (Expr *) completed(form, usable), (Expr *) makeBoolConst(value, false), InvalidOid, InvalidOid);
	op->opfuncid = get_opcode(operator);
	return (Node *) op;
}

/* lower(email) IS NULL */
static Node *
test_encrypted(NullTest *test, const TdeUsable *usable)
{
	Node	   *form = test->argisrow ? NULL : tde_indexed_form((Node *) test->arg, usable);

	if (form == NULL)
		return NULL;
	test = copyObject(test);
	test->arg = (Expr *) completed(form, usable);
	return (Node *) test;
}

/* ON CONFLICT (lower(email)) names an index by its expression, which is the encrypted one there. */
static Node *
infer_encrypted(InferenceElem *element, const TdeUsable *usable)
{
	Node	   *form = tde_indexed_form(element->expr, usable);

	if (form == NULL)
		return NULL;
	element = copyObject(element);
	element->expr = form;
	return (Node *) element;
}

/* What becomes of a condition; NULL: it stays, and what it is made of is looked at. */
static Node *
encrypted_condition(Node *node, const TdeUsable *usable)
{
	Node	   *changed;
	Node	   *array;
	Node	   *left;
	Node	   *right;

	switch (nodeTag(node))
	{
		case T_OpExpr:
			if (list_length(((OpExpr *) node)->args) != 2 || ((OpExpr *) node)->opresulttype != BOOLOID)
				return NULL;
			array = usable->remembered ? NULL : tde_array_column((OpExpr *) node);
			if (array)
				return tde_indexed_find(array, usable) ? tde_array_comparison((OpExpr *) node) : NULL;
			left = tde_indexed_form(linitial(((OpExpr *) node)->args), usable);
			right = tde_indexed_form(lsecond(((OpExpr *) node)->args), usable);
			changed = compare_encrypted((OpExpr *) node, left, right, usable);
			if (changed || usable->remembered)
				return changed;
			/* what it says, may itself be indexed */
			changed = compare_boolean(node, true, usable);
			if (changed)
				return changed;
			/* a column needs no index to be searched so, but its statistics are asked */
			return search_encrypted((OpExpr *) node, left ? left : tde_form_operand(linitial(((OpExpr *) node)->args)),
									right ? right : tde_form_operand(lsecond(((OpExpr *) node)->args)));
		case T_ScalarArrayOpExpr:
			return compare_any_encrypted((ScalarArrayOpExpr *) node, usable);
		case T_BoolExpr:
			if (((BoolExpr *) node)->boolop != NOT_EXPR)
				return NULL;
			return compare_boolean(linitial(((BoolExpr *) node)->args), false, usable);
		case T_FuncExpr:
			return compare_boolean(node, true, usable);
		case T_NullTest:
			return test_encrypted((NullTest *) node, usable);
		case T_InferenceElem:
			return infer_encrypted((InferenceElem *) node, usable);
		default:
			return NULL;
	}
}

/* An expression_tree_mutator. */
static Node *
use_indexes(Node *node, void *usable)
{
	Node	   *changed;

	CHECK_FOR_INTERRUPTS();
	/* subqueries in expressions have their turn */
	if (node == NULL || IsA(node, Query))
		return node;
	changed = encrypted_condition(node, usable);
	return changed ? changed : expression_tree_mutator(node, use_indexes, usable);
}

/* ---- outer joins ---- */

/* What is looked for by add_test(), and what it has found. */
typedef struct NotNull
{
	Relids		tables;			/* that still want a test */
	List	   *tests;
} NotNull;

/* An expression_tree_walker. */
static bool
add_test(Node *node, void *context)
{
	NotNull    *not_null = context;
	NullTest   *test;

	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (!IsA(node, Var))
		return expression_tree_walker(node, add_test, context);
	if (((Var *) node)->varlevelsup != 0 || !bms_is_member(((Var *) node)->varno, not_null->tables))
		return false;
	not_null->tables = bms_del_member(not_null->tables, ((Var *) node)->varno);
	test = makeNode(NullTest);
	test->arg = (Expr *) copyObject(node);
	test->nulltesttype = IS_NOT_NULL;
	test->location = -1;
	not_null->tests = lappend(not_null->tests, test);
	return false;
}

/* Adds tests of the columns that make a condition NULL.  What stands beside them in an operator may be a CASE, which a NULL need not make NULL. */
static void
add_tests(Node *node, NotNull *not_null)
{
	ListCell   *cell;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (IsA(node, OpExpr) && op_strict(((OpExpr *) node)->opno))
		foreach(cell, ((OpExpr *) node)->args)
			add_tests(lfirst(cell), not_null);
	else if (!contain_nonstrict_functions(node))
		(void) add_test(node, not_null);
}

/*
 * That a column is not NULL, of each table of which the condition tells PostgreSQL so and what has become of it does not: tde_computed() is
 * not STRICT.  It makes inner joins of outer ones by that; a FULL JOIN may have no other plan.
 */
static List *
not_null_tests(Node *condition, Node *changed)
{
	Node	   *strict = condition;
	NotNull		not_null = {bms_difference(find_nonnullable_rels(condition), find_nonnullable_rels(changed)), NIL};

	if (IsA(condition, ScalarArrayOpExpr))	/* not what the array has */
		strict = linitial(((ScalarArrayOpExpr *) condition)->args);
	else if (IsA(condition, NullTest))
		strict = (Node *) ((NullTest *) condition)->arg;
	if (not_null.tables)
		add_tests(strict, &not_null);
	return not_null.tests;
}

/* The conditions of WHERE or ON, of which NULL is as good as false. */
static Node *
use_indexes_in_conditions(Node *conditions, const TdeUsable *usable)
{
	List	   *changed = NIL;
	ListCell   *cell;

	foreach(cell, make_ands_implicit((Expr *) conditions))
	{
		Node	   *condition = use_indexes(lfirst(cell), (void *) usable);

		changed = lappend(changed, condition);
		if (condition != lfirst(cell))
			changed = list_concat(changed, not_null_tests(lfirst(cell), condition));
	}
	return changed ? (Node *) make_ands_explicit(changed) : NULL;
}

/* An expression_tree_mutator, for FROM of a query with outer joins. */
static Node *
use_indexes_beside_outer_joins(Node *node, void *usable)
{
	Node	   *copy;

	CHECK_FOR_INTERRUPTS();
	if (node == NULL || !(IsA(node, FromExpr) || IsA(node, JoinExpr) || IsA(node, List)))
		return node;
	copy = expression_tree_mutator(node, use_indexes_beside_outer_joins, usable);
	if (IsA(copy, FromExpr))
		((FromExpr *) copy)->quals = use_indexes_in_conditions(((FromExpr *) copy)->quals, usable);
	else if (IsA(copy, JoinExpr))
		((JoinExpr *) copy)->quals = use_indexes_in_conditions(((JoinExpr *) copy)->quals, usable);
	return copy;
}

/* ---- conditions and queries ---- */

Node *
tde_condition_form(Node *condition, HTAB *remembered)
{
	TdeUsable	usable = {.remembered = remembered};

	return use_indexes(condition, &usable);
}

Node *
tde_index_condition_form(Node *condition)
{
	HTAB	   *remembered = tde_forms_remembered();

	condition = tde_condition_form(condition, remembered);
	hash_destroy(remembered);
	return condition;
}

/* ON CONFLICT (id) WHERE ok: PostgreSQL makes no boolean of this condition, as it does of all others. */
static void
make_boolean(OnConflictExpr *conflict)
{
	TdeType    *type = conflict->arbiterWhere ? tde_type_find(exprType(conflict->arbiterWhere)) : NULL;

	if (type && type->base == BOOLOID)
		conflict->arbiterWhere = as_operand(conflict->arbiterWhere, BOOLOID);
}

static void prepare_conditions(Query *query);

/* Subqueries that stand in expressions. */
static bool
prepare_sublinks(Node *node, void *context)
{
	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		prepare_conditions((Query *) node);
		return false;
	}
	return expression_tree_walker(node, prepare_sublinks, context);
}

/*
 * Prepares a query that may have something to prepare, in this order: FROM's subqueries, its own conditions, ON CONFLICT, aggregates, CTEs,
 * subqueries in expressions.  pg_noinline, so that most statements need no room for it.
 */
static pg_noinline void
prepare_query(Query *query)
{
	bool		compares = query->jointree->fromlist != NIL || query->onConflict;
	bool		any = false;
	bool		outer = false;
	TdeUsable	usable = {.range_table = query->rtable};
	ListCell   *cell;

	check_stack_depth();
	foreach(cell, query->rtable)
	{
		RangeTblEntry *entry = lfirst(cell);
		const TdeIndexedTable *table = compares && tde_may_have_indexes(entry) ? tde_indexed_table(entry->relid) : NULL;

		CHECK_FOR_INTERRUPTS();
		outer |= entry->rtekind == RTE_JOIN && IS_OUTER_JOIN(entry->jointype);
		if (entry->rtekind == RTE_SUBQUERY)
			prepare_conditions(entry->subquery);
		if (table)
		{
			any = true;
			if (table->computed)
				usable.computed = list_append_unique_oid(usable.computed, entry->relid);
		}
	}
	if (unlikely(any))
	{
		Node	   *from = (Node *) query->jointree;

		query->jointree = (FromExpr *) (outer ? use_indexes_beside_outer_joins(from, &usable) : use_indexes(from, &usable));
		if (query->onConflict)
		{
			make_boolean(query->onConflict);
			query->onConflict = (OnConflictExpr *) use_indexes((Node *) query->onConflict, &usable);
		}
	}
	if (query->onConflict)
		tde_opclass_infer(query->onConflict);
	if (query->hasAggs)
	{
		tde_indexed_order_extremes(query, &usable);
		tde_prepared_aggregates(query);
	}
	foreach(cell, query->cteList)
		prepare_conditions((Query *) lfirst_node(CommonTableExpr, cell)->ctequery);
	if (query->hasSubLinks)
		(void) query_tree_walker(query, prepare_sublinks, NULL, QTW_IGNORE_RT_SUBQUERIES | QTW_IGNORE_CTE_SUBQUERIES);
}

/*
 * Prepares a query if it may have conditions that indexes of encrypted results serve.  It is asked for each subquery again: each has tables of its
 * own.
 */
static void
prepare_conditions(Query *query)
{
	bool		compares = query->jointree->fromlist != NIL || query->setOperations;
	bool		prepare = query->onConflict || query->cteList != NIL || query->hasSubLinks || query->hasAggs;
	ListCell   *cell;

	/* most statements have nothing of that, and no encrypted column in an index; INSERT ... VALUES compares nothing */
	foreach(cell, compares && !prepare ? query->rtable : NIL)
	{
		RangeTblEntry *entry = lfirst(cell);

		if (entry->rtekind == RTE_SUBQUERY || (tde_may_have_indexes(entry) && tde_indexed_table(entry->relid)))
			prepare = true;
	}
	if (unlikely(prepare))
		prepare_query(query);
}

void
tde_index_conditions_prepare(Query *query)
{
	prepare_conditions(query);
	tde_prepared_joins(query);
}
