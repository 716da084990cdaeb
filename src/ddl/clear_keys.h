/*
 * clear_keys.h - foreign keys whose columns hold in clear what is encrypted elsewhere.
 */
#ifndef TDE_DDL_CLEAR_KEYS_H
#define TDE_DDL_CLEAR_KEYS_H

#include "utils/relcache.h"

/* After a command: a warning, or an ERROR, for each plain column of this table that a new foreign key fills with encrypted values. */
extern void tde_clear_keys_check(Relation rel);

#endif							/* TDE_DDL_CLEAR_KEYS_H */
