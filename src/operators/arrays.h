/*
 * arrays.h - arrays of an encrypted type in clear.
 */
#ifndef TDE_OPERATORS_ARRAYS_H
#define TDE_OPERATORS_ARRAYS_H

#include "nodes/primnodes.h"
#include "utils/array.h"

#include "type/type.h"

/* One element, as it is to be shown: palloc'd if the base type is passed by reference. */
typedef Datum (*TdeElementDecrypt) (TdeType *type, Datum value, int32 declared, int32 base_typmod, bool *isnull);

/* The array of the base type that an array of an encrypted type is in clear, of the same dimensions; palloc'd. */
extern ArrayType *tde_array_decrypt(TdeType *type, ArrayType *array, int32 declared, int32 base_typmod, TdeElementDecrypt decrypt);

/* The same for a comparison, whatever the user may see; to be given to tde_array_unpeek(). */
extern ArrayType *tde_array_peek(TdeType *type, ArrayType *array, int32 declared);
extern void tde_array_unpeek(ArrayType *array);

/* The column that an operator of ours compares with a constant, if it is one; NULL otherwise. */
extern Node *tde_array_column(OpExpr *op);

/* The same by PostgreSQL's operator of two encrypted arrays; NULL if there is none. */
extern Node *tde_array_comparison(OpExpr *op);

#endif							/* TDE_OPERATORS_ARRAYS_H */
