/*
 * tde_stored_spec.c - do the values that a statement stores have their columns' specifications?
 *
 * PostgreSQL's parser has each value that goes into a column coerced to its modifiers, and the executor stores what it is given.
 * Who builds or changes plans himself, and compares types without their modifiers (Citus did, in INSERT ... SELECT), stores values
 * under another specification or key: without the MAC that the column declares, say, which no query reads any more.  So the plans
 * are looked at once more before they run.
 */
#include "postgres.h"

#include "catalog/pg_class.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "nodes/plannodes.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "tde_compat.h"
#include "tde_stored_spec.h"
#include "tde_type.h"

static ExecutorStart_hook_type prev_executor_start = NULL;

static void
check_column(Expr *value, Oid relid, AttrNumber column)
{
	Oid			type = exprType((Node *) value);
	Oid			column_type;
	Oid			collation;
	int32		declared;

	if (tde_type_find(type) == NULL || (IsA(value, Const) && ((Const *) value)->constisnull))
		return;
	get_atttypetypmodcoll(relid, column, &column_type, &declared, &collation);
	if (declared < 0 || exprTypmod((Node *) value) == declared)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("values for column \"%s\" of relation \"%s\" are not encrypted as it declares",
					get_attname(relid, column, false), get_rel_name(relid)),
			 errdetail("The column is of type %s; the plan stores values of type %s.",
					   format_type_with_typemod(type, declared), format_type_with_typemod(type, exprTypmod((Node *) value))),
			 errhint("The plan was changed by another extension, or made by one.  Cast the values to the column's type.")));
}

/* Values for the columns whose numbers are in columns, or, if that is NIL, for those with the entries' own numbers. */
static void
check_targets(List *targets, List *columns, Oid relid)
{
	ListCell   *cell;
	int			place = 0;

	foreach(cell, targets)
	{
		TargetEntry *entry = lfirst(cell);

		if (entry->resjunk)
			continue;
		if (columns == NIL)
			check_column(entry->expr, relid, entry->resno);
		else if (place < list_length(columns))
			check_column(entry->expr, relid, list_nth_int(columns, place));
		place++;
	}
}

static void
check_merge(ModifyTable *modify, int table, Oid relid)
{
	ListCell   *cell;

	foreach(cell, list_nth(modify->mergeActionLists, table))
	{
		MergeAction *action = lfirst(cell);

		check_targets(action->targetList, action->commandType == CMD_UPDATE ? action->updateColnos : NIL, relid);
	}
}

static void
check_table(ModifyTable *modify, int table, List *range_table)
{
	RangeTblEntry *entry = rt_fetch(list_nth_int(modify->resultRelations, table), range_table);

	/* another server stores what goes into a foreign table; nothing is coerced here for that */
	if (entry->relkind == RELKIND_FOREIGN_TABLE)
		return;
	if (modify->operation == CMD_INSERT)
		check_targets(outerPlan(modify)->targetlist, NIL, entry->relid);
	else if (modify->operation == CMD_UPDATE)
		check_targets(outerPlan(modify)->targetlist, list_nth(modify->updateColnosLists, table), entry->relid);
	else if (modify->operation == CMD_MERGE)
		check_merge(modify, table, entry->relid);
	if (modify->onConflictSet)
		check_targets(modify->onConflictSet, modify->onConflictCols, entry->relid);
}

static void
check_plan(Plan *plan, List *range_table)
{
	ModifyTable *modify = (ModifyTable *) plan;

	if (plan == NULL || !IsA(plan, ModifyTable) || modify->operation == CMD_DELETE)
		return;
	/* the columns of a partitioned table's other partitions have the same types, and what an UPDATE sets of all is one list */
	for (int i = 0; i < list_length(modify->resultRelations) && (i == 0 || modify->operation != CMD_INSERT); i++)
		check_table(modify, i, range_table);
}

static void
executor_start(QueryDesc *query, int eflags)
{
	PlannedStmt *statement = query->plannedstmt;
	ListCell   *cell;

	if (statement->commandType != CMD_SELECT)
		check_plan(statement->planTree, statement->rtable);
	if (statement->hasModifyingCTE)
		foreach(cell, statement->subplans)
			check_plan(lfirst(cell), statement->rtable);
	if (prev_executor_start)
		prev_executor_start(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
}

void
tde_stored_spec_init(void)
{
	prev_executor_start = ExecutorStart_hook;
	ExecutorStart_hook = executor_start;
}
