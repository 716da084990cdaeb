/*
 * rows.c - ROW(...) in a client's result has fields of the base types.
 *
 * A row of no named type tells each field's type itself, in the binary protocol.  What such a row is made of stands in the query, so the
 * fields are decrypted there.  A row of a table's or a composite type is what its type says in the catalogs, and stays so.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"

#include "client/result.h"
#include "client/rows.h"
#include "server/compat.h"

/* The fields of a row of no named type, or the rows of an array of such; NIL: it is neither. */
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

void
tde_row_decrypt(Expr *expr)
{
	ListCell   *cell;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	foreach(cell, parts(expr))
	{
		TdeType    *type = tde_result_type(exprType(lfirst(cell)));

		if (type)
			lfirst(cell) = tde_result_call(lfirst(cell), type);
		else
			tde_row_decrypt(lfirst(cell));
	}
}

bool
tde_row_shows(Expr *expr, bool (*is_shown) (Expr *field))
{
	ListCell   *cell;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	foreach(cell, parts(expr))
		if (is_shown(lfirst(cell)) || tde_row_shows(lfirst(cell), is_shown))
			return true;
	return false;
}
