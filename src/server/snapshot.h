/*
 * snapshot.h - a statement that only calls a slow function of ours holds no snapshot meanwhile.
 */
#ifndef TDE_SERVER_SNAPSHOT_H
#define TDE_SERVER_SNAPSHOT_H

#include "executor/execdesc.h"
#include "fmgr.h"

/*
 * Give the statement's snapshot back if it does nothing but call this function, and take a new one.  Meanwhile a standby may replay whatever
 * removes rows, which would cancel the statement otherwise.  Returns what end() wants; NULL: the snapshot stays, since others may need it.
 * After an error there is nothing to do.
 */
extern QueryDesc *tde_snapshot_without_begin(FunctionCallInfo fcinfo);
extern void tde_snapshot_without_end(QueryDesc *query);

#endif							/* TDE_SERVER_SNAPSHOT_H */
