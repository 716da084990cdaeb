/*
 * in_clear.h - finds expressions whose values, if they are stored, would hold in clear what is computed of encrypted values.
 */
#ifndef TDE_DDL_IN_CLEAR_H
#define TDE_DDL_IN_CLEAR_H

#include "nodes/parsenodes.h"

/*
 * All three look at analyzed expressions, evaluate nothing and need no key.  A view that a query reads is opened under
 * AccessShareLock for its query.  In doubt they return true: a function may put into its result whatever it is given.
 */

/* Returns true if the value of an expression over one table's columns would hold in clear what is computed of encrypted ones. */
extern PGDLLEXPORT bool tde_in_clear(Node *expr);

/* Returns true if one of these expressions would; false for NIL. */
extern bool tde_in_clear_any(List *exprs);

/* Returns true if an output column of an analyzed query would, by its number from 1 on. */
extern PGDLLEXPORT bool tde_in_clear_output(Query *query, AttrNumber column);

#endif							/* TDE_DDL_IN_CLEAR_H */
