/*
 * purge.h - removing master keys that no database of the instance needs.
 */
#ifndef TDE_MAINTENANCE_PURGE_H
#define TDE_MAINTENANCE_PURGE_H

#include "postgres.h"

#include "lib/stringinfo.h"

/*
 * Append "database NAME: N data keys", a line for each database but this one that has some; how many those are.  unknown: how many
 * could not be looked at, which have lines, too.  Waits for nobody.  Without shared memory 0: there is no way to look.
 */
extern int	tde_purge_other_databases(StringInfo where, int *unknown);

/*
 * From before the wallet entry of an erasable key is written until its row of tde.data_keys is there: no entry is purged in
 * between.  ereport if one is being purged.  An error, too, ends it.
 */
extern PGDLLEXPORT void tde_purge_keep_out(void);
extern PGDLLEXPORT void tde_purge_let_in(void);

#endif							/* TDE_MAINTENANCE_PURGE_H */
