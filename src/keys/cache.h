/*
 * cache.h - data keys made ready to use, per backend.
 *
 * Entries live until the wallet closes, keys are changed or the backend ends.  A pointer that was handed out is good as long as
 * the epoch has not changed, which may happen wherever PostgreSQL accepts invalidations: whenever it looks at a catalog or opens
 * a table, one of TOAST included.  Whoever keeps a pointer checks that before each use:
 *
 *	if (!tde_keys_fresh(my->epoch)) look it up again
 */
#ifndef TDE_KEYS_CACHE_H
#define TDE_KEYS_CACHE_H

#include "utils/hsearch.h"

#include "keys/limits.h"
#include "keys/table.h"
#include "wallet/wallet.h"

/*
 * A key that is ready for values of one specification and type.  The cache owns it: forgetting keys frees value_key and gives the entry to others, so
 * nobody keeps a pointer without comparing epochs.
 */
typedef struct TdeKey
{
	TdeValueKey *value_key;		/* contexts for one data key, spec and type */
	uint32		id;				/* of the row in tde.data_keys; stored values carry it */
	int32		slot;			/* of the row; TDE_SLOT_CATALOG for literals */
	char		kind;			/* TDE_KIND_MAC, TDE_KIND_NOMAC or TDE_KIND_CATALOG */
	TdeKeyUse  *use;			/* what was and may be encrypted; see keys/limits.h */
} TdeKey;

/* Counts whatever has made earlier pointers invalid: another state of the wallet, and tde.data_keys read anew.  Only cache.c changes it. */
extern PGDLLEXPORT uint64 tde_keys_epoch;

/*
 * Set once by what keeps plaintexts (type/plaintext_cache.c), which cleanses them here.  It is called whenever keys are forgotten.  NULL: nothing
 * keeps any.
 */
extern void (*tde_forget_decrypted) (void);
extern PGDLLEXPORT uint64 tde_keys_generation;	/* the wallet's, when the cache was last known to be good */

/*
 * Returns true if what was looked up in this epoch may still be used.  It looks at no catalog and takes no lock, so it may be asked for each value.
 */
static inline bool
tde_keys_fresh(uint64 epoch)
{
	return epoch == tde_keys_epoch && !tde_keys_changed &&
		tde_keys_generation == pg_atomic_read_u64(tde_wallet_generation);
}

/*
 * Returns the key that a stored value names, ready for a value with this spec of a type with this tag.  It may open the wallet, and the table of
 * keys.
 *
 * Throws ERRCODE_TDE_WALLET_CLOSED; ERRCODE_TDE_KEY_NOT_FOUND if there is no such key, it was destroyed, or the wallet lacks its master key;
 * ERRCODE_TDE_NOT_AUTHENTIC if the row was tampered with, or the key's kind does not allow such a value (one without MAC under a key for values with
 * MAC).
 */
extern const TdeKey *tde_key_for_reading(uint32 id, TdeSpec spec, const uint8 type_tag[TDE_TYPE_TAG_SIZE]);

/*
 * Returns the row of the key that a value with this spec names, with an open wallet or a closed one.  The pointer is good until the next call of a
 * function here.  Throws ERRCODE_TDE_KEY_NOT_FOUND and ERRCODE_TDE_NOT_AUTHENTIC as above.
 */
extern const TdeDataKey *tde_key_row(uint32 id, TdeSpec spec);

/*
 * Returns the row of the key with this UUID, which dumps name keys by, until the next call of a function here; NULL if it is not in this database.
 * Throws ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE if this very transaction has adopted the key.
 */
extern const TdeDataKey *tde_key_row_of_uuid(const uint8 uuid[16]);

/*
 * For pg_upgrade, whose schema has encrypted literals while tde.data_keys is still empty: keeps a copy of a row that such a literal brings along, for
 * the rest of the process.
 */
extern void tde_key_offer(const TdeDataKey *row);

/*
 * Returns the key under which new values of this slot and spec are encrypted: the newest version that is active.  Throws what tde_key_for_reading()
 * does.  It also throws ERRCODE_TDE_KEY_NOT_FOUND if the slot has no such key yet, and ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE if this transaction
 * has adopted it.  The caller still counts what it encrypts (keys/limits.h).
 */
extern const TdeKey *tde_key_for_writing(int32 slot, TdeSpec spec, const uint8 type_tag[TDE_TYPE_TAG_SIZE]);

/*
 * Copies the database's hash key out.  The caller cleanses it, however it goes on.  Throws as tde_key_for_writing() does.  Only keyed_hash.c calls
 * this, and keeps what it derives.
 */
extern void tde_key_unwrap_hash_key(uint8 data_key[TDE_DATA_KEY_SIZE]);

extern void tde_keycache_init(void);	/* from _PG_init */

#endif							/* TDE_KEYS_CACHE_H */
