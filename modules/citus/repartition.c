/*
 * repartition.c - joins of an encrypted column with a plain one, whose hashes differ, where Citus would repartition plain ones.
 *
 * To repartition, Citus wants both columns to be of one type (13.2), and so their hashes to be the same.  But tables that it cannot join
 * otherwise it evaluates first, if they are subqueries, and gives their rows to all nodes that need them.  So the table with the
 * encrypted column stays as it is, and all others that are distributed become subqueries: of the columns that the query reads, under the
 * conditions that are on this table alone.  The query means the same, and what Citus can join where it is, it still joins there.
 *
 * Citus has each subquery that it evaluates planned as a query of its own, and so is the SELECT of INSERT ... SELECT but into a local table.
 * So only the query itself is looked at, not what is in it.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"

#include "citus/repartition.h"
#include "citus/tables.h"
#include "server/compat.h"
#include "server/subquery.h"
#include "type/type.h"

/* The joins of a query, and which tables they put together. */
typedef struct Joins
{
	Query	   *query;
	Bitmapset  *tables;			/* in FROM, by their numbers in the range table */
	int		   *group;			/* by the same numbers: tables that are joined by columns with equal hashes have the same */
	bool		mixed;			/* or by an encrypted and a plain column */
	Index		stays;			/* the table that becomes no subquery: that of the first encrypted column of such a pair */
} Joins;

static RangeTblEntry *
entry(const Joins *joins, Index table)
{
	return rt_fetch(table, joins->query->rtable);
}

/* ---- which tables are joined by what ---- */

/* Notes the tables in FROM.  Returns false if there is another join than an inner one: such Citus does not repartition. */
static bool
find_tables(Node *node, Joins *joins)
{
	ListCell   *cell;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (IsA(node, JoinExpr))
		return ((JoinExpr *) node)->jointype == JOIN_INNER && find_tables(((JoinExpr *) node)->larg, joins) &&
			find_tables(((JoinExpr *) node)->rarg, joins);
	if (IsA(node, RangeTblRef))
	{
		if (entry(joins, ((RangeTblRef *) node)->rtindex)->rtekind == RTE_RELATION)
			joins->tables = bms_add_member(joins->tables, ((RangeTblRef *) node)->rtindex);
		return true;
	}
	foreach(cell, ((FromExpr *) node)->fromlist)
		if (!find_tables(lfirst(cell), joins))
			return false;
	return true;
}

/* What a column of a join (USING) stands for. */
static Node *
joined(const Joins *joins, const Var *var)
{
	RangeTblEntry *rte = entry(joins, var->varno);

	return rte->rtekind == RTE_JOIN && var->varattno > 0 ? list_nth(rte->joinaliasvars, var->varattno - 1) : NULL;
}

/* Returns the column of a table that Citus takes an operand for; NULL: it is none. */
static Var *
operand_column(Node *node, const Joins *joins)
{
	while ((node = strip_implicit_coercions(node)) != NULL)
	{
		if (IsA(node, RelabelType))
			node = (Node *) ((RelabelType *) node)->arg;
		else if (!IsA(node, Var) || ((Var *) node)->varlevelsup != 0)
			return NULL;
		else if (bms_is_member(((Var *) node)->varno, joins->tables))
			return (Var *) node;
		else
			node = joined(joins, (Var *) node);
	}
	return NULL;
}

static bool
is_encryption_of(Oid type, Oid base)
{
	TdeType    *encrypted = tde_type_find(type);

	return encrypted && encrypted->base == base;
}

/* Notes columns of two tables that have to be equal.  Groups are merged by renumbering: there are few tables. */
static void
pair(Var *left, Var *right, Joins *joins)
{
	int			group = joins->group[right->varno];

	if (left->vartype != right->vartype)
	{
		if (!joins->mixed || (!is_encryption_of(left->vartype, right->vartype) && !is_encryption_of(right->vartype, left->vartype)))
			return;
		if (joins->stays == 0)
			joins->stays = tde_type_find(left->vartype) ? left->varno : right->varno;
	}
	for (int i = 1; i <= list_length(joins->query->rtable); i++)
		if (joins->group[i] == group)
			joins->group[i] = joins->group[left->varno];
}

/* Looks at what has to be true: an expression_tree_walker for FROM, which also goes through AND. */
static bool
find_pairs(Node *node, void *context)
{
	Joins	   *joins = context;
	OpExpr	   *op = (OpExpr *) node;
	Var		   *left;
	Var		   *right;

	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (IsA(node, FromExpr) || IsA(node, JoinExpr) || IsA(node, List) || is_andclause(node))
		return expression_tree_walker(node, find_pairs, context);
	if (!IsA(node, OpExpr) || list_length(op->args) != 2 || !tde_citus_is_equality(op->opno))
		return false;
	left = operand_column(linitial(op->args), joins);
	right = operand_column(lsecond(op->args), joins);
	if (left && right)
		pair(left, right, joins);
	return false;
}

static bool
is_distributed(const Joins *joins, Index table)
{
	const TdeDistribution *distribution = tde_distribution_of(entry(joins, table));

	return distribution && distribution->by_column;
}

/* Returns true if all distributed tables are joined with each other; mixed: also by an encrypted and a plain column. */
static bool
are_paired(Joins *joins, bool mixed)
{
	int			group = 0;
	int			table = -1;

	joins->mixed = mixed;
	for (int i = 1; i <= list_length(joins->query->rtable); i++)
		joins->group[i] = i;
	(void) find_pairs((Node *) joins->query->jointree, joins);
	while ((table = bms_next_member(joins->tables, table)) >= 0)
	{
		if (!is_distributed(joins, table))
			continue;
		if (group != 0 && joins->group[table] != group)
			return false;
		group = joins->group[table];
	}
	return true;
}

/* ---- a table becomes a subquery ---- */

/* Context of find_join_columns(): the columns of one table that a query reads, at any depth. */
typedef struct Reads
{
	const Joins *joins;
	Index		table;
	Index		level;
	Bitmapset  *columns;		/* their numbers, as a range table has them */
} Reads;

/* Which columns of a table are read.  A query_or_expression_tree_walker. */
static bool
find_join_columns(Node *node, void *context)
{
	Reads	   *reads = context;
	Var		   *var = (Var *) node;
	Index		level = reads->level;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		reads->level++;
		(void) query_tree_walker((Query *) node, find_join_columns, context, 0);
		reads->level = level;
		return false;
	}
	if (!IsA(node, Var))
		return expression_tree_walker(node, find_join_columns, context);
	if (var->varlevelsup != reads->level)
		return false;
	if (var->varno == reads->table)
		reads->columns = bms_add_member(reads->columns, var->varattno - FirstLowInvalidHeapAttributeNumber);
	else
	{
		reads->level = 0;
		(void) find_join_columns(joined(reads->joins, var), context);
		reads->level = level;
	}
	return false;
}

static Bitmapset *
columns_read(const Joins *joins, Index table)
{
	Reads		reads = {joins, table, 0, NULL};

	(void) query_tree_walker(joins->query, find_join_columns, &reads, QTW_IGNORE_JOINALIASES);
	return reads.columns;
}

/* A whole row would have other columns, and locks and system columns need a table. */
static bool
can_be_subquery(const Joins *joins, Index table)
{
	return entry(joins, table)->securityQuals == NIL && !tde_subquery_needs_table(joins->query, table) &&
		!bms_is_member(0 - FirstLowInvalidHeapAttributeNumber, columns_read(joins, table));
}

/* Returns the subquery whose table alone a condition is about; NULL: there is none, or it must not be evaluated earlier. */
static Query *
subquery_of(Node *condition, const Joins *joins)
{
	int			table;

	if (!bms_get_singleton_member(pull_varnos(NULL, condition), &table) || !bms_is_member(table, joins->tables) ||
		checkExprHasSubLink(condition) || contain_volatile_functions(condition))
		return NULL;
	return entry(joins, table)->subquery;
}

/* Moves conditions of an inner join into the subqueries that they are about, so that fewer rows go to other nodes.  Returns those that stay. */
static Node *
move_conditions(Node *conditions, const Joins *joins)
{
	List	   *stay = NIL;
	ListCell   *cell;

	foreach(cell, make_ands_implicit((Expr *) conditions))
	{
		Query	   *subquery = subquery_of(lfirst(cell), joins);

		if (subquery)
		{
			ChangeVarNodes(lfirst(cell), bms_singleton_member(pull_varnos(NULL, lfirst(cell))), 1, 0);
			subquery->jointree->quals = make_and_qual(subquery->jointree->quals, lfirst(cell));
		}
		else
			stay = lappend(stay, lfirst(cell));
	}
	return stay ? (Node *) make_ands_explicit(stay) : NULL;
}

/* An expression_tree_walker for FROM. */
static bool
move_all_conditions(Node *node, void *joins)
{
	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (IsA(node, FromExpr))
		((FromExpr *) node)->quals = move_conditions(((FromExpr *) node)->quals, joins);
	else if (IsA(node, JoinExpr))
		((JoinExpr *) node)->quals = move_conditions(((JoinExpr *) node)->quals, joins);
	else if (!IsA(node, List))
		return false;
	return expression_tree_walker(node, move_all_conditions, joins);
}

/*
 * Citus does not look at colocation when it looks whether a subquery is joined with a table by their distribution columns.  OFFSET 0 keeps it from
 * pushing a join down that belongs to other shards.
 */
static void
make_subquery(const Joins *joins, Index table)
{
	const TdeDistribution *other = tde_distribution_of(entry(joins, joins->stays));
	bool		colocated = other && other->colocation == tde_distribution_of(entry(joins, table))->colocation;
	Query	   *subquery = tde_subquery_make(joins->query, entry(joins, table), NIL);

	if (!colocated)
		subquery->limitOffset = (Node *) makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(0), false, FLOAT8PASSBYVAL);
}

/* Makes subqueries of all distributed tables but one: if one has to stay a table, of all but that.  If two have to, the query stays as it is. */
static void
make_subqueries(Joins *joins)
{
	Bitmapset  *others = NULL;
	Index		needed = 0;
	int			table = -1;

	while ((table = bms_next_member(joins->tables, table)) >= 0)
	{
		if (!is_distributed(joins, table))
			continue;
		others = bms_add_member(others, table);
		if (can_be_subquery(joins, table))
			continue;
		if (needed != 0)
			return;
		joins->stays = needed = table;
	}
	others = bms_del_member(others, joins->stays);
	for (table = -1; (table = bms_next_member(others, table)) >= 0;)
		make_subquery(joins, table);
	(void) move_all_conditions((Node *) joins->query->jointree, joins);
	for (table = -1; (table = bms_next_member(others, table)) >= 0;)
		entry(joins, table)->subquery->targetList = tde_subquery_columns(entry(joins, table), columns_read(joins, table));
}

/* Returns the SELECT that Citus plans now; NULL: it plans none. */
static Query *
planned_select(Query *query)
{
	if (query->commandType == CMD_INSERT && query->jointree->fromlist && IsA(linitial(query->jointree->fromlist), RangeTblRef) &&
		tde_distribution_of(rt_fetch(query->resultRelation, query->rtable)) == NULL)
		query = rt_fetch(linitial_node(RangeTblRef, query->jointree->fromlist)->rtindex, query->rtable)->subquery;
	return query && query->commandType == CMD_SELECT && query->jointree ? query : NULL;
}

void
tde_repartition_joins(Query *query)
{
	Joins		joins = {.query = planned_select(query)};

	query = joins.query;
	if (query == NULL || query->rowMarks || !tde_citus_repartitions() || !find_tables((Node *) query->jointree, &joins))
		return;
	joins.group = palloc0((list_length(query->rtable) + 1) * sizeof(int));
	if (!are_paired(&joins, false) && are_paired(&joins, true))
		make_subqueries(&joins);
}
