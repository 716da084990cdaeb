/*
 * tables.c - what is asked of Citus' tables in several places.
 */
#include "postgres.h"

#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "citus/tables.h"
#include "type/inside.h"

bool
tde_citus_repartitions(void)
{
	const char *value = GetConfigOption("citus.enable_repartition_joins", true, false);

	return value && strcmp(value, "on") == 0;
}

bool
tde_citus_any_table(const TdeDistribution *table)
{
	return true;
}

bool
tde_citus_by_encrypted(const TdeDistribution *table)
{
	return table->column != InvalidAttrNumber;
}

bool
tde_citus_is_by_encrypted(const RangeTblEntry *entry)
{
	const TdeDistribution *table = tde_distribution_of(entry);

	return table && tde_citus_by_encrypted(table);
}

bool
tde_citus_is_equality(Oid operator)
{
	char	   *name = get_opname(operator);

	return name != NULL && strcmp(name, "=") == 0 && tde_inside_is_base_operator(operator);
}

Oid
tde_citus_own_equality(const TdeType *type)
{
	return lookup_type_cache(type->oid, TYPECACHE_EQ_OPR)->eq_opr;
}
