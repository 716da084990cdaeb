/*
 * keyed_hash.h - numbers hashed under the database's hash key, and what databases that have the same one tell each other.
 */
#ifndef TDE_KEYS_KEYED_HASH_H
#define TDE_KEYS_KEYED_HASH_H

#include "nodes/plannodes.h"

#include "crypto/mac.h"
#include "keys/cache.h"

/* The keyed hash of a number, for hash tables, hash indexes and the like; ereport if the wallet is closed. */
extern uint32 tde_key_hash(uint32 number);

/* Another one, of 64 bits: the order of values in indexes that tell none (operators/compare.c). */
extern uint64 tde_key_order(uint64 number);

/*
 * Hash numbers, each in its place, to what one index alone has for them (operators/blind.c): under a key that is derived from the database's
 * hash key and the index's salt (HKDF, RFC 5869), so that two indexes tell nothing of each other.
 */
#define TDE_ENTRY_SALT_SIZE	16
extern void tde_key_entries(const uint8 salt[TDE_ENTRY_SALT_SIZE], uint64 *numbers, int count);

/*
 * HMAC-SHA256 over the purpose and the bytes, under a key that all databases with the same hash key have.  Unlike the keyed hash, whose
 * results anyone can see who hashes a value, it can be had by no SQL.
 */
extern PGDLLEXPORT void tde_key_node_digest(char purpose, const uint8 *bytes, size_t size, uint8 digest[TDE_MAX_DIGEST]);

/*
 * Who hashes keeps the hash key from being changed until his transaction ends.  A plan with workers, which may have hashed, and ended, before their
 * leader does, is told of when it is started.
 */
extern void tde_keyed_hash_starts(const PlannedStmt *plan);

/* Wait for all who do, and keep others from it until this transaction ends, in which the hash key changes.  ereport if it has hashed itself. */
extern PGDLLEXPORT void tde_keyed_hash_take(void);

extern void tde_keyed_hash_init(void);	/* from _PG_init */

#endif							/* TDE_KEYS_KEYED_HASH_H */
