/*
 * tde_compare.c - comparison operators and the btree support function of encrypted types.
 *
 * Each is declared for (encrypted, encrypted), (encrypted, base) and (base, encrypted), and compares as the base type's
 * default btree operator class does.  They are IMMUTABLE, as index members must be, and leave no allocation behind, since
 * index builds and sorts call them millions of times in one memory context.
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "tde_compat.h"
#include "tde_datum.h"
#include "tde_error.h"

PG_FUNCTION_INFO_V1(tde_eq);
PG_FUNCTION_INFO_V1(tde_ne);
PG_FUNCTION_INFO_V1(tde_lt);
PG_FUNCTION_INFO_V1(tde_le);
PG_FUNCTION_INFO_V1(tde_gt);
PG_FUNCTION_INFO_V1(tde_ge);
PG_FUNCTION_INFO_V1(tde_cmp);

/* The two arguments in clear. */
typedef struct Operands
{
	TdeType    *type;			/* whose base type both are of */
	Datum		left;
	Datum		right;
	TdeType    *free_left;		/* not NULL: left was decrypted by us */
	TdeType    *free_right;
} Operands;

static void
get_operands(FunctionCallInfo fcinfo, Operands *operands)
{
	TdeCall    *call = tde_call(fcinfo);
	TdeProc    *proc = call->proc;

	operands->free_left = proc->args[0];
	operands->free_right = proc->args[1];
	operands->type = proc->args[0] ? proc->args[0] : proc->args[1];
	operands->left = PG_GETARG_DATUM(0);
	operands->right = PG_GETARG_DATUM(1);
	if (proc->args[0])
		operands->left = tde_datum_decrypt(proc->args[0], operands->left, call->declared[0]);
	if (proc->args[1])
		operands->right = tde_datum_decrypt(proc->args[1], operands->right, call->declared[1]);
}

static void
free_operands(Operands *operands)
{
	if (operands->free_left)
		tde_datum_free(operands->free_left, operands->left);
	if (operands->free_right)
		tde_datum_free(operands->free_right, operands->right);
}

static int
compare(FunctionCallInfo fcinfo)
{
	Operands	operands;
	FmgrInfo   *base_compare;
	int			result;

	get_operands(fcinfo, &operands);
	base_compare = tde_base_compare(operands.type);
	if (base_compare == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("could not identify a comparison function for type %s", format_type_be(operands.type->base))));
	result = DatumGetInt32(FunctionCall2Coll(base_compare, PG_GET_COLLATION(), operands.left, operands.right));
	free_operands(&operands);
	return result;
}

static bool
are_equal(FunctionCallInfo fcinfo)
{
	Operands	operands;
	bool		result;

	get_operands(fcinfo, &operands);
	result = DatumGetBool(FunctionCall2Coll(tde_base_equal(operands.type), PG_GET_COLLATION(),
											operands.left, operands.right));
	free_operands(&operands);
	return result;
}

Datum
tde_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(are_equal(fcinfo));
}

Datum
tde_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(!are_equal(fcinfo));
}

Datum
tde_lt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) < 0);
}

Datum
tde_le(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) <= 0);
}

Datum
tde_gt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) > 0);
}

Datum
tde_ge(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) >= 0);
}

/* tde_cmp(encrypted, encrypted) returns int4 - btree support function 1. */
Datum
tde_cmp(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(compare(fcinfo));
}
