/*
 * prepared_aggregates.c - PostgreSQL's aggregates of any type, which would sort decrypted values or hand them from process to process.
 *
 * rank(5) WITHIN GROUP (ORDER BY n), and its like: PostgreSQL brings what is ranked and the rows' values to one type.  A constant takes that of the
 * column; of a plain value the column takes the type, or a larger one, by the implicit cast, and plaintext would be sorted, which may write it to a
 * temporary file.  So before such a call is planned, the cast goes, or one to the larger encrypted type takes its place, and the value is encrypted instead.
 *
 * array_agg(n): a parallel worker passes on what it has gathered by the send function of the type, rows and ranges by those of their parts, which
 * decrypt.  One of ours takes its place that differs in nothing but that no worker has a part of its result.
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
#include "utils/typcache.h"

#include "operators/computed.h"
#include "operators/prepared_aggregates.h"
#include "server/compat.h"
#include "type/cast.h"
#include "type/inside.h"
#include "type/type.h"

/* The operator that sorts the encrypted values in the order in which another one sorts the plain ones; InvalidOid: there is none. */
static Oid
sort_operator(Oid operator, Oid plain, Oid encrypted, Oid *equality)
{
	TypeCacheEntry *from = lookup_type_cache(plain, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
	TypeCacheEntry *to = lookup_type_cache(encrypted, TYPECACHE_EQ_OPR | TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);

	*equality = to->eq_opr;
	return operator == from->lt_opr ? to->lt_opr : operator == from->gt_opr ? to->gt_opr : InvalidOid;
}

/* The encrypted value of which a cast has made this: a column, or what it becomes beside something larger; NULL: there is none. */
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

/* One key of the sort, and the value that is ranked by it. */
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
tde_aggregates_prepare(Query *query)
{
	(void) prepare_calls((Node *) query->targetList, NULL);
	(void) prepare_calls(query->havingQual, NULL);
}
