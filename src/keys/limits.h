/*
 * limits.h - how many values each version of a key has encrypted, counted durably; one that nears its limit is replaced.
 */
#ifndef TDE_KEYS_LIMITS_H
#define TDE_KEYS_LIMITS_H

#include "crypto/spec.h"

/* What this process may encrypt under a key before it has to count more. */
typedef struct TdeKeyUse
{
	uint32		key_id;			/* hash key */
	uint64		values;
	uint64		blocks;			/* of triple DES */
	uint64		next;			/* so many values are counted ahead next */
} TdeKeyUse;

/* Lowers the limits, for tests; 0: they are as they are. */
extern int	tde_encryption_limit;

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
	return use->values > 0 && use->blocks >= blocks;
}

/*
 * Count values ahead, of which the next one takes so many blocks.  Opens a table.  If the key version has reached the limit of this spec, the end of
 * the transaction makes another one.
 */
extern void tde_limits_reserve(TdeKeyUse *use, TdeSpec spec, uint64 blocks);

/* The row of a new key in tde.key_counts; the caller keeps other makers of keys out. */
extern void tde_limits_start(uint32 key_id);

extern void tde_limits_init(void);	/* from _PG_init */

#endif							/* TDE_KEYS_LIMITS_H */
