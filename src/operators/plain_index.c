/*
 * plain_index.c - a plain column's index finds what is equal to an encrypted value, or less, or greater: one of a function's variable, a
 * parameter, or a row outside of the subquery.
 *
 * The index knows nothing of our operators.  So it is asked by PostgreSQL's own for the value in clear, which exists for that search alone:
 * the condition itself stays what it is.
 */
#include "postgres.h"

#include "access/hash.h"
#include "access/stratnum.h"
#include "catalog/pg_am.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "utils/lsyscache.h"

#include "server/compat.h"
#include "type/access.h"
#include "type/type.h"

PG_FUNCTION_INFO_V1(tde_plain_index_support);

/* The operator of the index that does for values of this type, or of one with the same bytes, what ours does; InvalidOid: it has none. */
static Oid
index_operator(const SupportRequestIndexCondition *request, Oid operator, Oid *value)
{
	Oid			method = request->index->relam;
	Oid			key = request->index->opcintype[request->indexcol];
	List	   *meanings = TDE_OPERATOR_MEANINGS(operator);
	int			strategy;
	Oid			found;

	if (meanings == NIL || (method != BTREE_AM_OID && method != HASH_AM_OID))
		return InvalidOid;
	strategy = TDE_MEANT_STRATEGY(linitial(meanings));
	if (method == HASH_AM_OID)
	{
		if (strategy != BTEqualStrategyNumber)
			return InvalidOid;
		strategy = HTEqualStrategyNumber;
	}
	found = get_opfamily_member(request->opfamily, key, *value, strategy);
	if (!OidIsValid(found) && IsBinaryCoercible(*value, key))
	{
		*value = key;
		found = get_opfamily_member(request->opfamily, key, key, strategy);
	}
	return found;
}

/*
 * The condition by which the index is searched; NIL: it serves none.  WHERE id = v, with v a variable of encrypted_int4, is such.  The value must not
 * differ within one scan.  The condition is exact, so rows are not checked once more.
 */
static List *
plain_condition(SupportRequestIndexCondition *request)
{
	OpExpr	   *clause = (OpExpr *) request->node;
	Node	   *key = list_nth(clause->args, request->indexarg);
	Node	   *value = list_nth(clause->args, 1 - request->indexarg);
	Oid			operator = request->indexarg == 0 ? clause->opno : get_commutator(clause->opno);
	TdeType    *type = tde_type_find(exprType(value));
	Oid			plain;

	/* whoever may only compare may not have the value in clear */
	if (type == NULL || tde_access_restricted || !OidIsValid(operator) ||
		(OidIsValid(request->indexcollation) && request->indexcollation != clause->inputcollid) ||
		!is_pseudo_constant_for_index(request->root, value, request->index))
		return NIL;
	plain = type->base;
	operator = index_operator(request, operator, &plain);
	if (!OidIsValid(operator))
		return NIL;
	value = coerce_to_target_type(NULL, value, type->oid, plain, -1, COERCION_IMPLICIT, COERCE_IMPLICIT_CAST, -1);
	if (value == NULL)
		return NIL;
	request->lossy = false;
	return list_make1(make_opclause(operator, BOOLOID, false, (Expr *) key, (Expr *) value, InvalidOid, clause->inputcollid));
}

/* tde_plain_index_support(internal) returns internal - planner support for comparisons of plain values with encrypted ones. */
Datum
tde_plain_index_support(PG_FUNCTION_ARGS)
{
	SupportRequestIndexCondition *request = (SupportRequestIndexCondition *) PG_GETARG_POINTER(0);

	if (!IsA(request, SupportRequestIndexCondition) || !is_opclause(request->node))
		PG_RETURN_POINTER(NULL);
	PG_RETURN_POINTER(plain_condition(request));
}
