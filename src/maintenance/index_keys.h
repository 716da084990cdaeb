/*
 * index_keys.h - which indexes cannot be built without a key.
 */
#ifndef TDE_MAINTENANCE_INDEX_KEYS_H
#define TDE_MAINTENANCE_INDEX_KEYS_H

#include "nodes/parsenodes.h"

/* Returns the OIDs of a table's indexes, valid or not, without a lock on the table. */
extern PGDLLEXPORT List *tde_indexes_of(Oid table);

/*
 * Return true if what it compares, or what its expressions and its condition read, is encrypted; the other one: of any index of the table.  Neither
 * takes a lock.
 */
extern PGDLLEXPORT bool tde_index_needs_key(Oid index);
extern bool tde_indexes_need_key(Oid table);

/* Returns true if VACUUM needs a key for one of them, as building them does. */
extern bool tde_indexes_need_key_for_vacuum(Oid table);

/* Returns true if one that CREATE INDEX makes needs a key.  command: as ddl/plaintext_guard.c has left it. */
extern bool tde_index_new_needs_key(IndexStmt *command, Oid table);

/* Returns true if the table, or one of its partitions, has pages: of an empty table no index needs a key.  Waits for who has locked it. */
extern bool tde_index_holds_rows(Oid table);

/* Returns the first index of a table, or of its partitions, that needs a key, and has rows to be built of; InvalidOid: none. */
extern Oid	tde_index_in_need(Oid table);

#endif							/* TDE_MAINTENANCE_INDEX_KEYS_H */
