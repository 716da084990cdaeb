/*
 * tables.h - what is asked of Citus' tables in several places.
 */
#ifndef TDE_CITUS_TABLES_H
#define TDE_CITUS_TABLES_H

#include "distributed/distribution.h"

/* Returns true if Citus may repartition tables to join them (citus.enable_repartition_joins). */
extern bool tde_citus_repartitions(void);

/* TdeDistributionTests: true of any table; of one that is distributed by an encrypted column. */
extern bool tde_citus_any_table(const TdeDistribution *table);
extern bool tde_citus_by_encrypted(const TdeDistribution *table);

/* Returns the latter, of a table of a query. */
extern bool tde_citus_is_by_encrypted(const RangeTblEntry *entry);

/* Returns true if it is an equality, and not a user's operator that has the name. */
extern bool tde_citus_is_equality(Oid operator);

/* Returns the encrypted type's own equality, by which Citus distributes; InvalidOid: it has none. */
extern Oid	tde_citus_own_equality(const TdeType *type);

#endif							/* TDE_CITUS_TABLES_H */
