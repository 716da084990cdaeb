/*
 * unwrapped.h - data keys that some process of this server has unwrapped, for the others.
 */
#ifndef TDE_KEYS_UNWRAPPED_H
#define TDE_KEYS_UNWRAPPED_H

#include "keys/wrap.h"

extern void tde_unwrapped_init(void);	/* from _PG_init */

/* The key of this row, if it was unwrapped since the wallet was opened or changed last; false: it was not, or there is no shared memory. */
extern bool tde_unwrapped_find(const TdeDataKey *row, uint8 data_key[TDE_DATA_KEY_SIZE]);

/* It was unwrapped, by the wallet as it was in that generation. */
extern void tde_unwrapped_keep(const TdeDataKey *row, const uint8 data_key[TDE_DATA_KEY_SIZE], uint64 generation);

#endif							/* TDE_KEYS_UNWRAPPED_H */
