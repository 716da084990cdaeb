/*
 * permanent.h - rows that no rollback and no crash takes away.
 */
#ifndef TDE_SERVER_PERMANENT_H
#define TDE_SERVER_PERMANENT_H

#include "access/attnum.h"
#include "access/htup.h"
#include "utils/relcache.h"

/*
 * Adds a row that exists from this moment for everybody, whatever becomes of this transaction: its xmin is frozen, and the WAL is on disk when this
 * returns.  options are those of heap_insert().  The row is frozen last, so that an error before leaves nothing.  The caller has locked out other
 * writers.
 */
extern void tde_permanent_insert(Relation rel, HeapTuple tuple, int options);

/*
 * Throws ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE if the table has indexes of somebody's that such an insert, or an update without an executor,
 * cannot serve.
 */
extern void tde_permanent_check_indexes(Relation rel);

/*
 * Return a row of the table, of which we know so many columns, and the row with some of them changed; palloc'd.  Others may come after ours.  Those
 * that were dropped are NULL.  If there is one of a later version, or of somebody's, nobody knows what belongs there:
 * ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE.
 */
extern HeapTuple tde_permanent_form(Relation rel, int known, const Datum *values, const bool *nulls);
extern HeapTuple tde_permanent_modify(Relation rel, HeapTuple tuple, int known, const Datum *values, const bool *nulls, const bool *replace);

/*
 * Throws ERRCODE_DATA_CORRUPTED unless the first columns of the table are those that we know, of these types.  What comes after them does not count.
 */
extern void tde_permanent_check_columns(Relation rel, int known, const Oid *types);

/*
 * Returns the unique index that begins with the column.  InvalidOid means a scan of the table: somebody has removed the index, or the table is looked
 * at as it was, by logical decoding.  PostgreSQL knows then which file a user catalog table has by now, but not so for its indexes: after REINDEX,
 * VACUUM FULL or CLUSTER it would read files that are gone.
 */
extern Oid	tde_permanent_index(Relation rel, AttrNumber column);

/* Tells all backends of this database at once that rows of the table change.  Those that begin a transaction later know it then. */
extern PGDLLEXPORT void tde_permanent_tell(Oid relid);

/* Returns a copy of the last row by this index, NULL if there is none.  Throws ERRCODE_UNDEFINED_OBJECT for InvalidOid. */
extern HeapTuple tde_permanent_last(Relation rel, Oid index);

#endif							/* TDE_SERVER_PERMANENT_H */
