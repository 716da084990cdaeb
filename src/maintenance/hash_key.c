/*
 * hash_key.c - tde_rotate_hash_key(): another hash key, and all indexes that depend on it built anew, in one transaction.
 *
 * Under the hash key stand the entries of hash indexes, of btree indexes that tell no order, of our classes of GIN, of bloom indexes, and of whatever
 * has one of our hash functions in its class or its expressions.  All of them belong to one key, so all change with it, or none does: the new
 * key's row and the new files of the indexes come with the commit, and a rollback or a crash leaves the old ones.
 *
 * What others do meanwhile is kept apart by locks.  Tables with such indexes are locked first, so that a statement that has one of them ends before.
 * Then the hash key is taken from whoever hashes in memory (tde_keyed_hash_take()), who may have begun before we looked for indexes: so they are looked
 * for again, and no index with an entry can be made from then on.  The locks stay until the commit, whose invalidation of tde.data_keys is there
 * before anybody gets them.
 *
 * Snapshots from before go on: an index that is built anew has the rows that they see, as after REINDEX.
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/index.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "distributed/distribution.h"
#include "keys/keyed_hash.h"
#include "keys/table.h"
#include "maintenance/hash_key.h"
#include "maintenance/index_keys.h"
#include "maintenance/owner.h"
#include "maintenance/usage.h"
#include "server/compat.h"
#include "server/counters.h"
#include "server/error.h"
#include "wallet/wallet.h"

PG_FUNCTION_INFO_V1(tde_rotate_hash_key);

/* ---- what depends on the hash key ---- */

pg_noreturn static void
refuse(const StringInfoData *obstacles)
{
	ereport(ERROR,
			(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
			 errmsg("cannot rotate the hash key because something depends on it that is not built anew"),
			 errdetail_internal("%s", obstacles->data),
			 errhint("Drop it, rotate the hash key, and make it again.")));
}

static Oid
oid_of_row(uint64 row, int column)
{
	bool		isnull;
	Datum		value = SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column, &isnull);

	return isnull ? InvalidOid : DatumGetObjectId(value);
}

/*
 * Takes what the query has found, into this memory context, since SPI's own ends.  Obstacles are gathered, so that the user is told of all at once.
 */
static void
read_users(TdeHashKeyUsers *users, MemoryContext context)
{
	StringInfoData obstacles;

	initStringInfo(&obstacles);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		Oid			table = oid_of_row(i, 1);
		Oid			index = oid_of_row(i, 2);
		char	   *obstacle = SPI_getvalue(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 3);
		MemoryContext before;

		CHECK_FOR_INTERRUPTS();
		if (OidIsValid(index) && !tde_index_needs_key(index))
			continue;
		if (obstacle)
			appendStringInfo(&obstacles, "%s%s", obstacles.len > 0 ? "\n" : "", obstacle);
		before = MemoryContextSwitchTo(context);
		users->tables = list_append_unique_oid(users->tables, table);
		users->indexes = lappend_oid(users->indexes, index);
		MemoryContextSwitchTo(before);
	}
	if (obstacles.len > 0)
		refuse(&obstacles);
}

/* Lists what depends on the hash key as of now, whatever the transaction's snapshot is, and whoever asks. */
static void
find_users(TdeHashKeyUsers *users)
{
	static const char query[] = "SELECT * FROM tde_internal.tde_hash_key_users()";
	MemoryContext context = CurrentMemoryContext;
	Relation	keys = relation_open(tde_keys_require(), AccessShareLock);
	TdeCaller	caller;
	SPIPlanPtr	plan;

	users->tables = users->indexes = NIL;
	tde_owner_begin(&caller, keys);
	if (SPI_connect() != SPI_OK_CONNECT || (plan = SPI_prepare(query, 0, NULL)) == NULL ||
		SPI_execute_snapshot(plan, NULL, NULL, GetLatestSnapshot(), InvalidSnapshot, true, false, 0) != SPI_OK_SELECT)
		elog(ERROR, "could not list what depends on the hash key");
	read_users(users, context);
	SPI_finish();
	tde_owner_end(&caller);
	relation_close(keys, AccessShareLock);
}

/* ---- locks ---- */

/* Locks those that are not locked yet.  Returns true if there was one: then others may have come meanwhile. */
static bool
lock_tables(List **locked, const List *tables)
{
	bool		found = false;
	ListCell   *cell;

	foreach(cell, tables)
	{
		if (list_member_oid(*locked, lfirst_oid(cell)))
			continue;
		CHECK_FOR_INTERRUPTS();
		LockRelationOid(lfirst_oid(cell), AccessExclusiveLock);
		*locked = lappend_oid(*locked, lfirst_oid(cell));
		found = true;
	}
	return found;
}

/*
 * Tables first and the key last, as statements take them: the other way around could be a deadlock with whoever hashes.  What comes up meanwhile is
 * found by looking again.
 */
void
tde_hash_key_lock(TdeHashKeyUsers *users)
{
	List	   *locked = NIL;

	find_users(users);
	(void) lock_tables(&locked, users->tables);
	/* nobody makes or changes keys either, who would want the same lock as who hashes */
	LockRelationOid(tde_keys_require(), ShareRowExclusiveLock);
	tde_keyed_hash_take();
	do
		find_users(users);
	while (lock_tables(&locked, users->tables));
}

/* ---- building ---- */

static int64
blocks_of(Oid relation)
{
	Relation	rel = relation_open(relation, AccessShareLock);
	int64		blocks = RelationGetNumberOfBlocks(rel);

	relation_close(rel, AccessShareLock);
	return blocks;
}

static int64
blocks_to_read(const TdeHashKeyUsers *users)
{
	int64		blocks = 0;
	ListCell   *cell;

	foreach(cell, users->indexes)
		blocks += blocks_of(IndexGetRelation(lfirst_oid(cell), false));
	return blocks;
}

/* An error context callback: a value that cannot be read, or a function of the owner's, says nothing of the index that is built. */
static void
explain_index(void *index)
{
	if (OidIsValid(*(Oid *) index))
		errcontext("building index \"%s\" under another hash key", get_rel_name(*(Oid *) index));
}

void
tde_hash_key_rebuild(const TdeHashKeyUsers *users)
{
	ReindexParams params = {0};
	TdeProgress progress;
	ListCell   *cell;
	Oid			index = InvalidOid;
	ErrorContextCallback context = {error_context_stack, explain_index, &index};

	tde_counters_progress_start(&progress, InvalidOid, TDE_PHASE_INDEXES);
	tde_counters_progress_phase(&progress, TDE_PHASE_INDEXES, blocks_to_read(users));
	error_context_stack = &context;
	foreach(cell, users->indexes)
	{
		TdeDiscretion discretion;

		index = lfirst_oid(cell);
		CHECK_FOR_INTERRUPTS();
		tde_owner_discreet_begin(&discretion, IndexGetRelation(index, false));
		/* as the table's owner: it sees to that itself */
		TDE_REINDEX_INDEX(index, get_rel_persistence(index), &params);
		tde_owner_discreet_end(&discretion);
		tde_counters_progress_built(&progress, blocks_of(IndexGetRelation(index, false)));
	}
	error_context_stack = context.previous;
	tde_counters_progress_end();
	tde_usage_forget_plans();
}

/* ---- the function ---- */

/* All or nothing, in the caller's transaction.  Nodes of a cluster that share the hash key would all have to change at once. */
static void
rotate(TdeHashKeyUsers *users)
{
	int32		version;

	PreventCommandIfReadOnly("tde_rotate_hash_key()");
	PreventCommandIfParallelMode("tde_rotate_hash_key()");
	if (!tde_wallet_ensure_open())
		tde_wallet_closed_error("to rotate the hash key");
	if (tde_citus && tde_citus->shares_keys())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot rotate the hash key, which the nodes of this cluster share"),
				 errdetail("They tell by it that they have the same keys, and which shard a row is in.")));
	(void) tde_keys_ensure_basic();
	tde_hash_key_lock(users);
	version = tde_keys_renew_hash();
	tde_hash_key_rebuild(users);
	ereport(LOG,
			(errmsg("hash key rotated to version %d by user \"%s\"", version, GetUserNameFromId(GetUserId(), false)),
			 errdetail("%d indexes were built anew.", list_length(users->indexes))));
}

/* tde_rotate_hash_key(dry_run boolean) returns setof regclass - the indexes that are built anew, or would be. */
Datum
tde_rotate_hash_key(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	TdeHashKeyUsers users;
	ListCell   *cell;

	tde_log_call(fcinfo, NULL);
	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	if (PG_GETARG_BOOL(0))
		find_users(&users);
	else
		rotate(&users);
	foreach(cell, users.indexes)
	{
		Datum		index = ObjectIdGetDatum(lfirst_oid(cell));

		tuplestore_putvalues(result->setResult, result->setDesc, &index, &(bool) {false});
	}
	return (Datum) 0;
}
