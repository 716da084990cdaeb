/*
 * cache.c - data keys made ready to use, per backend.
 *
 * Two tables: the rows of tde.data_keys that were needed (wrapped; looked up again when something may have changed them), and the
 * cipher contexts, by the key's UUID.  A key's bytes never change under its UUID, so contexts outlive a reading of the rows;
 * they are cleansed when the wallet's generation changes, and whenever this process is to forget its secrets.
 *
 * A look-up goes from what is nearest to what is farthest: the row that is remembered, tde.data_keys by index, the wallet for the master key that
 * wraps it (wrap.c), then the contexts are set up.  Each step may find that something has changed meanwhile, and a key that is not there is looked for
 * once more before that is an error: somebody may just have made it.  Nothing here makes a key.
 */
#include "postgres.h"

#include <openssl/crypto.h>

#include "access/xlog.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "crypto/primitives.h"
#include "keys/cache.h"
#include "keys/table_rows.h"
#include "server/counters.h"
#include "server/error.h"
#include "server/memory.h"

/* What a set of contexts is for.  It is compared byte by byte, so all of it is set to zero before its fields are. */
typedef struct ContextId
{
	uint8		uuid[16];
	uint8		type_tag[TDE_TYPE_TAG_SIZE];
	uint8		spec_byte;
} ContextId;

/* Contexts that were made ready.  An entry stays in its place until forget_keys() removes it. */
typedef struct ContextEntry
{
	ContextId	id;				/* hash key */
	TdeKey		key;
} ContextEntry;

uint64		tde_keys_epoch = 1;
void		(*tde_forget_decrypted) (void) = NULL;
uint64		tde_keys_generation = 0;

/* A slot's keys of a kind, of which the newest is for new values. */
typedef struct SlotId
{
	int32		slot;
	int32		kind;
} SlotId;

typedef struct NewestEntry
{
	SlotId		id;				/* hash key */
	uint32		key;			/* that of a row */
} NewestEntry;

static HTAB *rows = NULL;		/* id -> TdeDataKey */
static HTAB *newest = NULL;		/* SlotId -> NewestEntry */
static HTAB *offered = NULL;	/* likewise, by pg_upgrade's schema; NULL otherwise */
static HTAB *contexts = NULL;	/* ContextId -> ContextEntry */

/* Nothing that came from the wallet before may be used any more. */
static void
forget_keys(void)
{
	HASH_SEQ_STATUS status;
	ContextEntry *entry;

	tde_keys_epoch++;
	if (tde_forget_decrypted)
		tde_forget_decrypted();
	if (contexts == NULL)
		return;
	hash_seq_init(&status, contexts);
	while ((entry = hash_seq_search(&status)) != NULL)
	{
		tde_value_key_free(entry->key.value_key);
		entry->key.value_key = NULL;
		hash_search(contexts, &entry->id, HASH_REMOVE, NULL);
	}
}

/* Copies the row into a hash table, in place of an older one with its id.  The result is the table's. */
static const TdeDataKey *
remember_row(HTAB *table, const TdeDataKey *row)
{
	TdeDataKey *entry = hash_search(table, &row->id, HASH_ENTER, NULL);

	*entry = *row;
	return entry;
}

/* Nothing that was read of the table counts any more; what is needed is looked up again. */
static void
forget_rows(void)
{
	/* cleared first: a change that arrives meanwhile asks for it again */
	tde_keys_changed = false;
	if (rows)
		hash_destroy(rows);
	rows = NULL;
	if (newest)
		hash_destroy(newest);
	newest = NULL;
	rows = tde_memory_table_new("tde_column data keys", sizeof(uint32), sizeof(TdeDataKey));
	newest = tde_memory_table_new("tde_column newest keys", sizeof(SlotId), sizeof(NewestEntry));
	tde_keys_epoch++;
	tde_stats.key_loads++;
}

/*
 * If the wallet was opened, closed or changed since the last look, whatever was made under the old one goes.  Other processes announce that by the
 * generation alone, which costs an atomic read.
 */
static void
follow_wallet(void)
{
	uint64		generation = pg_atomic_read_u64(tde_wallet_generation);

	if (tde_keys_generation != generation)
	{
		tde_keys_epoch++;
		tde_memory_forget_here();
		tde_keys_generation = generation;
		/* a running statement may not have heard yet that rows have another master key, and the wallet no longer has theirs */
		tde_keys_changed = true;
	}
}

/* Bring the cache to where it may be used. */
static void
refresh(void)
{
	follow_wallet();
	if (tde_keys_changed || rows == NULL || newest == NULL)
		forget_rows();
}

/* pg_upgrade's schema may need keys before it has made their table. */
static bool
has_table(void)
{
	return !IsBinaryUpgrade || OidIsValid(tde_keys_relid());
}

/*
 * Looks for the row from near to far.  Under pg_upgrade rows that literals have offered come before the table, which may not be there yet.  A key
 * that was destroyed still has its row, and gets an error of its own.
 */
static const TdeDataKey *
find_row(uint32 id)
{
	const TdeDataKey *row = hash_search(rows, &id, HASH_FIND, NULL);
	TdeDataKey	found;

	if (row == NULL && offered)
		row = hash_search(offered, &id, HASH_FIND, NULL);
	if (row == NULL && has_table() && tde_keys_find(id, &found))
		row = remember_row(rows, &found);
	if (row == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_TDE_KEY_NOT_FOUND),
				 errmsg("data key %u does not exist in this database", id),
				 errdetail("The value was encrypted in another database, or its key was dropped.")));
	if (row->state == TDE_STATE_DESTROYED)
		ereport(ERROR,
				(errcode(ERRCODE_TDE_KEY_NOT_FOUND),
				 errmsg("data key %u was destroyed", id),
				 errdetail("Values encrypted under it can no longer be read."),
				 errhint("Leave the column out of the query, or empty it and give it another key: "
						 "ALTER TABLE ... ALTER COLUMN ... TYPE ...('key=NAME') USING NULL;")));
	return row;
}

/* Unwrap the row's key and make its contexts ready. */
static TdeValueKey *
set_up(const TdeDataKey *row, TdeSpec spec, const uint8 *type_tag)
{
	TdeValueKey *value_key;
	uint8		data_key[TDE_DATA_KEY_SIZE];
	TdeStatus	status;

	tde_keywrap_unwrap(row, data_key);
	status = tde_value_key_new(&value_key, data_key, spec, type_tag);
	OPENSSL_cleanse(data_key, sizeof(data_key));
	tde_check(status);
	tde_stats.key_setups++;
	/* unwrapping may have opened the wallet; entries made before that go now, and not with this one at the next use */
	follow_wallet();
	return value_key;
}

/*
 * Returns the contexts for a row, which are made now if they are not there.  The entry's other fields are set each time: adopting keys may give the
 * row another slot, while its UUID, and so the contexts, stay.
 */
static const TdeKey *
ready_key(const TdeDataKey *row, TdeSpec spec, const uint8 *type_tag)
{
	ContextId	id;
	ContextEntry *entry;

	memset(&id, 0, sizeof(id));
	memcpy(id.uuid, row->uuid, sizeof(id.uuid));
	memcpy(id.type_tag, type_tag, sizeof(id.type_tag));
	id.spec_byte = tde_spec_byte(spec, false);
	if (contexts == NULL)
		contexts = tde_memory_table_new("tde_column contexts", sizeof(ContextId), sizeof(ContextEntry));
	entry = hash_search(contexts, &id, HASH_FIND, NULL);
	if (entry == NULL)
	{
		TdeValueKey *value_key = set_up(row, spec, type_tag);

		tde_secrets_held = true;
		entry = hash_search(contexts, &id, HASH_ENTER, NULL);
		entry->key.value_key = value_key;
	}
	entry->key.id = row->id;
	entry->key.slot = row->slot;
	entry->key.kind = row->kind;
	entry->key.use = tde_key_use(row->id);
	return &entry->key;
}

const TdeDataKey *
tde_key_row(uint32 id, TdeSpec spec)
{
	const TdeDataKey *row;
	bool		without_mac;

	refresh();
	row = find_row(id);
	without_mac = (row->kind == TDE_KIND_NOMAC);
	if (row->kind == TDE_KIND_HASH || without_mac != (spec.mac == TDE_NOMAC))
		tde_error_throw(TDE_E_AUTH);
	return row;
}

const TdeKey *
tde_key_for_reading(uint32 id, TdeSpec spec, const uint8 type_tag[TDE_TYPE_TAG_SIZE])
{
	return ready_key(tde_key_row(id, spec), spec, type_tag);
}

/* Rolled back rows stay in indexes, whose searches compare them: their key must not go. */
static void
require_committed(const TdeDataKey *row)
{
	if (unlikely(tde_keys_uncommitted != 0 && row->id >= tde_keys_uncommitted))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot store values under key \"%s\" in the transaction that has adopted it", tde_keys_called(row)),
				 errdetail("A rollback would take the key away, and leave values in indexes."),
				 errhint("Commit first.")));
}

const TdeDataKey *
tde_key_row_of_uuid(const uint8 uuid[16])
{
	static uint32 found_before[64]; /* ids, to be tried first; most dumps use few keys */
	uint32	   *guess = &found_before[uuid[15] % lengthof(found_before)];
	const TdeDataKey *row;
	TdeDataKey	found;

	refresh();
	row = hash_search(rows, guess, HASH_FIND, NULL);
	if (row != NULL && memcmp(row->uuid, uuid, sizeof(row->uuid)) == 0)
		return row;
	if (!has_table() || !tde_keys_find_uuid(uuid, &found))
		return NULL;
	require_committed(&found);
	*guess = found.id;
	return remember_row(rows, &found);
}

void
tde_key_offer(const TdeDataKey *row)
{
	if (offered == NULL)
		offered = tde_memory_table_new("tde_column offered keys", sizeof(uint32), sizeof(TdeDataKey));
	(void) remember_row(offered, row);
}

/* ---- the key for new values ---- */

/* What is gathered while a slot's rows are visited, to choose the one for new values. */
typedef struct Newest
{
	SlotId		id;
	TdeDataKey	best;			/* id 0: there is none */
	List	   *others;			/* ids of keys that are not for new values: imported and prepared ones */
	bool		destroyed;		/* the slot's keys were, all of them or this one */
} Newest;

/* Visitor of the rows of a slot.  Each one is remembered as well, so that reading older versions needs no further scan. */
static void
see_newest(const TdeDataKey *row, void *arg)
{
	Newest	   *seen = arg;

	(void) remember_row(rows, row);
	seen->destroyed |= row->state == TDE_STATE_DESTROYED;
	if (row->slot == seen->id.slot && row->kind == seen->id.kind && tde_keys_only_reads(row))
		seen->others = lappend_int(seen->others, (int) row->id);
	if (tde_keys_is_newer(row, seen->id.slot, seen->id.kind, seen->best.id != 0 ? &seen->best : NULL))
		seen->best = *row;
}

/*
 * Rows that say that they are imported or prepared, and so not for new values, while they are newer than the one that is, have to be so:
 * unwrapping tells.  Whoever can write the files could send new values to a key of former days otherwise.
 */
static void
require_not_for_new(const Newest *seen)
{
	ListCell   *cell;

	foreach(cell, seen->others)
	{
		uint32		id = (uint32) lfirst_int(cell);
		const TdeDataKey *row = hash_search(rows, &id, HASH_FIND, NULL);
		uint8		data_key[TDE_DATA_KEY_SIZE];

		if (row == NULL || row->version < seen->best.version)
			continue;
		tde_keywrap_unwrap(row, data_key);
		OPENSSL_cleanse(data_key, sizeof(data_key));
	}
}

/*
 * Returns the row for new values of the slot and kind; NULL if there is none, or if the slot's key was destroyed, which *destroyed tells.  The choice
 * is remembered until the table changes, so that the scan is not done for each statement.
 */
static const TdeDataKey *
current_row(int32 slot, char kind, bool *destroyed)
{
	Newest		seen = {.id = {slot, kind}};
	NewestEntry *entry = hash_search(newest, &seen.id, HASH_FIND, NULL);

	*destroyed = false;
	if (entry != NULL)
		return hash_search(rows, &entry->key, HASH_FIND, NULL);
	if (has_table())
		tde_keys_scan_slot(slot, see_newest, &seen);
	*destroyed = seen.destroyed;
	if (seen.best.id == 0 || seen.destroyed)
		return NULL;
	require_not_for_new(&seen);
	list_free(seen.others);
	entry = hash_search(newest, &seen.id, HASH_ENTER, NULL);
	entry->key = seen.best.id;
	return hash_search(rows, &entry->key, HASH_FIND, NULL);
}

/* Says why there is no key for new values: the likeliest reason first, since each has its own remedy. */
static void
missing_key_error(int32 slot, char kind, bool destroyed)
{
	/* a closed wallet is the likelier reason, and the one to mend first */
	if (!tde_wallet_ensure_open())
		tde_wallet_closed_error("to read or write encrypted values");
	if (destroyed)
		ereport(ERROR,
				(errcode(ERRCODE_TDE_KEY_NOT_FOUND),
				 errmsg("the data key of slot %d was destroyed", slot),
				 errhint("Its values are lost.  Give the column another key: "
						 "ALTER TABLE ... ALTER COLUMN ... TYPE ...('key=NAME') USING NULL;")));
	if (slot > TDE_SLOT_DEFAULT && !tde_keys_name(slot).exists)
		ereport(ERROR,
				(errcode(ERRCODE_TDE_KEY_NOT_FOUND),
				 errmsg("the data key of slot %d is missing", slot),
				 errdetail("Its rows in tde.data_keys are gone."),
				 errhint("Restore a backup that has them, or give the column another key: "
						 "ALTER TABLE ... ALTER COLUMN ... TYPE ...('key=NAME').")));
	ereport(ERROR,
			(errcode(ERRCODE_TDE_KEY_NOT_FOUND),
			 slot == TDE_SLOT_CATALOG ? errmsg("this database has no data key for literals yet") :
			 slot == TDE_SLOT_HASH ? errmsg("this database has no hash key yet") :
			 errmsg("this database has no data key for slot %d %s yet", slot,
					kind == TDE_KIND_NOMAC ? "without MAC" : "with MAC"),
			 errdetail("Data keys are made when the wallet is opened in a database, and when a column is declared."),
			 RecoveryInProgress() ?
			 errhint("Run once in this database on the primary, as a superuser: SELECT tde_wallet_open();") :
			 errhint("Run once in this database, as a superuser: SELECT tde_wallet_open();")));
}

const TdeKey *
tde_key_for_writing(int32 slot, TdeSpec spec, const uint8 type_tag[TDE_TYPE_TAG_SIZE])
{
	char		kind = slot == TDE_SLOT_CATALOG ? TDE_KIND_CATALOG :
	spec.mac == TDE_NOMAC ? TDE_KIND_NOMAC : TDE_KIND_MAC;
	const TdeDataKey *row;
	bool		destroyed;

	refresh();
	row = current_row(slot, kind, &destroyed);
	if (row == NULL)
		missing_key_error(slot, kind, destroyed);
	require_committed(row);
	return ready_key(row, spec, type_tag);
}

void
tde_key_unwrap_hash_key(uint8 data_key[TDE_DATA_KEY_SIZE])
{
	const TdeDataKey *row;
	bool		destroyed;

	refresh();
	row = current_row(TDE_SLOT_HASH, TDE_KIND_HASH, &destroyed);
	if (row == NULL)
		missing_key_error(TDE_SLOT_HASH, TDE_KIND_HASH, destroyed);
	tde_keywrap_unwrap(row, data_key);
	follow_wallet();
}

void
tde_keycache_init(void)
{
	tde_memory_forget_by(forget_keys);
}
