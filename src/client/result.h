/*
 * result.h - the encrypted columns of a query's result are decrypted by the query itself and have the base type.
 */
#ifndef TDE_CLIENT_RESULT_H
#define TDE_CLIENT_RESULT_H

#include "access/tupdesc.h"
#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"
#include "utils/plancache.h"

#include "type/datum.h"

/* Is one of the columns of a SELECT, or of a RETURNING list, of an encrypted type? */
extern bool tde_result_is_encrypted(Query *query);

/* Does the result as it was described before give base types to columns that the query now has as encrypted ones? */
extern bool tde_result_was_decrypted(Query *query, TupleDesc described);

/* Decrypt these columns, in place.  Some queries stay as they are. */
extern void tde_result_decrypt(Query *query);

/*
 * The value of such a column, or what is shown of it to those who may not see it.  *isnull is set if that is NULL.  To be
 * followed by tde_datum_unpeek().
 */
extern Datum tde_result_peek(TdeType *type, Datum value, int32 declared, int32 base_typmod, TdeScratch *scratch, bool *isnull);

/*
 * The columns of a SELECT that are to be decrypted when its rows are sent; the list belongs among the plan's invalItems.
 */
extern List *tde_result_mark(Query *query);

/* The same of one that decrypts them itself; that is taken back, in place. */
extern List *tde_result_postpone(Query *query);

/*
 * PostgreSQL gives extensions no place in a plan, and copies and keeps plans.  So what a plan has to say stands among the
 * things that it depends on, under the number of a catalog cache that there is not: less than zero.  Each such item is a set
 * of columns, 32 to an item.
 */
static inline bool
tde_result_is_postponed(PlanInvalItem *item)
{
	return item->cacheId < 0;
}

/* The first of the columns of an item (from 0 on), and which of the 32 from there on are meant. */
static inline int
tde_result_postponed_columns(PlanInvalItem *item, uint32 *which)
{
	*which = item->hashValue;
	return (-item->cacheId - 1) * 32;
}

/* Does this prepared statement, or this plan, decrypt its result?  (A plan may use the function for something else.) */
extern bool tde_result_in_source(CachedPlanSource *source);
extern bool tde_result_in_plan(PlannedStmt *plan);

#endif							/* TDE_CLIENT_RESULT_H */
