/*
 * probes.h - statements that compare encrypted columns with values that one can guess.
 */
#ifndef TDE_CLIENT_PROBES_H
#define TDE_CLIENT_PROBES_H

#include "executor/execdesc.h"

/* When a plan has been started, while somebody may not decrypt: count them if it is the current user; ereport if they are too many. */
extern void tde_probes_count(QueryDesc *query);

#endif							/* TDE_CLIENT_PROBES_H */
