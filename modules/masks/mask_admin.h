/*
 * mask_admin.h - setting masks.
 */
#ifndef TDE_MASKS_MASK_ADMIN_H
#define TDE_MASKS_MASK_ADMIN_H

extern void tde_mask_admin_init(void);

#endif							/* TDE_MASKS_MASK_ADMIN_H */
