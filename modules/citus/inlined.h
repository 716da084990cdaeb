/*
 * inlined.h - calls of the extension's functions in SQL as what these consist of.
 */
#ifndef TDE_CITUS_INLINED_H
#define TDE_CITUS_INLINED_H

#include "nodes/parsenodes.h"

/* Puts them into a query that changes rows, in place.  SELECTs stay: Citus lets them compute with what is STABLE. */
extern void tde_citus_inline(Query *query);

#endif							/* TDE_CITUS_INLINED_H */
