/*
 * operands.c - an operand that is not encrypted, made of the type in which it meets the encrypted one.
 */
#include "postgres.h"

#include "nodes/primnodes.h"

#include "operators/operands.h"
#include "server/compat.h"

/* What a call site keeps of the operand that is not encrypted. */
typedef struct PlainOperand
{
	bool		constant;		/* the same at each call? */
	Datum		converted;		/* if it is */
} PlainOperand;

static bool
is_constant(Node *expr, int operand)
{
	return expr != NULL && IsA(expr, OpExpr) && operand < list_length(((OpExpr *) expr)->args) &&
		IsA(list_nth(((OpExpr *) expr)->args, operand), Const);
}

static PlainOperand *
make_operand(FunctionCallInfo fcinfo, int operand, FmgrInfo *convert)
{
	MemoryContext caller = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	PlainOperand *plain = palloc(sizeof(PlainOperand));

	plain->constant = is_constant(fcinfo->flinfo->fn_expr, operand);
	if (plain->constant)
		plain->converted = FunctionCall1(convert, PG_GETARG_DATUM(operand));
	MemoryContextSwitchTo(caller);
	return plain;
}

Datum
tde_constant_convert(FunctionCallInfo fcinfo, TdeCall *call, int operand, FmgrInfo *convert, bool *kept)
{
	PlainOperand *plain = call->more;

	if (unlikely(plain == NULL))
		call->more = plain = make_operand(fcinfo, operand, convert);
	*kept = plain->constant;
	return plain->constant ? plain->converted : FunctionCall1(convert, PG_GETARG_DATUM(operand));
}
