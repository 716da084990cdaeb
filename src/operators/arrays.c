/*
 * arrays.c - operators between an array of an encrypted type and one of its base type.
 *
 * PostgreSQL has these operators for two arrays of one type, and casts no array to make them so.  Ours take an encrypted_array and
 * a plain_array: two types that no value is of, to which arrays of encrypted types and of their base types are cast implicitly.
 * So a few operators serve all types, and none of them suits two arrays of one type, which go on meeting PostgreSQL's.
 *
 * The encrypted array is decrypted, and PostgreSQL's function called for what both are then.  Where a column has an index, a constant
 * is encrypted instead, since only PostgreSQL's operators are those of the index (operators/index_conditions.c).
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "operators/arrays.h"
#include "server/compat.h"
#include "type/core.h"
#include "type/datum.h"
#include "type/declared.h"
#include "type/inside.h"
#include "wallet/wallet.h"

PG_FUNCTION_INFO_V1(tde_array_operand);
PG_FUNCTION_INFO_V1(tde_array_support);
PG_FUNCTION_INFO_V1(tde_array_eq);
PG_FUNCTION_INFO_V1(tde_array_ne);
PG_FUNCTION_INFO_V1(tde_array_lt);
PG_FUNCTION_INFO_V1(tde_array_le);
PG_FUNCTION_INFO_V1(tde_array_gt);
PG_FUNCTION_INFO_V1(tde_array_ge);
PG_FUNCTION_INFO_V1(tde_array_overlap);
PG_FUNCTION_INFO_V1(tde_array_contains);
PG_FUNCTION_INFO_V1(tde_array_contained);

ArrayType *
tde_array_decrypt(TdeType *type, ArrayType *array, int32 declared, int32 base_typmod, TdeElementDecrypt decrypt)
{
	Datum	   *values;
	bool	   *nulls;
	int			count;
	ArrayType  *result;

	deconstruct_array(array, type->oid, -1, false, TYPALIGN_INT, &values, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!nulls[i])
			values[i] = decrypt(type, values[i], declared, base_typmod, &nulls[i]);
	}
	result = construct_md_array(values, nulls, ARR_NDIM(array), ARR_DIMS(array), ARR_LBOUND(array), type->base, type->base_len,
								type->base_byval, type->base_align);
	for (int i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!nulls[i])
			tde_datum_free(type, values[i]);
	}
	pfree(values);
	pfree(nulls);
	return result;
}

/* For a comparison, whatever the user may see. */
static Datum
decrypt_element(TdeType *type, Datum value, int32 declared, int32 base_typmod, bool *isnull)
{
	return tde_datum_decrypt(type, value, declared);
}

ArrayType *
tde_array_peek(TdeType *type, ArrayType *array, int32 declared)
{
	return tde_array_decrypt(type, array, declared, -1, decrypt_element);
}

void
tde_array_unpeek(ArrayType *array)
{
	explicit_bzero(array, ARR_SIZE(array));
	pfree(array);
}

/* ---- operands ---- */

/*
 * What an operand was before it became an encrypted_array or a plain_array.  NULL: it is a constant, since the planner has folded the IMMUTABLE cast,
 * or nothing is known of it.
 */
static Node *
array_of_operand(Node *operand)
{
	FuncExpr   *cast = (FuncExpr *) operand;

	return operand && IsA(operand, FuncExpr) && tde_type_is_function(cast->funcid, "tde_array_operand", tde_array_operand) ?
		linitial(cast->args) : NULL;
}

/* An operand of the call of an operator, in whichever node it stands; NULL if the call is of another kind, such as ANY's. */
static Node *
operand_of_call(Node *call, int number)
{
	List	   *args = NIL;

	if (call && IsA(call, FuncExpr))
		args = ((FuncExpr *) call)->args;
	else if (call && (IsA(call, OpExpr) || IsA(call, DistinctExpr) || IsA(call, NullIfExpr)))
		args = ((OpExpr *) call)->args;
	return number < list_length(args) ? list_nth(args, number) : NULL;
}

/* The type of an operand's elements; InvalidOid: not known. */
static Oid
operand_element(Node *operand)
{
	Node	   *array = array_of_operand(operand);

	if (array)
		return get_base_element_type(exprType(array));
	if (operand && IsA(operand, Const) && !((Const *) operand)->constisnull)
		return ARR_ELEMTYPE(DatumGetArrayTypeP(((Const *) operand)->constvalue));
	return InvalidOid;
}

/*
 * Throws ERRCODE_UNDEFINED_FUNCTION if the elements are of different base types.  PostgreSQL's parser says so of plain arrays; to it, ours are of two
 * types that have the operator.
 */
static void
check_elements(Oid left, Oid right)
{
	TdeType    *left_type = tde_type_find(left);
	TdeType    *right_type = tde_type_find(right);

	if ((left_type ? left_type->base : left) != (right_type ? right_type->base : right))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("operator does not exist for %s and %s", format_type_be(get_array_type(left)), format_type_be(get_array_type(right))),
				 errhint("No operator matches the given name and argument types. You might need to add explicit type casts.")));
}

/* tde_array_support(internal) returns internal - planner support: arrays that cannot meet are an error although there are no rows. */
Datum
tde_array_support(PG_FUNCTION_ARGS)
{
	SupportRequestSimplify *request = (SupportRequestSimplify *) PG_GETARG_POINTER(0);

	if (IsA(request, SupportRequestSimplify))
	{
		Oid			left = operand_element(operand_of_call((Node *) request->fcall, 0));
		Oid			right = operand_element(operand_of_call((Node *) request->fcall, 1));

		if (OidIsValid(left) && OidIsValid(right))
			check_elements(left, right);
	}
	PG_RETURN_POINTER(NULL);
}

/* ---- for indexes ---- */

/*
 * The number of the operand that is a column of encrypted arrays.  -1: none is, or the other one differs from row to row, so that no index could be
 * searched for it.
 */
static int
column_operand(OpExpr *op)
{
	for (int i = 0; i < 2; i++)
	{
		Node	   *array = array_of_operand(list_nth(op->args, i));
		Node	   *other = list_nth(op->args, 1 - i);

		if (array && IsA(array, Var) && !contain_var_clause(other) && !contain_volatile_functions(other) && !contain_subplans(other))
			return tde_type_find(get_base_element_type(exprType(array))) ? i : -1;
	}
	return -1;
}

Node *
tde_array_column(OpExpr *op)
{
	int			column;

	if (op->opno < FirstNormalObjectId || list_length(op->args) != 2)
		return NULL;
	column = column_operand(op);
	return column < 0 ? NULL : array_of_operand(list_nth(op->args, column));
}

/*
 * Returns an array of the base type as one of an encrypted type; NULL: it cannot be one.  A constant is encrypted here, once for the plan.  While the
 * wallet is closed, the cast stays in the plan: EXPLAIN works then, and execution says what is wrong.
 */
static Node *
encrypt_operand(Node *operand, Oid type)
{
	Node	   *plain = array_of_operand(operand);
	Node	   *encrypted;

	if (plain == NULL)
		return NULL;
	plain = eval_const_expressions(NULL, plain);
	encrypted = coerce_to_target_type(NULL, plain, exprType(plain), type, -1, COERCION_EXPLICIT, COERCE_IMPLICIT_CAST, -1);
	if (encrypted && IsA(plain, Const) && tde_wallet_ensure_open())
		encrypted = (Node *) evaluate_expr((Expr *) encrypted, type, -1, exprCollation(encrypted));
	return encrypted;
}

Node *
tde_array_comparison(OpExpr *op)
{
	int			column = column_operand(op);
	Node	   *array = array_of_operand(list_nth(op->args, column));
	Oid			type = getBaseType(exprType(array));
	Oid			left = type;
	Oid			right = type;
	Oid			operator = tde_core_operator(get_opname(op->opno), &left, &right);
	Node	   *other = encrypt_operand(list_nth(op->args, 1 - column), type);

	if (!OidIsValid(operator) || other == NULL)
		return NULL;
	op = copyObject(op);
	op->opno = operator;
	op->opfuncid = get_opcode(operator);
	op->args = column == 0 ? list_make2(array, other) : list_make2(other, array);
	return (Node *) op;
}

/* ---- operators ---- */

/* encrypted_array(anyarray) and plain_array(anyarray): the array itself, which says what it holds. */
Datum
tde_array_operand(PG_FUNCTION_ARGS)
{
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

/* What a call site keeps: the typmods of its operands. */
typedef struct ArrayCall
{
	int32		typmods[2];
} ArrayCall;

/* What the call site keeps in fn_extra.  These functions take no encrypted type, so there is no TdeCall of theirs. */
static ArrayCall *
array_call(FmgrInfo *flinfo)
{
	ArrayCall  *call = flinfo->fn_extra;

	if (likely(call != NULL))
		return call;
	call = MemoryContextAlloc(flinfo->fn_mcxt, sizeof(ArrayCall));
	for (int i = 0; i < 2; i++)
	{
		Node	   *array = array_of_operand(operand_of_call(flinfo->fn_expr, i));

		call->typmods[i] = array ? exprTypmod(array) : -1;
	}
	flinfo->fn_extra = call;
	return call;
}

/*
 * An operand in clear; *ours: it was decrypted, and is to be given to tde_array_unpeek().  The element type of the array decides, since both operand
 * types accept arrays of either sort.
 */
static ArrayType *
get_operand(FunctionCallInfo fcinfo, int operand, bool *ours)
{
	int32		typmod = array_call(fcinfo->flinfo)->typmods[operand];
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(operand);
	TdeType    *type = tde_type_find(ARR_ELEMTYPE(array));

	*ours = type != NULL;
	return type ? tde_array_peek(type, array, tde_declared(type, typmod)) : array;
}

/* What PostgreSQL's function says of both. */
static bool
compare_elements(FunctionCallInfo fcinfo, Oid function)
{
	ArrayType  *arrays[2];
	bool		ours[2];
	bool		result;

	for (int i = 0; i < 2; i++)
		arrays[i] = get_operand(fcinfo, i, &ours[i]);
	check_elements(ARR_ELEMTYPE(arrays[0]), ARR_ELEMTYPE(arrays[1]));
	result = DatumGetBool(FunctionCall2Coll(tde_type_function(function), PG_GET_COLLATION(), PointerGetDatum(arrays[0]),
											PointerGetDatum(arrays[1])));
	for (int i = 0; i < 2; i++)
		if (ours[i])
			tde_array_unpeek(arrays[i]);
	return result;
}

Datum
tde_array_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_elements(fcinfo, F_ARRAY_EQ));
}

Datum
tde_array_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_elements(fcinfo, F_ARRAY_NE));
}

Datum
tde_array_lt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_elements(fcinfo, F_ARRAY_LT));
}

Datum
tde_array_le(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_elements(fcinfo, F_ARRAY_LE));
}

Datum
tde_array_gt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_elements(fcinfo, F_ARRAY_GT));
}

Datum
tde_array_ge(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_elements(fcinfo, F_ARRAY_GE));
}

Datum
tde_array_overlap(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_elements(fcinfo, F_ARRAYOVERLAP));
}

Datum
tde_array_contains(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_elements(fcinfo, F_ARRAYCONTAINS));
}

Datum
tde_array_contained(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare_elements(fcinfo, F_ARRAYCONTAINED));
}
