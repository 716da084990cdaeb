/*
 * container_statistics.h - which types' statistics are made by tde_typanalyze().
 */
#ifndef TDE_DDL_CONTAINER_STATISTICS_H
#define TDE_DDL_CONTAINER_STATISTICS_H

#include "catalog/objectaccess.h"

/*
 * Part of the object_access_hook: keeps pg_type.typanalyze of arrays, composites, ranges and domains that hold encrypted values.
 *
 * When a column is made or changed, each such type among its types gets tde_typanalyze().  catalog and object: the class and the OID of what is
 * accessed.  part: the number of a column; 0: all columns of a relation that was made.  When tde_typanalyze() itself is dropped, the types get back
 * what PostgreSQL would have given them.
 *
 * Changes rows of pg_type in the transaction of the command, and holds a ShareUpdateExclusiveLock on each type until it ends.
 */
extern void tde_container_statistics(ObjectAccessType access, Oid catalog, Oid object, int part);

#endif							/* TDE_DDL_CONTAINER_STATISTICS_H */
