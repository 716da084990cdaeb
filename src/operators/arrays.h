/*
 * arrays.h - arrays of an encrypted type in clear.
 *
 * Operators call tde_array_peek() at execution (arrays.c); client results and the output plugin call tde_array_decrypt() with what shows one element.
 * tde_array_column() and tde_array_comparison() are called before planning (operators/index_conditions.c).
 */
#ifndef TDE_OPERATORS_ARRAYS_H
#define TDE_OPERATORS_ARRAYS_H

#include "nodes/primnodes.h"
#include "utils/array.h"

#include "type/type.h"

/*
 * Returns one element as it is to be shown, palloc'd if the base type is passed by reference.  *isnull, false at the call, becomes true if the user
 * gets NULL instead.  declared: as tde_declared() says.
 */
typedef Datum (*TdeElementDecrypt) (TdeType *type, Datum value, int32 declared, int32 base_typmod, bool *isnull);

/*
 * Returns the array of the base type that an array of an encrypted type is in clear, with the same dimensions.  It is palloc'd, and the caller's to
 * cleanse; the elements that it was made of are cleansed here.  base_typmod is only passed on to decrypt.
 */
extern ArrayType *tde_array_decrypt(TdeType *type, ArrayType *array, int32 declared, int32 base_typmod, TdeElementDecrypt decrypt);

/*
 * The same for a comparison, whatever the user may see: who calls it must not give the elements out.  The result is to be given to
 * tde_array_unpeek().
 */
extern ArrayType *tde_array_peek(TdeType *type, ArrayType *array, int32 declared);

/* Cleanses and frees what tde_array_peek() has returned.  Not for an array that was plain before. */
extern void tde_array_unpeek(ArrayType *array);

/*
 * Returns the column that an operator of ours compares with a constant: a in a = ARRAY['x'].  NULL if it is another operator, or does not compare a
 * column with what is the same for all rows.  The node belongs to the expression.
 */
extern Node *tde_array_column(OpExpr *op);

/*
 * Returns the same comparison by PostgreSQL's operator of two encrypted arrays, which indexes have; a new node.  NULL if there is none, or the
 * constant cannot be encrypted.  Only for an operator of which tde_array_column() has returned a column.
 */
extern Node *tde_array_comparison(OpExpr *op);

#endif							/* TDE_OPERATORS_ARRAYS_H */
