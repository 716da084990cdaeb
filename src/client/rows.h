/*
 * rows.h - rows in a client's result.
 */
#ifndef TDE_CLIENT_ROWS_H
#define TDE_CLIENT_ROWS_H

#include "nodes/primnodes.h"

#include "client/catalog.h"

/* Is this ROW(...), or ARRAY[...] of such, with a field of an encrypted type? */
extern bool tde_row_has_encrypted(Expr *expr);

/* Is it another row, or an array of rows, whose fields the catalogs tell in the base types? */
extern bool tde_row_is_plain_for_client(Expr *expr);

static inline bool
tde_row_is_encrypted(Expr *expr)
{
	return ((IsA(expr, RowExpr) || IsA(expr, ArrayExpr)) && tde_row_has_encrypted(expr)) ||
		(unlikely(tde_transparent_catalog) && tde_row_is_plain_for_client(expr));
}

/* The same with fields of the base types; may be changed in place. */
extern Expr *tde_row_decrypt(Expr *expr);

/* Does a field decrypt, by one of the functions that are in use for that? */
extern bool tde_row_shows(Expr *expr, bool (*is_shown) (Expr *field));

#endif							/* TDE_CLIENT_ROWS_H */
