/*
 * hypothetical.h - rank(5) WITHIN GROUP (ORDER BY n), and its like, sort encrypted values.
 */
#ifndef TDE_OPERATORS_HYPOTHETICAL_H
#define TDE_OPERATORS_HYPOTHETICAL_H

#include "nodes/parsenodes.h"

/* To be called before a query with aggregates is planned; not for those inside of it. */
extern void tde_hypothetical_prepare(Query *query);

#endif							/* TDE_OPERATORS_HYPOTHETICAL_H */
