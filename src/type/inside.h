/*
 * inside.h - the encrypted values within a column's value: itself, or elements of arrays, members of composites and
 * bounds of ranges, to any depth, under domains or not.
 */
#ifndef TDE_TYPE_INSIDE_H
#define TDE_TYPE_INSIDE_H

#include "type/type.h"

/* What is known of a declared type: where in its values encrypted ones are. */
typedef struct TdeInside TdeInside;

/* NULL if values of this type hold no encrypted ones.  Made in the current memory context. */
extern TdeInside *tde_inside_find(Oid type, int32 typmod);

/*
 * What to do with one encrypted value: returns it as it is, or another one.  declared: the typmod of the place where it stands,
 * or -1 where none is declared, as in a range.
 */
typedef Datum (*TdeInsideChange) (TdeType *type, Datum value, int32 declared, void *arg);

/*
 * Have change look at each encrypted value in value, which is not NULL.  Returns value itself if change left all as they are,
 * otherwise a copy with what it returned.
 */
extern Datum tde_inside_replace(const TdeInside *nested, Datum value, TdeInsideChange change, void *arg);

#endif							/* TDE_TYPE_INSIDE_H */
