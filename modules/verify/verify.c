/*
 * verify.c - tde_verify_table(): whether every encrypted value of a table and its indexes is what its column declares, and can be read.
 *
 * Each value is decrypted, as a query would, and forgotten.  Nothing but what is wrong is told, so whoever calls it need not be allowed to read the
 * table.  Rows that others write meanwhile do not wait for it; of rows that nobody can see any more nothing is said.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/relation.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "distributed/distribution.h"
#include "maintenance/index_keys.h"
#include "server/compat.h"
#include "server/module.h"
#include "server/table_name.h"
#include "type/datum.h"
#include "type/declared.h"
#include "verify/verify.h"
#include "wallet/wallet.h"

PG_FUNCTION_INFO_V1(tde_verify_verify_table);

TDE_MODULE("verify", NULL, NULL);

/* ---- values ---- */

/* A TdeInsideChange: decrypts the value, and leaves it as it is. */
static Datum
decrypt(TdeType *type, Datum value, int32 typmod, void *differs)
{
	tde_datum_free(type, tde_datum_decrypt_once(type, value, tde_declared(type, typmod)));
	if (typmod >= 0 && !tde_datum_is_declared(type, value, typmod))
		*(bool *) differs = true;
	return value;
}

/* A datum that is looked at. */
typedef struct Look
{
	const TdeInside *column;
	Datum		datum;
	bool		differs;		/* a value is encrypted otherwise than declared */
} Look;

/* A TdeAttempt. */
static void
look(void *arg)
{
	Look	   *at = arg;

	(void) tde_inside_replace(at->column, at->datum, decrypt, &at->differs);
}

/* TdeScan.datum: a value that cannot be read is a problem, and the scan goes on. */
static void
look_at_datum(TdeScan *scan, AttrNumber column, Oid type, Datum datum)
{
	TdeVerification *verification = (TdeVerification *) scan;
	Look		at = {verification->columns[column - 1], datum};
	ErrorData  *error;

	/* a summary may have something of another type than the column */
	if (at.column == NULL)
		at.column = tde_inside_find(type, -1);
	error = tde_attempt(verification, look, &at);
	if (error)
		tde_verify_problem_caught(verification, &scan->row, column, error);
	else if (at.differs)
		tde_verify_problem(verification, &scan->row, column, ERRCODE_DATATYPE_MISMATCH, "value is encrypted otherwise than its column declares");
}

static void
tell_progress(TdeScan *scan)
{
	tde_counters_progress_blocks(&((TdeVerification *) scan)->progress, 1);
}

/* ---- relations ---- */

/* A TdeAttempt. */
static void
read_relation(void *arg)
{
	TdeVerification *verification = arg;

	if (verification->table)
		tde_entries_begin(verification);
	(void) tde_scan_relation(verification->rel, &verification->scan);
	tde_attempts_end(verification);
	if (verification->table)
		tde_entries_end(verification);
}

/* Finds the columns that can hold encrypted values, of a table or of an index. */
static void
find_columns(TdeVerification *verification)
{
	TupleDesc	columns = RelationGetDescr(verification->rel);

	verification->columns = palloc0(Max(columns->natts, 1) * sizeof(TdeInside *));
	for (int i = 0; i < columns->natts; i++)
		if (!TupleDescAttr(columns, i)->attisdropped)
			verification->columns[i] = tde_inside_find(TupleDescAttr(columns, i)->atttypid, TupleDescAttr(columns, i)->atttypmod);
}

/* Reads a table, or an index; table: that of an index, otherwise NULL.  What ends the reading, such as a damaged page, is one problem. */
static void
verify_relation(TdeVerification *verification, Relation rel, Relation table)
{
	ErrorData  *error;

	verification->rel = rel;
	verification->table = table;
	find_columns(verification);
	error = tde_attempt_whole(verification, read_relation, verification);
	if (error)
		tde_verify_problem_caught(verification, &verification->scan.row, 0, error);
	verification->scan.entry = NULL;
	ItemPointerSetInvalid(&verification->scan.row);
}

/* Returns true of an index with something to verify.  What is not valid, CREATE INDEX CONCURRENTLY has left behind, or is at. */
static bool
is_verified(Relation index)
{
	AttrNumber *columns;

	/* a hash index compares what it does not have */
	return index->rd_rel->relkind == RELKIND_INDEX && index->rd_index->indisvalid &&
		(tde_index_needs_key(RelationGetRelid(index)) || tde_scan_columns(index, &columns) > 0);
}

/* Verifies the indexes of a table.  One that was dropped meanwhile is passed over. */
static void
verify_indexes(TdeVerification *verification, Relation table)
{
	ListCell   *cell;

	foreach(cell, tde_indexes_of(RelationGetRelid(table)))
	{
		Relation	index = try_relation_open(lfirst_oid(cell), AccessShareLock);

		if (index == NULL)
			continue;
		if (is_verified(index))
			verify_relation(verification, index, table);
		relation_close(index, AccessShareLock);
	}
}

/* An error context callback: an interrupted command says where to go on. */
static void
explain_where(void *arg)
{
	TdeVerification *verification = arg;
	ItemPointer row = &verification->scan.row;

	if (verification->rel == NULL || verification->table != NULL || !ItemPointerIsValid(row))
		return;
	errcontext("verifying block %u of table %s, with %lld problems before", ItemPointerGetBlockNumber(row), verification->name,
			   (long long) verification->problems);
	errhint("To go on there: SELECT * FROM tde_verify_table(%s, first_block => %u);", verification->literal, ItemPointerGetBlockNumber(row));
}

/* Verifies a table with its indexes, in memory of its own.  Only an AccessShareLock is held. */
static void
verify_table(TdeVerification *verification, Oid relid)
{
	MemoryContext per_table = AllocSetContextCreate(CurrentMemoryContext, "tde_column table", ALLOCSET_DEFAULT_SIZES);
	MemoryContext before = MemoryContextSwitchTo(per_table);
	Relation	table = try_relation_open(relid, AccessShareLock);

	/* dropped meanwhile, or of a session that has it in its own memory */
	if (table && !RELATION_IS_OTHER_TEMP(table) &&
		(table->rd_rel->relkind == RELKIND_RELATION || table->rd_rel->relkind == RELKIND_MATVIEW))
	{
		verification->name = tde_table_name(RelationGetRelid(table));
		verification->literal = quote_literal_cstr(verification->name);
		verify_relation(verification, table, NULL);
		if (verification->indexes)
			verify_indexes(verification, table);
		verification->rel = verification->table = NULL;
	}
	if (table)
		relation_close(table, AccessShareLock);
	MemoryContextSwitchTo(before);
	MemoryContextDelete(per_table);
}

/* ---- all of them ---- */

/* Returns tables that may hold encrypted values, in this memory context. */
static List *
declared_tables(void)
{
	MemoryContext context = CurrentMemoryContext;
	List	   *tables = NIL;

	if (SPI_connect() != SPI_OK_CONNECT || SPI_execute("SELECT relation::pg_catalog.oid FROM tde_internal.tde_declared_tables()", true, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not list tables");
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		bool		isnull;
		Oid			table = DatumGetObjectId(SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1, &isnull));
		MemoryContext before = MemoryContextSwitchTo(context);

		CHECK_FOR_INTERRUPTS();
		tables = lappend_oid(tables, table);
		MemoryContextSwitchTo(before);
	}
	SPI_finish();
	return tables;
}

/* Returns the blocks of a table or index that is still there. */
static int64
blocks_of(Oid relid)
{
	Relation	rel = try_relation_open(relid, AccessShareLock);
	int64		blocks = 0;

	if (rel == NULL)
		return 0;
	if (RELKIND_HAS_STORAGE(rel->rd_rel->relkind) && !RELATION_IS_OTHER_TEMP(rel))
		blocks = RelationGetNumberOfBlocks(rel);
	relation_close(rel, AccessShareLock);
	return blocks;
}

/* Returns the blocks of all of them and their indexes, for the progress. */
static int64
blocks_of_tables(List *tables)
{
	int64		blocks = 0;
	ListCell   *outer;
	ListCell   *cell;

	foreach(outer, tables)
	{
		blocks += blocks_of(lfirst_oid(outer));
		foreach(cell, tde_indexes_of(lfirst_oid(outer)))
			blocks += blocks_of(lfirst_oid(cell));
	}
	return blocks;
}

/* Throws if it is no table.  Of an index the table is to be named, whose rows it is compared with. */
static void
check_has_storage(Oid relation)
{
	char		kind = get_rel_relkind(relation);

	if (kind == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", relation)));
	if (kind != RELKIND_RELATION && kind != RELKIND_MATVIEW && kind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("relation \"%s\" is no table", get_rel_name(relation)),
				 errdetail_relkind_not_supported(kind)));
}

/* Sets the blocks that the caller has chosen; of all tables the same. */
static void
choose_blocks(TdeScan *scan, int64 first, int64 last)
{
	if (first < 0 || first > MaxBlockNumber || last < first || last > MaxBlockNumber)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("first_block and last_block must be numbers of blocks, in this order")));
	scan->first_block = (BlockNumber) first;
	scan->blocks = (BlockNumber) (last - first) + 1;
}

/*
 * tde_verify_table(relation regclass, first_block int8, last_block int8, OUT object, ctid, column, sqlstate, problem) - what is wrong with the
 * encrypted values of a table, its partitions and their indexes; of tables, in these blocks, and without indexes if it is to stop early.  NULL: of
 * all tables.
 */
Datum
tde_verify_verify_table(PG_FUNCTION_ARGS)
{
	TdeVerification verification = {.scan = {.datum = look_at_datum, .page = tell_progress}};
	Oid			relid = PG_ARGISNULL(0) ? InvalidOid : PG_GETARG_OID(0);
	ErrorContextCallback context = {error_context_stack, explain_where, &verification};
	List	   *tables;
	ListCell   *cell;
	int			level;

	InitMaterializedSRF(fcinfo, 0);
	if (OidIsValid(relid))
	{
		check_has_storage(relid);
		tde_distributed_refuse(relid, tde_distributed_call("SELECT array_agg(tde_verify_table) FROM", fcinfo));
	}
	choose_blocks(&verification.scan, PG_ARGISNULL(1) ? 0 : PG_GETARG_INT64(1), PG_ARGISNULL(2) ? MaxBlockNumber : PG_GETARG_INT64(2));
	if (!tde_wallet_ensure_open())
		tde_wallet_closed_error("to verify encrypted values");
	verification.result = (ReturnSetInfo *) fcinfo->resultinfo;
	verification.indexes = PG_ARGISNULL(2);
	tables = OidIsValid(relid) ? find_all_inheritors(relid, NoLock, NULL) : declared_tables();

	/* a value under another key is a problem here, whatever the session makes of it */
	level = NewGUCNestLevel();
	(void) set_config_option("tde_column.key_wall", "error", PGC_SUSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	tde_counters_progress_start(&verification.progress, relid, TDE_PHASE_VALUES);
	tde_counters_progress_phase(&verification.progress, TDE_PHASE_VALUES, blocks_of_tables(tables));
	error_context_stack = &context;
	foreach(cell, tables)
		verify_table(&verification, lfirst_oid(cell));
	error_context_stack = context.previous;
	tde_counters_progress_end();
	AtEOXact_GUC(true, level);
	return (Datum) 0;
}
