/*
 * table_edit.c - changing rows of the table of data keys, which only the functions of this extension do; and what tells a new row from the
 * others: its number, slot, version and UUID.
 *
 * Other than keys that are made here, which are there for ever at once, changes can be taken back by a rollback: nobody else sees them
 * before the commit, and this transaction encrypts nothing under keys that came with them.  A rollback would leave it in indexes.
 */
#include "postgres.h"

#include <openssl/crypto.h>

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "commands/sequence.h"
#include "commands/trigger.h"
#include "miscadmin.h"
#include "replication/logicalworker.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "crypto/primitives.h"
#include "keys/table_rows.h"
#include "server/error.h"
#include "server/extension.h"
#include "server/permanent.h"

void
tde_keys_last(Relation rel, AttrNumber column, TdeDataKey *last)
{
	HeapTuple	tuple = tde_permanent_last(rel, tde_keys_index(rel, column));

	last->id = 0;
	if (tuple)
		tde_keys_row(rel, tuple, last);
}

void
tde_keys_new_uuid(uint8 *bytes)
{
	tde_check(tde_random_key(bytes, UUID_LEN));
	bytes[6] = (bytes[6] & 0x0f) | 0x40;
	bytes[8] = (bytes[8] & 0x3f) | 0x80;
}

/* Have the sequence go on after this number.  Whoever needs a key need not be one who may do that. */
static void
advance_sequence(Relation rel, Oid sequence, uint32 last)
{
	Oid			user;
	int			context;

	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(rel->rd_rel->relowner, context | SECURITY_LOCAL_USERID_CHANGE);
	DirectFunctionCall2(setval_oid, ObjectIdGetDatum(sequence), Int64GetDatum((int64) last));
	SetUserIdAndSecContext(user, context);
}

uint32
tde_keys_next_id(Relation rel, uint32 last)
{
	Oid			sequence = get_relname_relid("data_keys_id_seq", RelationGetNamespace(rel));
	int64		id;

	if (!OidIsValid(sequence))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("sequence \"%s\" does not exist", "tde.data_keys_id_seq")));
	id = nextval_internal(sequence, false);
	/* behind rows that it has not numbered: somebody has put them there, or set it back */
	if (id <= last)
	{
		advance_sequence(rel, sequence, last);
		id = nextval_internal(sequence, false);
	}
	if (id > PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED), errmsg("no more data keys can be made")));
	return (uint32) id;
}

void
tde_keys_number(Relation rel, TdeDataKey *row)
{
	TdeDataKey	last;

	tde_keys_last(rel, TDE_KEYS_ID, &last);
	row->id = tde_keys_next_id(rel, last.id);
	if (last.id != 0)
		memcpy(row->database, last.database, sizeof(row->database));
	else
		tde_keys_new_uuid(row->database);
	tde_keys_start_counts(row->id);
}

int32
tde_keys_number_after(int32 last)
{
	if (last < 0 || last == PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("no key can be made after slot or version %d", last),
				 errdetail("A row of tde.data_keys has this number, which no key can have been given."),
				 errhint("Restore a backup of the database that has the right rows.")));
	return last + 1;
}

PG_FUNCTION_INFO_V1(tde_guard_keys);

/* ---- who else may change them: nobody ---- */

/* errhint(): which function does properly what the statement has tried. */
static int
guard_hint(const TriggerData *trigger)
{
	TriggerEvent event = trigger->tg_event;

	if (RelationGetRelid(trigger->tg_relation) == tde_extension_table("key_counts"))
		return errhint("tde_rotate_key() makes a version that has encrypted nothing yet.");
	if (RelationGetRelid(trigger->tg_relation) != tde_keys_relid())
		return errhint("Declarations add rows as they need them.");
	if (TRIGGER_FIRED_BY_INSERT(event))
		return errhint("Make keys with tde_create_key(); bring those of another database with tde_import_keys().");
	if (TRIGGER_FIRED_BY_UPDATE(event))
		return errhint("Change keys with tde_rotate_key(), tde_rename_key() and tde_describe_key().");
	return errhint("Remove a version that nothing uses any more with tde_drop_key_version(), all of a key with tde_destroy_key().");
}

/* tde_guard_keys() - the trigger of tde.data_keys and tde.specifications.  What the functions of this extension change does not fire triggers. */
Datum
tde_guard_keys(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" was not called by trigger manager", "tde_guard_keys")));
	/* NULL: leave the row out */
	if (IsLogicalWorker() && TRIGGER_FIRED_FOR_ROW(trigger->tg_event))
		return PointerGetDatum(NULL);
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("cannot change table \"tde.%s\" directly", RelationGetRelationName(trigger->tg_relation)),
			 RelationGetRelid(trigger->tg_relation) == tde_keys_relid()
			 ? errdetail("Removing or changing the row of a data key would lose all values under that key.")
			 : RelationGetRelid(trigger->tg_relation) == tde_extension_table("key_counts")
			 ? errdetail("It tells when a key has encrypted as many values as it may.")
			 : errdetail("The types of columns name its rows."),
			 guard_hint(trigger)));
}

/* ---- changes of all rows that a function chooses ---- */

/* The tuple with what an editor may have changed; all other columns stay. */
static HeapTuple
changed_tuple(Relation rel, HeapTuple tuple, const TdeDataKey *row)
{
	Datum		values[TDE_KEYS_COLUMNS] = {0};
	bool		nulls[TDE_KEYS_COLUMNS] = {0};
	bool		replace[TDE_KEYS_COLUMNS] = {0};

	values[TDE_KEYS_STATE - 1] = CharGetDatum(row->state);
	values[TDE_KEYS_MASTER - 1] = tde_keys_uuid(row->master);
	values[TDE_KEYS_KCV - 1] = tde_keys_bytea(row->kcv, sizeof(row->kcv));
	values[TDE_KEYS_WRAPPED - 1] = tde_keys_bytea(row->wrapped, row->wrapped_size);
	replace[TDE_KEYS_STATE - 1] = replace[TDE_KEYS_MASTER - 1] = true;
	replace[TDE_KEYS_KCV - 1] = replace[TDE_KEYS_WRAPPED - 1] = true;
	values[TDE_KEYS_NAME - 1] = CStringGetTextDatum(row->name);
	nulls[TDE_KEYS_NAME - 1] = row->name[0] == '\0';
	replace[TDE_KEYS_NAME - 1] = true;
	return tde_permanent_modify(rel, tuple, TDE_KEYS_COLUMNS, values, nulls, replace);
}

/* Change the rows of which changed() makes another tuple.  until: the lock that is given back at once, or NoLock. */
static int
change_rows(LOCKMODE lock, LOCKMODE until, HeapTuple (*changed) (Relation rel, HeapTuple tuple, void *arg), void *arg)
{
	Relation	rel = table_open(tde_keys_require(), lock);
	SysScanDesc scan;
	HeapTuple	tuple;
	int			count = 0;

	tde_permanent_check_indexes(rel);
	scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		HeapTuple	new = changed(rel, tuple, arg);

		CHECK_FOR_INTERRUPTS();
		if (new == NULL)
			continue;
		CatalogTupleUpdate(rel, &tuple->t_self, new);
		count++;
	}
	systable_endscan(scan);
	table_close(rel, until);
	/* the next call, of the same statement maybe, sees what this one has done */
	if (count > 0)
		CommandCounterIncrement();
	return count;
}

typedef struct Edit
{
	TdeDataKeyEditor edit;
	void	   *arg;
} Edit;

/* As change_rows() calls it.  A changed name sets the old one free. */
static HeapTuple
edited_tuple(Relation rel, HeapTuple tuple, void *arg)
{
	Edit	   *edit = arg;
	TdeDataKey	row;
	char		name[NAMEDATALEN];

	tde_keys_row(rel, tuple, &row);
	strlcpy(name, row.name, sizeof(name));
	if (!edit->edit(&row, edit->arg))
		return NULL;
	tde_keys_freed |= strcmp(row.name, name) != 0;
	return changed_tuple(rel, tuple, &row);
}

int
tde_keys_edit(TdeDataKeyEditor edit, void *arg)
{
	Edit		edits = {edit, arg};

	/* to the end of the transaction: no key is made meanwhile that would escape it */
	int			count = change_rows(ShareRowExclusiveLock, NoLock, edited_tuple, &edits);

	if (count > 0)
	{
		CacheInvalidateRelcacheByRelid(tde_keys_relid());
		tde_keys_changed = true;
		tde_keys_made_keys = tde_keys_changed_rows = true;
	}
	return count;
}

static void
note_prepared(const TdeDataKey *row, void *any)
{
	*(bool *) any |= row->state == TDE_STATE_PREPARED;
}

static bool
activate_row(TdeDataKey *row, void *slot)
{
	if (row->slot != *(int32 *) slot || row->state != TDE_STATE_PREPARED)
		return false;
	tde_keywrap_activate(row);
	return true;
}

void
tde_keys_activate(int32 slot)
{
	bool		any = false;

	tde_keys_scan_slot(slot, note_prepared, &any);
	if (any)
		(void) tde_keys_edit(activate_row, &slot);
}

typedef struct Description
{
	const char *name;
	const char *text;			/* NULL: none */
} Description;

/* Of a name's rows only those of the living key: a destroyed one may have had the same name. */
static HeapTuple
described_tuple(Relation rel, HeapTuple tuple, void *arg)
{
	Description *description = arg;
	Datum		values[TDE_KEYS_COLUMNS] = {0};
	bool		nulls[TDE_KEYS_COLUMNS] = {0};
	bool		replace[TDE_KEYS_COLUMNS] = {0};
	TdeDataKey	row;

	tde_keys_row(rel, tuple, &row);
	/* those that every database has are without a name there */
	if (row.name[0] == '\0' || strcmp(row.name, description->name) != 0 || row.state == TDE_STATE_DESTROYED)
		return NULL;
	if (description->text)
		values[TDE_KEYS_DESCRIPTION - 1] = CStringGetTextDatum(description->text);
	nulls[TDE_KEYS_DESCRIPTION - 1] = description->text == NULL;
	replace[TDE_KEYS_DESCRIPTION - 1] = true;
	return tde_permanent_modify(rel, tuple, TDE_KEYS_COLUMNS, values, nulls, replace);
}

int
tde_keys_describe(const char *name, const char *text)
{
	Description description = {name, text};

	/* not to the end of the transaction, which would keep others from making keys */
	int			count = change_rows(RowExclusiveLock, RowExclusiveLock, described_tuple, &description);

	tde_keys_described = true;
	return count;
}

/* ---- rows that change, come and go together ---- */

/* Returns the change of the row of this number; NULL: it stays. */
static TdeKeyChange *
change_of(List *changes, uint32 id)
{
	ListCell   *cell;

	foreach(cell, changes)
	{
		TdeKeyChange *change = lfirst(cell);

		if (change->id == id)
			return change;
	}
	return NULL;
}

/* What is wrapped depends on all fields, so this comes last.  A destroyed key has nothing to wrap. */
static void
wrap(TdeKeyChange *change)
{
	TdeDataKey *row = &change->row;

	if (change->data_key)
		tde_keywrap_wrap(row, change->data_key);
	else
	{
		row->wrapped_size = 0;
		memset(row->kcv, 0, sizeof(row->kcv));
	}
}

/* The tuple of the changed row, with the description that it has. */
static HeapTuple
new_tuple(Relation rel, HeapTuple old, const TdeDataKey *row)
{
	HeapTuple	new = tde_keys_tuple(rel, row);
	Datum		values[TDE_KEYS_COLUMNS] = {0};
	bool		nulls[TDE_KEYS_COLUMNS] = {0};
	bool		replace[TDE_KEYS_COLUMNS] = {0};

	values[TDE_KEYS_DESCRIPTION - 1] = heap_getattr(old, TDE_KEYS_DESCRIPTION, RelationGetDescr(rel), &nulls[TDE_KEYS_DESCRIPTION - 1]);
	replace[TDE_KEYS_DESCRIPTION - 1] = true;
	return tde_permanent_modify(rel, new, TDE_KEYS_COLUMNS, values, nulls, replace);
}

/* Take away the rows that go or change; returns the tuples that come in place of the latter. */
static List *
take_old_rows(Relation rel, List *changes)
{
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	HeapTuple	tuple;
	List	   *tuples = NIL;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		TdeDataKey	row;
		TdeKeyChange *change;

		CHECK_FOR_INTERRUPTS();
		tde_keys_row(rel, tuple, &row);
		change = change_of(changes, row.id);
		if (change == NULL)
			continue;
		if (!change->remove)
		{
			wrap(change);
			tuples = lappend(tuples, new_tuple(rel, tuple, &change->row));
		}
		CatalogTupleDelete(rel, &tuple->t_self);
	}
	systable_endscan(scan);
	return tuples;
}

/* The tuples of the new rows. */
static List *
make_new_rows(Relation rel, List *changes)
{
	List	   *tuples = NIL;
	const TdeDataKey *first = NULL;
	ListCell   *cell;

	foreach(cell, changes)
	{
		TdeKeyChange *change = lfirst(cell);

		if (change->id != 0)
			continue;
		tde_keys_number(rel, &change->row);
		if (tde_keys_uncommitted == 0)
			tde_keys_uncommitted = change->row.id;
		/* of a database without keys: this is its identity from now on */
		if (first)
			memcpy(change->row.database, first->database, sizeof(first->database));
		first = &change->row;
		wrap(change);
		tuples = lappend(tuples, tde_keys_tuple(rel, &change->row));
	}
	return tuples;
}

void
tde_keys_change(List *changes)
{
	Relation	rel = table_open(tde_keys_require(), RowExclusiveLock);
	List	   *tuples;
	ListCell   *cell;

	tde_permanent_check_indexes(rel);
	/* first, so that rows may exchange slots and versions, which are unique */
	tuples = take_old_rows(rel, changes);
	tuples = list_concat(tuples, make_new_rows(rel, changes));
	foreach(cell, tuples)
		CatalogTupleInsert(rel, lfirst(cell));
	table_close(rel, NoLock);
	CacheInvalidateRelcacheByRelid(tde_keys_relid());
	CommandCounterIncrement();
	tde_keys_changed = true;
	tde_keys_made_keys = tde_keys_changed_rows = tde_keys_freed = true;
}

int32
tde_keys_renew_hash(void)
{
	TdeKeyChange change = {.row = {.slot = TDE_SLOT_HASH, .kind = TDE_KIND_HASH, .state = TDE_STATE_ACTIVE, .created = GetCurrentTimestamp()}};
	uint8		data_key[TDE_DATA_KEY_SIZE];
	int32		last = 0;
	ListCell   *cell;

	foreach(cell, tde_keys_rows())
	{
		const TdeDataKey *row = lfirst(cell);

		if (row->slot != TDE_SLOT_HASH)
			continue;
		/* not under another wallet, as in making others */
		tde_keywrap_require_master(row);
		last = Max(last, row->version);
	}
	change.row.version = tde_keys_number_after(last);
	tde_keys_new_uuid(change.row.uuid);
	tde_check(tde_random_key(data_key, sizeof(data_key)));
	change.data_key = data_key;
	PG_TRY();
	{
		tde_keys_change(list_make1(&change));
	}
	PG_FINALLY();
	{
		OPENSSL_cleanse(data_key, sizeof(data_key));
	}
	PG_END_TRY();
	return change.row.version;
}

void
tde_keys_start_counts(uint32 key_id)
{
	Oid			relid = tde_extension_table("key_counts");
	Datum		values[3] = {Int32GetDatum((int32) key_id), Int64GetDatum(0), Int64GetDatum(0)};
	bool		nulls[3] = {false, false, false};
	Relation	rel;
	HeapTuple	tuple;

	if (!OidIsValid(relid))
		return;
	rel = table_open(relid, RowExclusiveLock);
	tuple = tde_permanent_form(rel, lengthof(values), values, nulls);
	/* what this server has encrypted concerns no other */
	tde_permanent_insert(rel, tuple, HEAP_INSERT_NO_LOGICAL);
	heap_freetuple(tuple);
	table_close(rel, RowExclusiveLock);
}
