/*
 * citus.c - tables that Citus distributes: what the core has Citus plan and run comes here first.
 *
 * The core knows such tables by Citus' catalog (distributed/distribution.c).  The library is loaded when the server starts, and not when a statement
 * needs it: all statements of a node are to be planned in the same way.
 */
#include "postgres.h"

#include "optimizer/planner.h"

#include "citus/combined.h"
#include "citus/inlined.h"
#include "citus/merge.h"
#include "citus/node_errors.h"
#include "citus/node_keys.h"
#include "citus/node_results.h"
#include "citus/node_sharing.h"
#include "citus/repartition.h"
#include "citus/shard_conditions.h"
#include "citus/tables.h"
#include "citus/volatility.h"
#include "client/postponed.h"
#include "ddl/stored_spec.h"
#include "distributed/distribution.h"
#include "server/compat.h"
#include "server/module.h"

/*
 * TdeCitusCalls.plan: what has to be done to a query before Citus plans it.  The order matters: calls are inlined before their volatility is judged,
 * conditions are encrypted before joins are looked at.  What cannot be done is left to Citus, whose error tde_citus_explain() completes.
 */
static PlannedStmt *
plan_query(planner_hook_type next, TDE_PLANNER_PARAMETERS)
{
	bool		distributed = tde_distributed_reads(query, tde_citus_any_table);
	Bitmapset  *returned = distributed ? tde_postponed_take_returning(query) : NULL;
	List	   *collations = distributed ? tde_combined_collations(query) : NIL;
	ErrorContextCallback context = {error_context_stack, tde_citus_explain, query};
	PlannedStmt *plan;

	tde_node_keys_guard(query);
	tde_results_cast(query);
	if (distributed)
	{
		tde_citus_inline(query);
		tde_node_keys_check(query);
		tde_shard_conditions(query, params);
		tde_merge_prepare(query);
		tde_volatility_prepare(query);
		tde_repartition_joins(query);
		error_context_stack = &context;
	}
	plan = next(TDE_PLANNER_ARGUMENTS);
	error_context_stack = context.previous;
	if (distributed)
		tde_node_keys_check_plan(plan);
	tde_combined_collate(plan, collations);
	if (returned)
	{
		tde_stored_spec_planned(plan);	/* does not look below what comes on top now */
		tde_postponed_decrypt_returning(plan, returned);
	}
	return plan;
}

static const TdeCitusCalls calls = {
	.plan = plan_query,
	.results_begin = tde_results_begin,
	.name_server = tde_citus_name_server,
	.shares_keys = tde_node_sharing,
	.bring_keys = tde_node_sharing_bring,
};

TDE_MODULE("citus", tde_node_keys_init, &calls);
