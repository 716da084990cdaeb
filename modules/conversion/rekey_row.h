/*
 * rekey_row.h - re-encrypting rows of one table, among others who read and write them.
 */
#ifndef TDE_CONVERSION_REKEY_ROW_H
#define TDE_CONVERSION_REKEY_ROW_H

#include "conversion/batches.h"
#include "type/datum.h"

/* Returns true if the relation has columns whose values hold encrypted ones. */
extern bool tde_rekey_concerns(Relation rel);

/* Returns true if one of its indexes has. */
extern bool tde_rekey_concerns_indexes(Relation rel);

/*
 * Returns a table opened for rows to be re-encrypted.  Its indexes are open, and its owner is the current user, until tde_rekey_close().  repair: a
 * value without MAC where one is declared gets it, instead of being refused.  floors: of the whole call.  The result is palloc'd.
 */
extern void *tde_rekey_open(Relation rel, bool repair, TdeKeyFloors *floors);
extern void tde_rekey_close(void *table);

/* Re-encrypts in the row what is not current.  For TdeBatches. */
extern TdeRowResult tde_rekey_row(void *table, TupleTableSlot *row, bool may_wait);

#endif							/* TDE_CONVERSION_REKEY_ROW_H */
