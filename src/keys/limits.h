/*
 * limits.h - how many values each version of a key has encrypted, counted durably; one that nears its limit is replaced.
 */
#ifndef TDE_KEYS_LIMITS_H
#define TDE_KEYS_LIMITS_H

#include "crypto/spec.h"

/*
 * What this process has encrypted under a key, and may encrypt before it has to count more.  One for each key, made by tde_key_use() and never freed.
 * No other process sees it; what they are told goes to *place.
 */
typedef struct TdeKeyUse
{
	uint32		key_id;			/* hash key */
	uint64		values;			/* encrypted by this process since it began */
	uint64		counted;		/* values may grow up to this without counting */
	uint64		blocks;			/* of triple DES that are counted and not yet used */
	uint64		next;			/* so many values are counted ahead next; doubles each time */
	uint64		owed;			/* values that were granted and could not be counted yet */
	uint64		told;			/* so many of values were added to *place */
	struct TdeSharedCount *place;	/* where; see server/counters.h */
	struct TdeKeyUse *after;	/* the next of all of them */
} TdeKeyUse;

/* GUC: a policy's number of values (of triple DES: blocks) at which versions are replaced, if it is below the cipher's own; 0: no policy. */
extern int	tde_encryption_limit;

/* GUC tde_column.rotate_after, minutes; 0: no policy says.  Read by tde_audit(). */
extern int	tde_rotate_after;

/* Returns this process's account of a data key of its database, which is made if it is new.  The pointer is good as long as the process. */
extern TdeKeyUse *tde_key_use(uint32 key_id);

/* Returns the blocks of triple DES that a plaintext of so many bytes takes, with its padding; 0 for AES, which is not counted by blocks. */
static inline uint64
tde_limited_blocks(TdeSpec spec, size_t size)
{
	return spec.cipher == TDE_3DES168 ? size / 8 + 1 : 0;
}

/* Returns true if one more value, of so many blocks, is counted already. */
static inline bool
tde_key_use_left(const TdeKeyUse *use, uint64 blocks)
{
	return use->values < use->counted && use->blocks >= blocks;
}

/* One more value is encrypted.  The caller has seen that tde_key_use_left(). */
static inline void
tde_key_use_take(TdeKeyUse *use, uint64 blocks)
{
	use->values++;
	use->blocks -= blocks;
}

/*
 * Returns true if the running statement is sure to store nothing that it encrypts.  What it encrypts goes to the client or into a variable.  Where it
 * is stored from there it is coerced, and so encrypted anew if need be.
 */
extern bool tde_limits_stores_nothing(void);

/*
 * Counts values ahead, of which the next one takes so many blocks.  It opens a table and writes WAL; where neither may be, it grants a single value.
 *
 * If the version has encrypted half of what this spec lets a key encrypt, the end of a transaction that stores makes another one.  If it has
 * encrypted all, that is made now, and nothing is counted: the caller looks up the key again.  Throws ERRCODE_PROGRAM_LIMIT_EXCEEDED if it cannot be
 * made, or if the value alone is more than a key of triple DES may encrypt.
 */
extern void tde_limits_reserve(TdeKeyUse *use, TdeSpec spec, uint64 blocks);

/*
 * Returns the values that all processes have encrypted under a key of this database since the server started.  What other processes have encrypted in
 * transactions that still run is not in it.
 */
extern uint64 tde_limits_encrypted(uint32 key_id);

/* Returns the values that this process has encrypted, under all keys, and not told the others. */
extern uint64 tde_limits_untold(void);

#endif							/* TDE_KEYS_LIMITS_H */
