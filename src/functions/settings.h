/*
 * settings.h - the settings tde_column.*.
 */
#ifndef TDE_FUNCTIONS_SETTINGS_H
#define TDE_FUNCTIONS_SETTINGS_H

/* GUC of the module "ceremony": seconds from the first share to when those that are in are forgotten. */
extern PGDLLEXPORT int tde_share_timeout;

/*
 * From _PG_init: defines the settings tde_column.*, and reserves their prefix.  Check hooks may ask whether the library is preloaded and whether
 * modules are there, so tde_client_init() and tde_opened_init() come before.
 */
extern void tde_settings_init(void);

#endif							/* TDE_FUNCTIONS_SETTINGS_H */
