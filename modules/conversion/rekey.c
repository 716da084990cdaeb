/*
 * rekey.c - the procedure tde_rekey_table(): re-encrypt a table in committed batches, beside its readers and writers.
 *
 * A pass goes through all rows of the table, its partitions and its children, in batches (batches.h).  What needs
 * no change costs a look at its header, so that a later call goes on where one was interrupted.
 *
 * Rows move: an update may put one where the pass has been already.  So the end is a pass that finds nothing to change in one
 * snapshot, taken when all transactions that wrote to the table before have ended; what they left is under an older key, perhaps.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/table.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "commands/defrem.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "conversion/batches.h"
#include "conversion/rekey_row.h"
#include "distributed/distribution.h"
#include "server/compat.h"
#include "server/module.h"
#include "server/table_name.h"
#include "wallet/wallet.h"

PG_FUNCTION_INFO_V1(tde_conversion_rekey_table);

TDE_MODULE("conversion", NULL, NULL);

#define COMMAND "tde_rekey_table()"

/* After so many verifications that found something it must be coming in faster than it can be re-encrypted. */
#define MAX_VERIFICATIONS 10

/* One call of the procedure. */
typedef struct Rekey
{
	TdeBatches	batches;
	Oid			relid;			/* the table that was named, */
	const char *name;			/* its name, */
	const char *qualified;		/* and that as SQL has it */
	bool		repair;			/* values without MAC are believed */
	TdeKeyFloors floors;
	bool		indexed;		/* an encrypted column is in an index */
} Rekey;

/* ---- what may be re-encrypted ---- */

/* Throws if the table cannot be re-encrypted by this user.  Asked again in each transaction: it may have been altered, or given away. */
static void
check_table(Relation rel)
{
	char		kind = rel->rd_rel->relkind;

	if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot re-encrypt relation \"%s\"", RelationGetRelationName(rel)),
				 errdetail_relkind_not_supported(kind),
				 kind == RELKIND_MATVIEW ? errhint("REFRESH MATERIALIZED VIEW refreshes it.") :
				 kind == RELKIND_VIEW ? errhint("Call tde_rekey_table() for the tables that it reads.") : 0));
	if (!TDE_OWNS_RELATION(RelationGetRelid(rel)))
		aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(kind), RelationGetRelationName(rel));
	if (RELATION_IS_OTHER_TEMP(rel))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot re-encrypt temporary tables of other sessions")));
	/* single rows are locked and updated in their places, which others need not be able to, or mean otherwise */
	if (kind == RELKIND_RELATION && rel->rd_rel->relam != HEAP_TABLE_AM_OID)
	{
		const char *name = tde_table_name(RelationGetRelid(rel));

		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot re-encrypt table \"%s\"", RelationGetRelationName(rel)),
				 errdetail("Its access method \"%s\" is not heap.", get_am_name(rel->rd_rel->relam)),
				 errhint("Run ALTER TABLE %s SET ACCESS METHOD heap, re-encrypt it, and set the access method again.", name)));
	}
}

/* Adds a table of the tree if it has encrypted columns.  A foreign one is told of, since it would be taken for done. */
static void
add_table(Rekey *rekey, Oid relid, int64 *blocks)
{
	Relation	rel = relation_open(relid, AccessShareLock);
	MemoryContext old;

	if (rel->rd_rel->relkind == RELKIND_FOREIGN_TABLE)
		ereport(WARNING,
				(errmsg("skipping foreign table \"%s\"", RelationGetRelationName(rel)),
				 errdetail("Its values are stored, under keys of its own, by another server."),
				 errhint("Call tde_rekey_table() there.")));
	else
		check_table(rel);
	if (rel->rd_rel->relkind == RELKIND_RELATION && tde_rekey_concerns(rel))
	{
		old = MemoryContextSwitchTo(rekey->batches.context);
		rekey->batches.tables = lappend_oid(rekey->batches.tables, relid);
		MemoryContextSwitchTo(old);
		rekey->indexed |= tde_rekey_concerns_indexes(rel);
		*blocks += RelationGetNumberOfBlocks(rel);
	}
	relation_close(rel, NoLock);
}

/* Keeps its names, once: it may be renamed, or dropped, where we hold no lock. */
static void
take_names(Rekey *rekey, Relation root)
{
	MemoryContext old = MemoryContextSwitchTo(rekey->batches.context);

	if (rekey->name == NULL)
	{
		rekey->name = pstrdup(RelationGetRelationName(root));
		rekey->qualified = tde_table_name(RelationGetRelid(root));
	}
	MemoryContextSwitchTo(old);
}

/* Lists the table with its partitions or children, as UPDATE would take them.  Returns their blocks.  Done for each pass: partitions come and go. */
static int64
list_tables(Rekey *rekey)
{
	Relation	root = table_open(rekey->relid, AccessShareLock);
	int64		blocks = 0;
	ListCell   *cell;

	check_table(root);
	take_names(rekey, root);
	list_free(rekey->batches.tables);
	rekey->batches.tables = NIL;
	rekey->indexed = false;
	foreach(cell, find_all_inheritors(rekey->relid, AccessShareLock, NULL))
		add_table(rekey, lfirst_oid(cell), &blocks);
	table_close(root, NoLock);
	return blocks;
}

/* ---- passes ---- */

/*
 * Waits until all transactions that may have written to the tables have ended, without holding anything ourselves.  As CREATE INDEX CONCURRENTLY
 * waits.
 */
static void
wait_for_writers(Rekey *rekey)
{
	ListCell   *cell;

	tde_counters_progress_phase(&rekey->batches.progress, TDE_PHASE_WAIT, 0);
	foreach(cell, rekey->batches.tables)
	{
		LOCKTAG		tag;

		SET_LOCKTAG_RELATION(tag, MyDatabaseId, lfirst_oid(cell));
		WaitForLockers(tag, ShareLock, false);
	}
}

static void *
open_table(TdeBatches *batches, Relation rel)
{
	Rekey	   *rekey = (Rekey *) batches;

	check_table(rel);
	return tde_rekey_open(rel, rekey->repair, &rekey->floors);
}

/* Makes one pass over everything.  Returns true if it was one transaction in which all was current. */
static bool
run_pass(Rekey *rekey, TdePhase phase)
{
	int64		blocks = list_tables(rekey);

	/* without the locks that listing took */
	tde_batches_next_transaction(&rekey->batches);
	if (phase == TDE_PHASE_VERIFY)
		wait_for_writers(rekey);
	return tde_batches_pass(&rekey->batches, phase, blocks) == 1 && rekey->batches.stale == 0;
}

/* What the user still has to do: old values are left in dead rows, statistics and pages of indexes. */
static void
report(const Rekey *rekey)
{
	const char *name = rekey->qualified;

	ereport(NOTICE,
			(errmsg("table \"%s\": %lld rows re-encrypted", rekey->name, (long long) rekey->batches.progress.rows_changed),
			 rekey->indexed ?
			 errdetail("Old values may still be in dead rows, statistics and indexes.") :
			 errdetail("Old values may still be in dead rows and statistics."),
			 rekey->indexed ?
			 errhint("Run VACUUM (ANALYZE) %s; REINDEX TABLE CONCURRENTLY %s;", name, name) :
			 errhint("Run VACUUM (ANALYZE) %s;", name)));
}

/* A pass that changes, and then passes that verify and change what they still find, until one finds nothing. */
static void
rekey_table(Rekey *rekey)
{
	bool		clean = false;

	list_tables(rekey);
	if (rekey->batches.tables == NIL)
	{
		ereport(NOTICE, (errmsg("table \"%s\" stores no encrypted columns", rekey->name)));
		return;
	}
	if (!tde_wallet_ensure_open())
		tde_wallet_closed_error("to re-encrypt values");
	tde_batches_next_transaction(&rekey->batches);
	tde_counters_progress_start(&rekey->batches.progress, rekey->relid, TDE_PHASE_REKEY);
	(void) run_pass(rekey, TDE_PHASE_REKEY);
	for (int i = 0; i < MAX_VERIFICATIONS && !clean; i++)
		clean = run_pass(rekey, TDE_PHASE_VERIFY);
	tde_counters_progress_end();
	report(rekey);
	if (!clean)
		ereport(WARNING,
				(errmsg("table \"%s\" still has values to re-encrypt", rekey->name),
				 errdetail("While they were re-encrypted, others were copied into the table from elsewhere."),
				 errhint("Re-encrypt the table that they come from, then call tde_rekey_table() again.")));
}

static long
delay_in_ms(const Interval *delay)
{
	double		seconds = delay->time / (double) USECS_PER_SEC + delay->day * (double) SECS_PER_DAY;

	if (delay->month != 0 || seconds < 0 || seconds > SECS_PER_DAY)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("delay must be between 0 and one day")));
	return (long) (seconds * 1000);
}

/* tde_rekey_table(relation regclass, batch_rows int4, delay interval, repair boolean), a procedure */
Datum
tde_conversion_rekey_table(PG_FUNCTION_ARGS)
{
	Rekey		rekey = {.batches = {.command = COMMAND, .open = open_table, .row = tde_rekey_row, .close = tde_rekey_close}};

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2) || PG_ARGISNULL(3))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("arguments of tde_rekey_table must not be null")));
	rekey.relid = PG_GETARG_OID(0);
	tde_distributed_refuse(rekey.relid, tde_distributed_call("CALL", fcinfo));
	rekey.batches.rows = PG_GETARG_INT32(1);
	rekey.batches.delay_ms = delay_in_ms(PG_GETARG_INTERVAL_P(2));
	rekey.repair = PG_GETARG_BOOL(3);
	if (rekey.batches.rows < 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("batch_rows must be greater than zero")));
	tde_batches_begin(&rekey.batches, fcinfo);
	rekey.floors.context = rekey.batches.context;
	rekey_table(&rekey);
	SPI_finish();
	PG_RETURN_VOID();
}
