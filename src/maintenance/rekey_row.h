/*
 * rekey_row.h - re-encrypting rows of one table, among others who read and write them.
 */
#ifndef TDE_MAINTENANCE_REKEY_ROW_H
#define TDE_MAINTENANCE_REKEY_ROW_H

#include "access/tableam.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"

/* A table opened for rows to be re-encrypted; its indexes are open, and its owner is the current user. */
typedef struct TdeRekeyTable TdeRekeyTable;

typedef enum TdeRekeyResult
{
	TDE_ROW_CURRENT,			/* there is nothing to change */
	TDE_ROW_CHANGED,
	TDE_ROW_OVERTAKEN,			/* others have changed, deleted or moved it meanwhile, and left nothing to change here */
	TDE_ROW_BUSY				/* somebody else holds it; nothing was done */
} TdeRekeyResult;

/* Does the table have columns whose values hold encrypted ones? */
extern bool tde_rekey_concerns(Relation rel);

/* Does one of its indexes? */
extern bool tde_rekey_concerns_indexes(Relation rel);

/* repair: a value without MAC where one is declared gets it, instead of being refused */
extern TdeRekeyTable *tde_rekey_open(Relation rel, bool repair);
extern void tde_rekey_close(TdeRekeyTable *table);

/* A slot for the scan. */
extern TupleTableSlot *tde_rekey_slot(TdeRekeyTable *table);

/*
 * Re-encrypt in the row, as the active snapshot shows it, what is not current.  may_wait: wait for whoever holds the row, instead
 * of returning TDE_ROW_BUSY; only while the transaction has touched no other row, so that it cannot take part in a deadlock.
 */
extern TdeRekeyResult tde_rekey_row(TdeRekeyTable *table, bool may_wait);

#endif							/* TDE_MAINTENANCE_REKEY_ROW_H */
