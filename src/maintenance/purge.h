/*
 * purge.h - removing master keys that no database of the instance needs.
 */
#ifndef TDE_MAINTENANCE_PURGE_H
#define TDE_MAINTENANCE_PURGE_H

#include "postgres.h"

#include "lib/stringinfo.h"

/*
 * Appends "database NAME: N data keys", a line for each database but this one that has some, and returns how many keys those are.  *unknown: how many
 * databases could not be looked at, which have lines, too.  Waits for nobody.  Without shared memory it returns 0: there is no way to look.  Throws
 * ERRCODE_OBJECT_IN_USE if somebody else is looking.
 */
extern int	tde_purge_other_databases(StringInfo where, int *unknown);

/*
 * Keeps purges out, from before the wallet entry of an erasable key is written until its row of tde.data_keys is there: no entry is purged in
 * between.  Throws ERRCODE_OBJECT_IN_USE if one is being purged.  The other one lets them in again, and so does an error.
 */
extern PGDLLEXPORT void tde_purge_keep_out(void);
extern PGDLLEXPORT void tde_purge_let_in(void);

#endif							/* TDE_MAINTENANCE_PURGE_H */
