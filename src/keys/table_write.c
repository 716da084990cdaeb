/*
 * table_write.c - adding keys to tde.data_keys.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include <openssl/crypto.h>

#include "crypto/primitives.h"
#include "keys/limits.h"
#include "keys/table_rows.h"
#include "server/compat.h"
#include "server/permanent.h"
#include "wallet/wallet.h"

/* ---- one at a time ---- */

/*
 * The table, while nobody else makes keys or changes them.  Makers keep each other out by a lock of their own: one of the table that does so
 * would be in the way of REINDEX CONCURRENTLY and its like, and have to wait as long as these wait for old transactions, which may be
 * ours.  NULL if it is not to wait and would have to.
 */
static Relation
lock_for_making(bool wait)
{
	Oid			relid = tde_keys_require();

	if (wait)
	{
		LockRelationOid(relid, RowExclusiveLock);
		LockDatabaseObject(RelationRelationId, relid, 1, ExclusiveLock);
	}
	else if (!ConditionalLockRelationOid(relid, RowExclusiveLock))
		return NULL;
	else if (!ConditionalLockDatabaseObject(RelationRelationId, relid, 1, ExclusiveLock))
	{
		UnlockRelationOid(relid, RowExclusiveLock);
		return NULL;
	}
	return table_open(relid, NoLock);
}

/* At once, not at the end of the transaction. */
static void
unlock(Relation rel)
{
	UnlockDatabaseObject(RelationRelationId, RelationGetRelid(rel), 1, ExclusiveLock);
	table_close(rel, RowExclusiveLock);
}

/* ---- rows that no rollback takes away ---- */

/* The rows that come back with a rollback would have the same slot under another name, the same version, or the same UUID. */
static void
refuse_after_freeing(const TdeDataKey *row)
{
	if (tde_keys_freed)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot make version %d of key \"%s\" in a transaction that has renamed, dropped or adopted keys", row->version,
						tde_keys_called(row)),
				 errdetail("A rollback would undo these changes, but not the new version."),
				 errhint("Commit first.")));
}

static void
insert_for_ever(Relation rel, const TdeDataKey *row)
{
	HeapTuple	tuple = tde_keys_tuple(rel, row);

	refuse_after_freeing(row);
	/* first, so that no key is without its counts */
	tde_keys_start_counts(row->id);
	tde_permanent_insert(rel, tuple, 0);
	heap_freetuple(tuple);
	tde_keys_changed = true;
	tde_keys_made_keys = true;
}

/* ---- making keys ---- */

/* What a new row has to know of the others. */
typedef struct Survey
{
	int32		slot;
	char		kind;
	int32		version;		/* the highest of that slot and kind; 0: there is none */
	int32		active;			/* the highest for new values; 0: there is none */
	int32		prepared;		/* the highest that is not yet for new values; 0: there is none */
	bool		destroyed;		/* the slot's key was */
	int32		last_slot;
	uint32		last_id;
	bool		has_database;
	uint8		database[16];
	TdeDataKey	sibling;		/* any key of the slot; id 0: there is none */
	TdeDataKey	foreign;		/* a key whose master key the wallet lacks; id 0: there is none */
} Survey;

/*
 * Notes a key whose master key the wallet lacks.  Asked of the default key's versions and of the newest key: the keys of a database are wrapped anew
 * together.
 */
static void
survey_master(const TdeDataKey *row, void *arg)
{
	if (tde_keywrap_lacks_master(row))
		((Survey *) arg)->foreign = *row;
}

static void
survey_sibling(const TdeDataKey *row, void *arg)
{
	Survey	   *survey = arg;

	survey->sibling = *row;
	survey->destroyed |= row->state == TDE_STATE_DESTROYED;
	if (row->kind != survey->kind)
		return;
	if (row->state == TDE_STATE_ACTIVE)
		survey->active = Max(survey->active, row->version);
	if (row->state == TDE_STATE_PREPARED)
		survey->prepared = Max(survey->prepared, row->version);
	survey->version = Max(survey->version, row->version);
}

/* By indexes: with thousands of keys, too, the next one is made as fast as the first. */
static void
survey_keys(Relation rel, int32 slot, char kind, Survey *survey)
{
	TdeDataKey	last;

	memset(survey, 0, sizeof(*survey));
	survey->slot = slot;
	survey->kind = kind;
	tde_keys_last(rel, TDE_KEYS_SLOT, &last);
	survey->last_slot = last.id != 0 ? Max(last.slot, 0) : 0;
	tde_keys_last(rel, TDE_KEYS_ID, &last);
	if (last.id == 0)
		return;
	survey->last_id = last.id;
	memcpy(survey->database, last.database, sizeof(survey->database));
	survey->has_database = true;
	survey_master(&last, survey);
	tde_keys_scan_where(rel, TDE_KEYS_SLOT, Int32GetDatum(TDE_SLOT_DEFAULT), survey_master, survey);
	tde_keys_scan_where(rel, TDE_KEYS_SLOT, Int32GetDatum(slot), survey_sibling, survey);
}

/* A row for the next version of the surveyed key, without the key. */
static void
start_row(Relation rel, TdeDataKey *row, const Survey *survey, char state, const char *name)
{
	/* what is encrypted under this wallet would be lost when the right one comes back: refuse as reading would */
	if (survey->foreign.id != 0)
		tde_keywrap_require_master(&survey->foreign);

	memset(row, 0, sizeof(*row));
	row->id = tde_keys_next_id(rel, survey->last_id);
	row->slot = survey->slot;
	row->version = tde_keys_number_after(survey->version);
	row->kind = survey->kind;
	row->state = state;
	row->created = GetCurrentTimestamp();
	tde_keys_new_uuid(row->uuid);
	if (survey->has_database)
		memcpy(row->database, survey->database, sizeof(row->database));
	else
		tde_keys_new_uuid(row->database);
	strlcpy(row->name, name, sizeof(row->name));
}

/* The next version of the surveyed key. */
static void
make_key(Relation rel, const Survey *survey, char state, const char *name, const uint8 *master)
{
	TdeDataKey	row;

	start_row(rel, &row, survey, state, name);
	row.erasable = master != NULL;
	if (master)
		memcpy(row.master, master, sizeof(row.master));
	tde_keywrap_new(&row);
	insert_for_ever(rel, &row);
}

/* Another key for a slot: of the name that it has, and under the same wrapping key if that is the slot's own. */
static void
make_sibling(Relation rel, const Survey *survey, char state)
{
	make_key(rel, survey, state, survey->sibling.name, survey->sibling.erasable ? survey->sibling.master : NULL);
}

static bool
can_make_keys(void)
{
	return !RecoveryInProgress() && !IsInParallelMode() && !XactReadOnly && !IsBinaryUpgrade && tde_wallet_ensure_open();
}

bool
tde_keys_ensure(int32 slot, char kind)
{
	Survey		survey;
	Relation	rel;

	if (!OidIsValid(tde_keys_relid()))
		return false;
	rel = table_open(tde_keys_relid(), AccessShareLock);
	survey_keys(rel, slot, kind, &survey);
	table_close(rel, AccessShareLock);
	/* the key of a slot with a number is made by its name */
	if (survey.active || survey.destroyed || (slot > TDE_SLOT_DEFAULT && survey.sibling.id == 0))
		return true;
	if (!can_make_keys())
		return false;

	/* look again: somebody else may have made it meanwhile */
	rel = lock_for_making(true);
	survey_keys(rel, slot, kind, &survey);
	if (!survey.active && !survey.destroyed)
		make_sibling(rel, &survey, TDE_STATE_ACTIVE);
	unlock(rel);
	return true;
}

bool
tde_keys_ensure_basic(void)
{
	return tde_keys_ensure(TDE_SLOT_DEFAULT, TDE_KIND_MAC) &&
		tde_keys_ensure(TDE_SLOT_CATALOG, TDE_KIND_CATALOG) &&
		tde_keys_ensure(TDE_SLOT_HASH, TDE_KIND_HASH);
}

static void
note_slot(const TdeDataKey *row, void *arg)
{
	List	  **slots = arg;

	if (row->kind == TDE_KIND_MAC && row->state == TDE_STATE_ACTIVE)
		*slots = list_append_unique_int(*slots, row->slot);
}

void
tde_keys_ensure_all(void)
{
	List	   *slots = NIL;
	ListCell   *cell;

	(void) tde_keys_ensure_basic();
	tde_keys_scan(note_slot, &slots);
	foreach(cell, slots)
		(void) tde_keys_ensure(lfirst_int(cell), TDE_KIND_NOMAC);
}

/* The table, locked against other makers; ereport if keys cannot be made here. */
static Relation
open_for_making(void)
{
	PreventCommandIfReadOnly("making a data key");
	PreventCommandIfParallelMode("making a data key");
	if (!tde_wallet_ensure_open())
		tde_wallet_closed_error("to make a data key");
	return lock_for_making(true);
}

/*
 * A name that this transaction has set free is another key's again if it rolls back, which takes no new key away: two would have it.
 */
static void
refuse_after_changes(const char *name)
{
	if (tde_keys_changed_rows)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot make key \"%s\" in a transaction that has renamed, destroyed or rewrapped keys", name),
				 errdetail("A rollback would undo these changes, but not the new key."),
				 errhint("Commit first.")));
}

int32
tde_keys_find_or_create(const char *name, bool *created)
{
	Relation	rel = open_for_making();
	int32		slot = tde_keys_slot(name);

	*created = slot == TDE_NO_SLOT;
	if (*created)
		slot = tde_keys_create(name, NULL);
	unlock(rel);
	return slot;
}

int32
tde_keys_create(const char *name, const uint8 *master)
{
	Relation	rel = open_for_making();
	Survey		survey;

	tde_keys_refuse_taken(name);
	refuse_after_changes(name);
	survey_keys(rel, TDE_NO_SLOT, TDE_KIND_MAC, &survey);
	survey.slot = tde_keys_number_after(survey.last_slot);
	make_key(rel, &survey, TDE_STATE_ACTIVE, name, master);
	unlock(rel);
	return survey.slot;
}

int32
tde_keys_make_next(int32 slot, char state)
{
	static const char kinds[] = {TDE_KIND_MAC, TDE_KIND_NOMAC, TDE_KIND_CATALOG, TDE_KIND_HASH};
	Relation	rel = open_for_making();
	int32		version = 0;

	for (int i = 0; i < lengthof(kinds); i++)
	{
		Survey		survey;

		survey_keys(rel, slot, kinds[i], &survey);
		if (!survey.active)
			continue;
		/* one that a version has overtaken, made at its limit, is not for new values any more */
		if (survey.prepared > survey.active)
			version = Max(version, survey.prepared);
		else
		{
			make_sibling(rel, &survey, state);
			version = Max(version, survey.version + 1);
		}
	}
	unlock(rel);
	return version;
}

/* The surveyed key's next version follows this one.  False if it cannot be made, or something is wrong with it. */
static bool
follow(Relation rel, const TdeDataKey *row, const Survey *survey)
{
	if (!survey->active || survey->destroyed || survey->foreign.id != 0)
		return false;
	if (survey->active == row->version)
	{
		make_sibling(rel, survey, TDE_STATE_ACTIVE);
		ereport(LOG,
				(errmsg("version %d of data key \"%s\" has encrypted as many values as a key may, and is replaced by version %d", row->version,
						tde_keys_called(row), survey->version + 1),
				 errdetail("Old values stay as they are; tde_rekey_table() re-encrypts them.")));
	}
	return true;
}

bool
tde_keys_replace(uint32 id, bool wait)
{
	TdeDataKey	row;
	Survey		survey;
	Relation	rel;
	bool		done;

	if (XactReadOnly || tde_keys_changed_rows || !can_make_keys() || !tde_keys_find(id, &row) || (rel = lock_for_making(wait)) == NULL)
		return false;
	survey_keys(rel, row.slot, row.kind, &survey);
	done = follow(rel, &row, &survey);
	unlock(rel);
	return done;
}

/* ---- keys from elsewhere ---- */

/* What an imported key meets here. */
typedef struct Meeting
{
	const TdeDataKey *imported;
	bool		is_here;
	int32		slot;			/* the key's own, if it is here already; else the one that has its name, or TDE_NO_SLOT */
	bool		taken;			/* the slot of its number means another key here */
	bool		lost;			/* the key is here, and its master key is not in the wallet */
} Meeting;

static void
meet_key(const TdeDataKey *row, void *arg)
{
	Meeting    *meeting = arg;

	meeting->is_here = true;
	meeting->lost = tde_keywrap_lacks_master(row);
	meeting->slot = row->slot;
}

static void
meet_slot(const TdeDataKey *row, void *arg)
{
	Meeting    *meeting = arg;

	if (strcmp(row->name, meeting->imported->name) != 0 || row->state == TDE_STATE_DESTROYED)
		meeting->taken = true;
}

/* Looks by UUID first: a key is itself, whatever it is called here. */
static void
meet(Relation rel, Meeting *meeting)
{
	const TdeDataKey *imported = meeting->imported;

	tde_keys_scan_where(rel, TDE_KEYS_UUID, tde_keys_uuid(imported->uuid), meet_key, meeting);
	if (meeting->is_here)
		return;
	if (imported->name[0] != '\0')
		meeting->slot = tde_keys_slot(imported->name);
	tde_keys_scan_where(rel, TDE_KEYS_SLOT, Int32GetDatum(imported->slot), meet_slot, meeting);
}

/* The slot that means here what the key's slot means where it comes from. */
static int32
choose_slot(Relation rel, const Meeting *meeting, const TdeSlotMap *map)
{
	int32		slot = meeting->imported->slot;
	Survey		survey;

	if (slot <= 0)
		return slot;
	if (slot == map->there)
		return map->here;
	if (meeting->slot != TDE_NO_SLOT)
		return meeting->slot;
	if (!meeting->taken)
		return slot;
	survey_keys(rel, TDE_NO_SLOT, TDE_KIND_MAC, &survey);
	return tde_keys_number_after(survey.last_slot);
}

/* A key that is here and that an import brings again, unwrapped. */
typedef struct Rescue
{
	const TdeDataKey *imported;
	const uint8 *data_key;
} Rescue;

/* A key that is here already, and whose master key the wallet lacks: with the key at hand, wrap it by the current one. */
static bool
rescue_row(TdeDataKey *row, void *arg)
{
	const Rescue *rescue = arg;

	if (memcmp(row->uuid, rescue->imported->uuid, sizeof(row->uuid)) != 0)
		return false;
	tde_keywrap_check(row, rescue->data_key);
	memset(row->master, 0, sizeof(row->master));
	tde_keywrap_wrap(row, rescue->data_key);
	return true;
}

bool
tde_keys_import(const TdeDataKey *imported, const uint8 data_key[TDE_DATA_KEY_SIZE], TdeSlotMap *map)
{
	Relation	rel = open_for_making();
	Meeting		meeting = {imported, false, TDE_NO_SLOT, false, false};
	Survey		survey;
	TdeDataKey	row;

	meet(rel, &meeting);
	if (!meeting.is_here && imported->name[0] != '\0' && meeting.slot == TDE_NO_SLOT)
		refuse_after_changes(imported->name);
	map->here = meeting.is_here ? meeting.slot : choose_slot(rel, &meeting, map);
	map->there = imported->slot;
	if (!meeting.is_here)
	{
		survey_keys(rel, map->here, imported->kind, &survey);
		start_row(rel, &row, &survey, TDE_STATE_ACTIVE, imported->name);
		/* it must never be taken for new values: they would be under a key that others have */
		row.state = TDE_STATE_RETIRED;
		row.created = imported->created;
		memcpy(row.uuid, imported->uuid, sizeof(row.uuid));
		/* what is done to erase the slot's keys must erase this one */
		row.erasable = survey.sibling.erasable;
		if (row.erasable)
			memcpy(row.master, survey.sibling.master, sizeof(row.master));
		tde_keywrap_wrap(&row, data_key);
		insert_for_ever(rel, &row);
	}
	unlock(rel);
	if (meeting.lost)
		(void) tde_keys_edit(rescue_row, &(Rescue) {imported, data_key});
	return !meeting.is_here || meeting.lost;
}
