/*
 * table_rows.h - the columns of tde.data_keys; shared by the files that read and write it.
 *
 * What a transaction has done to the table stands in five variables below.  They are set when it is done, and cleared when the transaction ends,
 * whatever becomes of it; a subtransaction that is rolled back leaves them, on the safe side.
 */
#ifndef TDE_KEYS_TABLE_ROWS_H
#define TDE_KEYS_TABLE_ROWS_H

#include "access/htup.h"
#include "utils/relcache.h"

#include "keys/table.h"

/* The columns, in the order of sql/10_keys.sql.  An update may add others behind them, and never changes these. */
enum
{
	TDE_KEYS_ID = 1,
	TDE_KEYS_UUID,
	TDE_KEYS_SLOT,
	TDE_KEYS_VERSION,
	TDE_KEYS_KIND,
	TDE_KEYS_STATE,
	TDE_KEYS_CREATED,
	TDE_KEYS_DATABASE,
	TDE_KEYS_MASTER,
	TDE_KEYS_KCV,
	TDE_KEYS_WRAPPED,
	TDE_KEYS_ERASABLE,
	TDE_KEYS_NAME,				/* may be null, as what follows */
	TDE_KEYS_DESCRIPTION,
	TDE_KEYS_COLUMNS = TDE_KEYS_DESCRIPTION
};

/*
 * Copies a tuple of the table into *row, all of it, without pointers.  Throws ERRCODE_DATA_CORRUPTED if the table is not ours any more.  A wrapped
 * key of a wrong size does not throw: it fails when it is unwrapped.
 */
extern void tde_keys_row(Relation rel, HeapTuple tuple, TdeDataKey *row);

/* Returns a tuple of the row, palloc'd, without a description. */
extern HeapTuple tde_keys_tuple(Relation rel, const TdeDataKey *row);

/* Return 16 bytes as a uuid, and so many bytes as a bytea; both palloc'd. */
extern Datum tde_keys_uuid(const uint8 *bytes);
extern Datum tde_keys_bytea(const uint8 *bytes, size_t size);

/* Returns the table, locked for reading; the caller closes it.  Throws as tde_keys_scan() does. */
extern Relation tde_keys_open(void);

/* Visits every row of the open table. */
extern void tde_keys_scan_relation(Relation rel, TdeDataKeyVisitor visit, void *arg);

/* Visits the rows with this value in a column that has an index: id, uuid, slot or name.  Where the index is gone, all of the table is read. */
extern void tde_keys_scan_where(Relation rel, AttrNumber column, Datum value, TdeDataKeyVisitor visit, void *arg);

/* Returns the index that begins with this column; InvalidOid if it is to be done without one (see tde_permanent_index()). */
extern Oid	tde_keys_index(Relation rel, AttrNumber column);


/*
 * Copies the row with the highest value of a column that has an index.  last->id is 0 if the table is empty.  Throws ERRCODE_UNDEFINED_OBJECT without
 * the index.
 */
extern void tde_keys_last(Relation rel, AttrNumber column, TdeDataKey *last);

/*
 * Returns the next number, from a sequence, so that the number of a row that was deleted is never given to another key.  last: the highest that there
 * is.  Throws ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED.
 */
extern uint32 tde_keys_next_id(Relation rel, uint32 last);

/*
 * Returns the slot or version after the last one.  Only forged rows, or damaged ones, have numbers that none comes after:
 * ERRCODE_PROGRAM_LIMIT_EXCEEDED.
 */
extern int32 tde_keys_number_after(int32 last);

/* Fills 16 bytes with a random UUID (RFC 9562, version 4). */
extern void tde_keys_new_uuid(uint8 *bytes);

/* Gives a new row its number, its database's identity, and an account of what it encrypts.  The caller keeps other makers of keys out. */
extern void tde_keys_number(Relation rel, TdeDataKey *row);

/* This transaction has made or changed keys, and what it has read of them may be its own. */
extern bool tde_keys_made_keys;

/* ... it has changed rows, which a rollback would undo.  New ones are there for ever. */
extern bool tde_keys_changed_rows;

/* ... so that keys, their names or their numbers are free until a rollback, which gives them back.  New rows would keep theirs. */
extern bool tde_keys_freed;

/* The lowest id of the rows that come with the commit, in place of for ever; 0: there are none.  Nothing is encrypted under these before. */
extern uint32 tde_keys_uncommitted;

/* This transaction has changed a description.  Nobody depends on that.  But it cannot be prepared: others who change the row would wait. */
extern bool tde_keys_described;

/* Adds the row of a new key to tde.key_counts, for ever.  The caller keeps other makers of keys out. */
extern void tde_keys_start_counts(uint32 key_id);

#endif							/* TDE_KEYS_TABLE_ROWS_H */
