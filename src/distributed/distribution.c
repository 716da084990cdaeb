/*
 * distribution.c - which tables Citus distributes, and by which column: Citus' catalog, remembered; and the module for their statements.
 *
 * Nothing of Citus is linked or included: its tables and functions are found in pg_catalog, where only superusers can make any.
 * Citus sends an invalidation of a table whenever it changes what its catalog says of it.  What else there is about Citus is in modules/citus.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_namespace.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "distributed/distribution.h"
#include "keys/cache.h"
#include "server/compat.h"
#include "server/memory.h"
#include "server/module.h"
#include "server/table_name.h"
#include "type/ciphertext_form.h"
#include "type/inside.h"
#include "type/type.h"

PG_FUNCTION_INFO_V1(tde_is_distributed);
PG_FUNCTION_INFO_V1(tde_check_not_distributed);

/* Columns of pg_dist_partition, the same since Citus 7. */
#define PARTITION_TABLE		1
#define PARTITION_KEY		3
#define COLOCATION			4

static HTAB *tables = NULL;

/* Rises when relations may have changed. */
static uint64 changes = 0;

/* ---- what is remembered ---- */

static void
distribution_changed(Oid relid)
{
	changes++;
	tde_memory_relation_memos_invalidate(tables, relid);
}

void
tde_distributed_init(void)
{
	tables = tde_memory_table_new("tde_column distributed tables", sizeof(Oid), sizeof(TdeDistribution));
	tde_memory_when_relation_changes(distribution_changed);
}

bool
tde_distributed_citus_is_loaded(void)
{
	static bool asked = false;
	static bool loaded = false;

	/* it is in shared_preload_libraries, or nowhere */
	if (unlikely(!asked))
	{
		loaded = GetConfigOption("citus.version", true, false) != NULL;
		asked = true;
	}
	return loaded;
}

/* ---- Citus' catalog ---- */

/* Citus keeps the column as a Var; a table without one has NULL there, and does not come here.  Only an encrypted column is of interest. */
static void
set_column(TdeDistribution *table, const char *key)
{
	Node	   *node = stringToNode(key);

	if (node == NULL || !IsA(node, Var) || tde_type_find(((Var *) node)->vartype) == NULL)
		return;
	table->column = ((Var *) node)->varattno;
	table->type = ((Var *) node)->vartype;
}

/* catalog: the OID of pg_dist_partition.  It is read without an index: it has a row for each distributed table, and is read once for each. */
static void
read_catalog(TdeDistribution *table, Oid catalog)
{
	Relation	rel = table_open(catalog, AccessShareLock);
	TupleDesc	columns = RelationGetDescr(rel);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		isnull;
	bool		none;

	ScanKeyInit(&key, PARTITION_TABLE, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(table->memo.relation));
	scan = systable_beginscan(rel, InvalidOid, false, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		Datum		column = heap_getattr(tuple, PARTITION_KEY, columns, &isnull);

		table->is_distributed = true;
		table->by_column = !isnull;
		table->colocation = DatumGetInt32(heap_getattr(tuple, COLOCATION, columns, &none));
		if (!isnull)
			set_column(table, TextDatumGetCString(column));
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
}

/* The entry is made last, so that an error leaves none that is half read. */
static pg_noinline TdeDistribution *
look_up(Oid oid)
{
	TdeDistribution read = {.memo.relation = oid};
	TdeDistribution *table;
	Oid			catalog = get_relname_relid("pg_dist_partition", PG_CATALOG_NAMESPACE);
	uint64		before = changes;

	if (OidIsValid(catalog))
		read_catalog(&read, catalog);
	table = hash_search(tables, &oid, HASH_ENTER, NULL);
	*table = read;
	/* if it changed while its catalog was read, it is read again at the next use */
	table->memo.valid = changes == before;
	return table;
}

const TdeDistribution *
tde_distribution(Oid oid)
{
	TdeDistribution *table;

	if (!tde_distributed_citus_is_loaded() || oid < FirstNormalObjectId)
		return NULL;
	table = hash_search(tables, &oid, HASH_FIND, NULL);
	if (table == NULL || !table->memo.valid)
		table = look_up(oid);
	return table->is_distributed ? table : NULL;
}

/* ---- queries ---- */

const TdeDistribution *
tde_distribution_of(const RangeTblEntry *entry)
{
	return entry->rtekind == RTE_RELATION ? tde_distribution(entry->relid) : NULL;
}

/* A query_or_expression_tree_walker.  wanted: a TdeDistributionTest, by its address. */
static bool
reads_distributed(Node *node, void *wanted)
{
	const TdeDistribution *table;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		table = tde_distribution_of((RangeTblEntry *) node);
		return table && (*(TdeDistributionTest *) wanted) (table);
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, reads_distributed, wanted, QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, reads_distributed, wanted);
}

bool
tde_distributed_reads(Query *query, TdeDistributionTest wanted)
{
	return tde_distributed_citus_is_loaded() && reads_distributed((Node *) query, &wanted);
}

/* ---- maintenance ---- */

void
tde_distributed_refuse(Oid table, const char *call)
{
	char	   *name;

	if (tde_distribution(table) == NULL)
		return;
	name = tde_table_name(table);
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("table %s is distributed by Citus", name),
			 errdetail("Its rows are in shards, and this command would find none of them here."),
			 errhint("Do it for all shards: SELECT * FROM run_command_on_placements(%s, %s);",
					 quote_literal_cstr(name), quote_literal_cstr(call))));
}

const char *
tde_distributed_call(const char *verb, FunctionCallInfo fcinfo)
{
	return psprintf("%s %s(%%L)", verb, get_func_name(fcinfo->flinfo->fn_oid));
}

/* tde_is_distributed(regclass) returns boolean */
Datum
tde_is_distributed(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(tde_distribution(PG_GETARG_OID(0)) != NULL);
}

/* tde_check_not_distributed(regclass, text) returns void - tde_distributed_refuse() for procedures in SQL. */
Datum
tde_check_not_distributed(PG_FUNCTION_ARGS)
{
	tde_distributed_refuse(PG_GETARG_OID(0), text_to_cstring(PG_GETARG_TEXT_PP(1)));
	PG_RETURN_VOID();
}

/* ---- the module, or what becomes of their statements without it ---- */

const TdeCitusCalls *tde_citus = NULL;

int			tde_citus_results = TDE_IO_PLAINTEXT;

#define INSTALL_HINT	"Install the module \"citus\" of tde_column, and restart the server."

void
tde_distributed_citus_init(void)
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

/* A TdeDistributionTest, which throws at the first table with an encrypted column, and lets the search go on otherwise. */
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
tde_distributed_citus_plan(planner_hook_type next, TDE_PLANNER_PARAMETERS)
{
	if (tde_citus)
		return tde_citus->plan(next, TDE_PLANNER_ARGUMENTS);
	(void) tde_distributed_reads(query, has_encrypted);
	return next(TDE_PLANNER_ARGUMENTS);
}
