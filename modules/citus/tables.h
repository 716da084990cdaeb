/*
 * tables.h - what is asked of Citus' tables in several places.
 */
#ifndef TDE_CITUS_TABLES_H
#define TDE_CITUS_TABLES_H

#include "distributed/distribution.h"

/* May Citus repartition tables to join them? */
extern bool tde_citus_repartitions(void);

/* TdeDistributionTests: any table; one that is distributed by an encrypted column. */
extern bool tde_citus_any_table(const TdeDistribution *table);
extern bool tde_citus_by_encrypted(const TdeDistribution *table);

/* The latter, of a table of a query. */
extern bool tde_citus_is_by_encrypted(const RangeTblEntry *entry);

/* Is it an equality, and not a user's operator that has the name? */
extern bool tde_citus_is_equality(Oid operator);

/* The encrypted type's own equality, by which Citus distributes; InvalidOid: it has none. */
extern Oid	tde_citus_own_equality(const TdeType *type);

#endif							/* TDE_CITUS_TABLES_H */
