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

typedef struct TdeKey
{
	TdeValueKey *value_key;		/* contexts for one data key, spec and type */
	uint32		id;
	int32		slot;
	char		kind;
	TdeKeyUse  *use;			/* what was and may be encrypted; see keys/limits.h */
} TdeKey;

extern PGDLLEXPORT uint64 tde_keys_epoch;

/* Set by what has kept plaintexts: cleanses them when keys are forgotten. */
extern void (*tde_forget_decrypted) (void);
extern PGDLLEXPORT uint64 tde_keys_generation;	/* the wallet's, when the cache was last known to be good */

static inline bool
tde_keys_fresh(uint64 epoch)
{
	return epoch == tde_keys_epoch && !tde_keys_changed &&
		tde_keys_generation == pg_atomic_read_u64(tde_wallet_generation);
}

/*
 * The key that a stored value names.  ereport if the wallet is closed, there is no such key, or its kind does not allow
 * such a value (one without MAC under a key for values with MAC).
 */
extern const TdeKey *tde_key_for_reading(uint32 id, TdeSpec spec, const uint8 type_tag[TDE_TYPE_TAG_SIZE]);

/*
 * The row of a key that a value with this spec names, whether the wallet is open or not; ereport as above.  Good until the
 * next call of a function here.
 */
extern const TdeDataKey *tde_key_row(uint32 id, TdeSpec spec);

/* The row of the key with this UUID; NULL if it is not in this database. */
extern const TdeDataKey *tde_key_row_of_uuid(const uint8 uuid[16]);

/* For pg_upgrade: a row to be used while tde.data_keys is still empty. */
extern void tde_key_offer(const TdeDataKey *row);

/* The active key of a slot for new values of this spec; ereport if there is none. */
extern const TdeKey *tde_key_for_writing(int32 slot, TdeSpec spec, const uint8 type_tag[TDE_TYPE_TAG_SIZE]);

/* The database's hash key, of which the caller leaves nothing behind; ereport if the wallet is closed. */
extern void tde_key_unwrap_hash_key(uint8 data_key[TDE_DATA_KEY_SIZE]);

extern void tde_keycache_init(void);	/* from _PG_init */

#endif							/* TDE_KEYS_CACHE_H */
