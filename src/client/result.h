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

/* Has it a column ROW(...) with a field of an encrypted type? */
extern bool tde_result_has_rows(Query *query);

/* Decrypt the columns of an encrypted type, in place, and the fields of ROW(...).  Some queries stay as they are. */
extern void tde_result_decrypt(Query *query, bool with_rows);

/*
 * The value of such a column, or what is shown of it to those who may not see it.  *isnull is set if that is NULL.  To be
 * followed by tde_datum_unpeek().
 */
extern Datum tde_result_peek(TdeType *type, TdeColumn column, Datum value, int32 declared, int32 base_typmod, TdeScratch *scratch, bool *isnull);

/* Is the user shown the value, or some of it?  What masks and policies put in its place tells nothing, and an error neither. */
extern bool tde_result_gives(TdeType *type, TdeColumn column, Datum value);

/* The same of an array of them. */
extern Datum tde_result_peek_array(TdeType *type, Datum value, int32 declared, int32 base_typmod, TdeScratch *scratch);

/* The same, palloc'd where the base type is passed by reference. */
extern Datum tde_result_value(TdeType *type, Datum value, int32 declared, int32 base_typmod, bool *isnull);

/* The encrypted type that a type is, or has as its elements, or is a domain over; or NULL. */
extern TdeType *tde_result_type(Oid oid);

/* The encrypted type of a visible column, or of its elements, or of the domain that it has; or NULL. */
extern TdeType *tde_result_column(TargetEntry *column);

/* The type's function for results; InvalidOid if there is none. */
extern Oid	tde_result_function(TdeType *type);

/* A call of it; the expression itself if it is not encrypted (type is NULL), or if there is no function. */
extern Expr *tde_result_call(Expr *expr, TdeType *type);

/* The call in such an expression, of the element of an array; NULL if there is none. */
extern FuncExpr *tde_result_called(Expr *expr);

/* Know it again as one that decrypts results. */
extern void tde_result_remember(Oid function);

/* By the hash value of a function: is it one that decrypts results? */
extern bool tde_result_is_remembered(uint32 hash);

/* Is an expression such a call, or one for each element of an array? */
extern bool tde_result_decrypts(Expr *expr);

/* Does this prepared statement, or this plan, decrypt its result?  (A plan may use the function for something else.) */
extern bool tde_result_in_source(CachedPlanSource *source);
extern bool tde_result_in_plan(PlannedStmt *plan);

#endif							/* TDE_CLIENT_RESULT_H */
