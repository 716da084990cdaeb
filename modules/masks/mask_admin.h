/*
 * mask_admin.h - setting masks.
 *
 * SECURITY LABEL and the functions end in the same checks: the column is encrypted, its type has such parts, and the role may set masks.
 */
#ifndef TDE_MASKS_MASK_ADMIN_H
#define TDE_MASKS_MASK_ADMIN_H

extern void tde_mask_admin_init(void);	/* when the module is loaded */

#endif							/* TDE_MASKS_MASK_ADMIN_H */
