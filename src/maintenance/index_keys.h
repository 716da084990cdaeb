/*
 * index_keys.h - which indexes cannot be built without a key?
 */
#ifndef TDE_MAINTENANCE_INDEX_KEYS_H
#define TDE_MAINTENANCE_INDEX_KEYS_H

#include "nodes/parsenodes.h"

extern PGDLLEXPORT List *tde_indexes_of(Oid table);

/* Is what it compares, or what its expressions and its condition read, encrypted?  None of these takes a lock. */
extern PGDLLEXPORT bool tde_index_needs_key(Oid index);
extern bool tde_indexes_need_key(Oid table);

/* Does VACUUM need a key for one of them, as building them does? */
extern bool tde_indexes_need_key_for_vacuum(Oid table);

/* The same of one that CREATE INDEX makes, as ddl/plaintext_guard.c has left the command. */
extern bool tde_index_new_needs_key(IndexStmt *command, Oid table);

/* Of an empty table no index needs a key.  With its partitions; waits for who has locked it. */
extern bool tde_index_holds_rows(Oid table);

/* The first index of a table, or of its partitions, that needs a key, and has rows to be built of; InvalidOid: none. */
extern Oid	tde_index_in_need(Oid table);

#endif							/* TDE_MAINTENANCE_INDEX_KEYS_H */
