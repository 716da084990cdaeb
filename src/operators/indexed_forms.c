/*
 * indexed_forms.c - expressions of a query as the indexes of its tables have them.
 *
 * An index has few of the expressions that a statement may have thousands of, inside each other.  So before the form of one is made
 * (operators/computed_form.c) and folded, which looks at all of it, it is looked at from the top as far as it is like one in an index.
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"

#include "operators/computed.h"
#include "operators/computed_call.h"
#include "operators/indexed_forms.h"
#include "operators/indexed_tables.h"
#include "server/compat.h"
#include "type/inside.h"

/* ---- expressions that may be like one in an index ---- */

/* One of a query's tables, and where Vars say which it is. */
typedef struct Table
{
	Oid			relid;
	List	   *range_table;
} Table;

static bool may_be(Node *node, Node *indexed, const Table *table);

/* Returns true for a cast by a function that tde_computed() does not call, as one that decrypts or sets a length. */
static bool
is_cast(Node *node)
{
	FuncExpr   *call = (FuncExpr *) node;

	return IsA(node, FuncExpr) && call->funcid >= FirstUnpinnedObjectId && call->args != NIL &&
		(call->funcformat == COERCE_EXPLICIT_CAST || call->funcformat == COERCE_IMPLICIT_CAST);
}

/* An expression without such casts, which a form may leave out. */
static Node *
bare(Node *node)
{
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		if (is_cast(node))
			node = linitial(((FuncExpr *) node)->args);
		else if (IsA(node, CoerceViaIO))
			node = (Node *) ((CoerceViaIO *) node)->arg;
		else if (IsA(node, RelabelType))
			node = (Node *) ((RelabelType *) node)->arg;
		else if (IsA(node, CollateExpr))
			node = (Node *) ((CollateExpr *) node)->arg;
		else
			return node;
	}
}

/*
 * Returns true if a node looks like a call of tde_computed(), and *function: what that calls.  Other functions have no such argument.
 * tde_is_computed() would ask the catalogs.
 */
static bool
is_like_computed(Node *node, Oid *function)
{
	Const	   *called;

	if (!IsA(node, FuncExpr) || list_length(((FuncExpr *) node)->args) < 3)
		return false;
	called = lsecond(((FuncExpr *) node)->args);
	if (!IsA(called, Const) || called->consttype != REGPROCEDUREOID || called->constisnull)
		return false;
	*function = DatumGetObjectId(called->constvalue);
	return true;
}

/* What an index has, without casts of what is computed: tde_computed(NULL, 0, x) is one. */
static Node *
bare_indexed(Node *indexed)
{
	Oid			function;

	indexed = bare(indexed);
	while (is_like_computed(indexed, &function) && !OidIsValid(function))
	{
		CHECK_FOR_INTERRUPTS();
		indexed = bare(lthird(((FuncExpr *) indexed)->args));
	}
	return indexed;
}

/* An expression_tree_walker that ends when there is more than somebody would write into an index.  room: of nodes, counted down. */
static bool
has_no_room(Node *node, void *room)
{
	CHECK_FOR_INTERRUPTS();
	return node != NULL && (--*(int *) room < 0 || expression_tree_walker(node, has_no_room, room));
}

/* Returns true if an expression is so small that the planner may fold it to what an index has. */
static bool
is_small(Node *node)
{
	int			room = 100;

	return !has_no_room(node, &room);
}

/* Returns true if a node is the column of this table that an index has as an expression's part. */
static bool
is_column(Node *node, Var *indexed, const Table *table)
{
	Var		   *var = (Var *) node;

	return IsA(node, Var) && var->varlevelsup == 0 && var->varattno == indexed->varattno &&
		rt_fetch(var->varno, table->range_table)->relid == table->relid;
}

/*
 * Returns true if arguments, from a place on, may be those of an index from another place on.  The planner takes out some that are constants: NULL in
 * coalesce(NULL, name).
 */
static bool
may_be_all(List *args, int from, List *indexed, int at, const Table *table)
{
	ListCell   *cell;

	for_each_from(cell, args, from)
	{
		CHECK_FOR_INTERRUPTS();
		if (at < list_length(indexed) && may_be(lfirst(cell), list_nth(indexed, at), table))
			at++;
		else if (!IsA(bare(lfirst(cell)), Const))
			return false;
	}
	return at == list_length(indexed);
}

/* Returns true if a COALESCE may become what an index has: of coalesce(NULL, name) the planner leaves the name. */
static bool
may_be_any(List *args, Node *indexed, const Table *table)
{
	ListCell   *cell;

	foreach(cell, args)
	{
		CHECK_FOR_INTERRUPTS();
		if (!IsA(bare(lfirst(cell)), Const))
			return may_be(lfirst(cell), indexed, table);
	}
	return false;
}

/*
 * Returns false if the form of an expression cannot be this in an index.  Looks at little more of it than the index has, and may return true where it
 * is not: that costs the making of a form.
 */
static bool
may_be(Node *node, Node *indexed, const Table *table)
{
	Oid			function;
	Oid			own;
	List	   *args;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	node = bare(node);
	indexed = bare_indexed(indexed);
	if (IsA(node, CoalesceExpr))
		return IsA(indexed, CoalesceExpr) ? may_be_all(((CoalesceExpr *) node)->args, 0, ((CoalesceExpr *) indexed)->args, 0, table) :
			may_be_any(((CoalesceExpr *) node)->args, indexed, table);
	if (IsA(indexed, Var))
		return is_column(node, (Var *) indexed, table);
	if (!is_like_computed(indexed, &function))
		return !IsA(indexed, CoalesceExpr) && is_small(node);
	args = ((FuncExpr *) indexed)->args;
	if (is_like_computed(node, &own))
		return own == function && may_be_all(((FuncExpr *) node)->args, 2, args, 2, table);
	return tde_computed_may_call(node, function) && may_be_all(IsA(node, FuncExpr) ? ((FuncExpr *) node)->args : ((OpExpr *) node)->args, 0, args, 2, table);
}

/* Returns true if an index of one of the query's tables may have it.  The table is looked up each time: what was returned before may be gone. */
static bool
may_be_indexed(Node *node, const TdeUsable *usable)
{
	ListCell   *relid;
	ListCell   *cell;

	foreach(relid, usable->computed)
	{
		Table		place = {lfirst_oid(relid), usable->range_table};
		const TdeIndexedTable *table = tde_indexed_table(place.relid);

		CHECK_FOR_INTERRUPTS();
		foreach(cell, table ? table->computed : NIL)
			if (may_be(node, lfirst(cell), &place))
				return true;
	}
	return false;
}

/* ---- those that are ---- */

/* What find_indexed_columns() finds in an expression. */
typedef struct Columns
{
	Relids		tables;			/* whose they are */
	Relids		nulling;		/* outer joins that may make them NULL */
} Columns;

/* An expression_tree_walker. */
static bool
find_indexed_columns(Node *node, void *context)
{
	Columns    *columns = context;

	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (!IsA(node, Var))
		return expression_tree_walker(node, find_indexed_columns, context);
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
	ListCell   *unspecified;
	ListCell   *cell;

	/* may call users' functions, whose queries look up tables, too */
	form = TDE_WITHOUT_NULLING(eval_const_expressions(NULL, form), columns->nulling);
	ChangeVarNodes(form, place, 1, 0);
	form = tde_indexed_without_specification(form, NULL);
	table = tde_indexed_table(relid);
	if (table == NULL)
		return NULL;
	forboth(cell, table->computed, unspecified, table->unspecified)
	{
		Node	   *found;

		CHECK_FOR_INTERRUPTS();
		if (!equal(lfirst(unspecified), form))
			continue;
		found = copyObject(lfirst(cell));
		ChangeVarNodes(found, 1, place, 0);
		return TDE_WITH_NULLING(found, place, columns->nulling);
	}
	return NULL;
}

/* This as an index has it, a column or what is computed; NULL: none has it. */
Node *
tde_indexed_find(Node *form, const TdeUsable *usable)
{
	Columns		columns = {NULL, NULL};
	int			place;
	RangeTblEntry *entry;
	const TdeIndexedTable *table;

	/* no index has a subquery, which the query's would share with what is made of it here */
	if (checkExprHasSubLink(form) || find_indexed_columns(form, &columns) || !bms_get_singleton_member(columns.tables, &place) ||
		place > list_length(usable->range_table))
		return NULL;
	entry = list_nth(usable->range_table, place - 1);
	if (!tde_may_have_indexes(entry))
		return NULL;
	if (!IsA(form, Var))
		return find_computed(form, place, entry->relid, &columns);
	table = tde_indexed_table(entry->relid);
	return table && bms_is_member(((Var *) form)->varattno, table->columns) ? form : NULL;
}

Node *
tde_indexed_form(Node *node, const TdeUsable *usable)
{
	Node	   *form;
	CollateExpr *collate;

	if (!IsA(node, CollateExpr))
	{
		if (usable->remembered)
			return tde_form_find(node, usable->remembered);
		form = tde_form_operand(node);
		if (form == NULL && usable->computed && tde_form_is_possible(node) && may_be_indexed(node, usable))
			form = tde_form_encrypted(node);
		return form ? tde_indexed_find(form, usable) : NULL;
	}
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	form = tde_indexed_form((Node *) ((CollateExpr *) node)->arg, usable);
	if (form == NULL)
		return NULL;
	collate = makeNode(CollateExpr);
	*collate = *(CollateExpr *) node;
	collate->arg = (Expr *) form;
	return (Node *) collate;
}
