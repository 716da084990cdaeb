/*
 * merge.h - MERGE into a table by its encrypted distribution column.
 */
#ifndef TDE_CITUS_MERGE_H
#define TDE_CITUS_MERGE_H

#include "nodes/parsenodes.h"

/* Before Citus plans it: encrypts what ON compares with the distribution column, in place.  A MERGE of another form stays as it is. */
extern void tde_merge_prepare(Query *query);

#endif							/* TDE_CITUS_MERGE_H */
