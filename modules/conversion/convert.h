/*
 * convert.h - which value a column that is being converted gets.
 */
#ifndef TDE_CONVERSION_CONVERT_H
#define TDE_CONVERSION_CONVERT_H

#include "executor/executor.h"
#include "utils/rel.h"

#include "maintenance/owner.h"

/* How a column's value is made of the other's, ready to run for many rows.  It is good for one opening of the table. */
typedef struct TdeConversion
{
	AttrNumber	source;			/* InvalidAttrNumber: there is none */
	AttrNumber	target;
	const char *opener;			/* the function that opens what the source holds, of which NULL is an error; NULL: none */
	ExprState  *expr;			/* NULL: the target becomes NULL */
	ExprContext *context;		/* whoever made it resets it for each row */
} TdeConversion;

/* Makes the current user the table's owner, restricted, who finds things in pg_catalog by their names alone, until tde_owner_end(). */
extern void tde_convert_begin_as_owner(TdeCaller *caller, Relation rel);

/*
 * Gets a conversion ready.  Without a source the target becomes NULL; without an opener the target is the source, encrypted or decrypted.  Throws
 * ERRCODE_UNDEFINED_COLUMN, and ERRCODE_INSUFFICIENT_PRIVILEGE if the opener is neither the owner's nor a superuser's.
 */
extern void tde_convert_init(TdeConversion *conversion, Relation rel, const char *source, const char *target, const char *opener,
							 ExprContext *context);

/*
 * Returns the target's value for a row, as the table's owner, since a writer need not be one who may decrypt: the owner has decided what the column
 * becomes.  It lives until the context is reset.
 */
extern Datum tde_convert_value(TdeConversion *conversion, Relation rel, TupleTableSlot *row, bool *isnull);

#endif							/* TDE_CONVERSION_CONVERT_H */
