/*
 * purge.c - which master keys the wallet holds; wrapping the data keys of all databases by the current one, and removing one that none needs.
 *
 * It may be retired, or the wallet entry of an erasable data key: such a one is left over if tde_create_key() fails after the
 * wallet was written, or if the database is dropped.
 *
 * New data keys are wrapped by the current master key, or by the erasable one that wraps the other versions of the key.  So a
 * retired or erasable one that is nowhere in use, in no open transaction either, stays so, and no lock on the databases has to
 * last from looking until the wallet is written.  Only the first version of an erasable key is not in use yet while it is
 * being made: tde_create_key() keeps purges out meanwhile.
 */
#include "postgres.h"

#include "catalog/pg_database.h"
#include "catalog/pg_extension.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "utils/builtins.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"
#include "utils/uuid.h"

#include "keys/wrap.h"
#include "maintenance/databases.h"
#include "maintenance/purge.h"
#include "server/compat.h"
#include "server/error.h"
#include "wallet/wallet.h"

PG_FUNCTION_INFO_V1(tde_master_key_list);
PG_FUNCTION_INFO_V1(tde_purge_master_key);
PG_FUNCTION_INFO_V1(tde_rewrap_all_databases);

/* ---- one session at a time asks all databases, and none while an erasable key is made ---- */

/* The lock is one of the instance, not of a database: an object of no database that nothing else locks. */
static void
set_purge_tag(LOCKTAG *tag)
{
	SET_LOCKTAG_OBJECT(*tag, InvalidOid, ExtensionRelationId, InvalidOid, 0);
}

static void
lock_purge(void)
{
	LOCKTAG		tag;

	set_purge_tag(&tag);
	(void) LockAcquire(&tag, ExclusiveLock, false, false);
}

static bool
try_lock_purge(void)
{
	LOCKTAG		tag;

	set_purge_tag(&tag);
	return LockAcquire(&tag, ExclusiveLock, false, true) != LOCKACQUIRE_NOT_AVAIL;
}

static void
unlock_purge(void)
{
	LOCKTAG		tag;

	set_purge_tag(&tag);
	LockRelease(&tag, ExclusiveLock, false);
}

void
tde_purge_keep_out(void)
{
	LOCKTAG		tag;

	set_purge_tag(&tag);
	/* not waited for: the purge may be waiting for this transaction, through a worker, which no deadlock check finds */
	if (LockAcquire(&tag, ShareLock, false, true) == LOCKACQUIRE_NOT_AVAIL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("cannot make an erasable key while a master key is being purged"),
				 errhint("Try again later.")));
}

void
tde_purge_let_in(void)
{
	LOCKTAG		tag;

	set_purge_tag(&tag);
	LockRelease(&tag, ShareLock, false);
}

/* ---- databases ---- */

/* What is looked for in all databases, and what was found so far. */
typedef struct Purge
{
	uint8		master[TDE_MASTER_ID_SIZE];
	bool		erasable;		/* not retired */
	uint64		generation;		/* of the wallet, before anything was looked at */
	List	   *looked;			/* OIDs of the databases that were */
	StringInfoData needed;		/* which of them need it, one a line */
	int			data_keys;		/* ... for so many data keys */
	bool		any;			/* whatever master key wraps them */
	int			unknown;		/* databases that could not be looked at, which is no error then */
} Purge;

/*
 * Asks a worker in it.  A purge waits, and fails if it cannot look: whatever is there would be lost.  A mere count (any) takes no lock on the
 * database, and does not fail.
 */
static void
look_at_database(Purge *purge, const TdeDatabase *database)
{
	int			count = 0;

	/* it may have been dropped since it was listed; it is not while this lock is held */
	if (!purge->any)
		LockSharedObject(DatabaseRelationId, database->oid, 0, AccessShareLock);
	if (SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(database->oid)))
	{
		bool		known = tde_databases_ask(database->oid, purge->any ? TDE_COUNT_KEYS : TDE_COUNT_WRAPPED, purge->master, &count);

		if (!known && !purge->any)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("could not look at the data keys of database \"%s\"", database->name),
					 errhint("The server log says why.")));
		if (!known)
		{
			purge->unknown++;
			count = 0;
			appendStringInfo(&purge->needed, "%sdatabase \"%s\" could not be looked at", purge->needed.len > 0 ? "\n" : "", database->name);
		}
		purge->data_keys += count;
		if (count > 0)
			appendStringInfo(&purge->needed, "%sdatabase \"%s\": %d data %s", purge->needed.len > 0 ? "\n" : "",
							 database->name, count, count == 1 ? "key" : "keys");
	}
	if (!purge->any)
		UnlockSharedObject(DatabaseRelationId, database->oid, 0, AccessShareLock);
}

/* Looks at the databases that were not looked at yet.  Returns false if there was none. */
static bool
look_at_more(Purge *purge)
{
	ListCell   *cell;
	int			before = list_length(purge->looked);

	foreach(cell, tde_databases_list())
	{
		TdeDatabase *database = lfirst(cell);

		if (list_member_oid(purge->looked, database->oid))
			continue;
		look_at_database(purge, database);
		purge->looked = lappend_oid(purge->looked, database->oid);
	}
	return list_length(purge->looked) > before;
}

int
tde_purge_other_databases(StringInfo where, int *unknown)
{
	Purge		any = {{0}};

	*unknown = 0;
	if (!tde_databases_available())
		return 0;
	any.any = true;
	any.needed = *where;
	any.looked = list_make1_oid(MyDatabaseId);
	if (!try_lock_purge())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("another session is looking at the data keys of all databases"),
				 errhint("Try again.")));
	while (look_at_more(&any))
		 /* until a list holds nothing new */ ;
	unlock_purge();
	*where = any.needed;
	*unknown = any.unknown;
	return any.data_keys;
}

/*
 * Looks at all, those included that are made meanwhile: CREATE DATABASE copies the rows of its template.  No worker can connect to a template while
 * it is copied.  So a copy that was made before we looked at its template is in the next list, and one that is made later has no rows that we did not
 * see.
 *
 * Throws ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST if one needs the key.
 */
static void
look_at_all(Purge *purge)
{
	while (look_at_more(purge))
		 /* until a list holds nothing new */ ;
	if (purge->needed.len > 0)
		ereport(ERROR,
				(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				 errmsg("master key %s is still needed", tde_keywrap_uuid_text(purge->master)),
				 errdetail("%s", purge->needed.data),
				 purge->erasable ?
				 errhint("tde_destroy_key() removes it, and makes all values under these data keys unreadable.") :
				 errhint("Run tde_rewrap_all_databases(), then try again.")));
}

/* ---- purging ---- */

static const char *
state_word(uint8 state)
{
	switch (state)
	{
		case TDE_MASTER_CURRENT:
			return "current";
		case TDE_MASTER_RETIRED:
			return "retired";
		case TDE_MASTER_PREPARED:
			return "prepared";
		default:
			return "erasable";
	}
}

/* Returns the open wallet's master keys, without their bytes, palloc'd.  Throws ERRCODE_TDE_WALLET_CLOSED. */
static TdeMasterKey *
open_wallet_list(int *count)
{
	TdeMasterKey *list = palloc(sizeof(TdeMasterKey) * TDE_MAX_MASTER_KEYS);

	if (!tde_wallet_ensure_open() || !tde_wallet_list_masters(list, count))
		tde_wallet_closed_error("to know its master keys");
	return list;
}

/* Throws unless the master key is in the wallet, and neither in use for new data keys nor prepared for that. */
static void
check_state(Purge *purge)
{
	int			count;
	TdeMasterKey *list = open_wallet_list(&count);

	for (int i = 0; i < count; i++)
	{
		if (memcmp(list[i].id, purge->master, TDE_MASTER_ID_SIZE) != 0)
			continue;
		purge->erasable = list[i].state == TDE_MASTER_ERASABLE;
		if (list[i].state == TDE_MASTER_RETIRED || purge->erasable)
			return;
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot purge master key %s", tde_keywrap_uuid_text(purge->master)),
				 errdetail("It is %s.", state_word(list[i].state)),
				 errhint("Only retired and erasable master keys can be purged; tde_rotate_master_key() retires the current one.")));
	}
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("master key %s is not in the wallet", tde_keywrap_uuid_text(purge->master)),
			 errhint("The view tde.master_keys lists them.")));
}

/* A TdeWalletEdit.  The generation tells whether the wallet is still the one of which the state was checked. */
static void
remove_from_wallet(TdeWalletContents *contents, void *arg)
{
	Purge	   *purge = arg;

	/* an older wallet, in which the key is the current one, may have been open in the meantime */
	if (pg_atomic_read_u64(tde_wallet_generation) != purge->generation)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("the wallet was changed while the databases were being checked"),
				 errhint("Try again.")));
	tde_wallet_remove_master(&contents->keys, purge->master);
}

/* Tells what still needs the key: the wallet that is left lacks it for good. */
static void
report(const Purge *purge, const char *id)
{
	ereport(LOG,
			(errmsg("master key %s removed from the wallet by user \"%s\"", id, GetUserNameFromId(GetUserId(), false))));
	ereport(NOTICE,
			(errmsg("master key %s removed from the wallet", id),
			 purge->erasable ?
			 errdetail("Backups of a database that was dropped, if it had the key, still need it.") :
			 errdetail("Backups and standbys of the databases from before the rotation still need it."),
			 errhint("Keep a copy of the wallet as long as these backups; \"%s.previous\" is one until the wallet is "
					 "changed again.", tde_wallet_file_resolve(tde_wallet_file))));
}

/* tde_purge_master_key(id uuid) - remove a retired or erasable master key from the wallet if no database needs it. */
Datum
tde_purge_master_key(PG_FUNCTION_ARGS)
{
	Purge		purge = {{0}};
	char	   *id = tde_keywrap_uuid_text(PG_GETARG_UUID_P(0)->data);

	tde_log_call(fcinfo, id);
	PreventCommandIfReadOnly("tde_purge_master_key()");
	tde_databases_require("purge a master key");
	lock_purge();
	memcpy(purge.master, PG_GETARG_UUID_P(0)->data, sizeof(purge.master));
	(void) tde_wallet_ensure_open();
	purge.generation = pg_atomic_read_u64(tde_wallet_generation);
	check_state(&purge);
	initStringInfo(&purge.needed);
	look_at_all(&purge);
	tde_wallet_edit(remove_from_wallet, &purge);
	unlock_purge();
	report(&purge, id);
	PG_RETURN_VOID();
}

/*
 * tde_rewrap_all_databases(OUT database name, OUT data_keys int4) returns setof record - wrap the data keys of each database that has the
 * extension by the current master key, each in a transaction of its own; how many were not, NULL where that failed.
 */
Datum
tde_rewrap_all_databases(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	ListCell   *cell;

	tde_log_call(fcinfo, NULL);
	PreventCommandIfReadOnly("tde_rewrap_all_databases()");
	tde_databases_require("wrap the data keys of all databases");
	if (!tde_wallet_ensure_open())
		tde_wallet_closed_error("to wrap a data key");
	InitMaterializedSRF(fcinfo, 0);
	lock_purge();
	foreach(cell, tde_databases_list())
	{
		TdeDatabase *database = lfirst(cell);
		int			count = -1;
		bool		done = tde_databases_ask(database->oid, TDE_WRAP_ANEW, NULL, &count);
		NameData	name = {""};
		Datum		values[2] = {NameGetDatum(&name), Int32GetDatum(count)};
		bool		nulls[2] = {false, !done};

		CHECK_FOR_INTERRUPTS();
		if (!done)
			ereport(WARNING,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("could not wrap the data keys of database \"%s\"", database->name),
					 errhint("The server log says why.")));
		namestrcpy(&name, database->name);
		if (!done || count >= 0)
			tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	unlock_purge();
	return (Datum) 0;
}

/* tde_master_key_list(OUT id uuid, OUT state text, OUT created timestamptz) returns setof record */
Datum
tde_master_key_list(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	int			count;
	TdeMasterKey *list = open_wallet_list(&count);

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < count; i++)
	{
		Datum		values[4];
		bool		nulls[4] = {0};
		const int64 epoch = (int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY;

		values[0] = PointerGetDatum(list[i].id);
		values[1] = CStringGetTextDatum(state_word(list[i].state));
		values[2] = TimestampTzGetDatum(list[i].created - epoch);
		values[3] = TimestampTzGetDatum(list[i].backed_up - epoch);
		nulls[3] = list[i].backed_up == 0;
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}
