/*
 * settings.h - the settings tde_column.*.
 */
#ifndef TDE_FUNCTIONS_SETTINGS_H
#define TDE_FUNCTIONS_SETTINGS_H

extern void tde_settings_init(void);

#endif							/* TDE_FUNCTIONS_SETTINGS_H */
