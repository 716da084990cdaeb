/*
 * container_statistics.h - which types' statistics are made by tde_typanalyze().
 */
#ifndef TDE_DDL_CONTAINER_STATISTICS_H
#define TDE_DDL_CONTAINER_STATISTICS_H

#include "catalog/objectaccess.h"

/* Part of an object_access_hook, for columns (of all of a relation, if part is 0) and for tde_typanalyze() itself. */
extern void tde_container_statistics(ObjectAccessType access, Oid catalog, Oid object, int part);

#endif							/* TDE_DDL_CONTAINER_STATISTICS_H */
