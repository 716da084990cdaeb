/*
 * sort_values.h - the plaintexts of a sort in memory, equal ones once.
 *
 * Each has a number, by which a sort's abbreviated keys refer to it.  All of them together, and what finds them, take no more
 * than their bound.  What does not fit has no number, and is decrypted when it is compared.
 *
 * Until values are compared, none is forgotten: of equal values either all have a number, the same, or none has.  Comparisons
 * tell that the values before them may have been written to disk or thrown away; these are forgotten when there is no more room.
 * Cleansed when forgotten and when the sort's memory context is reset.
 */
#ifndef TDE_OPERATORS_SORT_VALUES_H
#define TDE_OPERATORS_SORT_VALUES_H

#include "utils/sortsupport.h"

#include "type/type.h"

/* Numbers are less. */
#define TDE_SORT_NUMBERS	(UINT32_C(1) << 31)

typedef struct TdeSortValues TdeSortValues;

/*
 * Returns an empty set.  base compares plaintexts and has the collation; all is allocated in its memory context, and goes with that.  bound: bytes
 * that all may take.  NULL if the base type has no hash function.
 */
extern TdeSortValues *tde_sort_values_new(TdeType *type, SortSupport base, Size bound);

/*
 * Returns the number of a plaintext, the same for those that are equal; 0 if it has none, for want of room.  key is kept with a new one.  The bytes
 * are copied.  Throws ERRCODE_OUT_OF_MEMORY.
 */
extern uint32 tde_sort_values_add(TdeSortValues *kept, Datum plain, uint32 key);

/* To be called before a value is added if there were comparisons since the last one was; so many.  May forget values. */
extern void tde_sort_values_compared(TdeSortValues *kept, uint64 comparisons);

/*
 * Sets *plain to the plaintext of a number, and *key to its key.  It points into the set, until the next value is added.  Returns false if it was
 * forgotten.
 */
extern bool tde_sort_values_get(TdeSortValues *kept, uint32 number, Datum *plain, uint32 *key);

#endif							/* TDE_OPERATORS_SORT_VALUES_H */
