/*
 * convert.h - which value a column that is being converted gets, and whether it is being converted.
 */
#ifndef TDE_CONVERSION_CONVERT_H
#define TDE_CONVERSION_CONVERT_H

#include "executor/executor.h"
#include "utils/rel.h"

/* From one column to the other; without a source the target becomes NULL. */
typedef struct TdeConversion
{
	AttrNumber	source;
	AttrNumber	target;
	ExprState  *expr;
	ExprContext *context;
} TdeConversion;

/* Without a source the target becomes NULL. */
extern void tde_convert_init(TdeConversion *conversion, Relation rel, const char *source, const char *target, ExprContext *context);

/*
 * As the table's owner, since a writer need not be one who may decrypt: the owner has decided what the column becomes.  The
 * result lives until the context is reset.
 */
extern Datum tde_convert_value(TdeConversion *conversion, Relation rel, TupleTableSlot *row, bool *isnull);

/* Is a conversion of the table under way that sets the target from the source, or to NULL without one? */
extern bool tde_convert_is_under_way(Relation rel, const char *source, const char *target);

#endif							/* TDE_CONVERSION_CONVERT_H */
