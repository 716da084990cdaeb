/*
 * computed_call.c - which of PostgreSQL's own functions an expression calls: a function, an operator, or one of ours of the same name.
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_func.h"
#include "utils/lsyscache.h"

#include "operators/computed_call.h"
#include "operators/computed.h"
#include "type/core.h"
#include "type/inside.h"
#include "type/type.h"

Oid
tde_computed_base_type(Node *node)
{
	Oid			type = exprType(node);
	TdeType    *encrypted = tde_type_find(type);

	return encrypted ? encrypted->base : type;
}

/*
 * PostgreSQL's function that has the name of one of ours and takes the base types: lower(text) for lower(encrypted_text); InvalidOid: there is none.
 * Only the extension's functions are looked at, since another one of that name may do anything.
 */
static Oid
namesake_of_function(FuncExpr *call)
{
	List	   *name = list_make2(makeString("pg_catalog"), makeString(get_func_name(call->funcid)));
	int			count = list_length(call->args);
	Oid			types[FUNC_MAX_ARGS];
	Oid			function;
	ListCell   *cell;

	if (!tde_core_is_member(ProcedureRelationId, call->funcid))
		return InvalidOid;
	foreach(cell, call->args)
		types[foreach_current_index(cell)] = tde_computed_base_type(lfirst(cell));
	function = LookupFuncName(name, count, types, true);
	if (OidIsValid(function))
		return function;
	/* varchar has the functions of text */
	for (int i = 0; i < count; i++)
		types[i] = types[i] == VARCHAROID ? TEXTOID : types[i];
	return LookupFuncName(name, count, types, true);
}

/* ---- what was asked before: each expression of a query is compared with each that an index has ---- */

/* So many answers are kept, each where its OIDs say; a new one replaces the one that was there. */
#define MEMOS	64

/* A question to the catalogs about three OIDs.  The answer is good for one tde_functions_epoch. */
typedef Oid (*Question) (Oid first, Oid second, Oid third);

typedef struct Memo
{
	Question	question;
	Oid			about[3];
	Oid			answer;
	uint64		epoch;			/* of tde_functions_epoch */
} Memo;

/* The answer, from the catalogs or a memo.  The epoch is noted before they are asked: an invalidation on the way makes the memo stale at once. */
static Oid
answer_to(Question question, Oid first, Oid second, Oid third)
{
	static Memo memos[MEMOS];
	Memo	   *memo = &memos[(first + 31 * second + 961 * third) % MEMOS];
	Memo		asked = {question, {first, second, third}, InvalidOid, tde_functions_epoch};

	if (memo->question == question && memo->epoch == asked.epoch && memcmp(memo->about, asked.about, sizeof(asked.about)) == 0)
		return memo->answer;
	asked.answer = question(first, second, third);
	*memo = asked;
	return asked.answer;
}

/* PostgreSQL's function of the operator that has the name of one of ours and takes these base types; left: InvalidOid for one of one operand. */
static Oid
find_namesake_of_operator(Oid operator, Oid left, Oid right)
{
	if (!tde_core_is_member(OperatorRelationId, operator))
		return InvalidOid;
	operator = tde_core_operator(get_opname(operator), &left, &right);
	return OidIsValid(operator) ? get_opcode(operator) : InvalidOid;
}

/* The same for a call, by way of the memos: || of encrypted_text and text is textcat(). */
static Oid
namesake_of_operator(OpExpr *op)
{
	Oid			left = list_length(op->args) == 2 ? tde_computed_base_type(linitial(op->args)) : InvalidOid;

	return answer_to(find_namesake_of_operator, op->opno, left, tde_computed_base_type(llast(op->args)));
}

Oid
tde_called_function(Node *expr, List **args)
{
	Oid			function = InvalidOid;

	if (IsA(expr, FuncExpr))
	{
		FuncExpr   *call = (FuncExpr *) expr;

		*args = call->args;
		function = call->funcid < FirstUnpinnedObjectId ? call->funcid : namesake_of_function(call);
	}
	else if (IsA(expr, OpExpr))
	{
		OpExpr	   *op = (OpExpr *) expr;

		*args = op->args;
		function = op->opno < FirstUnpinnedObjectId ? get_opcode(op->opno) : namesake_of_operator(op);
	}
	return OidIsValid(function) && tde_computed_is_possible(function) ? function : InvalidOid;
}

/* The function itself if another one has its name; else InvalidOid. */
static Oid
find_name_of(Oid function, Oid other, Oid unused)
{
	char	   *name = get_func_name(function);
	char	   *wanted = get_func_name(other);

	return name && wanted && strcmp(name, wanted) == 0 ? function : InvalidOid;
}

/* Whose name another function has, too; the catalogs tell at once that it is not. */
static bool
has_name_of(Oid function, Oid other)
{
	return OidIsValid(answer_to(find_name_of, function, other, InvalidOid));
}

bool
tde_computed_may_call(Node *expr, Oid function)
{
	Oid			operator = IsA(expr, OpExpr) ? ((OpExpr *) expr)->opno : InvalidOid;

	if (IsA(expr, FuncExpr))
		return ((FuncExpr *) expr)->funcid < FirstUnpinnedObjectId ? ((FuncExpr *) expr)->funcid == function :
			has_name_of(((FuncExpr *) expr)->funcid, function);
	if (!OidIsValid(operator))
		return false;
	if (operator >= FirstUnpinnedObjectId)
		return namesake_of_operator((OpExpr *) expr) == function;
	/* not looked up for each of many indexes; in stored trees there is none */
	return (OidIsValid(((OpExpr *) expr)->opfuncid) ? ((OpExpr *) expr)->opfuncid : get_opcode(operator)) == function;
}
