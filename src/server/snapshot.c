/*
 * snapshot.c - a statement that only calls a slow function of ours holds no snapshot meanwhile.
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/executor.h"
#include "nodes/plannodes.h"
#include "tcop/pquery.h"
#include "utils/snapmgr.h"

#include "server/snapshot.h"

/* Is it SELECT function(...), this call of it, and no more?  Then nobody looks at rows by its snapshot. */
static bool
only_calls(const PlannedStmt *statement, const FmgrInfo *function)
{
	const Plan *plan = statement->planTree;

	if (statement->commandType != CMD_SELECT || statement->hasModifyingCTE || statement->relationOids != NIL || statement->subplans != NIL ||
		!IsA(plan, Result) || plan->lefttree != NULL || list_length(plan->targetlist) != 1)
		return false;
	return linitial_node(TargetEntry, plan->targetlist)->expr == (const Expr *) function->fn_expr;
}

QueryDesc *
tde_snapshot_without_begin(FunctionCallInfo fcinfo)
{
	QueryDesc  *query = ActivePortal != NULL ? ActivePortal->queryDesc : NULL;

	/* in other levels of isolation the transaction keeps it, too */
	if (query == NULL || query->estate == NULL || IsolationUsesXactSnapshot() || !ActiveSnapshotSet() ||
		GetActiveSnapshot() != query->snapshot || query->estate->es_snapshot != query->snapshot ||
		!only_calls(query->plannedstmt, fcinfo->flinfo))
		return NULL;
	PopActiveSnapshot();
	UnregisterSnapshot(query->estate->es_snapshot);
	query->estate->es_snapshot = InvalidSnapshot;
	UnregisterSnapshot(query->snapshot);
	query->snapshot = InvalidSnapshot;
	InvalidateCatalogSnapshot();
	return query;
}

void
tde_snapshot_without_end(QueryDesc *query)
{
	if (query == NULL)
		return;
	query->snapshot = RegisterSnapshot(GetTransactionSnapshot());
	query->estate->es_snapshot = RegisterSnapshot(query->snapshot);
	PushActiveSnapshot(query->snapshot);
}
