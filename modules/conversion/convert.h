/*
 * convert.h - which value a column that is being converted gets, and whether it is being converted.
 */
#ifndef TDE_CONVERSION_CONVERT_H
#define TDE_CONVERSION_CONVERT_H

#include "executor/executor.h"
#include "utils/rel.h"

#include "maintenance/owner.h"

/* From one column to the other; without a source the target becomes NULL. */
typedef struct TdeConversion
{
	AttrNumber	source;
	AttrNumber	target;
	const char *opener;			/* the function that opens what the source holds, of which NULL is an error; NULL: none */
	ExprState  *expr;
	ExprContext *context;
} TdeConversion;

/* The table's owner, restricted, who finds things in pg_catalog by their names alone, until tde_owner_end(). */
extern void tde_convert_begin_as_owner(TdeCaller *caller, Relation rel);

/* Without a source the target becomes NULL; without an opener the target is the source, encrypted or decrypted. */
extern void tde_convert_init(TdeConversion *conversion, Relation rel, const char *source, const char *target, const char *opener,
							 ExprContext *context);

/*
 * As the table's owner, since a writer need not be one who may decrypt: the owner has decided what the column becomes.  The
 * result lives until the context is reset.
 */
extern Datum tde_convert_value(TdeConversion *conversion, Relation rel, TupleTableSlot *row, bool *isnull);

/* Is a conversion of the table under way that sets the target from the source, or to NULL without one?  Gives its opener, or NULL. */
extern bool tde_convert_is_under_way(Relation rel, const char *source, const char *target, char **opener);

#endif							/* TDE_CONVERSION_CONVERT_H */
