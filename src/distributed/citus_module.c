/*
 * citus_module.c - the module for tables that Citus distributes, and what becomes of their statements without it.
 */
#include "postgres.h"

#include "access/relation.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "distributed/citus_module.h"
#include "distributed/distribution.h"
#include "server/module.h"
#include "type/ciphertext_form.h"
#include "type/inside.h"
#include "type/type.h"

const TdeCitusCalls *tde_citus = NULL;

int			tde_citus_results = TDE_IO_PLAINTEXT;

#define INSTALL_HINT	"Install the module \"citus\" of tde_column, and restart the server."

void
tde_citus_init(void)
{
	const TdeModule *module;

	if (!tde_distributed_citus_is_loaded())
		return;
	module = tde_module_load("citus");
	if (module)
		tde_citus = module->calls;
	else
		ereport(WARNING,
				(errmsg("module \"citus\" of tde_column is missing, and Citus is here"),
				 errdetail("Statements on tables with encrypted columns that Citus distributes are refused."),
				 errhint(INSTALL_HINT)));
}

/* A TdeDistributionTest. */
static bool
has_encrypted(const TdeDistribution *table)
{
	Relation	rel = relation_open(table->memo.relation, AccessShareLock);
	bool		found = false;

	for (int i = 0; i < RelationGetDescr(rel)->natts && !found; i++)
		found = tde_type_holds_encrypted(TupleDescAttr(RelationGetDescr(rel), i)->atttypid);
	relation_close(rel, AccessShareLock);
	if (found)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot use table \"%s\", which Citus distributes, without a module", get_rel_name(table->memo.relation)),
				 errdetail("It has encrypted columns, and module \"citus\" of tde_column was missing when the server started."),
				 errhint(INSTALL_HINT)));
	return false;
}

PlannedStmt *
tde_citus_plan(planner_hook_type next, TDE_PLANNER_PARAMETERS)
{
	if (tde_citus)
		return tde_citus->plan(next, TDE_PLANNER_ARGUMENTS);
	(void) tde_distributed_reads(query, has_encrypted);
	return next(TDE_PLANNER_ARGUMENTS);
}
