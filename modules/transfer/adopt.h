/*
 * adopt.h - a database's keys become those of another.
 */
#ifndef TDE_TRANSFER_ADOPT_H
#define TDE_TRANSFER_ADOPT_H

#include "transfer/exported.h"

/* A TdeExportedUser: adds to *count, an int, how many keys were added, changed or removed. */
extern void tde_adopt_keys(const TdeExportedKeys *exported, void *count);

/* ---- adopt_refuse.c ---- */

/*
 * What is found from now on stays so until the commit: nobody encrypts anything, nor declares a column.  Whoever begins a transaction
 * has to look for its key again, and waits for the table; all others are waited for.
 */
extern void tde_adopt_keep_others_out(void);

/* ereport if anything that is declared may name this slot, whose key goes or has another slot there. */
extern void tde_adopt_require_undeclared(int32 slot, const char *name);

/* ereport if anything is stored here under any key, or placed by hashes under the key that goes. */
extern void tde_adopt_require_unused(void);

#endif							/* TDE_TRANSFER_ADOPT_H */
