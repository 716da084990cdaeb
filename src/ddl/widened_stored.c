/*
 * widened_stored.c - calls that an encrypted argument has find another function, in expressions that are not analyzed as a statement: what is stored
 * of tables, triggers, policies, rules, functions and the like, and conditions of COPY.
 *
 * What is stored is read from the catalogs, when the command that has made it ends: an error takes all of it back.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_index.h"
#include "catalog/pg_partitioned_table.h"
#include "catalog/pg_policy.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_rewrite.h"
#include "catalog/pg_statistic_ext.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "parser/parse_expr.h"
#include "parser/parse_relation.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "ddl/widened_calls.h"

void
tde_widened_calls_copy(CopyStmt *stmt, const char *source)
{
	ParseState *pstate;
	Relation	rel;

	if (!stmt->is_from || stmt->whereClause == NULL)
		return;
	pstate = make_parsestate(NULL);
	pstate->p_sourcetext = source;
	rel = table_openrv(stmt->relation, RowExclusiveLock);
	addNSItemToQuery(pstate, addRangeTableEntryForRelation(pstate, rel, RowExclusiveLock, NULL, false, false), false, true, true);
	tde_widened_calls_check(transformExpr(pstate, copyObject(stmt->whereClause), EXPR_KIND_COPY_WHERE), pstate);
	table_close(rel, NoLock);
	free_parsestate(pstate);
}

/* A catalog's trees are its columns of type pg_node_tree, whichever these are in this version. */
static void
check_row(Relation catalog, HeapTuple row)
{
	TupleDesc	columns = RelationGetDescr(catalog);

	for (int i = 0; i < columns->natts; i++)
	{
		Datum		stored;
		bool		isnull;

		if (TupleDescAttr(columns, i)->atttypid != PG_NODE_TREEOID)
			continue;
		stored = heap_getattr(row, i + 1, columns, &isnull);
		if (!isnull)
			tde_widened_calls_check(stringToNode(TextDatumGetCString(stored)), NULL);
	}
}

/*
 * Looks at the trees in the rows of a catalog that belong to an object.  Only rows that this transaction has written count: what was there before
 * means what it meant then.  column, index: by which the rows are found.
 */
static void
check_rows(Oid class, AttrNumber column, Oid index, Oid object)
{
	Relation	catalog = table_open(class, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	row;

	ScanKeyInit(&key, column, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(object));
	scan = systable_beginscan(catalog, index, true, NULL, 1, &key);
	while (HeapTupleIsValid(row = systable_getnext(scan)))
	{
		CHECK_FOR_INTERRUPTS();
		if (TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(row->t_data)))
			check_row(catalog, row);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
}

/* Rules, views among them, and functions' bodies are analyzed without a hook, too, or have been looked at before, which does no harm. */
void
tde_widened_calls_stored(Oid class, Oid object)
{
	switch (class)
	{
		case RelationRelationId:
			check_rows(ConstraintRelationId, Anum_pg_constraint_conrelid, ConstraintRelidTypidNameIndexId, object);
			check_rows(AttrDefaultRelationId, Anum_pg_attrdef_adrelid, AttrDefaultIndexId, object);
			check_rows(IndexRelationId, Anum_pg_index_indexrelid, IndexRelidIndexId, object);
			check_rows(PartitionedRelationId, Anum_pg_partitioned_table_partrelid, PartitionedRelidIndexId, object);
			break;
		case TypeRelationId:
			check_rows(ConstraintRelationId, Anum_pg_constraint_contypid, ConstraintTypidIndexId, object);
			break;
		case TriggerRelationId:
			check_rows(class, Anum_pg_trigger_oid, TriggerOidIndexId, object);
			break;
		case PolicyRelationId:
			check_rows(class, Anum_pg_policy_oid, PolicyOidIndexId, object);
			break;
		case RewriteRelationId:
			check_rows(class, Anum_pg_rewrite_oid, RewriteOidIndexId, object);
			break;
		case ProcedureRelationId:
			check_rows(class, Anum_pg_proc_oid, ProcedureOidIndexId, object);
			break;
		case StatisticExtRelationId:
			check_rows(class, Anum_pg_statistic_ext_oid, StatisticExtOidIndexId, object);
			break;
	}
}

/* USING is stored nowhere. */
void
tde_widened_calls_altered(const CollectedCommand *command)
{
	ListCell   *cell;

	if (command->type != SCT_AlterTable)
		return;
	foreach(cell, command->d.alterTable.subcmds)
	{
		AlterTableCmd *cmd = (AlterTableCmd *) ((CollectedATSubcmd *) lfirst(cell))->parsetree;

		if (IsA(cmd, AlterTableCmd) && cmd->subtype == AT_AlterColumnType && cmd->def)
			tde_widened_calls_check(castNode(ColumnDef, cmd->def)->cooked_default, NULL);
	}
}
