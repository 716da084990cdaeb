/*
 * in_clear.h - would an expression's value, if it is stored, hold in clear what is computed of encrypted values?
 */
#ifndef TDE_DDL_IN_CLEAR_H
#define TDE_DDL_IN_CLEAR_H

#include "nodes/parsenodes.h"

/* An expression of a table's own: of its columns. */
extern PGDLLEXPORT bool tde_in_clear(Node *expr);

/* One of them, of a list; NIL: none. */
extern bool tde_in_clear_any(List *exprs);

/* An output column of an analyzed query. */
extern PGDLLEXPORT bool tde_in_clear_output(Query *query, AttrNumber column);

#endif							/* TDE_DDL_IN_CLEAR_H */
