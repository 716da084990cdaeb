/*
 * sort_values.h - the plaintexts of a sort in memory, equal ones once.
 *
 * Each has a number, by which a sort's abbreviated keys refer to it.  A sort holds at most as much in memory at a time as
 * it was allowed to, and a plaintext takes less room than the tuple that it is from; so of the plaintexts only the last ones
 * are kept, in two generations of the sort's memory each: whatever is being sorted is among them, and what was already
 * written to disk may be forgotten.  Cleansed when forgotten and when the sort's memory context is reset.
 */
#ifndef TDE_OPERATORS_SORT_VALUES_H
#define TDE_OPERATORS_SORT_VALUES_H

#include "utils/sortsupport.h"

#include "type/type.h"

typedef struct TdeSortValues TdeSortValues;

/*
 * base compares plaintexts and has the collation; all is allocated in its memory context.  bound: bytes of a generation.
 * NULL if the base type has no hash function.
 */
extern TdeSortValues *tde_sort_values_new(TdeType *type, SortSupport base, Size bound);

/* The number of a plaintext, the same for those that are equal (in one generation); 0 if there are no more numbers. */
extern uint32 tde_sort_values_add(TdeSortValues *kept, Datum plain);

/* The plaintext of a number; false if it was forgotten. */
extern bool tde_sort_values_get(TdeSortValues *kept, uint32 number, Datum *plain);

#endif							/* TDE_OPERATORS_SORT_VALUES_H */
