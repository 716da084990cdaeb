/*
 * blind.h - GIN indexes of encrypted columns whose entries tell nothing.
 */
#ifndef TDE_OPERATORS_BLIND_H
#define TDE_OPERATORS_BLIND_H

#include "fmgr.h"

/* Is it an operator class of GIN for an encrypted type? */
extern bool tde_blind_is_class(Oid opclass);

/* The option of our classes that has the index's salt, and a new one: digits of it in hexadecimal, palloc'd. */
#define TDE_BLIND_OPTION	"salt"
extern char *tde_blind_new_salt(void);

#endif							/* TDE_OPERATORS_BLIND_H */
