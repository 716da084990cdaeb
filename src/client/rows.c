/*
 * rows.c - ROW(...) in a client's result has fields of the base types, and so has any row for those whom catalogs tell these.
 *
 * In the binary protocol each row tells its fields' types itself.  What ROW(...) is made of stands in the query, so the fields are decrypted
 * there.  A row of a table's or a composite type is what its type says in the catalogs: with transparent catalogs, that fields have the base types.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"

#include "client/catalog.h"
#include "client/plain_form.h"
#include "client/result.h"
#include "client/rows.h"
#include "server/compat.h"
#include "type/type.h"

PG_FUNCTION_INFO_V1(tde_plain_rows);

/* ---- ROW(...) ---- */

/* Returns the fields of a row of no named type, or the rows of an array of such; NIL if the expression is neither. */
static List *
parts(Expr *expr)
{
	if (IsA(expr, RowExpr) && ((RowExpr *) expr)->row_typeid == RECORDOID)
		return ((RowExpr *) expr)->args;
	if (IsA(expr, ArrayExpr) && ((ArrayExpr *) expr)->array_typeid == RECORDARRAYOID)
		return ((ArrayExpr *) expr)->elements;
	return NIL;
}

bool
tde_row_has_encrypted(Expr *expr)
{
	ListCell   *cell;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	foreach(cell, parts(expr))
		if (tde_result_type(exprType(lfirst(cell))) || tde_row_is_encrypted(lfirst(cell)))
			return true;
	return false;
}

/* ---- rows that tell their type ---- */

extern Datum tde_plain_rows(PG_FUNCTION_ARGS);

static Oid
plain_rows_function(void)
{
	Oid			types[] = {ANYELEMENTOID};

	return tde_type_internal_function("tde_plain_rows", tde_plain_rows, types, lengthof(types));
}

bool
tde_row_is_plain_for_client(Expr *expr)
{
	return tde_transparent_catalog && parts(expr) == NIL && tde_plain_type_has_rows(exprType((Node *) expr)) && OidIsValid(plain_rows_function());
}

/* The call has the form of a cast, in which no user can write it: tde_plain_rows() asks for that. */
static Expr *
plain_rows_call(Expr *expr)
{
	Oid			function = plain_rows_function();
	Oid			collation = exprCollation((Node *) expr);

	tde_result_remember(function);
	return (Expr *) makeFuncExpr(function, exprType((Node *) expr), list_make1(expr), collation, collation, COERCE_EXPLICIT_CAST);
}

static bool
is_plain_rows_call(Expr *expr)
{
	return IsA(expr, FuncExpr) && ((FuncExpr *) expr)->funcformat == COERCE_EXPLICIT_CAST &&
		((FuncExpr *) expr)->funcid == plain_rows_function();
}

/*
 * tde_plain_rows(anyelement) returns anyelement - a row, or an array of rows, with fields of the base types, for a client.  The value is not of
 * the type that it is declared of, so nothing but an output function may get it.
 */
Datum
tde_plain_rows(PG_FUNCTION_ARGS)
{
	Node	   *call = fcinfo->flinfo->fn_expr;

	if (call == NULL || !IsA(call, FuncExpr) || ((FuncExpr *) call)->funcformat != COERCE_EXPLICIT_CAST)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("tde_plain_rows() is for results of clients' statements only")));
	PG_RETURN_DATUM(tde_plain_value(get_fn_expr_argtype(fcinfo->flinfo, 0), -1, PG_GETARG_DATUM(0), true, &fcinfo->isnull));
}

/* ---- both ---- */

/* Changes the fields in place: fields of encrypted types, and those of rows inside. */
static Expr *
decrypt_parts(Expr *expr)
{
	ListCell   *cell;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	foreach(cell, parts(expr))
	{
		TdeType    *type = tde_result_type(exprType(lfirst(cell)));

		lfirst(cell) = type ? tde_result_call(lfirst(cell), type) : tde_row_decrypt(lfirst(cell));
	}
	return expr;
}

Expr *
tde_row_decrypt(Expr *expr)
{
	return tde_row_is_plain_for_client(expr) ? plain_rows_call(expr) : decrypt_parts(expr);
}

bool
tde_row_shows(Expr *expr, bool (*is_shown) (Expr *field))
{
	ListCell   *cell;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (is_plain_rows_call(expr))
		return true;
	foreach(cell, parts(expr))
		if (is_shown(lfirst(cell)) || tde_row_shows(lfirst(cell), is_shown))
			return true;
	return false;
}
