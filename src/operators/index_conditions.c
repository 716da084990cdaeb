/*
 * index_conditions.c - conditions that decrypt although an index serves them: lower(email) = 'x', ON CONFLICT (lower(email)), WHERE ok,
 * name::text LIKE 'a%'.
 *
 * PostgreSQL finds an index by the expression that a query has.  So before a query is planned, an expression that one of its tables
 * has in an index is put in the form that it has there (operators/computed_form.c), and its comparison becomes that of the encrypted
 * type, which gives the same.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "operators/arrays.h"
#include "operators/computed.h"
#include "operators/index_conditions.h"
#include "operators/indexed_tables.h"
#include "operators/opclass.h"
#include "server/compat.h"
#include "type/inside.h"

/* ---- what a query can use ---- */

/* A mutator's context. */
typedef struct Usable
{
	List	   *range_table;	/* of a query; NIL: no matter what the indexes have */
	bool		computed;		/* do they have something computed? */
} Usable;

static inline bool
is_table(RangeTblEntry *entry)
{
	return entry->rtekind == RTE_RELATION && entry->relid >= FirstNormalObjectId && entry->relkind != RELKIND_VIEW;
}

/* An expression_tree_mutator: without the specifications of what is computed. */
static Node *
without_specification(Node *node, void *context)
{
	Node	   *copy = node ? expression_tree_mutator(node, without_specification, context) : NULL;

	if (copy && tde_is_computed(copy) && IsA(linitial(((FuncExpr *) copy)->args), Const))
		linitial_node(Const, ((FuncExpr *) copy)->args)->consttypmod = -1;
	return copy;
}

/* Of an expression. */
typedef struct Columns
{
	Relids		tables;			/* whose they are */
	Relids		nulling;		/* outer joins that may make them NULL */
} Columns;

/* An expression_tree_walker. */
static bool
find_columns(Node *node, void *context)
{
	Columns    *columns = context;

	if (node == NULL)
		return false;
	if (!IsA(node, Var))
		return expression_tree_walker(node, find_columns, context);
	if (((Var *) node)->varlevelsup == 0)
	{
		columns->tables = bms_add_member(columns->tables, ((Var *) node)->varno);
		columns->nulling = bms_add_members(columns->nulling, TDE_NULLING_OF((Var *) node));
	}
	return false;
}

/* What is computed as an index has it, whose column may have got another specification since; NULL: none has it. */
static Node *
find_computed(Node *form, int place, Oid relid, const Columns *columns)
{
	const TdeIndexedTable *table;
	ListCell   *cell;

	/* may call users' functions, whose queries look up tables, too */
	form = TDE_WITHOUT_NULLING(eval_const_expressions(NULL, form), columns->nulling);
	ChangeVarNodes(form, place, 1, 0);
	form = without_specification(form, NULL);
	table = tde_indexed_table(relid);
	if (table == NULL)
		return NULL;
	foreach(cell, table->computed)
	{
		Node	   *found = lfirst(cell);

		if (!equal(without_specification(found, NULL), form))
			continue;
		found = copyObject(found);
		ChangeVarNodes(found, 1, place, 0);
		return TDE_WITH_NULLING(found, place, columns->nulling);
	}
	return NULL;
}

/* This as an index has it, a column or what is computed; NULL: none has it. */
static Node *
find_indexed(Node *form, List *range_table)
{
	Columns		columns = {NULL, NULL};
	int			place;
	RangeTblEntry *entry;
	const TdeIndexedTable *table;

	/* no index has a subquery, which the query's would share with what is made of it here */
	if (checkExprHasSubLink(form) || find_columns(form, &columns) || !bms_get_singleton_member(columns.tables, &place) ||
		place > list_length(range_table))
		return NULL;
	entry = list_nth(range_table, place - 1);
	if (!is_table(entry))
		return NULL;
	if (!IsA(form, Var))
		return find_computed(form, place, entry->relid, &columns);
	table = tde_indexed_table(entry->relid);
	return table && bms_is_member(((Var *) form)->varattno, table->columns) ? form : NULL;
}

/* An expression as an index has it; NULL if none does.  COLLATE stays: the definition of a condition is written with it. */
static Node *
indexed_form(Node *node, const Usable *usable)
{
	Node	   *form;

	if (IsA(node, CollateExpr))
	{
		CollateExpr *collate = copyObject((CollateExpr *) node);

		collate->arg = (Expr *) indexed_form((Node *) collate->arg, usable);
		return collate->arg ? (Node *) collate : NULL;
	}
	form = usable->computed ? tde_encrypted_form(node) : tde_encrypted_operand(node);
	return form == NULL || usable->range_table == NIL ? form : find_indexed(form, usable->range_table);
}

/* The operator of the same name beside an encrypted type, which takes what is encrypted as it is; *left and *right: what it takes. */
static Oid
encrypted_operator(Oid operator, Oid *left, Oid *right)
{
	TdeType    *encrypted[] = {tde_type_find(*left), tde_type_find(*right)};
	HeapTuple	tuple = tde_is_base_operator(operator) ? SearchSysCache1(TYPEOID, ObjectIdGetDatum(encrypted[0] ? *left : *right)) : NULL;
	Oid			found;

	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	found = tde_operator_for(((Form_pg_type) GETSTRUCT(tuple))->typnamespace, get_opname(operator), left, right);
	ReleaseSysCache(tuple);
	if (!OidIsValid(found))
		return InvalidOid;
	return tde_type_find(*left) == encrypted[0] && tde_type_find(*right) == encrypted[1] && get_op_rettype(found) == BOOLOID ? found : InvalidOid;
}

/* An operand of the type that the operator takes, which differs from its own at most by a name. */
static Node *
as_operand(Node *node, Oid type)
{
	return coerce_to_target_type(NULL, node, exprType(node), type, -1, COERCION_IMPLICIT, COERCE_IMPLICIT_CAST, -1);
}

/* A comparison of what an index has, with anything; NULL if it is none. */
static Node *
compare_encrypted(OpExpr *op, const Usable *usable)
{
	Node	   *left = indexed_form(linitial(op->args), usable);
	Node	   *right = indexed_form(lsecond(op->args), usable);
	Oid			left_type;
	Oid			right_type;
	Oid			operator;

	if (left == NULL && right == NULL)
		return NULL;
	left = left ? left : linitial(op->args);
	right = right ? right : lsecond(op->args);
	left_type = exprType(left);
	right_type = exprType(right);
	operator = encrypted_operator(op->opno, &left_type, &right_type);
	if (!OidIsValid(operator))
		return NULL;
	op = copyObject(op);
	op->opno = operator;
	op->opfuncid = get_opcode(operator);
	op->args = list_make2(as_operand(left, left_type), as_operand(right, right_type));
	return (Node *) op;
}

/* lower(email) = ANY (...) */
static Node *
compare_any_encrypted(ScalarArrayOpExpr *op, const Usable *usable)
{
	Node	   *form = indexed_form(linitial(op->args), usable);
	Oid			type = form ? exprType(form) : InvalidOid;
	Oid			element = get_element_type(exprType(lsecond(op->args)));
	Oid			operator = form && OidIsValid(element) ? encrypted_operator(op->opno, &type, &element) : InvalidOid;

	if (!OidIsValid(operator))
		return NULL;
	op = copyObject(op);
	op->opno = operator;
	op->opfuncid = get_opcode(operator);
	op->hashfuncid = op->negfuncid = InvalidOid;
	op->args = list_make2(form, as_operand(lsecond(op->args), get_array_type(element)));
	return (Node *) op;
}

/* ok, or NOT ok, as a comparison. */
static Node *
compare_boolean(Node *node, bool value, const Usable *usable)
{
	Node	   *form = exprType(node) == BOOLOID ? indexed_form(node, usable) : NULL;
	Oid			left = form ? exprType(form) : InvalidOid;
	Oid			right = BOOLOID;
	Oid			operator = form ? encrypted_operator(BooleanEqualOperator, &left, &right) : InvalidOid;
	OpExpr	   *op;

	if (!OidIsValid(operator))
		return NULL;
	op = (OpExpr *) make_opclause(operator, BOOLOID, false, (Expr *) form, (Expr *) makeBoolConst(value, false), InvalidOid, InvalidOid);
	op->opfuncid = get_opcode(operator);
	return (Node *) op;
}

static Node *
infer_encrypted(InferenceElem *element, const Usable *usable)
{
	Node	   *form = indexed_form(element->expr, usable);

	if (form == NULL)
		return NULL;
	element = copyObject(element);
	element->expr = form;
	return (Node *) element;
}

static Node *
encrypted_condition(Node *node, const Usable *usable)
{
	Node	   *changed;
	Node	   *array;

	switch (nodeTag(node))
	{
		case T_OpExpr:
			if (list_length(((OpExpr *) node)->args) != 2 || ((OpExpr *) node)->opresulttype != BOOLOID)
				return NULL;
			array = usable->range_table == NIL ? NULL : tde_array_column((OpExpr *) node);
			if (array)
				return find_indexed(array, usable->range_table) ? tde_array_comparison((OpExpr *) node) : NULL;
			changed = compare_encrypted((OpExpr *) node, usable);
			/* what it says, may itself be indexed */
			return changed == NULL && usable->range_table != NIL ? compare_boolean(node, true, usable) : changed;
		case T_ScalarArrayOpExpr:
			return compare_any_encrypted((ScalarArrayOpExpr *) node, usable);
		case T_BoolExpr:
			if (((BoolExpr *) node)->boolop != NOT_EXPR)
				return NULL;
			return compare_boolean(linitial(((BoolExpr *) node)->args), false, usable);
		case T_FuncExpr:
			return compare_boolean(node, true, usable);
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

	/* subqueries in expressions have their turn */
	if (node == NULL || IsA(node, Query))
		return node;
	changed = encrypted_condition(node, usable);
	return changed ? changed : expression_tree_mutator(node, use_indexes, usable);
}

/* ---- outer joins ---- */

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

/* Of the columns that make it NULL.  What stands beside them in an operator may be a CASE. */
static void
add_tests(Node *node, NotNull *not_null)
{
	ListCell   *cell;

	if (!contain_nonstrict_functions(node))
		(void) add_test(node, not_null);
	else if (IsA(node, OpExpr) && op_strict(((OpExpr *) node)->opno))
		foreach(cell, ((OpExpr *) node)->args)
			add_tests(lfirst(cell), not_null);
}

/*
 * That a column is not NULL, of each table of which the condition tells PostgreSQL so and what has become of it does not: tde_computed() is
 * not STRICT.  It makes inner joins of outer ones by that; a FULL JOIN may have no other plan.
 */
static List *
not_null_tests(Node *condition, Node *changed)
{
	Node	   *strict = IsA(condition, ScalarArrayOpExpr) ? linitial(((ScalarArrayOpExpr *) condition)->args) : condition; /* not what the array has */
	NotNull		not_null = {bms_difference(find_nonnullable_rels(condition), find_nonnullable_rels(changed)), NIL};

	if (not_null.tables)
		add_tests(strict, &not_null);
	return not_null.tests;
}

/* The conditions of WHERE or ON, of which NULL is as good as false. */
static Node *
use_indexes_in_conditions(Node *conditions, const Usable *usable)
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
tde_index_condition_form(Node *condition)
{
	Usable		usable = {NIL, true};

	return use_indexes(condition, &usable);
}

/* ON CONFLICT (id) WHERE ok: PostgreSQL makes no boolean of this condition, as it does of all others. */
static void
make_boolean(OnConflictExpr *conflict)
{
	TdeType    *type = conflict->arbiterWhere ? tde_type_find(exprType(conflict->arbiterWhere)) : NULL;

	if (type && type->base == BOOLOID)
		conflict->arbiterWhere = as_operand(conflict->arbiterWhere, BOOLOID);
}

/* Subqueries that stand in expressions. */
static bool
prepare_sublinks(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		tde_index_conditions_prepare((Query *) node);
		return false;
	}
	return expression_tree_walker(node, prepare_sublinks, context);
}

static pg_noinline void
prepare_query(Query *query)
{
	bool		compares = query->jointree->fromlist != NIL || query->onConflict;
	bool		any = false;
	bool		outer = false;
	Usable		usable = {query->rtable, false};
	ListCell   *cell;

	foreach(cell, query->rtable)
	{
		RangeTblEntry *entry = lfirst(cell);
		const TdeIndexedTable *table = compares && is_table(entry) ? tde_indexed_table(entry->relid) : NULL;

		outer |= entry->rtekind == RTE_JOIN && IS_OUTER_JOIN(entry->jointype);
		if (entry->rtekind == RTE_SUBQUERY)
			tde_index_conditions_prepare(entry->subquery);
		if (table)
		{
			any = true;
			usable.computed |= table->computed != NIL;
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
	foreach(cell, query->cteList)
		tde_index_conditions_prepare((Query *) lfirst_node(CommonTableExpr, cell)->ctequery);
	if (query->hasSubLinks)
		(void) query_tree_walker(query, prepare_sublinks, NULL, QTW_IGNORE_RT_SUBQUERIES | QTW_IGNORE_CTE_SUBQUERIES);
}

void
tde_index_conditions_prepare(Query *query)
{
	/* not INSERT ... VALUES */
	if (query->jointree->fromlist != NIL || query->onConflict || query->setOperations || query->cteList != NIL || query->hasSubLinks)
		prepare_query(query);
}
