/*
 * rows.h - rows in a client's result.
 */
#ifndef TDE_CLIENT_ROWS_H
#define TDE_CLIENT_ROWS_H

#include "nodes/primnodes.h"

#include "client/catalog.h"

/* Returns true for ROW(...), or ARRAY[...] of such, with a field of an encrypted type, at any depth. */
extern bool tde_row_has_encrypted(Expr *expr);

/* Returns true for another row, or an array of rows, whose fields the catalogs tell in the base types; false unless catalogs are transparent. */
extern bool tde_row_is_plain_for_client(Expr *expr);

/* Returns true for either, which is to be decrypted for a client. */
static inline bool
tde_row_is_encrypted(Expr *expr)
{
	return ((IsA(expr, RowExpr) || IsA(expr, ArrayExpr)) && tde_row_has_encrypted(expr)) ||
		(unlikely(tde_transparent_catalog) && tde_row_is_plain_for_client(expr));
}

/* Returns the same with fields of the base types; may change it in place. */
extern Expr *tde_row_decrypt(Expr *expr);

/* Returns true if a field of a row is decrypted: by a function of which is_shown() says so, or all of them by tde_plain_rows(). */
extern bool tde_row_shows(Expr *expr, bool (*is_shown) (Expr *field));

#endif							/* TDE_CLIENT_ROWS_H */
