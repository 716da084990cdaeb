/*
 * permanent.h - rows that no rollback and no crash takes away.
 */
#ifndef TDE_SERVER_PERMANENT_H
#define TDE_SERVER_PERMANENT_H

#include "access/htup.h"
#include "utils/relcache.h"

/*
 * Add a row that exists from this moment for everybody, whatever becomes of this transaction: its xmin is frozen, and the
 * WAL is on disk when this returns.  options are those of heap_insert().  Frozen last, so that an error before leaves nothing.  The caller has locked out other writers.
 */
extern void tde_permanent_insert(Relation rel, HeapTuple tuple, int options);

/* ereport if the table has indexes of somebody's that such an insert, or an update without an executor, cannot serve. */
extern void tde_permanent_check_indexes(Relation rel);

/* Tell all backends of this database at once that rows of the table change; those that begin a transaction later know it then. */
extern void tde_permanent_tell(Oid relid);

/* A copy of the last row by this index, NULL if there is none; ereport if there is no such index. */
extern HeapTuple tde_permanent_last(Relation rel, Oid index);

#endif							/* TDE_SERVER_PERMANENT_H */
