/*
 * mask_stores.h - no value of another column gets into one that is shown to somebody.
 */
#ifndef TDE_MASKS_MASK_STORES_H
#define TDE_MASKS_MASK_STORES_H

#include "masks/mask_sources.h"

/*
 * Guards what the scope's query stores: by itself, in ON CONFLICT and in the actions of MERGE.  Expressions in it are put under calls that refuse, when
 * they run, what who may not decrypt must not store.
 */
extern void tde_mask_guard_stores(TdeMaskScope *scope);

#endif							/* TDE_MASKS_MASK_STORES_H */
