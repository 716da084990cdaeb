/*
 * result.c - the function that decrypts the columns of a client's result, and its calls.
 *
 * It is VOLATILE, tde_result(encrypted, int4): the planner evaluates it above every sort, hash table and window, so that those spill ciphertext.  Its
 * second argument only tells the result's typmod, as in numeric(15,2).
 *
 * Where calls are made: result_query.c puts them into the client's query when it has been analyzed, rows.c into rows that the query builds, and
 * postponed.c on top of a plan that EXPLAIN shows.  Where they are known again: postponed.c takes them out before planning, held_cursors.c and
 * params.c ask whether a plan or a query decrypts.  What they know them by is the function's hash value in the plan's dependencies, which stays
 * when plans are copied; the OID is looked up once for each type.  An arbitrary expression may stand inside a call; nothing stands around one but
 * what builds a row.  Who may not decrypt gets what the column's masks show, or, by tde_column.decrypt_policy, an error, NULL or a mask: from the call and the
 * receiver alike.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rls.h"
#include "utils/syscache.h"

#include "client/result.h"
#include "operators/arrays.h"
#include "server/compat.h"
#include "type/access.h"
#include "type/datum.h"
#include "type/inside.h"
#include "type/masks.h"
#include "type/opened.h"

PG_FUNCTION_INFO_V1(tde_result);

/* The functions that this backend has put into queries, by the hash value by which plans name what they depend on. */
static List *functions = NIL;

/* Returns true if the current user may not see the value.  Most servers keep nobody from any. */
static inline bool
is_hidden(TdeType *type, Datum value)
{
	return unlikely(tde_access_restricted) && !tde_access_permits(type, value);
}

/* Returns what a mask shows.  The plaintext that it is made of is freed at once. */
static Datum
masked(const TdeMask *mask, TdeType *type, Datum value, int32 declared, int32 base_typmod, bool *isnull)
{
	Datum		plain;
	Datum		result;

	/* these do not look at it */
	if (mask->kind >= TDE_MASK_CONSTANT)
		return tde_masks->form(mask, type, (Datum) 0, base_typmod, isnull);
	plain = tde_datum_decrypt_once(type, value, declared);
	result = tde_masks->form(mask, type, plain, base_typmod, isnull);
	tde_datum_free(type, plain);
	return result;
}

/*
 * Returns what is shown to who may not decrypt: what the column's masks say, or the policy.  A mask that the type no longer has a form for is none.
 */
static Datum
shown(TdeType *type, TdeColumn column, Datum value, int32 declared, int32 base_typmod, bool *isnull)
{
	const TdeMask *mask = tde_masks_of_column(column);

	*isnull = false;
	if (mask && mask->kind == TDE_MASK_CLEAR)
		return tde_datum_decrypt_once(type, value, declared);
	/* as with policies of rows, who sets row_security off (pg_dump does) wants all or an error */
	if (!row_security)
		tde_access_refuse(type);
	return mask && tde_masks->has_form(mask, type->base) ? masked(mask, type, value, declared, base_typmod, isnull) :
		tde_access_result(type, base_typmod, isnull);
}

bool
tde_result_gives(TdeType *type, TdeColumn column, Datum value)
{
	const TdeMask *mask;

	if (!is_hidden(type, value))
		return true;
	mask = tde_masks_of_column(column);
	return mask && (mask->kind == TDE_MASK_CLEAR || (mask->kind < TDE_MASK_CONSTANT && row_security && tde_masks->has_form(mask, type->base)));
}

static Datum
value_of(TdeType *type, TdeColumn column, Datum value, int32 declared, int32 base_typmod, bool *isnull)
{
	if (is_hidden(type, value))
		return shown(type, column, value, declared, base_typmod, isnull);
	return tde_datum_decrypt_once(type, value, declared);
}

Datum
tde_result_value(TdeType *type, Datum value, int32 declared, int32 base_typmod, bool *isnull)
{
	return value_of(type, TDE_NO_COLUMN, value, declared, base_typmod, isnull);
}

/* Returns true if the call was put into a client's statement.  Somebody who writes one himself could store what a mask shows. */
static bool
is_put_in(FunctionCallInfo fcinfo)
{
	Node	   *expr = fcinfo->flinfo->fn_expr;

	return expr && IsA(expr, FuncExpr) && ((FuncExpr *) expr)->funcformat == COERCE_EXPLICIT_CAST;
}

static pg_noinline Datum
watched_result(FunctionCallInfo fcinfo, TdeCall *call)
{
	TdeType    *type = call->proc->args[0];
	TdeColumn	column = tde_access_restricted && is_put_in(fcinfo) ? call->columns[0] : TDE_NO_COLUMN;

	if (tde_track_decryptions && tde_result_gives(type, column, PG_GETARG_DATUM(0)))
		tde_decryptions->add_argument(fcinfo, 0);
	return value_of(type, column, PG_GETARG_DATUM(0), call->declared[0], PG_GETARG_INT32(1), &fcinfo->isnull);
}

Datum
tde_result(PG_FUNCTION_ARGS)
{
	TdeCall    *call = tde_call(fcinfo);

	if (unlikely(tde_access_watched))
		return watched_result(fcinfo, call);
	return tde_datum_decrypt_once(call->proc->args[0], PG_GETARG_DATUM(0), call->declared[0]);
}

Datum
tde_result_peek(TdeType *type, TdeColumn column, Datum value, int32 declared, int32 base_typmod, TdeScratch *scratch, bool *isnull)
{
	if (is_hidden(type, value))
	{
		Datum		result = shown(type, column, value, declared, base_typmod, isnull);

		scratch->allocated = *isnull || type->base_byval ? NULL : DatumGetPointer(result);
		if (scratch->allocated)
			scratch->allocated_size = type->base_len > 0 ? type->base_len : VARSIZE_ANY(scratch->allocated);
		return result;
	}
	return tde_datum_peek(type, value, declared, TDE_REMEMBER_NOT, scratch);
}

Datum
tde_result_peek_array(TdeType *type, Datum value, int32 declared, int32 base_typmod, TdeScratch *scratch)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	ArrayType  *result = tde_array_decrypt(type, array, declared, base_typmod, tde_result_value);

	if ((Pointer) array != DatumGetPointer(value))
		pfree(array);
	scratch->allocated = result;
	scratch->allocated_size = ARR_SIZE(result);
	return PointerGetDatum(result);
}

/* Every statement of the server comes here, so it must be quick to say no, and to say yes without a look into the catalogs. */
TdeType *
tde_result_type(Oid oid)
{
	TdeType    *type;

	if (oid < FirstNormalObjectId)
		return NULL;
	type = tde_type_find(oid);
	if (type)
		return type;
	oid = getBaseType(oid);
	type = tde_type_find(oid);
	return type ? type : tde_type_find(get_element_type(oid));
}

TdeType *
tde_result_column(TargetEntry *column)
{
	return column->resjunk ? NULL : tde_result_type(tde_expr_type(column->expr));
}

/* Returns tde_result(type, int4), beside the type's input function; InvalidOid if there is none. */
static Oid
look_up_function(TdeType *type)
{
	Oid			arg_types[2] = {type->oid, INT4OID};
	Oid			function = InvalidOid;
	Oid			input;
	Oid			ioparam;
	HeapTuple	tuple;

	getTypeInputInfo(type->oid, &input, &ioparam);
	tuple = SearchSysCache3(PROCNAMEARGSNSP, CStringGetDatum("tde_result"),
							PointerGetDatum(buildoidvector(arg_types, 2)), ObjectIdGetDatum(get_func_namespace(input)));
	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	/* only superusers can make C functions */
	if (((Form_pg_proc) GETSTRUCT(tuple))->prolang == ClanguageId &&
		((Form_pg_proc) GETSTRUCT(tuple))->prorettype == type->base)
		function = ((Form_pg_proc) GETSTRUCT(tuple))->oid;
	ReleaseSysCache(tuple);
	return function;
}

static uint32
function_hash(Oid function)
{
	return GetSysCacheHashValue1(PROCOID, ObjectIdGetDatum(function));
}

void
tde_result_remember(Oid function)
{
	int			hash = (int) function_hash(function);

	if (!list_member_int(functions, hash))
	{
		MemoryContext context = MemoryContextSwitchTo(TopMemoryContext);

		functions = lappend_int(functions, hash);
		MemoryContextSwitchTo(context);
	}
}

/* Looked up once: statements of clients come here for each column. */
Oid
tde_result_function(TdeType *type)
{
	if (!OidIsValid(type->result_function))
	{
		type->result_function = look_up_function(type);
		if (OidIsValid(type->result_function))
			tde_result_remember(type->result_function);
	}
	return type->result_function;
}

/* The call for one value.  In the form of a cast, the second argument counts as the typmod. */
static Expr *
decrypt_one(Expr *expr, TdeType *type, int32 base_typmod)
{
	Oid			collation = exprCollation((Node *) expr);
	Const	   *modifier = makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(base_typmod), false, true);

	return (Expr *) makeFuncExpr(tde_result_function(type), type->base, list_make2(expr, modifier), collation, collation, COERCE_EXPLICIT_CAST);
}

/* Makes the same call for each element, by the node with which PostgreSQL casts arrays. */
static Expr *
decrypt_each(Expr *expr, TdeType *type, int32 typmod, int32 base_typmod)
{
	CaseTestExpr *element = makeNode(CaseTestExpr);
	ArrayCoerceExpr *cast = makeNode(ArrayCoerceExpr);

	element->typeId = type->oid;
	element->typeMod = typmod;
	element->collation = exprCollation((Node *) expr);
	cast->arg = expr;
	cast->elemexpr = decrypt_one((Expr *) element, type, base_typmod);
	cast->resulttype = get_array_type(type->base);
	cast->resulttypmod = base_typmod;
	cast->resultcollid = element->collation;
	cast->coerceformat = COERCE_EXPLICIT_CAST;
	cast->location = -1;
	return (Expr *) cast;
}

Expr *
tde_result_call(Expr *expr, TdeType *type)
{
	Oid			column = exprType((Node *) expr);
	int32		typmod = exprTypmod((Node *) expr);
	Oid			base;
	int32		base_typmod;

	if (type == NULL || !OidIsValid(tde_result_function(type)))
		return expr;
	base = column == type->oid ? column : getBaseTypeAndTypmod(column, &typmod);
	if (base != column)
		expr = (Expr *) makeRelabelType(expr, base, typmod, exprCollation((Node *) expr), COERCE_IMPLICIT_CAST);
	base_typmod = tde_type_base_typmod(type, typmod);
	return base == type->oid ? decrypt_one(expr, type, base_typmod) : decrypt_each(expr, type, typmod, base_typmod);
}

/* The call, if an expression is what tde_result_call() makes, or could be; NULL otherwise. */
FuncExpr *
tde_result_called(Expr *expr)
{
	if (IsA(expr, ArrayCoerceExpr))
		expr = ((ArrayCoerceExpr *) expr)->elemexpr;
	return IsA(expr, FuncExpr) ? (FuncExpr *) expr : NULL;
}

bool
tde_result_is_remembered(uint32 hash)
{
	return list_member_int(functions, (int) hash);
}

bool
tde_result_decrypts(Expr *expr)
{
	FuncExpr   *call = tde_result_called(expr);

	return call && tde_result_is_remembered(function_hash(call->funcid));
}
