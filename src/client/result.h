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

/* Returns true if one of the columns of a SELECT, or of a RETURNING list, is of an encrypted type, an array or a domain of one. */
extern bool tde_result_is_encrypted(Query *query);

/*
 * Returns true if the result as it was described to the client before gives base types to columns that the query, analyzed again, now has as
 * encrypted ones.
 */
extern bool tde_result_was_decrypted(Query *query, TupleDesc described);

/*
 * Returns true if a column is ROW(...), or an array of such, with a field of an encrypted type; with transparent catalogs, also if it is another row
 * that has one.  False where columns are compared first: UNION and DISTINCT.
 */
extern bool tde_result_has_rows(Query *query);

/*
 * Has the query decrypt its columns of encrypted types, in place; with_rows: the fields of rows, too.  The base types are its result's from then on.
 * A SELECT that must not be changed inside becomes a subquery.  One with FOR UPDATE stays as it is then, encrypted.
 */
extern void tde_result_decrypt(Query *query, bool with_rows);

/*
 * Returns the value of such a column, or what is shown of it to those who may not see it, in clear.  column: where it comes from, by which masks are
 * found.  declared, base_typmod: see TdePlainColumn.  *isnull is set if NULL is shown.  To be followed by tde_datum_unpeek(scratch), which ends the
 * result's life.
 *
 * Throws what decryption throws, and where tde_column.decrypt_policy says that such a value is an error.
 */
extern Datum tde_result_peek(TdeType *type, TdeColumn column, Datum value, int32 declared, int32 base_typmod, TdeScratch *scratch, bool *isnull);

/*
 * Returns true if the current user is shown the value, or some of it.  What masks and policies put in its place tells nothing, and an error neither.
 * For tde.decryptions, which counts what is given.
 */
extern bool tde_result_gives(TdeType *type, TdeColumn column, Datum value);

/* Does what tde_result_peek() does for an array of encrypted values.  Masks of the column show nothing of its elements. */
extern Datum tde_result_peek_array(TdeType *type, Datum value, int32 declared, int32 base_typmod, TdeScratch *scratch);

/* Returns one value without masks, palloc'd where the base type is passed by reference. */
extern Datum tde_result_value(TdeType *type, Datum value, int32 declared, int32 base_typmod, bool *isnull);

/*
 * Returns the encrypted type that a type is, or has as its elements, or is a domain over either; NULL for all others.  PostgreSQL's own types cost no
 * lookup.
 */
extern TdeType *tde_result_type(Oid oid);

/* Returns the same of a column that the client sees; NULL for hidden ones. */
extern TdeType *tde_result_column(TargetEntry *column);

/* Returns the type's tde_result(); InvalidOid if there is none: the extension in this database is older, or somebody has dropped it. */
extern Oid	tde_result_function(TdeType *type);

/*
 * Returns a call of it that decrypts the expression, or each element of its array; the expression itself if type is NULL or has no function.  type:
 * what tde_result_type() says of the expression's.
 */
extern Expr *tde_result_call(Expr *expr, TdeType *type);

/*
 * Returns the call in an expression that may be such a one, or the one for the element of an array; NULL if there is none.  Whether the function is
 * ours is for the caller to ask.
 */
extern FuncExpr *tde_result_called(Expr *expr);

/* Has a function known again as one that decrypts results, in this backend, by the hash value of its OID. */
extern void tde_result_remember(Oid function);

/* Returns true if a function of this hash value does.  Another one may have the same by chance. */
extern bool tde_result_is_remembered(uint32 hash);

/* Returns true if an expression is such a call, or one for each element of an array. */
extern bool tde_result_decrypts(Expr *expr);

/* Returns true if a prepared statement decrypts its result; in doubt, too, where it could not be analyzed the last time. */
extern bool tde_result_in_source(CachedPlanSource *source);

/* Returns the same of a plan.  It is also true if the plan uses the function for something else. */
extern bool tde_result_in_plan(PlannedStmt *plan);

#endif							/* TDE_CLIENT_RESULT_H */
