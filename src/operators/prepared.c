/*
 * prepared.c - joins by PostgreSQL's equality and its aggregates of any type, which would sort, hash or hand on what a cast has decrypted.
 *
 * bigint = double precision compares two double precisions, and so does an encrypted bigint beside one: by the implicit cast that decrypts.  An operator
 * of the two themselves would make 1 = 1.5 ambiguous (sql/25_operands.sql).  But a merge join sorts what it compares, a hash join keeps it, and both
 * may write that to a temporary file.  So before such a query is planned, the cast becomes one to the larger encrypted type, which gives the same value
 * encrypted, and the comparison that of this type.
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parse_func.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "operators/computed.h"
#include "operators/prepared.h"
#include "server/compat.h"
#include "type/cast.h"
#include "type/core.h"
#include "type/inside.h"
#include "type/type.h"

/* An expression_tree_walker: returns true if an expression differs from row to row. */
static bool
reads_rows(Node *node, void *context)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	/* what a subquery under IN gives */
	if (IsA(node, Var) || (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_SUBLINK))
		return true;
	return expression_tree_walker(node, reads_rows, context);
}

/* The implicit cast that a node is, beneath a change of the type's name; NULL: it is none.  Asked first, since most operands are columns. */
static FuncExpr *
implicit_cast(Node *node)
{
	if (IsA(node, RelabelType) && ((RelabelType *) node)->relabelformat == COERCE_IMPLICIT_CAST)
		node = (Node *) ((RelabelType *) node)->arg;
	return IsA(node, FuncExpr) && ((FuncExpr *) node)->funcformat == COERCE_IMPLICIT_CAST ? (FuncExpr *) node : NULL;
}

/*
 * What is encrypted, or what an implicit cast has decrypted, in the encrypted type of its result; NULL: it is something else, or there is no such
 * type.  An oid, of which there is none, is encrypted as a bigint.
 */
static Node *
encrypted_operand(Node *node)
{
	Oid			result = exprType(node);
	TdeType    *type = tde_type_of_base(result == OIDOID ? INT8OID : result);
	FuncExpr   *cast = implicit_cast(node);

	if (tde_type_find(result))
		return node;
	if (type == NULL || cast == NULL || !tde_cast_is_decryption(cast->funcid))
		return NULL;
	node = result == OIDOID ? (Node *) cast : linitial(cast->args);
	return coerce_to_target_type(NULL, node, exprType(node), type->oid, -1, COERCION_EXPLICIT, COERCE_IMPLICIT_CAST, -1);
}

/* Returns true if PostgreSQL can join by this operator, with a left operand of this type, by merging or by hashing. */
static bool
joins_by(Oid operator, Oid left)
{
	return OidIsValid(operator) && (op_mergejoinable(operator, left) || op_hashjoinable(operator, left));
}

/* Equality of encrypted types by which tables can be joined, that takes exactly these; InvalidOid: there is none. */
static Oid
encrypted_equality(Oid left, Oid right)
{
	Oid			taken[] = {left, right};
	Oid			found = tde_core_operator_with(tde_type_find(left) ? left : right, "=", &taken[0], &taken[1]);

	return taken[0] == left && taken[1] == right && joins_by(found, left) && tde_inside_is_base_operator(found) ? found : InvalidOid;
}

/*
 * Puts equality of two encrypted operands in place, if there is one.  Where one of them is plain and has no encrypted form, as a column of the other
 * table, it takes the base type of the other: the family has a member for that.  Otherwise the condition stays.
 */
static void
encrypt_equality(OpExpr *op)
{
	Node	   *args[] = {linitial(op->args), lsecond(op->args)};
	Node	   *encrypted[] = {encrypted_operand(args[0]), encrypted_operand(args[1])};
	Oid			operator;

	if (encrypted[0] == NULL && encrypted[1] == NULL)
		return;
	for (int i = 0; i < 2; i++)
		if (encrypted[i] == NULL)
			encrypted[i] = args[i];
	operator = encrypted_equality(exprType(encrypted[0]), exprType(encrypted[1]));
	if (!OidIsValid(operator))
	{
		TdeType    *left = tde_type_find(exprType(encrypted[0]));
		TdeType    *right = tde_type_find(exprType(encrypted[1]));
		int			plain = left ? 1 : 0;
		Oid			wanted;

		if (left && right)
			return;
		/* a name beside a string is a text, an oid beside a bigint one */
		wanted = exprType(args[plain]) == NAMEOID ? TEXTOID : (left ? left : right)->base;
		encrypted[plain] = coerce_to_target_type(NULL, args[plain], exprType(args[plain]), wanted, -1,
												 COERCION_ASSIGNMENT, COERCE_IMPLICIT_CAST, -1);
		operator = encrypted[plain] ? encrypted_equality(exprType(encrypted[0]), exprType(encrypted[1])) : InvalidOid;
	}
	if (!OidIsValid(operator))
		return;
	/* rows that a subquery gives are made unique by the collation that these have */
	for (int i = 0; i < 2; i++)
		if (encrypted[i] != args[i])
			encrypted[i] = tde_form_collated(encrypted[i]);
	op->opno = operator;
	op->opfuncid = get_opcode(operator);
	op->args = list_make2(encrypted[0], encrypted[1]);
}

/* Equality that would have decrypted values sorted or hashed, or one of ours by which there is no FULL JOIN: that of a string and a name. */
static bool
wants_another(const OpExpr *op, bool full)
{
	Node	   *left = linitial(op->args);
	Node	   *right = lsecond(op->args);

	if (tde_is_core(op->opno))
		return (implicit_cast(left) || implicit_cast(right)) && joins_by(op->opno, exprType(left));
	return full && !joins_by(op->opno, exprType(left)) && strcmp(get_opname(op->opno), "=") == 0 && tde_inside_is_base_operator(op->opno) &&
		(tde_type_find(exprType(left)) || tde_type_find(exprType(right)));
}

/* Conditions by which tables may be joined: all that must hold. */
static void
encrypt_conditions(Node *node, bool full)
{
	OpExpr	   *op = (OpExpr *) node;
	ListCell   *cell;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return;
	if (is_andclause(node))
		foreach(cell, ((BoolExpr *) node)->args)
			encrypt_conditions(lfirst(cell), full);
	else if (IsA(node, OpExpr) && list_length(op->args) == 2 && wants_another(op, full) &&
			 reads_rows(linitial(op->args), NULL) && reads_rows(lsecond(op->args), NULL))
		encrypt_equality(op);
}

/*
 * Conditions of FROM and WHERE; not what subqueries in their expressions have.  Only a FULL JOIN must have conditions to merge or hash by; others
 * would be done by a nested loop.
 */
static void
encrypt_from(Node *node)
{
	ListCell   *cell;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (IsA(node, FromExpr))
	{
		encrypt_conditions(((FromExpr *) node)->quals, false);
		foreach(cell, ((FromExpr *) node)->fromlist)
			encrypt_from(lfirst(cell));
	}
	else if (IsA(node, JoinExpr))
	{
		encrypt_conditions(((JoinExpr *) node)->quals, ((JoinExpr *) node)->jointype == JOIN_FULL);
		encrypt_from(((JoinExpr *) node)->larg);
		encrypt_from(((JoinExpr *) node)->rarg);
	}
}

static void encrypt_joins(Query *query, bool is_subquery);

/* Subqueries that stand in expressions: an expression_tree_walker.  The condition of IN (SELECT ...) becomes a join, too, so it is looked at. */
static bool
encrypt_sublinks(Node *node, void *context)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		encrypt_joins((Query *) node, true);
		return false;
	}
	if (IsA(node, SubLink))
		encrypt_conditions(((SubLink *) node)->testexpr, false);
	return expression_tree_walker(node, encrypt_sublinks, context);
}

/* The conditions of a query and its subqueries.  is_subquery: it may be compared with a table outside, also where it reads one table. */
static void
encrypt_joins(Query *query, bool is_subquery)
{
	ListCell   *cell;

	check_stack_depth();
	if (query->commandType == CMD_MERGE)
		encrypt_conditions(TDE_MERGE_CONDITION(query), false);
	/* most statements read one table; a subquery may compare it with one outside */
	if (is_subquery || list_length(query->rtable) > 1)
		encrypt_from((Node *) query->jointree);
	foreach(cell, query->rtable)
	{
		CHECK_FOR_INTERRUPTS();
		if (lfirst_node(RangeTblEntry, cell)->rtekind == RTE_SUBQUERY)
			encrypt_joins(lfirst_node(RangeTblEntry, cell)->subquery, true);
	}
	foreach(cell, query->cteList)
		encrypt_joins((Query *) lfirst_node(CommonTableExpr, cell)->ctequery, true);
	if (query->hasSubLinks)
		(void) query_tree_walker(query, encrypt_sublinks, NULL, QTW_IGNORE_JOINALIASES | QTW_IGNORE_RT_SUBQUERIES | QTW_IGNORE_CTE_SUBQUERIES);
}

void
tde_prepared_joins(Query *query)
{
	encrypt_joins(query, false);
}

/*
 * ---- PostgreSQL's aggregates of any type, which would sort decrypted values or hand them from process to process ----
 *
 * rank(5) WITHIN GROUP (ORDER BY n), and its like: PostgreSQL brings what is ranked and the rows' values to one type.  A constant takes that of the
 * column; of a plain value the column takes the type, or a larger one, by the implicit cast, and plaintext would be sorted, which may write it to a
 * temporary file.  So before such a call is planned, the cast goes, or one to the larger encrypted type takes its place, and the value is encrypted instead.
 *
 * array_agg(n): a parallel worker passes on what it has gathered by the send function of the type, rows and ranges by those of their parts, which
 * decrypt.  One of ours takes its place that differs in nothing but that no worker has a part of its result.
 */

/* The operator that sorts the encrypted values in the order in which another one sorts the plain ones; InvalidOid: there is none. */
static Oid
sort_operator(Oid operator, Oid plain, Oid encrypted, Oid *equality)
{
	TypeCacheEntry *from = lookup_type_cache(plain, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
	TypeCacheEntry *to = lookup_type_cache(encrypted, TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);

	*equality = to->eq_opr;
	return operator == from->lt_opr ? to->lt_opr : operator == from->gt_opr ? to->gt_opr : InvalidOid;
}

/* Returns the encrypted value of which a cast has made this: a column, or what it becomes beside something larger; NULL: it is something else. */
static Node *
encrypted_key(Node *expr)
{
	FuncExpr   *cast = (FuncExpr *) expr;
	Node	   *operand = tde_form_operand(expr);
	TdeType    *larger;

	if (operand || !IsA(expr, FuncExpr) || cast->funcformat != COERCE_IMPLICIT_CAST || !tde_cast_is_decryption(cast->funcid))
		return operand;
	operand = linitial(cast->args);
	larger = tde_type_of_base(cast->funcresulttype);
	return larger && IsA(operand, Var) ?
		coerce_to_target_type(NULL, operand, exprType(operand), larger->oid, -1, COERCION_EXPLICIT, COERCE_IMPLICIT_CAST, -1) : NULL;
}

/*
 * One key of the sort, and the value that is ranked by it.  Both change type together, and so do the types that the call notes of its arguments:
 * direct ones come first there.
 */
static void
encrypt_key(Aggref *call, int number)
{
	TargetEntry *entry = list_nth_node(TargetEntry, call->args, number);
	SortGroupClause *order = get_sortgroupref_clause(entry->ressortgroupref, call->aggorder);
	ListCell   *direct = list_nth_cell(call->aggdirectargs, number);
	Oid			plain = exprType((Node *) entry->expr);
	Node	   *operand = encrypted_key((Node *) entry->expr);
	Oid			encrypted = operand ? exprType(operand) : InvalidOid;
	Oid			equality;
	Oid			operator;
	Node	   *value;

	if (operand == NULL || exprType(lfirst(direct)) != plain)
		return;
	operator = sort_operator(order->sortop, plain, encrypted, &equality);
	value = coerce_to_target_type(NULL, lfirst(direct), plain, encrypted, -1, COERCION_EXPLICIT, COERCE_IMPLICIT_CAST, -1);
	if (!OidIsValid(operator) || value == NULL)
		return;
	order->sortop = operator;
	order->eqop = equality;
	entry->expr = (Expr *) operand;
	lfirst(direct) = value;
	lfirst_oid(list_nth_cell(call->aggargtypes, number)) = encrypted;
	lfirst_oid(list_nth_cell(call->aggargtypes, list_length(call->aggdirectargs) + number)) = encrypted;
}

/* Replaces array_agg() by ours, if it is there: a database that has not been updated may lack it. */
static void
gather_in_one_process(Aggref *call)
{
	Oid			taken = ANYNONARRAYOID;
	Oid			ours = LookupFuncName(list_make2(makeString("tde_internal"), makeString("array_agg")), 1, &taken, true);

	if (OidIsValid(ours))
		call->aggfnoid = ours;
}

/* An expression_tree_walker. */
static bool
prepare_calls(Node *node, void *context)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (IsA(node, Aggref))
	{
		Aggref	   *call = (Aggref *) node;

		if (call->aggkind == AGGKIND_HYPOTHETICAL && call->aggfnoid < FirstUnpinnedObjectId &&
			list_length(call->args) == list_length(call->aggdirectargs))
			for (int i = 0; i < list_length(call->args); i++)
				encrypt_key(call, i);
		if (TDE_ARRAY_AGG_IS_PARTIAL && call->aggfnoid == F_ARRAY_AGG_ANYNONARRAY && tde_type_holds_encrypted(linitial_oid(call->aggargtypes)))
			gather_in_one_process(call);
	}
	return expression_tree_walker(node, prepare_calls, context);
}

void
tde_prepared_aggregates(Query *query)
{
	(void) prepare_calls((Node *) query->targetList, NULL);
	(void) prepare_calls(query->havingQual, NULL);
}
