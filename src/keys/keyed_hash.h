/*
 * keyed_hash.h - numbers hashed under the database's hash key, and what databases that have the same one tell each other.
 */
#ifndef TDE_KEYS_KEYED_HASH_H
#define TDE_KEYS_KEYED_HASH_H

#include "nodes/plannodes.h"

#include "crypto/mac.h"
#include "keys/cache.h"

/*
 * Returns the keyed hash of a number, for hash tables, hash indexes and the like.  Throws what tde_key_unwrap_hash_key() does, and
 * ERRCODE_LOCK_NOT_AVAILABLE if the key is just being rotated while the caller holds a page of an index.
 */
extern uint32 tde_key_hash(uint32 number);

/* Returns another hash, of 64 bits: the order of values in indexes that tell none (operators/compare.c).  Throws the same. */
extern uint64 tde_key_order(uint64 number);

#define TDE_ENTRY_SALT_SIZE	16

/*
 * Hashes numbers, each in its place, to what one index alone has for them (operators/blind.c).  The key for that is derived from the database's hash
 * key and the index's salt (HKDF, RFC 5869), so two indexes tell nothing of each other.  Throws the same.
 */
extern void tde_key_entries(const uint8 salt[TDE_ENTRY_SALT_SIZE], uint64 *numbers, int count);

/*
 * Computes HMAC-SHA256 over the purpose and the bytes, under a key that all databases with the same hash key have.  The purpose keeps uses apart:
 * masks show what they get for theirs, and no SQL shows what nodes tell each other.  It does not keep the key from being rotated.
 */
extern PGDLLEXPORT void tde_key_node_digest(char purpose, const uint8 *bytes, size_t size, uint8 digest[TDE_MAX_DIGEST]);

/*
 * Called by the executor hook (functions/execution.c) when a plan is started.  Whoever hashes keeps the hash key from being changed until his
 * transaction ends.  Workers may have hashed, and ended, before their leader hashes, so the leader takes the lock for a parallel plan at once.
 */
extern void tde_keyed_hash_starts(const PlannedStmt *plan);

/*
 * Waits for all transactions that have hashed, and keeps others from hashing until this one ends, in which the hash key changes.  Throws
 * ERRCODE_OBJECT_IN_USE if this transaction has hashed itself.
 */
extern PGDLLEXPORT void tde_keyed_hash_take(void);

extern void tde_keyed_hash_init(void);	/* from _PG_init */

#endif							/* TDE_KEYS_KEYED_HASH_H */
