/*
 * column_masks.h - how much a role sees of a column that may not decrypt: the masks in the column's security label.
 */
#ifndef TDE_MASKS_COLUMN_MASKS_H
#define TDE_MASKS_COLUMN_MASKS_H

#include "type/masks.h"

/* Returns true if the column has masks, whoever sees them. */
extern bool tde_masks_exist(TdeColumn column);

/* See TdeMasksCalls. */
extern const TdeMask *tde_mask_of_column(TdeColumn column);
extern void tde_column_masks_forget(void);

extern void tde_column_masks_init(void);

#endif							/* TDE_MASKS_COLUMN_MASKS_H */
