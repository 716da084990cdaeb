/*
 * adopt.c - a database's keys become those of another, so that all servers of a fleet have the same: the first time, and whenever
 * keys have been made, rotated, renamed or destroyed where they come from.
 *
 * Two databases belong together if they have a version of the hash key in common; none is ever dropped.  The first time they have not: then
 * nothing may be stored under any key here, since hash indexes would not be right any more, and the keys that are here go.  From then on
 * keys are added and changed, and none is taken away; a newer hash key brings what its rotation does.  A key is the same if its UUID is.
 *
 * All is done in the transaction, except for the wallet's entries of erasable keys.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/uuid.h"

#include "keys/keyed_hash.h"
#include "keys/table_rows.h"
#include "maintenance/hash_key.h"
#include "maintenance/purge.h"
#include "maintenance/usage.h"
#include "server/compat.h"
#include "server/error.h"
#include "transfer/adopt.h"
#include "wallet/wallet.h"

/* The wallet's entry for a slot's erasable keys. */
typedef struct Entry
{
	int32		slot;
	uint8		master[TDE_MASTER_ID_SIZE];
	bool		made;			/* by us */
} Entry;

/* What is adopted, and what has to be changed for that; nothing is changed before all of it is known. */
typedef struct Adoption
{
	const TdeExportedKeys *exported;
	List	   *here;			/* of TdeDataKey */
	List	   *changes;		/* of TdeKeyChange */
	bool		first;			/* the hash keys are others */
	List	   *entries;		/* of Entry */
	List	   *destroyed;		/* of TdeDataKey: those here that were destroyed there */
} Adoption;

/* ---- finding keys ---- */

/* Returns this database's key of the UUID; NULL: it has none.  find_there() does so of the exported ones. */
static const TdeDataKey *
find_here(const Adoption *adoption, const uint8 *uuid)
{
	ListCell   *cell;

	foreach(cell, adoption->here)
		if (memcmp(((TdeDataKey *) lfirst(cell))->uuid, uuid, UUID_LEN) == 0)
			return lfirst(cell);
	return NULL;
}

static const TdeDataKey *
find_there(const Adoption *adoption, const uint8 *uuid)
{
	for (int i = 0; i < adoption->exported->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (memcmp(adoption->exported->keys[i].row.uuid, uuid, UUID_LEN) == 0)
			return &adoption->exported->keys[i].row;
	}
	return NULL;
}

/* Returns true if a version of the hash key is here and there: the databases belong together. */
static bool
shares_hash_key(const Adoption *adoption)
{
	for (int i = 0; i < adoption->exported->count; i++)
	{
		const TdeDataKey *row = &adoption->exported->keys[i].row;

		CHECK_FOR_INTERRUPTS();
		if (row->kind == TDE_KIND_HASH && find_here(adoption, row->uuid))
			return true;
	}
	return false;
}

/* Returns true if it brings a hash key that values are to be hashed under. */
static bool
changes_hash_key(const Adoption *adoption)
{
	ListCell   *cell;

	foreach(cell, adoption->changes)
	{
		const TdeDataKey *row = &((TdeKeyChange *) lfirst(cell))->row;

		if (row->kind == TDE_KIND_HASH && find_here(adoption, row->uuid) == NULL)
			return true;
	}
	return false;
}

/* ---- the entries of erasable keys ---- */

/* Returns the entry for a slot: the one that another version of the key has here, or one that edit_entries() will make. */
static Entry *
entry_for(Adoption *adoption, int32 slot)
{
	Entry	   *entry;
	ListCell   *cell;

	foreach(cell, adoption->entries)
	{
		entry = lfirst(cell);
		if (entry->slot == slot)
			return entry;
	}
	entry = palloc0(sizeof(Entry));
	entry->slot = slot;
	entry->made = true;
	/* the one that another version of the key has here */
	for (int i = 0; i < adoption->exported->count; i++)
	{
		const TdeDataKey *there = &adoption->exported->keys[i].row;
		const TdeDataKey *here = there->slot == slot ? find_here(adoption, there->uuid) : NULL;

		CHECK_FOR_INTERRUPTS();
		if (here && here->erasable && here->state != TDE_STATE_DESTROYED)
		{
			memcpy(entry->master, here->master, sizeof(entry->master));
			entry->made = false;
		}
	}
	adoption->entries = lappend(adoption->entries, entry);
	return entry;
}

/* A TdeWalletEdit: takes entries of destroyed keys away, with all earlier copies of the wallet, and makes new ones. */
static void
edit_entries(TdeWalletContents *contents, void *arg)
{
	Adoption   *adoption = arg;
	ListCell   *cell;

	foreach(cell, adoption->destroyed)
	{
		const TdeDataKey *row = lfirst(cell);

		if (row->erasable)
		{
			tde_wallet_remove_master(&contents->keys, row->master);
			contents->keep_previous = false;
		}
	}
	foreach(cell, adoption->entries)
	{
		Entry	   *entry = lfirst(cell);

		if (entry->made)
			memcpy(entry->master, tde_wallet_add_master(&contents->keys, TDE_MASTER_ERASABLE)->id, sizeof(entry->master));
	}
}

static bool
has_new_entries(const Adoption *adoption)
{
	ListCell   *cell;

	foreach(cell, adoption->entries)
		if (((Entry *) lfirst(cell))->made)
			return true;
	return false;
}

static bool
has_dead_entries(const Adoption *adoption)
{
	ListCell   *cell;

	foreach(cell, adoption->destroyed)
		if (((TdeDataKey *) lfirst(cell))->erasable)
			return true;
	return false;
}

/* First the wallet, as in tde_destroy_key(): after a crash between the two a key counts as destroyed. */
static void
change_wallet(Adoption *adoption)
{
	ListCell   *cell;

	if (has_new_entries(adoption) || has_dead_entries(adoption))
		tde_wallet_edit(edit_entries, adoption);
	foreach(cell, adoption->changes)
	{
		TdeKeyChange *change = lfirst(cell);

		if (change->row.erasable && change->data_key)
			memcpy(change->row.master, entry_for(adoption, change->row.slot)->master, sizeof(change->row.master));
	}
}

/* ---- what is to be changed ---- */

static TdeKeyChange *
add_change(Adoption *adoption, const TdeDataKey *row)
{
	TdeKeyChange *change = palloc0(sizeof(TdeKeyChange));

	change->id = row->id;
	change->row = *row;
	adoption->changes = lappend(adoption->changes, change);
	return change;
}

/*
 * Returns the state that a key gets.  What values take here already, they go on taking where the export tells of the time before: those who read them
 * have the key.
 */
static char
state_after(const TdeDataKey *here, const TdeDataKey *there)
{
	return here->state == TDE_STATE_ACTIVE && there->state == TDE_STATE_PREPARED ? here->state : there->state;
}

static bool
is_as_there(const TdeDataKey *here, const TdeDataKey *there)
{
	return here->slot == there->slot && here->version == there->version && here->state == state_after(here, there) &&
		here->erasable == there->erasable && strcmp(here->name, there->name) == 0;
}

/* Plans that the row is to be as it is there, under this key (NULL: it was destroyed). */
static void
make_as_there(Adoption *adoption, const TdeDataKey *base, const TdeDataKey *there, const uint8 *data_key)
{
	TdeKeyChange *change = add_change(adoption, base);
	TdeDataKey *row = &change->row;

	row->slot = there->slot;
	row->version = there->version;
	row->state = state_after(base, there);
	strlcpy(row->name, there->name, sizeof(row->name));
	row->erasable = there->erasable;
	change->data_key = data_key;
	/* a destroyed key keeps what it says of its master key, which tells nothing any more */
	if (data_key == NULL)
		return;
	if (row->erasable)
		(void) entry_for(adoption, row->slot);
	else
		memset(row->master, 0, sizeof(row->master));
}

pg_noreturn static void
older_export_error(const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("exported keys are older than those of this database"),
			 errdetail_internal("%s", detail),
			 errhint("Export the keys again, with adoptable => true, where they were changed last.")));
}

/* Plans what becomes of a key that is here already.  A destroyed one never comes back, and the key has to be the one that is here. */
static void
meet_again(Adoption *adoption, const TdeDataKey *here, const TdeExportedKey *key)
{
	const TdeDataKey *there = &key->row;
	bool		destroyed = there->state == TDE_STATE_DESTROYED;

	if (here->kind != there->kind)
		ereport(ERROR,
				(errcode(ERRCODE_TDE_NOT_AUTHENTIC),
				 errmsg("data key %s is of another kind here than where it was exported", tde_keywrap_uuid_text(here->uuid))));
	if (here->state == TDE_STATE_DESTROYED && !destroyed)
		older_export_error(psprintf("Version %d of key \"%s\" was destroyed here, and not there.", here->version, tde_keys_called(here)));
	if (!destroyed)
		tde_keywrap_check(here, key->data_key);
	if (destroyed && here->state != TDE_STATE_DESTROYED)
		adoption->destroyed = lappend(adoption->destroyed, (void *) here);
	if (!is_as_there(here, there) || tde_keywrap_lacks_master(here))
		make_as_there(adoption, here, there, destroyed ? NULL : key->data_key);
}

/* Returns true if the version has been dropped there: it is not there any more, and a newer one is. */
static bool
was_dropped_there(const Adoption *adoption, const TdeDataKey *here)
{
	bool		newer = false;

	for (int i = 0; i < adoption->exported->count; i++)
	{
		const TdeDataKey *there = &adoption->exported->keys[i].row;

		CHECK_FOR_INTERRUPTS();
		if (there->slot != here->slot || there->kind != here->kind)
			continue;
		if (there->version == here->version)
			return false;
		newer |= there->version > here->version;
	}
	return newer;
}

/* Plans what becomes of a key that only this database has. */
static void
miss_there(Adoption *adoption, const TdeDataKey *here)
{
	if (adoption->first)
		add_change(adoption, here)->remove = true;
	else if (was_dropped_there(adoption, here))
		ereport(NOTICE,
				(errmsg("version %d of key \"%s\" was dropped where the keys come from, and stays here", here->version, tde_keys_called(here)),
				 errhint("Drop it here, too: SELECT tde_drop_key_version(%s, %d);", quote_literal_cstr(tde_keys_called(here)), here->version)));
	else
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("exported keys lack version %d of key \"%s\" of this database", here->version, tde_keys_called(here)),
				 errdetail("The export is older than this key, or the key %s was made here.", tde_keywrap_uuid_text(here->uuid)),
				 errhint("Export the keys again, with adoptable => true.  Bring a key that was made here there first: tde_export_keys() here, "
						 "and tde_import_keys() without adopt there.")));
}

/* Compares all keys of both sides.  Nothing is changed here. */
static void
plan_changes(Adoption *adoption)
{
	ListCell   *cell;

	for (int i = 0; i < adoption->exported->count; i++)
	{
		const TdeExportedKey *key = &adoption->exported->keys[i];
		const TdeDataKey *here = find_here(adoption, key->row.uuid);

		CHECK_FOR_INTERRUPTS();
		if (here)
			meet_again(adoption, here, key);
		else
			make_as_there(adoption, &key->row, &key->row, key->row.state == TDE_STATE_DESTROYED ? NULL : key->data_key);
	}
	foreach(cell, adoption->here)
		if (find_there(adoption, ((TdeDataKey *) lfirst(cell))->uuid) == NULL)
			miss_there(adoption, lfirst(cell));
}

/* ---- what must not be ---- */

/* Returns true if a key of this name has this key's slot there. */
static bool
has_namesake_there(const Adoption *adoption, const TdeDataKey *here)
{
	for (int i = 0; i < adoption->exported->count; i++)
	{
		const TdeDataKey *there = &adoption->exported->keys[i].row;

		CHECK_FOR_INTERRUPTS();
		if (there->slot == here->slot && there->state != TDE_STATE_DESTROYED && strcmp(there->name, here->name) == 0)
			return true;
	}
	return false;
}

/* Returns keys whose slot is to mean another one, or none.  Declarations hold the slot's number. */
static List *
find_moved(const Adoption *adoption)
{
	List	   *moved = NIL;
	ListCell   *cell;

	foreach(cell, adoption->here)
	{
		const TdeDataKey *here = lfirst(cell);
		const TdeDataKey *same = find_there(adoption, here->uuid);

		if (here->slot <= TDE_SLOT_DEFAULT)
			continue;
		if (same ? same->slot != here->slot : adoption->first && !has_namesake_there(adoption, here))
			moved = lappend(moved, (void *) here);
	}
	return moved;
}

/* Throws if the text does not tell all, or has no hash key by which to know whether both belong together. */
static void
require_adoptable(const TdeExportedKeys *exported)
{
	bool		has_hash = false;

	if (exported->format != TDE_EXPORT_ADOPTABLE)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("exported keys do not tell all that is to be adopted"),
				 errhint("Export them with tde_export_keys(..., adoptable => true).")));
	for (int i = 0; i < exported->count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		has_hash |= exported->keys[i].row.kind == TDE_KIND_HASH;
	}
	if (!has_hash)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("exported keys do not include a hash key"),
				 errhint("Call tde_ensure_keys() where they come from, and export them again.")));
}

/* ---- adopting ---- */

/* What the user still has to do, and a line in the log. */
static void
tell(const Adoption *adoption)
{
	ListCell   *cell;

	foreach(cell, adoption->destroyed)
	{
		const TdeDataKey *row = lfirst(cell);

		ereport(NOTICE,
				(errmsg("version %d of key \"%s\" was destroyed where the keys come from, and now is here", row->version, tde_keys_called(row)),
				 row->erasable ?
				 errhint("Other copies of the wallet, on standbys and in backups, still hold it: replace each of them.") :
				 errdetail("WAL and backups of the database still hold it, wrapped by a master key.")));
	}
	ereport(LOG,
			(errmsg("keys of another database adopted by user \"%s\"", GetUserNameFromId(GetUserId(), false)),
			 errdetail("%d rows of tde.data_keys were added, changed or removed.", list_length(adoption->changes))));
}

/* Changes the wallet, and the table.  The first time nothing is in indexes that stands under the hash key. */
static void
change_keys(Adoption *adoption)
{
	bool		makes_entries = has_new_entries(adoption);
	bool		rehashes = !adoption->first && changes_hash_key(adoption);
	TdeHashKeyUsers users;

	if (rehashes)
		tde_hash_key_lock(&users);
	else if (adoption->first)
		tde_keyed_hash_take();
	if (makes_entries)
		tde_purge_keep_out();
	change_wallet(adoption);
	tde_keys_change(adoption->changes);
	if (makes_entries)
		tde_purge_let_in();
	if (rehashes)
		tde_hash_key_rebuild(&users);
}

void
tde_adopt_keys(const TdeExportedKeys *exported, void *count)
{
	Adoption	adoption = {.exported = exported};
	List	   *moved;
	ListCell   *cell;

	PreventCommandIfReadOnly("tde_import_keys()");
	PreventCommandIfParallelMode("tde_import_keys()");
	require_adoptable(exported);
	if (!tde_wallet_ensure_open())
		tde_wallet_closed_error("to adopt keys");
	/* to the end of the transaction: nobody makes or changes keys meanwhile */
	LockRelationOid(tde_keys_require(), ShareRowExclusiveLock);
	adoption.here = tde_keys_rows();
	adoption.first = !shares_hash_key(&adoption);
	plan_changes(&adoption);
	if (adoption.changes == NIL)
	{
		/* whoever prepares this transaction is not to keep others from making keys */
		UnlockRelationOid(tde_keys_require(), ShareRowExclusiveLock);
		return;
	}
	moved = find_moved(&adoption);
	if (adoption.first || moved != NIL)
		tde_adopt_keep_others_out();
	foreach(cell, moved)
	{
		const TdeDataKey *here = lfirst(cell);

		tde_adopt_require_undeclared(here->slot, tde_keys_called(here));
	}
	if (adoption.first)
		tde_adopt_require_unused();
	change_keys(&adoption);
	if (adoption.first)
		tde_usage_forget_plans();
	tell(&adoption);
	*(int *) count += list_length(adoption.changes);
}
