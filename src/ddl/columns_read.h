/*
 * columns_read.h - the columns of queries that the guard against plaintext has looked at.
 */
#ifndef TDE_DDL_COLUMNS_READ_H
#define TDE_DDL_COLUMNS_READ_H

#include "access/attnum.h"
#include "nodes/parsenodes.h"

/* Before a search: what was looked at before is forgotten.  A search ends when it finds something. */
extern void tde_looks_begin(void);

/*
 * Was a column of a query, or of an entry of a range table, looked at?  Then *reads tells what was found; while it is being looked at, which a
 * view that reads itself leads to, that is nothing.  If it was not, it is from now on.
 */
extern bool tde_was_looked_at(const void *place, AttrNumber column, bool *reads);

/* What was found, which it returns. */
extern bool tde_looked_at(const void *place, AttrNumber column, bool reads);

/* The query of a view, the same during a search. */
extern Query *tde_view_looked_at(Oid relid);

#endif							/* TDE_DDL_COLUMNS_READ_H */
