/*
 * probes.h - statements that compare encrypted columns with values that one can guess.
 */
#ifndef TDE_CLIENT_PROBES_H
#define TDE_CLIENT_PROBES_H

#include "executor/execdesc.h"

/*
 * Counts the values with which a query compares encrypted columns, if the current user may not decrypt.  Called when a plan has been started and
 * tde_column.decrypt_role is set, and not for EXPLAIN without ANALYZE.  Throws what tde_probes_add() throws if they are too many in an hour.
 */
extern void tde_probes_count(QueryDesc *query);

#endif							/* TDE_CLIENT_PROBES_H */
