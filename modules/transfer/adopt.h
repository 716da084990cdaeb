/*
 * adopt.h - a database's keys become those of another.
 *
 * tde_import_keys(..., adopt => true) and, of nodes of a cluster, tde_take_keys() call tde_adopt_keys().  The functions of adopt_refuse.c are only
 * called by that.
 */
#ifndef TDE_TRANSFER_ADOPT_H
#define TDE_TRANSFER_ADOPT_H

#include "transfer/exported.h"

/* A TdeExportedUser: adds to *count, an int, how many keys were added, changed or removed. */
extern void tde_adopt_keys(const TdeExportedKeys *exported, void *count);

/* ---- adopt_refuse.c ---- */

/*
 * Sees that what is found from now on stays so until the commit: nobody encrypts anything, nor declares a column.  Whoever begins a transaction has
 * to look for its key again, and waits for the table; all others are waited for.  Throws ERRCODE_OBJECT_IN_USE if there are prepared transactions.
 */
extern void tde_adopt_keep_others_out(void);

/* Throws ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST if anything that is declared may name this slot, whose key goes or has another slot there. */
extern void tde_adopt_require_undeclared(int32 slot, const char *name);

/* Throws the same if anything is stored here under any key, or placed by hashes under the key that goes. */
extern void tde_adopt_require_unused(void);

#endif							/* TDE_TRANSFER_ADOPT_H */
