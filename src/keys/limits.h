/*
 * limits.h - how many values each version of a key has encrypted, counted durably; one that nears its limit is replaced.
 */
#ifndef TDE_KEYS_LIMITS_H
#define TDE_KEYS_LIMITS_H

#include "crypto/spec.h"

/* What this process has encrypted under a key, and may encrypt before it has to count more. */
typedef struct TdeKeyUse
{
	uint32		key_id;			/* hash key */
	uint64		values;			/* encrypted */
	uint64		counted;		/* so many of them may be */
	uint64		blocks;			/* of triple DES that are counted and left */
	uint64		next;			/* so many values are counted ahead next */
	uint64		owed;			/* values that could not be counted yet */
	uint64		told;			/* of values, to the other processes */
	struct TdeSharedCount *place;	/* where; see server/counters.h */
	struct TdeKeyUse *after;
} TdeKeyUse;

/* A policy's number of values (of triple DES: blocks) at which versions are replaced; 0: the cipher's own. */
extern int	tde_encryption_limit;

/* GUC tde_column.rotate_after, minutes; 0: no policy says.  Read by tde_audit(). */
extern int	tde_rotate_after;

/* This process's account of a data key of its database; it stays where it is. */
extern TdeKeyUse *tde_key_use(uint32 key_id);

/* Blocks of triple DES that a plaintext of so many bytes takes, with its padding; 0 for AES. */
static inline uint64
tde_limited_blocks(TdeSpec spec, size_t size)
{
	return spec.cipher == TDE_3DES168 ? size / 8 + 1 : 0;
}

/* Is one more value counted already? */
static inline bool
tde_key_use_left(const TdeKeyUse *use, uint64 blocks)
{
	return use->values < use->counted && use->blocks >= blocks;
}

static inline void
tde_key_use_take(TdeKeyUse *use, uint64 blocks)
{
	use->values++;
	use->blocks -= blocks;
}

/*
 * Is the running statement sure to store nothing that it encrypts?  What it encrypts goes to the client or into a variable, and is coerced, and
 * so encrypted anew if need be, where it is stored from there.
 */
extern bool tde_limits_stores_nothing(void);

/*
 * Count values ahead, of which the next one takes so many blocks.  Opens a table.  If the version has encrypted half of what this spec lets a key
 * encrypt, the end of a transaction that stores makes another one.  If it has encrypted all, that is made now, and nothing is counted: the
 * caller looks up the key again.  ereport if it cannot be made.
 */
extern void tde_limits_reserve(TdeKeyUse *use, TdeSpec spec, uint64 blocks);

/* What all processes have encrypted under a key of this database since the server started, but for others' running transactions. */
extern uint64 tde_limits_encrypted(uint32 key_id);

/* What this process has encrypted and not told the others. */
extern uint64 tde_limits_untold(void);

#endif							/* TDE_KEYS_LIMITS_H */
