/*
 * in_clear_columns.c - what columns come from, for the search of in_clear.c: output columns of queries, columns that expressions read, and
 * which rows there are.
 *
 * The search ends at the first find.  So a column that it comes to again has none, or is being looked at: it is not looked at twice.
 * Otherwise queries that read each column of the next twice would take twice as long with each.
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteHandler.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "ddl/in_clear_search.h"
#include "server/compat.h"
#include "type/inside.h"

/* A column that has been looked at, or is being looked at; the key of TdeSearch.seen, as bytes.  Entries of range tables stay where they are. */
typedef struct Seen
{
	RangeTblEntry *rte;
	int			column;			/* its number, or ROWS */
	TdePart		part;
} Seen;

/* A view that has been read, in TdeSearch.views. */
typedef struct View
{
	Oid			relid;
	Query	   *query;			/* a copy, in the memory context of the search */
} View;

/* ---- parts ---- */

bool
tde_in_clear_part_reads(Node *node, const TdeScope *scope)
{
	return scope->search->part(node, scope);
}

TdeScope
tde_in_clear_of_whole(const TdeScope *scope, bool any)
{
	TdeScope	inner = *scope;

	memset(&inner.part, 0, sizeof(inner.part));
	inner.part.any = any;
	return inner;
}

bool
tde_in_clear_enter_field(TdeScope *scope, AttrNumber field, Oid type)
{
	if (scope->part.depth == TDE_MAX_PATH)
		return false;
	if (scope->part.depth == 0)
		scope->part.type = type;
	scope->part.path[scope->part.depth++] = field;
	return true;
}

AttrNumber
tde_in_clear_leave_field(TdeScope *scope)
{
	AttrNumber	field = scope->part.path[--scope->part.depth];

	scope->part.path[scope->part.depth] = 0;
	if (scope->part.depth == 0)
		scope->part.type = InvalidOid;
	return field;
}

bool
tde_in_clear_part_is_encrypted(const TdeScope *scope, Oid type)
{
	return scope->part.any && tde_type_holds_encrypted(scope->part.depth > 0 ? scope->part.type : type);
}

bool
tde_in_clear_goes_in(Node *node, void *context)
{
	TdeScope	inner = tde_in_clear_of_whole(context, true);

	CHECK_FOR_INTERRUPTS();
	return tde_in_clear_part_reads(node, &inner);
}

bool
tde_in_clear_any_goes_in(Node *node, const TdeScope *scope)
{
	return expression_tree_walker(node, tde_in_clear_goes_in, (void *) scope);
}

/* ---- columns ---- */

/* Returns the same scope, but within these queries. */
static TdeScope
of_queries(const TdeScope *scope, List *queries)
{
	TdeScope	inner = *scope;

	inner.queries = queries;
	return inner;
}

/*
 * node: a part of the set operation of the innermost query.  type: what the operation gives.  Where a branch has another one, the planner will cast
 * it: from an encrypted one it decrypts.
 */
static bool
set_operation_reads(Node *node, AttrNumber column, Oid type, const TdeScope *scope)
{
	Query	   *query = linitial(scope->queries);
	TdeScope	cast = tde_in_clear_of_whole(scope, true);

	CHECK_FOR_INTERRUPTS();
	check_stack_depth();
	if (IsA(node, SetOperationStmt))
		return set_operation_reads(((SetOperationStmt *) node)->larg, column, type, scope) ||
			set_operation_reads(((SetOperationStmt *) node)->rarg, column, type, scope);
	query = rt_fetch(((RangeTblRef *) node)->rtindex, query->rtable)->subquery;
	return tde_in_clear_output_reads(query, column, exprType((Node *) get_tle_by_resno(query->targetList, column)->expr) == type ? scope : &cast);
}

bool
tde_in_clear_output_reads(Query *query, AttrNumber column, const TdeScope *scope)
{
	TdeScope	inner = of_queries(scope, lcons(query, list_copy(scope->queries)));
	TargetEntry *entry = get_tle_by_resno(tde_output_columns(query), column);

	if (entry == NULL)
		return false;
	if (query->setOperations)
		return set_operation_reads(query->setOperations, column, exprType((Node *) entry->expr), &inner);
	return tde_in_clear_part_reads((Node *) entry->expr, &inner);
}

/* Returns the query of a view.  One copy serves all that read it: what is known of its columns is known by the copy's address. */
static Query *
view_query(TdeSearch *search, Oid relid)
{
	View	   *view;
	Relation	rel;
	ListCell   *cell;

	foreach(cell, search->views)
		if (((View *) lfirst(cell))->relid == relid)
			return ((View *) lfirst(cell))->query;
	rel = relation_open(relid, AccessShareLock);
	view = palloc(sizeof(View));
	*view = (View) {relid, copyObject(get_view_query(rel))};
	relation_close(rel, AccessShareLock);
	search->views = lappend(search->views, view);
	return view->query;
}

/* Returns a query of WITH, and the scope around it in *defining; NULL if there is none of this name. */
static Query *
with_query(RangeTblEntry *rte, const TdeScope *scope, TdeScope *defining)
{
	ListCell   *cell;

	*defining = of_queries(scope, list_copy_tail(scope->queries, rte->ctelevelsup));
	foreach(cell, ((Query *) linitial(defining->queries))->cteList)
	{
		CommonTableExpr *cte = lfirst(cell);

		if (strcmp(cte->ctename, rte->ctename) == 0)
			return (Query *) cte->ctequery;
	}
	return NULL;
}

static bool
with_query_reads(RangeTblEntry *rte, AttrNumber column, const TdeScope *scope)
{
	TdeScope	defining;
	Query	   *query = with_query(rte, scope, &defining);

	return query && tde_in_clear_output_reads(query, column, &defining);
}

/* VALUES (1, a), (2, b): the column of each row. */
static bool
values_read(RangeTblEntry *rte, AttrNumber column, const TdeScope *scope)
{
	ListCell   *cell;

	foreach(cell, rte->values_lists)
		if (tde_in_clear_part_reads(list_nth(lfirst(cell), column - 1), scope))
			return true;
	return false;
}

/*
 * FROM f(), g() of one entry: finds the function that the column is of.  type: of the column.  A function that returns rows is asked for a field; one
 * that returns a scalar is the column itself.
 */
static bool
functions_read(RangeTblEntry *rte, AttrNumber column, Oid type, const TdeScope *scope)
{
	TdeScope	inner = *scope;
	ListCell   *cell;

	foreach(cell, rte->functions)
	{
		RangeTblFunction *function = lfirst(cell);

		if (column > function->funccolcount)
		{
			column -= function->funccolcount;
			continue;
		}
		if (type_is_rowtype(exprType(function->funcexpr)) && !tde_in_clear_enter_field(&inner, column, type))
			return tde_in_clear_goes_in(function->funcexpr, (void *) scope);
		return tde_in_clear_part_reads(function->funcexpr, &inner);
	}
	return false;				/* a number of the row */
}

/* Looks where a column of what a query reads comes from.  scope: of the query that has the entry. */
static bool
entry_reads(RangeTblEntry *rte, AttrNumber column, Oid type, const TdeScope *scope)
{
	TdeScope	outermost;

	if (TDE_GROUP_EXPRESSIONS(rte) != NIL)
		return tde_in_clear_part_reads(list_nth(TDE_GROUP_EXPRESSIONS(rte), column - 1), scope);
	switch (rte->rtekind)
	{
		case RTE_RELATION:
			outermost = of_queries(scope, NIL);
			return rte->relkind == RELKIND_VIEW && tde_in_clear_output_reads(view_query(scope->search, rte->relid), column, &outermost);
		case RTE_SUBQUERY:
			return tde_in_clear_output_reads(rte->subquery, column, scope);
		case RTE_JOIN:
			return tde_in_clear_part_reads(list_nth(rte->joinaliasvars, column - 1), scope);
		case RTE_CTE:
			return with_query_reads(rte, column, scope);
		case RTE_VALUES:
			return values_read(rte, column, scope);
		case RTE_FUNCTION:
			return functions_read(rte, column, type, scope);
		case RTE_TABLEFUNC:
			return tde_in_clear_any_goes_in((Node *) rte->tablefunc, scope);
		default:
			return false;
	}
}

/* Returns true if the same part of this column was looked at before, in this search; notes it otherwise. */
static bool
is_seen(RangeTblEntry *rte, AttrNumber column, const TdeScope *scope)
{
	TdeSearch  *search = scope->search;
	HASHCTL		info = {.keysize = sizeof(Seen), .entrysize = sizeof(Seen), .hcxt = CurrentMemoryContext};
	Seen		key;
	bool		found;

	if (search->seen == NULL)
		search->seen = hash_create("tde_column columns looked at", 64, &info, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	memset(&key, 0, sizeof(key));	/* what is between its fields, too */
	key.rte = rte;
	key.column = column;
	key.part.type = scope->part.type;
	key.part.any = scope->part.any;
	key.part.depth = scope->part.depth;
	memcpy(key.part.path, scope->part.path, sizeof(key.part.path));
	(void) hash_search(search->seen, &key, HASH_ENTER, &found);
	return found;
}

/* False for one that is being looked at, as a recursive query reads itself: what it adds is found by the look that is under way. */
static bool
column_reads(RangeTblEntry *rte, AttrNumber column, Oid type, const TdeScope *scope)
{
	return !is_seen(rte, column, scope) && entry_reads(rte, column, type, scope);
}

/*
 * t.* is read as one value.  A row of a table is stored as the table has it, encrypted.  Of one that a query gives, each column is looked at, unless
 * it is known which one is asked for.
 */
static bool
row_reads(RangeTblEntry *rte, const TdeScope *scope)
{
	TdeScope	inner = *scope;

	if (rte->rtekind == RTE_RELATION && rte->relkind != RELKIND_VIEW)
		return false;
	if (rte->rtekind == RTE_FUNCTION && list_length(rte->functions) == 1 && !rte->funcordinality)
		return tde_in_clear_part_reads(linitial_node(RangeTblFunction, rte->functions)->funcexpr, scope);
	if (rte->rtekind == RTE_FUNCTION)
		return tde_in_clear_any_goes_in((Node *) rte->functions, scope);
	if (scope->part.depth > 0)
		return column_reads(rte, tde_in_clear_leave_field(&inner), scope->part.type, &inner);
	for (int i = 1; i <= list_length(rte->eref->colnames); i++)
		if (column_reads(rte, i, InvalidOid, scope))
			return true;
	return false;
}

bool
tde_in_clear_var_reads(Var *var, const TdeScope *scope)
{
	TdeScope	from = of_queries(scope, list_copy_tail(scope->queries, var->varlevelsup));
	RangeTblEntry *rte;

	if (tde_in_clear_part_is_encrypted(scope, var->vartype))
		return true;
	if (from.queries == NIL || var->varattno < 0)
		return false;			/* a table's own expression, or where the row is */
	rte = rt_fetch(var->varno, ((Query *) linitial(from.queries))->rtable);
	return var->varattno == 0 ? row_reads(rte, &from) : column_reads(rte, var->varattno, var->vartype, &from);
}

/* ---- which rows there are ---- */

/* In place of a column's number, in Seen: the question is which rows the entry has. */
/* In place of a column's number. */
#define ROWS	PG_INT16_MIN

/* Returns true for INTERSECT and EXCEPT, which compare whole rows: which rows there are tells their values. */
static bool
compares_rows(Node *operations)
{
	SetOperationStmt *operation = (SetOperationStmt *) operations;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (operations == NULL || !IsA(operations, SetOperationStmt))
		return false;
	return operation->op != SETOP_UNION || compares_rows(operation->larg) || compares_rows(operation->rarg);
}

/* Looks at which rows there are of what a query reads from, once for each entry. */
static bool
entry_rows_read(RangeTblEntry *rte, const TdeScope *scope)
{
	TdeScope	around = of_queries(scope, NIL);
	Query	   *query = rte->subquery;

	if (is_seen(rte, ROWS, scope))
		return false;
	switch (rte->rtekind)
	{
		case RTE_RELATION:
			return rte->relkind == RELKIND_VIEW && tde_in_clear_rows_read(view_query(scope->search, rte->relid), &around);
		case RTE_SUBQUERY:
			return tde_in_clear_rows_read(query, scope);
		case RTE_CTE:
			query = with_query(rte, scope, &around);
			return query && tde_in_clear_rows_read(query, &around);
		case RTE_FUNCTION:
			return tde_in_clear_any_goes_in((Node *) rte->functions, scope);
		case RTE_TABLEFUNC:
			return tde_in_clear_any_goes_in((Node *) rte->tablefunc, scope);
		default:
			return false;
	}
}

bool
tde_in_clear_rows_read(Query *query, const TdeScope *scope)
{
	TdeScope	whole = tde_in_clear_of_whole(scope, true);
	TdeScope	inner = of_queries(&whole, lcons(query, list_copy(scope->queries)));
	ListCell   *cell;

	CHECK_FOR_INTERRUPTS();
	check_stack_depth();
	if (tde_in_clear_goes_in((Node *) query->jointree, &inner) || tde_in_clear_goes_in(query->havingQual, &inner) || tde_in_clear_goes_in(query->limitCount, &inner) ||
		tde_in_clear_goes_in(query->limitOffset, &inner))
		return true;
	foreach(cell, query->rtable)
		if (entry_rows_read(lfirst(cell), &inner))
			return true;
	foreach(cell, compares_rows(query->setOperations) ? query->targetList : NIL)
		if (tde_in_clear_output_reads(query, lfirst_node(TargetEntry, cell)->resno, &whole))
			return true;
	return false;
}
