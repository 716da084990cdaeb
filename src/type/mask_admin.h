/*
 * mask_admin.h - setting masks.
 */
#ifndef TDE_TYPE_MASK_ADMIN_H
#define TDE_TYPE_MASK_ADMIN_H

extern void tde_mask_admin_init(void);	/* from _PG_init */

#endif							/* TDE_TYPE_MASK_ADMIN_H */
