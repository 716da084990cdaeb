/*
 * permanent.h - rows that no rollback and no crash takes away.
 */
#ifndef TDE_SERVER_PERMANENT_H
#define TDE_SERVER_PERMANENT_H

#include "access/attnum.h"
#include "access/htup.h"
#include "utils/relcache.h"

/*
 * Add a row that exists from this moment for everybody, whatever becomes of this transaction: its xmin is frozen, and the
 * WAL is on disk when this returns.  options are those of heap_insert().  Frozen last, so that an error before leaves nothing.  The caller has locked out other writers.
 */
extern void tde_permanent_insert(Relation rel, HeapTuple tuple, int options);

/* ereport if the table has indexes of somebody's that such an insert, or an update without an executor, cannot serve. */
extern void tde_permanent_check_indexes(Relation rel);

/*
 * A row of the table, of which we know so many columns, and the row with some of them changed.  Others may come after ours: those that
 * were dropped are NULL, and if there is one of a later version, or of somebody's, nobody knows what belongs there: ereport.
 */
extern HeapTuple tde_permanent_form(Relation rel, int known, const Datum *values, const bool *nulls);
extern HeapTuple tde_permanent_modify(Relation rel, HeapTuple tuple, int known, const Datum *values, const bool *nulls, const bool *replace);

/* ereport unless the first columns of the table are those that we know, of these types.  What comes after them does not count. */
extern void tde_permanent_check_columns(Relation rel, int known, const Oid *types);

/*
 * The unique index that begins with the column.  InvalidOid, for a scan of the table: somebody has removed it, or the table is looked at
 * as it was, by logical decoding.  PostgreSQL knows then which file a user catalog table has by now, but not so for its indexes: after
 * REINDEX, VACUUM FULL or CLUSTER it would read files that are gone.
 */
extern Oid	tde_permanent_index(Relation rel, AttrNumber column);

/* Tell all backends of this database at once that rows of the table change; those that begin a transaction later know it then. */
extern PGDLLEXPORT void tde_permanent_tell(Oid relid);

/* A copy of the last row by this index, NULL if there is none; ereport if there is no such index. */
extern HeapTuple tde_permanent_last(Relation rel, Oid index);

#endif							/* TDE_SERVER_PERMANENT_H */
