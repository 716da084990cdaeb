/*
 * blind.h - GIN indexes of encrypted columns whose entries tell nothing.
 *
 * A salt is drawn before an index is built (ddl/index_salt.c), and stands among the options of the index's columns in pg_attribute.
 */
#ifndef TDE_OPERATORS_BLIND_H
#define TDE_OPERATORS_BLIND_H

#include "fmgr.h"

/* Returns true if an operator class is one of GIN for an encrypted type.  Its support function 2 tells, not its name. */
extern bool tde_blind_is_class(Oid opclass);

/* The option of our classes that has the index's salt, ... */
#define TDE_BLIND_OPTION	"salt"

/* ... and a new one: TDE_ENTRY_SALT_SIZE random bytes as hexadecimal digits, palloc'd.  Throws if OpenSSL gives no random bytes. */
extern char *tde_blind_new_salt(void);

#endif							/* TDE_OPERATORS_BLIND_H */
