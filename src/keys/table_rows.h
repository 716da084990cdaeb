/*
 * table_rows.h - the columns of tde.data_keys; shared by the files that read and write it.
 */
#ifndef TDE_KEYS_TABLE_ROWS_H
#define TDE_KEYS_TABLE_ROWS_H

#include "access/htup.h"
#include "utils/relcache.h"

#include "keys/table.h"

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

extern void tde_keys_row(Relation rel, HeapTuple tuple, TdeDataKey *row);
extern HeapTuple tde_keys_tuple(Relation rel, const TdeDataKey *row);
extern Datum tde_keys_uuid(const uint8 *bytes);
extern Datum tde_keys_bytea(const uint8 *bytes, size_t size);

/* The table, locked for reading; ereport or NULL as tde_keys_scan() does. */
extern Relation tde_keys_open(void);

extern void tde_keys_scan_relation(Relation rel, TdeDataKeyVisitor visit, void *arg);

/* Visit the rows with this value in a column that has an index: id, uuid, slot or name. */
extern void tde_keys_scan_where(Relation rel, AttrNumber column, Datum value, TdeDataKeyVisitor visit, void *arg);

/* The index that begins with this column; InvalidOid if it is to be done without one: see tde_permanent_index(). */
extern Oid	tde_keys_index(Relation rel, AttrNumber column);


/* The row with the highest value of a column that has an index; id 0: there is none. */
extern void tde_keys_last(Relation rel, AttrNumber column, TdeDataKey *last);

/* From a sequence, so that the number of a row that was deleted is never given to another key.  last: the highest that there is. */
extern uint32 tde_keys_next_id(Relation rel, uint32 last);

/* After the last slot or version.  Only forged rows, or damaged ones, have numbers that none comes after: ereport. */
extern int32 tde_keys_number_after(int32 last);

/* A random UUID (RFC 9562, version 4), of 16 bytes. */
extern void tde_keys_new_uuid(uint8 *bytes);

/* Give a new row its number, its database's identity, and an account of what it encrypts.  The caller keeps other makers of keys out. */
extern void tde_keys_number(Relation rel, TdeDataKey *row);

/* Has this transaction made or changed keys?  Cleared when it ends. */
extern bool tde_keys_made_keys;

/* ... and changed rows, which a rollback would undo?  New ones are there for ever. */
extern bool tde_keys_changed_rows;

/* ... so that keys, their names or their numbers are free until a rollback, which gives them back?  New rows would keep theirs. */
extern bool tde_keys_freed;

/* The lowest id of the rows that come with the commit, in place of for ever; 0: there are none. */
extern uint32 tde_keys_uncommitted;

/* Has this transaction changed a description?  Nobody depends on that, but it cannot be prepared: others who change the row would wait. */
extern bool tde_keys_described;

/* The row of a new key in tde.key_counts; the caller keeps other makers of keys out. */
extern void tde_keys_start_counts(uint32 key_id);

#endif							/* TDE_KEYS_TABLE_ROWS_H */
