/*
 * usage_drop.c - tde_drop_key_version(): a version of a data key goes, once nothing refers to it.
 *
 * What has been read must stay true until the row is gone, so it matters in which order things are done:
 *
 * 1. The version is not the active one, and never will be again.  A session learns of a newer version when its next
 *    transaction begins, or in it at the next lock on a table that it did not hold.  Whoever may not have learned of it is
 *    waited for: all transactions that are running now.  From then on nothing is newly encrypted under the old version; it
 *    can only be copied from where it is stored.
 * 2. All tables and indexes with encrypted columns are locked against DROP, TRUNCATE and rewriting, which take away what
 *    others may have copied elsewhere; readers and writers go on.  The locks stay until the end of the transaction.
 * 3. Everything is read, dead rows excepted.  Since our snapshot is older than all this, a row that is updated, deleted or
 *    moved meanwhile leaves a version behind that is not dead to us.  So what could be copied somewhere behind the scan is
 *    found where it came from; and whoever still has it from a row that was removed before has a snapshot that
 *    keeps this row from being dead.
 * 4. The row of tde.data_keys is deleted in the transaction, under a lock that keeps out who makes, rewraps or drops keys.
 *    If the transaction is rolled back it is there again.
 *
 * Prepared transactions would be waited for like running ones, but that may take for ever: while there are any, nothing is
 * dropped.  What this cannot know of are variables that a procedure keeps across COMMIT, and cursors WITH HOLD.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_namespace.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/rel.h"

#include "keys/table_rows.h"
#include "maintenance/usage.h"
#include "server/compat.h"
#include "server/error.h"

PG_FUNCTION_INFO_V1(tde_drop_key_version);

#define MAX_PLACES	10			/* that an error names */

/* A version of a key: one row of tde.data_keys for values with MAC and one for values without, or one of them. */
typedef struct Version
{
	const char *name;			/* as the user has written it */
	int32		slot;
	int32		number;
	List	   *ids;
	bool		others;			/* the slot has other versions */
	bool		prepared;
	char		current;		/* the kind whose active version it is, or '\0' */
} Version;

/* ---- the version ---- */

/* Returns the row that new values of the slot and kind take, as the key cache would choose it. */
static const TdeDataKey *
current_row(List *rows, int32 slot, char kind)
{
	const TdeDataKey *best = NULL;
	ListCell   *cell;

	foreach(cell, rows)
		if (tde_keys_is_newer(lfirst(cell), slot, kind, best))
			best = lfirst(cell);
	return best;
}

/* Fills in what the rows say of the version.  Done again under the lock that keeps others from changing them. */
static void
find_version(Version *version)
{
	List	   *rows = tde_keys_rows();
	ListCell   *cell;

	version->ids = NIL;
	version->others = false;
	foreach(cell, rows)
	{
		TdeDataKey *row = lfirst(cell);

		if (row->slot != version->slot)
			continue;
		version->others |= row->version != version->number;
		if (row->version != version->number)
			continue;
		version->ids = lappend_int(version->ids, row->id);
		version->prepared |= row->state == TDE_STATE_PREPARED;
		if (row == current_row(rows, row->slot, row->kind))
			version->current = row->kind;
	}
}

/* Throws unless there is such a version, and a newer one for new values. */
static void
require_old_version(Version *version)
{
	find_version(version);
	if (version->ids == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("key \"%s\" has no version %d", version->name, version->number),
				 errhint("The view tde.keys lists them.")));
	/* its slot would be given to another key, and stored expressions may name it */
	if (!version->others && version->slot > TDE_SLOT_DEFAULT)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("cannot drop version %d of key \"%s\" because it is the only one", version->number, version->name),
				 errhint("Make a newer version first, SELECT tde_rotate_key(%s), or see tde_destroy_key().", quote_literal_cstr(version->name))));
	if (version->prepared)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("cannot drop version %d of key \"%s\" because it is prepared", version->number, version->name),
				 errdetail("Whoever rotates the key encrypts values under it."),
				 errhint("Have it used: SELECT tde_rotate_key(%s);  When a newer one is active, it can be dropped.", quote_literal_cstr(version->name))));
	if (version->current)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("cannot drop version %d of key \"%s\" because it is the active one", version->number, version->name),
				 errdetail("New values %s are encrypted under it.",
						   version->current == TDE_KIND_MAC ? "with MAC" :
						   version->current == TDE_KIND_NOMAC ? "without MAC" : "in stored expressions"),
				 errhint("Make a newer version first: SELECT tde_rotate_key(%s);", quote_literal_cstr(version->name))));
}

/* ---- who may still use it ---- */

/* pg_prepared_xacts lists them for all roles.  Names are qualified: search_path is the caller's. */
void
tde_usage_refuse_prepared(const char *what)
{
	static const char query[] = "SELECT gid FROM pg_catalog.pg_prepared_xacts "
	"WHERE database OPERATOR(pg_catalog.=) pg_catalog.current_database() ORDER BY prepared";
	char	   *name = NULL;

	SPI_connect();
	if (SPI_execute(query, true, 1) != SPI_OK_SELECT)
		elog(ERROR, "could not read pg_prepared_xacts");
	if (SPI_processed > 0)
		name = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
	if (name)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("cannot %s while there are prepared transactions", what),
				 errdetail("The transaction prepared as \"%s\" may have stored values under it.", name),
				 errhint("Use COMMIT PREPARED or ROLLBACK PREPARED first.")));
	SPI_finish();
}

void
tde_usage_wait_for_transactions(void)
{
	int			count;
	VirtualTransactionId *running = GetCurrentVirtualXIDs(InvalidTransactionId, false, false, PROC_IN_VACUUM, &count);

	for (int i = 0; i < count; i++)
		VirtualXactLock(running[i], true);
}

/* ---- what refers to it ---- */

/* "table public.t, column a: 3 values", for example. */
static void
append_place(StringInfo text, const TdeUse *use)
{
	if (text->len > 0)
		appendStringInfoChar(text, '\n');
	appendStringInfo(text, "%s %s", use->object_type, use->object);
	if (use->column)
		appendStringInfo(text, ", column %s", quote_identifier(use->column));
	if (use->count < 0)
		appendStringInfoString(text, ": cannot be read, so which keys it uses is not known");
	else
		appendStringInfo(text, ": " INT64_FORMAT "%s value%s", use->count, use->key_id == 0 ? " damaged" : "",
						 use->count == 1 ? "" : "s");
}

char *
tde_usage_places(const List *uses)
{
	StringInfoData places;
	int			count = list_length(uses);

	initStringInfo(&places);
	for (int i = 0; i < count && i < MAX_PLACES; i++)
		append_place(&places, list_nth(uses, i));
	if (count > MAX_PLACES)
		appendStringInfo(&places, "\nand %d other place%s", count - MAX_PLACES, count == MAX_PLACES + 1 ? "" : "s");
	return places.data;
}

/* Throws ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST if one of the uses is of the version, or cannot be told. */
static void
refuse_if_used(const Version *version, const List *uses)
{
	List	   *found = NIL;
	ListCell   *cell;

	foreach(cell, uses)
	{
		TdeUse	   *use = lfirst(cell);

		/* what cannot be told may be this version */
		if (use->key_id == 0 || list_member_int(version->ids, use->key_id))
			found = lappend(found, use);
	}
	if (found == NIL)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
			 errmsg("cannot drop version %d of key \"%s\" because it is still used", version->number, version->name),
			 errdetail_internal("%s", tde_usage_places(found)),
			 errhint("Use CALL tde_rekey_table(...) for tables, then REINDEX and ANALYZE; create views, defaults and other "
					 "expressions anew.  tde_key_usage() lists all places.")));
}

/* ---- dropping ---- */

/* Deletes the version's rows, once it is seen again, under the lock, that it may go.  The lock stays until the transaction ends. */
static void
delete_rows(Version *version)
{
	Relation	rel = table_open(tde_keys_require(), ShareRowExclusiveLock);
	SysScanDesc scan;
	HeapTuple	tuple;

	require_old_version(version);	/* another session may have dropped it */
	scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		TdeDataKey	row;

		CHECK_FOR_INTERRUPTS();
		tde_keys_row(rel, tuple, &row);
		if (list_member_int(version->ids, row.id))
			CatalogTupleDelete(rel, &tuple->t_self);
	}
	systable_endscan(scan);
	table_close(rel, NoLock);
	CacheInvalidateRelcacheByRelid(tde_keys_relid());
	CommandCounterIncrement();
	tde_keys_changed = true;
	tde_keys_made_keys = tde_keys_changed_rows = tde_keys_freed = true;
}

/* An invalidation of this catalog, whose cache costs little to fill, resets all plans. */
void
tde_usage_forget_plans(void)
{
	CacheInvalidateCatalog(NamespaceRelationId);
}

/* tde_drop_key_version(name text, version int4) returns void; the name is NULL for the default key. */
Datum
tde_drop_key_version(PG_FUNCTION_ARGS)
{
	Version		version = {0};

	tde_log_call(fcinfo, PG_ARGISNULL(0) ? "default" : text_to_cstring(PG_GETARG_TEXT_PP(0)));
	if (PG_ARGISNULL(1))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("version must not be null")));
	PreventCommandIfReadOnly("tde_drop_key_version()");
	version.name = PG_ARGISNULL(0) ? "default" : text_to_cstring(PG_GETARG_TEXT_PP(0));
	version.slot = tde_keys_require_slot(version.name);
	version.number = PG_GETARG_INT32(1);
	require_old_version(&version);

	tde_usage_refuse_prepared("drop a key version");
	tde_usage_wait_for_transactions();
	refuse_if_used(&version, tde_usage_collect(InvalidOid, true));
	delete_rows(&version);
	tde_usage_forget_plans();
	PG_RETURN_VOID();
}
