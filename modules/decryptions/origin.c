/*
 * origin.c - the column that a value in a running query comes from.
 *
 * A plan says of a value in an upper node only in which column of the node below it is, so the way down is taken as EXPLAIN takes it.  Where the parser's
 * reference is still there, that is quicker.  Expressions that stand in no plan (constraints, defaults, variables) use the same numbers for other
 * tables: so an expression counts only if it is found in a plan.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_am.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "decryptions/origin.h"
#include "server/compat.h"
#include "type/inside.h"

/* A query that has been started, in the order of starting, the last one first.  It is in the query's memory, whose end takes it out. */
typedef struct Started
{
	QueryDesc  *query;
	dlist_node	node;
	MemoryContextCallback gone;
} Started;

static dlist_head started = DLIST_STATIC_INIT(started);

static void
forget(void *query)
{
	dlist_delete(&((Started *) query)->node);
}

void
tde_origin_started(QueryDesc *query)
{
	Started    *entry = MemoryContextAlloc(query->estate->es_query_cxt, sizeof(Started));

	entry->query = query;
	entry->gone.func = forget;
	entry->gone.arg = entry;
	dlist_push_head(&started, &entry->node);
	MemoryContextRegisterResetCallback(query->estate->es_query_cxt, &entry->gone);
}

bool
tde_origin_is_only(QueryDesc *query)
{
	return dlist_is_empty(&started) || (!dlist_has_next(&started, dlist_head_node(&started)) &&
										dlist_head_element(Started, node, &started)->query == query);
}

/* ---- from an expression of a plan's node down to a table ---- */

/* A search from one expression; columns of several tables let it fail. */
typedef struct Search
{
	PlanState  *state;			/* whose expression it is */
	PlanState  *top;			/* of the whole query */
	TdeColumn	found;
	bool		fails;			/* there is no one column */
} Search;

static void find(PlanState *state, Search *above, Node *expr);

/* A second column that is the same is no other: the same column may stand in an expression twice. */
static void
found_column(Search *search, Oid relation, AttrNumber column)
{
	search->fails |= OidIsValid(search->found.table) && (search->found.table != relation || search->found.number != column);
	search->found = (TdeColumn) {relation, column};
}

/* Goes on in the column of a node below. */
static void
find_below(PlanState *below, Search *search, AttrNumber column)
{
	TargetEntry *entry = below ? get_tle_by_resno(below->plan->targetlist, column) : NULL;

	if (entry == NULL)
		search->fails = true;
	else
		find(below, search, (Node *) entry->expr);
}

/* Goes on in the outer node.  Append passes on the rows of several nodes, and tells nothing of them itself. */
static void
find_outer(PlanState *state, Search *search, AttrNumber column)
{
	PlanState **parts = IsA(state, AppendState) ? ((AppendState *) state)->appendplans :
	IsA(state, MergeAppendState) ? ((MergeAppendState *) state)->mergeplans : NULL;
	int			count = IsA(state, AppendState) ? ((AppendState *) state)->as_nplans :
	IsA(state, MergeAppendState) ? ((MergeAppendState *) state)->ms_nplans : 0;

	if (parts == NULL)
	{
		find_below(outerPlanState(state), search, column);
		return;
	}
	for (int i = 0; i < count && !search->fails; i++)
	{
		CHECK_FOR_INTERRUPTS();
		find_below(parts[i], search, column);
	}
	search->fails |= count == 0;
}

/* Goes on in a column of one of the query's range table, or of the plan that a subquery, WITH or recursion has there. */
static void
find_in_table(PlanState *state, Search *search, const Var *var)
{
	List	   *tables = state->state->es_range_table;
	RangeTblEntry *table = var->varno > 0 && var->varno <= list_length(tables) ? rt_fetch(var->varno, tables) : NULL;

	if (table && table->rtekind == RTE_RELATION)
		found_column(search, table->relid, var->varattno);
	else if (IsA(state, SubqueryScanState))
		find_below(((SubqueryScanState *) state)->subplan, search, var->varattno);
	else if (IsA(state, CteScanState))
		find_below(((CteScanState *) state)->cteplanstate, search, var->varattno);
	else if (IsA(state, WorkTableScanState))
		find_below(outerPlanState(((WorkTableScanState *) state)->rustate), search, var->varattno);
	else
		search->fails = true;
}

/* Takes the parser's own reference if it is of a table, and else the plan's. */
static void
find_column(PlanState *state, Search *search, const Var *var)
{
	List	   *tables = state->state->es_range_table;
	int			written = var->varnosyn;

	if (written > 0 && written <= list_length(tables) && rt_fetch(written, tables)->rtekind == RTE_RELATION)
		found_column(search, rt_fetch(written, tables)->relid, var->varattnosyn);
	else if (var->varno == OUTER_VAR)
		find_outer(state, search, var->varattno);
	else if (var->varno == INNER_VAR)
		find_below(innerPlanState(state), search, var->varattno);
	else if (var->varno == INDEX_VAR && IsA(state, IndexOnlyScanState))
	{
		TargetEntry *entry = get_tle_by_resno(((IndexOnlyScan *) state->plan)->indextlist, var->varattno);

		find(state, search, entry ? (Node *) entry->expr : NULL);
	}
	else
		find_in_table(state, search, var);
}

/* Finds which node hands a parameter down, and what it is there: nested loops, arguments of subplans, results of initial plans. */
static bool
find_parameter(PlanState *state, Search *search, int number)
{
	ListCell   *cell;

	if (IsA(state, NestLoopState))
		foreach(cell, ((NestLoop *) state->plan)->nestParams)
			if (lfirst_node(NestLoopParam, cell)->paramno == number)
			{
				find(state, search, (Node *) lfirst_node(NestLoopParam, cell)->paramval);
				return true;
			}
	foreach(cell, state->subPlan)
	{
		SubPlan    *sub = lfirst_node(SubPlanState, cell)->subplan;

		for (int i = 0; i < list_length(sub->parParam) && i < list_length(sub->args); i++)
			if (list_nth_int(sub->parParam, i) == number)
			{
				find(state, search, list_nth(sub->args, i));
				return true;
			}
	}
	foreach(cell, state->initPlan)
	{
		SubPlanState *sub = lfirst_node(SubPlanState, cell);

		if (sub->subplan->subLinkType == EXPR_SUBLINK && list_member_int(sub->subplan->setParam, number))
		{
			find_below(sub->planstate, search, 1);
			return true;
		}
	}
	return false;
}

typedef struct ParameterSearch
{
	Search	   *search;
	int			number;
} ParameterSearch;

static bool
look_for_parameter(PlanState *state, void *arg)
{
	ParameterSearch *parameter = arg;

	CHECK_FOR_INTERRUPTS();
	check_stack_depth();
	return find_parameter(state, parameter->search, parameter->number) || planstate_tree_walker(state, look_for_parameter, arg);
}

/* An expression_tree_walker: looks up all columns of an encrypted type that are in it. */
static bool
look_into(Node *expr, void *arg)
{
	Search	   *search = arg;

	CHECK_FOR_INTERRUPTS();
	check_stack_depth();
	if (expr == NULL || search->fails)
		return search->fails;
	if (IsA(expr, Var))
	{
		if (tde_type_holds_encrypted(((Var *) expr)->vartype))
			find_column(search->state, search, (Var *) expr);
		return search->fails;
	}
	if (IsA(expr, Param) && ((Param *) expr)->paramkind == PARAM_EXEC)
	{
		ParameterSearch parameter = {search, ((Param *) expr)->paramid};

		if (tde_type_holds_encrypted(((Param *) expr)->paramtype) && !look_for_parameter(search->top, &parameter))
			search->fails = true;
		return search->fails;
	}
	/* a subquery's result is not looked up, and a part of an expression does not tell of what it is one */
	if (IsA(expr, SubPlan) || IsA(expr, CaseTestExpr) || IsA(expr, CoerceToDomainValue))
		return search->fails = true;
	return expression_tree_walker(expr, look_into, arg);
}

/* Looks an expression of this node up, most often a column.  The state of the search is that of the node meanwhile. */
static void
find(PlanState *state, Search *above, Node *expr)
{
	PlanState  *before = above->state;

	CHECK_FOR_INTERRUPTS();
	check_stack_depth();
	above->state = state;
	if (expr == NULL)
		above->fails = true;
	else if (IsA(expr, Var))
		find_column(state, above, (Var *) expr);	/* mostly */
	else
		(void) look_into(expr, above);
	above->state = before;
}

/* Returns the column that an expression of this node comes from; TDE_NO_COLUMN: it is none, or several. */
static TdeColumn
origin_in(QueryDesc *query, PlanState *state, Node *expr)
{
	Search		search = {.top = query->planstate};

	find(state, &search, expr);
	return search.fails ? TDE_NO_COLUMN : search.found;
}

TdeColumn
tde_origin_of_result(QueryDesc *query, int index)
{
	int			column = 0;
	ListCell   *cell;

	foreach(cell, query->planstate->plan->targetlist)
		if (!lfirst_node(TargetEntry, cell)->resjunk && column++ == index)
			return origin_in(query, query->planstate, (Node *) lfirst_node(TargetEntry, cell)->expr);
	return TDE_NO_COLUMN;
}

/* ---- in which node an expression stands ---- */

typedef struct NodeSearch
{
	Node	   *expr;
	PlanState  *found;
} NodeSearch;

/*
 * An expression_tree_walker: true if the expression is in the tree, by its address.  What stands for the elements of an array in turn is of the
 * array.
 */
static bool
contains(Node *tree, void *arg)
{
	NodeSearch *search = arg;

	CHECK_FOR_INTERRUPTS();
	check_stack_depth();
	if (tree == NULL || tree == search->expr)
		return tree != NULL;
	if (!expression_tree_walker(tree, contains, arg))
		return false;
	if (IsA(tree, ArrayCoerceExpr) && IsA(search->expr, CaseTestExpr))
		search->expr = (Node *) ((ArrayCoerceExpr *) tree)->arg;
	return true;
}

/* Looks into other expressions than columns and conditions that may call functions of ours. */
static bool
contains_more(const Plan *plan, NodeSearch *search)
{
	const ModifyTable *modify = (const ModifyTable *) plan;

	switch (nodeTag(plan))
	{
		case T_NestLoop:
		case T_MergeJoin:
		case T_HashJoin:
			return contains((Node *) ((const Join *) plan)->joinqual, search);
		case T_Result:
			return contains(((const Result *) plan)->resconstantqual, search);
		case T_IndexScan:
			return contains((Node *) ((const IndexScan *) plan)->indexqualorig, search);
		case T_BitmapHeapScan:
			return contains((Node *) ((const BitmapHeapScan *) plan)->bitmapqualorig, search);
		case T_FunctionScan:
			return contains((Node *) ((const FunctionScan *) plan)->functions, search);
		case T_ValuesScan:
			return contains((Node *) ((const ValuesScan *) plan)->values_lists, search);
		case T_WindowAgg:
			return contains((Node *) ((const WindowAgg *) plan)->runCondition, search);
		case T_ModifyTable:
			return contains((Node *) modify->returningLists, search) || contains((Node *) modify->withCheckOptionLists, search) ||
				contains((Node *) modify->onConflictSet, search) || contains(modify->onConflictWhere, search) ||
				contains((Node *) modify->mergeActionLists, search);
		default:
			return false;
	}
}

/* A planstate_tree_walker: finds the node in which the expression stands. */
static bool
look_for_node(PlanState *state, void *arg)
{
	NodeSearch *search = arg;

	CHECK_FOR_INTERRUPTS();
	check_stack_depth();
	if (contains((Node *) state->plan->targetlist, arg) || contains((Node *) state->plan->qual, arg) || contains_more(state->plan, arg))
	{
		search->found = state;
		return true;
	}
	return planstate_tree_walker(state, look_for_node, arg);
}

/* Looks through the queries that run, mostly only the one that was started last. */
TdeColumn
tde_origin_of(Node *expr)
{
	dlist_iter	iter;

	if (expr == NULL || IsA(expr, Const))
		return TDE_NO_COLUMN;
	dlist_foreach(iter, &started)
	{
		QueryDesc  *query = dlist_container(Started, node, iter.cur)->query;
		NodeSearch	search = {expr, NULL};

		CHECK_FOR_INTERRUPTS();
		if (query->planstate && look_for_node(query->planstate, &search))
			return origin_in(query, search.found, search.expr);
	}
	return TDE_NO_COLUMN;
}

/* ---- COPY of a table ---- */

/* Finds the row of a page of shared buffers that an address is in.  COPY's scan has the page pinned. */
static bool
row_around(const char *value, HeapTuple row)
{
	const char *end = BufferBlocks + (Size) NBuffers * BLCKSZ;
	Page		page;

	if (value < BufferBlocks || value >= end)
		return false;
	page = BufferBlocks + (value - BufferBlocks) / BLCKSZ * BLCKSZ;
	for (OffsetNumber i = FirstOffsetNumber; i <= PageGetMaxOffsetNumber(page); i++)
	{
		ItemId		item = PageGetItemId(page, i);

		if (!ItemIdIsNormal(item))
			continue;
		row->t_data = (HeapTupleHeader) PageGetItem(page, item);
		row->t_len = ItemIdGetLength(item);
		if (value > (char *) row->t_data && value < (char *) row->t_data + row->t_len)
			return true;
	}
	return false;
}

/*
 * Tells the column by the value's address.  Of a value that is elsewhere, out of line for example: the one column of this type, if there is only one.
 */
TdeColumn
tde_origin_of_copied(Oid table, Oid type, const char *value)
{
	Relation	rel = table_open(table, AccessShareLock);
	TupleDesc	columns = RelationGetDescr(rel);
	TdeColumn	column = {table, InvalidAttrNumber};
	HeapTupleData row = {0};
	bool		in_page = rel->rd_rel->relam == HEAP_TABLE_AM_OID && row_around(value, &row);
	int			count = 0;

	for (int i = 1; i <= columns->natts && (in_page ? column.number == InvalidAttrNumber : count < 2); i++)
	{
		Oid			declared = TupleDescAttr(columns, i - 1)->atttypid;
		bool		isnull;

		CHECK_FOR_INTERRUPTS();
		if (TupleDescAttr(columns, i - 1)->attisdropped || !tde_type_holds_encrypted(declared))
			continue;
		count++;
		if (!in_page ? getBaseType(declared) == type || get_base_element_type(getBaseType(declared)) == type :
			DatumGetPointer(heap_getattr(&row, i, columns, &isnull)) == value)
			column.number = i;
	}
	if (!in_page && count != 1)
		column.number = InvalidAttrNumber;
	table_close(rel, AccessShareLock);
	return column;
}
