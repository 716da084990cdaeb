/*
 * table.c - finding and reading the table of data keys, and following its changes.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "keys/table_rows.h"
#include "server/compat.h"
#include "server/counters.h"
#include "server/error.h"
#include "server/extension.h"
#include "server/memory.h"
#include "server/permanent.h"

bool		tde_keys_changed = true;
bool		tde_keys_made_keys = false;
bool		tde_keys_changed_rows = false;
bool		tde_keys_freed = false;
bool		tde_keys_described = false;
uint32		tde_keys_uncommitted = 0;

/* The table and its indexes; 0 until they are looked for. */
static Oid	keys_relid = InvalidOid;
static Oid	indexes[TDE_KEYS_COLUMNS];	/* by the first column, the others in their order */
static bool indexes_known = false;

/* ---- finding the table ---- */

/*
 * For each invalidation of a relation.  Only flags are set, since no catalog may be looked at here; TDE_FORGET_RELID is no relation, but the order of
 * another process to forget secrets (server/memory.c).
 */
static void
keys_table_changed(Oid relid)
{
	bool		changed = relid == InvalidOid || relid == keys_relid;

	if (changed)
	{
		keys_relid = InvalidOid;
		indexes_known = false;
		tde_keys_changed = true;
	}

	/*
	 * Not for each change of the table: on a standby whose wallet lacks a new master key, who has a data key ready reads on.  All
	 * relations are meant when messages were lost, and with them the one to forget.
	 */
	if (relid == InvalidOid || relid == TDE_FORGET_RELID)
		tde_memory_forget_here();
}

/*
 * What the end of a transaction means for keys.  A commit that has made or changed keys tells all processes to forget theirs: a destroyed key must
 * not live on in an idle one.
 */
static void
keys_at_end(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_PREPARE:
			if (tde_keys_changed_rows || tde_keys_described)
				ereport(ERROR,
						(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						 errmsg("cannot PREPARE a transaction that has changed encryption keys"),
						 errdetail("Nobody could use the changed keys until it is committed or rolled back."),
						 errhint("Change keys in a transaction of its own.")));
			break;
		case XACT_EVENT_ABORT:
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_PREPARE:
			tde_counters_transaction_ends();
			/* what was read in a transaction that is rolled back may have been its own, uncommitted changes */
			if (event == XACT_EVENT_ABORT)
				tde_keys_changed |= tde_keys_made_keys;
			else if (tde_keys_made_keys)
				tde_memory_forget_everywhere();
			tde_keys_made_keys = tde_keys_changed_rows = tde_keys_freed = tde_keys_described = false;
			tde_keys_uncommitted = 0;
			break;
		case XACT_EVENT_PARALLEL_COMMIT:
		case XACT_EVENT_PARALLEL_ABORT:
			tde_counters_transaction_ends();
			break;
		default:
			break;
	}
}

/* Rows that a savepoint's rollback has taken away were perhaps read and remembered. */
static void
subtransaction_callback(SubXactEvent event, SubTransactionId mine, SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		tde_keys_changed |= tde_keys_made_keys;
}

/* The callbacks are registered with the first look: nobody has changed the table who has not looked for it. */
Oid
tde_keys_relid(void)
{
	static bool registered = false;

	if (!registered)
	{
		RegisterXactCallback(keys_at_end, NULL);
		RegisterSubXactCallback(subtransaction_callback, NULL);
	}
	registered = true;
	if (!OidIsValid(keys_relid))
		keys_relid = tde_extension_table("data_keys");
	return keys_relid;
}

void
tde_keys_init(void)
{
	tde_memory_when_relation_changes(keys_table_changed);
}

/* ---- rows ---- */

/* Copies a bytea, at most as many bytes as there is room for; *used is its own size, so the caller sees what was cut off. */
static void
copy_bytes(uint8 *to, size_t room, size_t *used, Datum value)
{
	struct varlena *bytes = PG_DETOAST_DATUM_PACKED(value);
	size_t		size = VARSIZE_ANY_EXHDR(bytes);

	*used = size;
	memcpy(to, VARDATA_ANY(bytes), Min(size, room));
}

/*
 * The table as this version knows it.  A later one's may have more columns, which come after these: where an older library is loaded
 * still, on a standby for example, it goes on reading, and makes and changes no rows (tde_permanent_form()).
 */
static const Oid column_types[TDE_KEYS_COLUMNS] = {
	INT4OID, UUIDOID, INT4OID, INT4OID, CHAROID, CHAROID, TIMESTAMPTZOID, UUIDOID, UUIDOID, BYTEAOID, BYTEAOID, BOOLOID, TEXTOID, TEXTOID
};

void
tde_keys_row(Relation rel, HeapTuple tuple, TdeDataKey *row)
{
	Datum		values[MaxHeapAttributeNumber];
	bool		nulls[MaxHeapAttributeNumber];
	size_t		kcv_size;
	size_t		wrapped_size;

	tde_permanent_check_columns(rel, TDE_KEYS_COLUMNS, column_types);
	/* all of it, padding included: rows are copied, and pg_upgrade's form holds them whole */
	memset(row, 0, sizeof(*row));
	heap_deform_tuple(tuple, RelationGetDescr(rel), values, nulls);
	for (int i = 0; i < TDE_KEYS_NAME - 1; i++)
		if (nulls[i])
			ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("table of data keys holds an unexpected null")));

	row->id = DatumGetInt32(values[TDE_KEYS_ID - 1]);
	memcpy(row->uuid, DatumGetUUIDP(values[TDE_KEYS_UUID - 1])->data, UUID_LEN);
	row->slot = DatumGetInt32(values[TDE_KEYS_SLOT - 1]);
	row->version = DatumGetInt32(values[TDE_KEYS_VERSION - 1]);
	row->kind = DatumGetChar(values[TDE_KEYS_KIND - 1]);
	row->state = DatumGetChar(values[TDE_KEYS_STATE - 1]);
	row->created = DatumGetTimestampTz(values[TDE_KEYS_CREATED - 1]);
	memcpy(row->database, DatumGetUUIDP(values[TDE_KEYS_DATABASE - 1])->data, UUID_LEN);
	memcpy(row->master, DatumGetUUIDP(values[TDE_KEYS_MASTER - 1])->data, UUID_LEN);
	copy_bytes(row->kcv, sizeof(row->kcv), &kcv_size, values[TDE_KEYS_KCV - 1]);
	copy_bytes(row->wrapped, sizeof(row->wrapped), &wrapped_size, values[TDE_KEYS_WRAPPED - 1]);
	/* a damaged row is an error when its key is needed, and no obstacle to the use of others */
	if (kcv_size != sizeof(row->kcv) || wrapped_size > sizeof(row->wrapped))
		wrapped_size = 0;
	row->wrapped_size = wrapped_size;
	row->erasable = DatumGetBool(values[TDE_KEYS_ERASABLE - 1]);
	if (!nulls[TDE_KEYS_NAME - 1])
		strlcpy(row->name, TextDatumGetCString(values[TDE_KEYS_NAME - 1]), sizeof(row->name));
}

Datum
tde_keys_uuid(const uint8 *bytes)
{
	pg_uuid_t  *uuid = palloc(sizeof(pg_uuid_t));

	memcpy(uuid->data, bytes, UUID_LEN);
	return UUIDPGetDatum(uuid);
}

Datum
tde_keys_bytea(const uint8 *bytes, size_t size)
{
	return PointerGetDatum(cstring_to_text_with_len((const char *) bytes, size));
}

HeapTuple
tde_keys_tuple(Relation rel, const TdeDataKey *row)
{
	Datum		values[TDE_KEYS_COLUMNS];
	bool		nulls[TDE_KEYS_COLUMNS] = {0};

	values[TDE_KEYS_ID - 1] = Int32GetDatum(row->id);
	values[TDE_KEYS_UUID - 1] = tde_keys_uuid(row->uuid);
	values[TDE_KEYS_SLOT - 1] = Int32GetDatum(row->slot);
	values[TDE_KEYS_VERSION - 1] = Int32GetDatum(row->version);
	values[TDE_KEYS_KIND - 1] = CharGetDatum(row->kind);
	values[TDE_KEYS_STATE - 1] = CharGetDatum(row->state);
	values[TDE_KEYS_CREATED - 1] = TimestampTzGetDatum(row->created);
	values[TDE_KEYS_DATABASE - 1] = tde_keys_uuid(row->database);
	values[TDE_KEYS_MASTER - 1] = tde_keys_uuid(row->master);
	values[TDE_KEYS_KCV - 1] = tde_keys_bytea(row->kcv, sizeof(row->kcv));
	values[TDE_KEYS_WRAPPED - 1] = tde_keys_bytea(row->wrapped, row->wrapped_size);
	values[TDE_KEYS_ERASABLE - 1] = BoolGetDatum(row->erasable);
	values[TDE_KEYS_NAME - 1] = CStringGetTextDatum(row->name);
	nulls[TDE_KEYS_NAME - 1] = row->name[0] == '\0';
	nulls[TDE_KEYS_DESCRIPTION - 1] = true;
	return tde_permanent_form(rel, TDE_KEYS_COLUMNS, values, nulls);
}

/*
 * Returns true if the index can serve to find rows by its first column.  A DBA may have put others there.  Names have an index that is not unique,
 * under collation "C"; under another one a look-up might miss rows.
 */
static bool
is_of_use(HeapTuple tuple)
{
	Form_pg_index form = (Form_pg_index) GETSTRUCT(tuple);
	AttrNumber	column = form->indkey.values[0];
	bool		isnull;
	Datum		collations = SysCacheGetAttr(INDEXRELID, tuple, Anum_pg_index_indcollation, &isnull);

	return form->indisvalid && !form->indcheckxmin && column > 0 && column <= TDE_KEYS_COLUMNS && !isnull &&
		heap_attisnull(tuple, Anum_pg_index_indexprs, NULL) && heap_attisnull(tuple, Anum_pg_index_indpred, NULL) &&
		(column == TDE_KEYS_NAME ? ((oidvector *) DatumGetPointer(collations))->values[0] == C_COLLATION_OID : form->indisunique && form->indimmediate) &&
		GetSysCacheOid1(RELOID, Anum_pg_class_relam, ObjectIdGetDatum(form->indexrelid)) == BTREE_AM_OID;
}

/* It is not opened: a session that looks for one key needs one of them. */
static void
note_index(Oid oid)
{
	HeapTuple	tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(oid));
	Oid		   *noted;

	if (!HeapTupleIsValid(tuple))
		return;
	if (is_of_use(tuple))
	{
		noted = &indexes[((Form_pg_index) GETSTRUCT(tuple))->indkey.values[0] - 1];
		if (!OidIsValid(*noted))
			*noted = oid;
	}
	ReleaseSysCache(tuple);
}

/* Notes all indexes at once.  An invalidation that arrives meanwhile has them looked for again, and so does an error. */
static void
note_indexes(Relation rel)
{
	List	   *list = RelationGetIndexList(rel);
	ListCell   *cell;

	memset(indexes, 0, sizeof(indexes));
	indexes_known = true;
	/* one that came while the table was opened has had it forgotten, and the next one is to be known */
	keys_relid = RelationGetRelid(rel);
	PG_TRY();
	{
		foreach(cell, list)
			note_index(lfirst_oid(cell));
	}
	PG_CATCH();
	{
		indexes_known = false;
		PG_RE_THROW();
	}
	PG_END_TRY();
	list_free(list);
}

Oid
tde_keys_index(Relation rel, AttrNumber column)
{
	/* as in tde_permanent_index() */
	if (HistoricSnapshotActive())
		return InvalidOid;
	if (!indexes_known)
		note_indexes(rel);
	return indexes[column - 1];
}

/*
 * No snapshot of ours: a NULL snapshot is a fresh one for such a table (the transaction's would miss keys newer than itself) and the
 * historic one during logical decoding.
 */
static void
scan_relation(Relation rel, Oid index, ScanKey key, TdeDataKeyVisitor visit, void *arg)
{
	SysScanDesc scan = systable_beginscan(rel, index, OidIsValid(index), NULL, key ? 1 : 0, key);
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		TdeDataKey	row;

		CHECK_FOR_INTERRUPTS();
		tde_keys_row(rel, tuple, &row);
		visit(&row, arg);
	}
	systable_endscan(scan);
}

void
tde_keys_scan_relation(Relation rel, TdeDataKeyVisitor visit, void *arg)
{
	scan_relation(rel, InvalidOid, NULL, visit, arg);
}

void
tde_keys_scan_where(Relation rel, AttrNumber column, Datum value, TdeDataKeyVisitor visit, void *arg)
{
	ScanKeyData key;
	RegProcedure equal = column == TDE_KEYS_UUID ? F_UUID_EQ : column == TDE_KEYS_NAME ? F_TEXTEQ : F_INT4EQ;

	ScanKeyInit(&key, column, BTEqualStrategyNumber, equal, value);
	scan_relation(rel, tde_keys_index(rel, column), &key, visit, arg);
}

Oid
tde_keys_require(void)
{
	Oid			relid = tde_keys_relid();

	if (!OidIsValid(relid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("extension \"tde_column\" is not installed in this database"),
				 errhint("Run CREATE EXTENSION tde_column.")));
	return relid;
}

/*
 * The table, to look a key up.  A comparison may need that while it holds a page of somebody's index, where a wait could not be
 * interrupted, and could be one for a process that waits for the page: so it does not wait then.
 */
Relation
tde_keys_open(void)
{
	Oid			relid = tde_keys_require();

	if (InterruptHoldoffCount == 0)
		return table_open(relid, AccessShareLock);
	if (!ConditionalLockRelationOid(relid, AccessShareLock))
		ereport(ERROR,
				(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				 errmsg("could not obtain lock on relation \"%s\"", "tde.data_keys"),
				 errdetail("A data key is looked up while a page of an index is held."),
				 errhint("Try again when nobody has the table of keys locked any more.")));
	return table_open(relid, NoLock);
}

void
tde_keys_scan(TdeDataKeyVisitor visit, void *arg)
{
	Relation	rel = tde_keys_open();

	tde_keys_scan_relation(rel, visit, arg);
	table_close(rel, AccessShareLock);
}

static void
append_row(const TdeDataKey *row, void *arg)
{
	List	  **rows = arg;
	TdeDataKey *copy = palloc(sizeof(TdeDataKey));

	*copy = *row;
	*rows = lappend(*rows, copy);
}

List *
tde_keys_rows(void)
{
	List	   *rows = NIL;

	tde_keys_scan(append_row, &rows);
	return rows;
}

static void
copy_row(const TdeDataKey *row, void *arg)
{
	*(TdeDataKey *) arg = *row;
}

/* Copies the one row in which the column has this value. */
static bool
find_one(AttrNumber column, Datum value, TdeDataKey *found)
{
	Relation	rel = tde_keys_open();

	found->id = 0;
	tde_keys_scan_where(rel, column, value, copy_row, found);
	table_close(rel, AccessShareLock);
	return found->id != 0;
}

bool
tde_keys_find(uint32 id, TdeDataKey *found)
{
	return find_one(TDE_KEYS_ID, Int32GetDatum((int32) id), found);
}

bool
tde_keys_find_uuid(const uint8 uuid[UUID_LEN], TdeDataKey *found)
{
	return find_one(TDE_KEYS_UUID, PointerGetDatum(uuid), found);
}

void
tde_keys_scan_slot(int32 slot, TdeDataKeyVisitor visit, void *arg)
{
	Relation	rel = tde_keys_open();

	tde_keys_scan_where(rel, TDE_KEYS_SLOT, Int32GetDatum(slot), visit, arg);
	table_close(rel, AccessShareLock);
}

long
tde_keys_age(uint32 id)
{
	TdeDataKey	row;

	return tde_keys_find(id, &row) ? TimestampDifferenceMilliseconds(row.created, GetCurrentTimestamp()) : 0;
}

bool
tde_keys_is_newer(const TdeDataKey *row, int32 slot, char kind, const TdeDataKey *best)
{
	return row->slot == slot && row->kind == kind && !tde_keys_only_reads(row) &&
		(best == NULL || row->version > best->version);
}
