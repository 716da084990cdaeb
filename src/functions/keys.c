/*
 * keys.c - the SQL functions that make, rotate and destroy keys, master keys included, and tell whether two databases have the same.
 *
 * Data keys are made outside the transaction, so a rollback does not undo tde_create_key() and tde_rotate_key().
 *
 * Each function that changes something notes who has called it (tde_log_call()), refuses where nothing can be written, and then acts.  A key that is
 * made, prepared or rotated goes to the nodes of Citus that share keys before the commit, and the function fails unless each has it.
 */
#include "postgres.h"

#include <openssl/crypto.h>

#include "catalog/pg_database.h"
#include "catalog/pg_type.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/uuid.h"

#include "distributed/distribution.h"
#include "keys/names.h"
#include "keys/table_rows.h"
#include "maintenance/databases.h"
#include "maintenance/purge.h"
#include "server/compat.h"
#include "server/error.h"
#include "wallet/wallet.h"

PG_FUNCTION_INFO_V1(tde_create_key);
PG_FUNCTION_INFO_V1(tde_describe_key);
PG_FUNCTION_INFO_V1(tde_rename_key);
PG_FUNCTION_INFO_V1(tde_prepare_key);
PG_FUNCTION_INFO_V1(tde_rotate_key);
PG_FUNCTION_INFO_V1(tde_destroy_key);
PG_FUNCTION_INFO_V1(tde_rotate_master_key);
PG_FUNCTION_INFO_V1(tde_prepare_master_key);
PG_FUNCTION_INFO_V1(tde_rewrap_keys);
PG_FUNCTION_INFO_V1(tde_key_fingerprint);

/* ---- data keys ---- */

/* To be asked before keys change: it throws where they are not to.  If it returns true, other nodes of Citus have to get the change. */
static bool
nodes_share_keys(void)
{
	return tde_citus && tde_citus->shares_keys();
}

/*
 * A visitor of data keys.  Throws if the wallet lacks the master key of one: it is another wallet, and what is written into that would be lost with
 * it.  Erasable keys have entries of their own, which were removed if they are lost.
 */
static void
require_master(const TdeDataKey *row, void *arg)
{
	if (row->state != TDE_STATE_DESTROYED && !row->erasable)
		tde_keywrap_require_master(row);
}

/* A TdeWalletEdit.  arg: gets the id of the new entry, which wraps one data key. */
static void
add_erasable(TdeWalletContents *contents, void *arg)
{
	memcpy(arg, tde_wallet_add_master(&contents->keys, TDE_MASTER_ERASABLE)->id, TDE_MASTER_ID_SIZE);
}

/*
 * tde_create_key(name text, erasable boolean) returns int4 - a new data key, for the modifier 'key=name'; its slot.  An erasable one is wrapped by a
 * wallet entry of its own.  Throws ERRCODE_DUPLICATE_OBJECT if the name is taken.
 *
 * If an erasable one fails halfway, its wallet entry is left over, which wraps nothing: the next purge of master keys takes it away.
 */
Datum
tde_create_key(PG_FUNCTION_ARGS)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	bool		erasable = PG_GETARG_BOOL(1);
	uint8		master[TDE_MASTER_ID_SIZE];
	int32		slot;
	bool		shared;

	tde_log_call(fcinfo, name);
	tde_keys_check_name(name);
	PreventCommandIfReadOnly("tde_create_key()");
	shared = nodes_share_keys();
	if (erasable)
	{
		/* looked at again when it is made; without this, an entry nobody needs would be left in the wallet, to be purged */
		tde_keys_refuse_taken(name);
		/* likewise where the wallet is another one */
		tde_keys_scan_slot(TDE_SLOT_DEFAULT, require_master, NULL);
		tde_purge_keep_out();
		tde_wallet_edit(add_erasable, master);
	}
	slot = tde_keys_create(name, erasable ? master : NULL);
	if (erasable)
		tde_purge_let_in();
	if (shared)
		tde_citus->bring_keys();
	ereport(LOG,
			(errmsg("data key \"%s\" created by user \"%s\"", name, GetUserNameFromId(GetUserId(), false))));
	PG_RETURN_INT32(slot);
}

/*
 * tde_describe_key(name text, description text) - say what a key is for; NULL: nothing.  Undone by a rollback.  Not STRICT: the description may be
 * NULL.
 */
Datum
tde_describe_key(PG_FUNCTION_ARGS)
{
	char	   *name;

	tde_log_call(fcinfo, PG_ARGISNULL(0) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(0)));
	PreventCommandIfReadOnly("tde_describe_key()");
	if (PG_ARGISNULL(0))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("name of a key must not be null")));
	name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	if (tde_keys_describe(name, PG_ARGISNULL(1) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(1))) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("key \"%s\" does not exist", name),
				 errhint("The view tde.keys lists them.")));
	PG_RETURN_VOID();
}

typedef struct Renaming
{
	int32		slot;			/* of the key */
	const char *name;			/* the new one */
} Renaming;

/* A TdeDataKeyEditor.  The name is part of what a wrapped key vouches for, so each version is wrapped anew. */
static bool
rename_row(TdeDataKey *row, void *arg)
{
	const Renaming *renaming = arg;

	if (row->slot != renaming->slot || row->state == TDE_STATE_DESTROYED)
		return false;
	tde_keywrap_rename(row, renaming->name);
	return true;
}

/*
 * tde_rename_key(name text, new_name text) - columns that are declared with the key keep it.  Undone by a rollback.
 *
 * Throws ERRCODE_UNDEFINED_OBJECT if there is no such key, ERRCODE_DUPLICATE_OBJECT if the new name is taken, ERRCODE_INVALID_PARAMETER_VALUE for the
 * keys that every database has, and ERRCODE_TDE_WALLET_CLOSED, since all versions are wrapped anew.
 */
Datum
tde_rename_key(PG_FUNCTION_ARGS)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	char	   *new_name = text_to_cstring(PG_GETARG_TEXT_PP(1));
	Renaming	renaming = {TDE_NO_SLOT, new_name};

	tde_log_call(fcinfo, name);
	tde_keys_check_name(new_name);
	PreventCommandIfReadOnly("tde_rename_key()");
	/* nobody else gives the name to a key meanwhile */
	LockRelationOid(tde_keys_require(), ShareRowExclusiveLock);
	renaming.slot = tde_keys_require_slot(name);
	if (renaming.slot <= TDE_SLOT_DEFAULT)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot rename key \"%s\"", name),
				 errdetail("Every database has it under this name.")));
	tde_keys_refuse_taken(new_name);
	if (!tde_wallet_ensure_open())
		tde_wallet_closed_error("to rename a data key");
	(void) tde_keys_edit(rename_row, &renaming);
	ereport(LOG,
			(errmsg("data key \"%s\" renamed to \"%s\" by user \"%s\"", name, new_name,
					GetUserNameFromId(GetUserId(), false))));
	PG_RETURN_VOID();
}

/* The slot has no key that new values could take: it was destroyed, for example. */
pg_noreturn static void
no_active_version_error(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_TDE_KEY_NOT_FOUND), errmsg("key \"%s\" has no active version", name)));
}

/*
 * tde_prepare_key(name text) returns int4 - the next version of a data key, which nothing is encrypted under until tde_rotate_key(), so that all
 * databases that read each other's values can have it before.
 */
Datum
tde_prepare_key(PG_FUNCTION_ARGS)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	int32		slot;
	int32		version;
	bool		shared;

	tde_log_call(fcinfo, name);
	PreventCommandIfReadOnly("tde_prepare_key()");
	slot = tde_keys_require_slot(name);
	shared = nodes_share_keys();
	version = tde_keys_make_next(slot, TDE_STATE_PREPARED);
	if (version == 0)
		no_active_version_error(name);
	if (shared)
		tde_citus->bring_keys();
	ereport(LOG,
			(errmsg("version %d of data key \"%s\" prepared by user \"%s\"", version, name,
					GetUserNameFromId(GetUserId(), false))));
	PG_RETURN_INT32(version);
}

/*
 * tde_rotate_key(name text) returns int4 - the next version of a data key, which new values take: the prepared one, or a new one.
 * Nodes of Citus that share keys have it before anybody encrypts under it.
 */
Datum
tde_rotate_key(PG_FUNCTION_ARGS)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	int32		slot;
	int32		version;
	bool		shared;

	tde_log_call(fcinfo, name);
	PreventCommandIfReadOnly("tde_rotate_key()");
	slot = tde_keys_require_slot(name);
	shared = nodes_share_keys();
	version = tde_keys_make_next(slot, shared ? TDE_STATE_PREPARED : TDE_STATE_ACTIVE);
	if (version == 0)
		no_active_version_error(name);
	if (shared)
		tde_citus->bring_keys();
	tde_keys_activate(slot);
	if (shared)
		tde_citus->bring_keys();
	ereport(LOG,
			(errmsg("data key \"%s\" rotated to version %d by user \"%s\"", name, version,
					GetUserNameFromId(GetUserId(), false))));
	PG_RETURN_INT32(version);
}

/* ---- destroying ---- */

typedef struct Destruction
{
	int32		slot;			/* of the key */
	uint8		master[TDE_MASTER_ID_SIZE]; /* the one of its rows */
	bool		erasable;		/* it wraps nothing else */
} Destruction;

/* A visitor of data keys.  All versions of an erasable key are wrapped by one entry of the wallet. */
static void
find_wrapping_key(const TdeDataKey *row, void *arg)
{
	Destruction *destruction = arg;

	if (row->slot != destruction->slot)
		return;
	memcpy(destruction->master, row->master, sizeof(destruction->master));
	destruction->erasable = row->erasable;
}

/* A TdeDataKeyEditor.  The row stays, without the key, so that errors can tell of it. */
static bool
destroy_row(TdeDataKey *row, void *arg)
{
	if (row->slot != ((Destruction *) arg)->slot || row->state == TDE_STATE_DESTROYED)
		return false;
	row->state = TDE_STATE_DESTROYED;
	row->wrapped_size = 0;
	memset(row->kcv, 0, sizeof(row->kcv));
	return true;
}

/* A TdeWalletEdit.  The copy of the file before this change would have the entry, and so none is kept. */
static void
erase_master(TdeWalletContents *contents, void *arg)
{
	tde_wallet_remove_master(&contents->keys, arg);
	contents->keep_previous = false;
}

/*
 * tde_destroy_key(name text, confirm text) - make everything under a named key unreadable for ever.
 *
 * An erasable key's wallet entry is removed: what is left of the key anywhere, in WAL and backups of the database, cannot be
 * unwrapped then.  Others are only wiped from tde.data_keys.  Not undone by a rollback if the key is erasable.
 */
Datum
tde_destroy_key(PG_FUNCTION_ARGS)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	char	   *confirm = text_to_cstring(PG_GETARG_TEXT_PP(1));
	Destruction destruction = {0};

	tde_log_call(fcinfo, name);
	destruction.slot = tde_keys_require_slot(name);
	if (destruction.slot <= TDE_SLOT_DEFAULT)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot destroy key \"%s\"", name),
				 errdetail("The database needs it."),
				 destruction.slot == TDE_SLOT_HASH ? errhint("Make another one: SELECT tde_rotate_hash_key();") :
				 errhint("Make a newer version, SELECT tde_rotate_key(%s); re-encrypt what is under the old one, CALL tde_rekey_database(); "
						 "and drop that with tde_drop_key_version().", quote_literal_cstr(name))));
	if (strcmp(confirm, psprintf("destroy %s", name)) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("destruction of key \"%s\" is not confirmed", name),
				 errdetail("All values under it will be unreadable for ever."),
				 errhint("To confirm, run: SELECT tde_destroy_key(%s, confirm => %s);", quote_literal_cstr(name),
						 quote_literal_cstr(psprintf("destroy %s", name)))));
	PreventCommandIfReadOnly("tde_destroy_key()");

	if (!tde_wallet_ensure_open())
		tde_wallet_closed_error("to destroy a key");
	LockRelationOid(tde_keys_require(), ShareRowExclusiveLock);
	tde_keys_scan(find_wrapping_key, &destruction);
	/* first the wallet: after a crash between the two, the key counts as destroyed */
	if (destruction.erasable)
		tde_wallet_edit(erase_master, destruction.master);
	tde_keys_edit(destroy_row, &destruction);

	if (destruction.erasable)
		ereport(NOTICE,
				(errmsg("wallet entry of key \"%s\" removed from \"%s\"", name, tde_wallet_file_resolve(tde_wallet_file)),
				 errdetail("Its copy with the suffix .previous has been replaced by a copy of the file as it is now."),
				 errhint("Other copies of the wallet, on standbys and in backups, still hold it: replace each of them.")));
	else
		ereport(NOTICE,
				(errmsg("key \"%s\" is destroyed in this database only", name),
				 errdetail("WAL and backups of the database still hold it, wrapped by a master key."),
				 errhint("Make keys that must be destroyed everywhere with tde_create_key(..., erasable => true).")));
	PG_RETURN_VOID();
}

/* ---- master keys ---- */

/* Returns the first master key in this state; NULL if there is none.  One is current, and one at most prepared. */
static TdeMasterKey *
master_in_state(TdeMasterKeys *keys, TdeMasterState state)
{
	for (int i = 0; i < keys->count; i++)
		if (keys->keys[i].state == state)
			return &keys->keys[i];
	return NULL;
}

/* A TdeWalletEdit.  arg: gets the id.  One that is prepared already stays, however often this is called. */
static void
prepare_master(TdeWalletContents *contents, void *arg)
{
	TdeMasterKey *prepared = master_in_state(&contents->keys, TDE_MASTER_PREPARED);

	if (prepared == NULL)
		prepared = tde_wallet_add_master(&contents->keys, TDE_MASTER_PREPARED);
	memcpy(arg, prepared->id, TDE_MASTER_ID_SIZE);
}

/* A TdeWalletEdit.  arg: gets the id.  The prepared master key becomes the current one, or a new one does; the former one goes on unwrapping. */
static void
change_master(TdeWalletContents *contents, void *arg)
{
	prepare_master(contents, arg);
	master_in_state(&contents->keys, TDE_MASTER_CURRENT)->state = TDE_MASTER_RETIRED;
	master_in_state(&contents->keys, TDE_MASTER_PREPARED)->state = TDE_MASTER_CURRENT;
}

/*
 * tde_rotate_master_key() returns uuid - a new current master key, the prepared one if there is one, and this database's data
 * keys wrapped by it, even if another database makes the next one meanwhile.  First the wallet, durably, then the rows: whatever
 * happens between, the old key is still there, and nothing under the new one is purged while this holds its lock.
 */
Datum
tde_rotate_master_key(PG_FUNCTION_ARGS)
{
	uint8		master[TDE_MASTER_ID_SIZE];
	int			count;

	tde_log_call(fcinfo, NULL);
	PreventCommandIfReadOnly("tde_rotate_master_key()");
	/* whoever cannot have it is to change no wallet in vain */
	LockRelationOid(tde_keys_require(), ShareRowExclusiveLock);
	tde_keys_scan(require_master, NULL);
	tde_wallet_edit(change_master, master);
	count = tde_databases_rewrap_own(master);
	ereport(LOG,
			(errmsg("master key rotated by user \"%s\"", GetUserNameFromId(GetUserId(), false)),
			 errdetail("%d data keys of this database are wrapped by it.", count)));
	PG_RETURN_DATUM(tde_keys_uuid(master));
}

/*
 * tde_rewrap_keys() returns int4 - wrap this database's data keys by the current master key, which another database's rotation
 * has made; how many were not.
 */
Datum
tde_rewrap_keys(PG_FUNCTION_ARGS)
{
	tde_log_call(fcinfo, NULL);
	PreventCommandIfReadOnly("tde_rewrap_keys()");
	PG_RETURN_INT32(tde_databases_rewrap_own(NULL));
}

/* tde_prepare_master_key() returns uuid - put the next master key into the wallet, to be copied to standbys before rotation. */
Datum
tde_prepare_master_key(PG_FUNCTION_ARGS)
{
	uint8		master[TDE_MASTER_ID_SIZE];

	tde_log_call(fcinfo, NULL);
	/* in a standby's own wallet, the primary's rotation would not find it */
	PreventCommandDuringRecovery("tde_prepare_master_key()");
	tde_wallet_edit(prepare_master, master);
	PG_RETURN_DATUM(tde_keys_uuid(master));
}

/* ---- a short value that two databases have in common if, and only if, they have the same keys ---- */

/* So many bytes of a SHA-256 people can compare by eye. */
#define SHOWN_BYTES	16

static int
by_uuid(const ListCell *a, const ListCell *b)
{
	return memcmp(((const TdeDataKey *) lfirst(a))->uuid, ((const TdeDataKey *) lfirst(b))->uuid, UUID_LEN);
}

/*
 * What keys have in common wherever they are.  Their numbers and what wraps them are this database's own.  The check value stands for
 * the key itself, of which it tells nothing.
 */
static void
append_key(StringInfo bytes, const TdeDataKey *row)
{
	pq_sendbytes(bytes, (void *) row->uuid, UUID_LEN);
	pq_sendint32(bytes, row->slot);
	pq_sendint32(bytes, row->version);
	pq_sendbyte(bytes, row->kind);
	pq_sendbyte(bytes, row->state);
	pq_sendbyte(bytes, row->erasable);
	pq_sendbytes(bytes, (void *) row->kcv, TDE_KCV_SIZE);
	pq_sendbytes(bytes, (void *) row->name, NAMEDATALEN);
}

/* tde_key_fingerprint() returns text - the same in two databases that have the same keys.  Sorted by UUID, since rows stand in any order. */
Datum
tde_key_fingerprint(PG_FUNCTION_ARGS)
{
	List	   *rows = tde_keys_rows();
	StringInfoData bytes;
	ListCell   *cell;
	bytea	   *digest;
	char		shown[2 * SHOWN_BYTES];

	list_sort(rows, by_uuid);
	pq_begintypsend(&bytes);
	foreach(cell, rows)
		append_key(&bytes, lfirst(cell));
	digest = DatumGetByteaPP(DirectFunctionCall1(sha256_bytea, PointerGetDatum(pq_endtypsend(&bytes))));
	hex_encode(VARDATA_ANY(digest), SHOWN_BYTES, shown);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(shown, sizeof(shown)));
}
