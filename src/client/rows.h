/*
 * rows.h - ROW(...) in a client's result.
 */
#ifndef TDE_CLIENT_ROWS_H
#define TDE_CLIENT_ROWS_H

#include "nodes/primnodes.h"

/* Is this ROW(...), or ARRAY[...] of such, with a field of an encrypted type? */
extern bool tde_row_has_encrypted(Expr *expr);
static inline bool
tde_row_is_encrypted(Expr *expr)
{
	return (IsA(expr, RowExpr) || IsA(expr, ArrayExpr)) && tde_row_has_encrypted(expr);
}

/* Decrypt its fields, in place. */
extern void tde_row_decrypt(Expr *expr);

/* Does a field decrypt, by one of the functions that are in use for that? */
extern bool tde_row_shows(Expr *expr, bool (*is_shown) (Expr *field));

#endif							/* TDE_CLIENT_ROWS_H */
