/*
 * unwrapped.h - data keys that some process of this server has unwrapped, for the others.
 */
#ifndef TDE_KEYS_UNWRAPPED_H
#define TDE_KEYS_UNWRAPPED_H

#include "keys/wrap.h"

extern void tde_unwrapped_init(void);	/* from _PG_init */

/*
 * Copies the key of this row, if it was unwrapped since the wallet was opened or changed last.  Returns false if it was not, or there is no shared
 * memory.  The caller cleanses the copy.
 */
extern bool tde_unwrapped_find(const TdeDataKey *row, uint8 data_key[TDE_DATA_KEY_SIZE]);

/*
 * Keeps a key that was unwrapped by the wallet as it was in that generation.  A copy is made, unless the key is erasable or the wallet has changed.
 */
extern void tde_unwrapped_keep(const TdeDataKey *row, const uint8 data_key[TDE_DATA_KEY_SIZE], uint64 generation);

#endif							/* TDE_KEYS_UNWRAPPED_H */
