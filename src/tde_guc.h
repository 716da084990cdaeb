/*
 * tde_guc.h - the settings tde_column.*.
 *
 * layer: 9
 */
#ifndef TDE_GUC_H
#define TDE_GUC_H

extern void tde_guc_init(void);

#endif							/* TDE_GUC_H */
