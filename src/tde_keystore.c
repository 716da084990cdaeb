/*
 * tde_keystore.c - reading tde_data_keys and adding to it.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/index.h"
#include "catalog/pg_extension.h"
#include "commands/extension.h"
#include "commands/sequence.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/sinval.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include <openssl/crypto.h>

#include "tde_compat.h"
#include "tde_crypto.h"
#include "tde_error.h"
#include "tde_keystore.h"
#include "tde_wallet.h"

/* Columns of tde_data_keys. */
enum
{
	COL_ID = 1,
	COL_UUID,
	COL_SLOT,
	COL_VERSION,
	COL_KIND,
	COL_STATE,
	COL_CREATED,
	COL_DATABASE,
	COL_MASTER,
	COL_KCV,
	COL_WRAPPED,
	NUM_COLS = COL_WRAPPED
};

bool		tde_keystore_changed = true;

static Oid	keystore_relid = InvalidOid;
static bool keys_made_in_transaction = false;

/* ---- finding the table ---- */

/* The schema of our extension, whatever search_path says; InvalidOid if it is not installed here. */
static Oid
extension_schema(void)
{
	Oid			extension = get_extension_oid("tde_column", true);
	Relation	rel;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	Oid			schema = InvalidOid;

	if (!OidIsValid(extension))
		return InvalidOid;
	rel = table_open(ExtensionRelationId, AccessShareLock);
	ScanKeyInit(&key, Anum_pg_extension_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(extension));
	scan = systable_beginscan(rel, ExtensionOidIndexId, true, NULL, 1, &key);
	if (HeapTupleIsValid(tuple = systable_getnext(scan)))
		schema = ((Form_pg_extension) GETSTRUCT(tuple))->extnamespace;
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return schema;
}

Oid
tde_keystore_relid(void)
{
	if (!OidIsValid(keystore_relid))
	{
		Oid			schema = extension_schema();

		if (OidIsValid(schema))
			keystore_relid = get_relname_relid("tde_data_keys", schema);
	}
	return keystore_relid;
}

static void
relcache_callback(Datum arg, Oid relid)
{
	if (relid == InvalidOid || relid == keystore_relid)
	{
		keystore_relid = InvalidOid;
		tde_keystore_changed = true;
	}
}

static void
transaction_callback(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_PREPARE:
			if (keys_made_in_transaction)
				ereport(ERROR,
						(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						 errmsg("cannot PREPARE a transaction that has made encryption keys")));
			break;
		case XACT_EVENT_ABORT:
			/* what was read in it may have been its own, uncommitted changes */
			tde_keystore_changed = true;
			/* FALLTHROUGH */
		case XACT_EVENT_COMMIT:
			keys_made_in_transaction = false;
			break;
		default:
			break;
	}
}

static void
subtransaction_callback(SubXactEvent event, SubTransactionId mine, SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		tde_keystore_changed = true;
}

void
tde_keystore_init(void)
{
	CacheRegisterRelcacheCallback(relcache_callback, (Datum) 0);
	RegisterXactCallback(transaction_callback, NULL);
	RegisterSubXactCallback(subtransaction_callback, NULL);
}

/* ---- rows ---- */

static void
copy_bytes(uint8 *to, size_t room, size_t *used, Datum value)
{
	struct varlena *bytes = PG_DETOAST_DATUM_PACKED(value);
	size_t		size = VARSIZE_ANY_EXHDR(bytes);

	*used = size;
	memcpy(to, VARDATA_ANY(bytes), Min(size, room));
}

static void
row_from_tuple(HeapTuple tuple, TupleDesc desc, TdeDataKey *row)
{
	Datum		values[NUM_COLS];
	bool		nulls[NUM_COLS];
	size_t		kcv_size;
	size_t		wrapped_size;

	heap_deform_tuple(tuple, desc, values, nulls);
	for (int i = 0; i < NUM_COLS; i++)
		if (nulls[i])
			ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("table of data keys holds an unexpected null")));

	row->id = DatumGetInt32(values[COL_ID - 1]);
	memcpy(row->uuid, DatumGetUUIDP(values[COL_UUID - 1])->data, UUID_LEN);
	row->slot = DatumGetInt32(values[COL_SLOT - 1]);
	row->version = DatumGetInt32(values[COL_VERSION - 1]);
	row->kind = DatumGetChar(values[COL_KIND - 1]);
	row->state = DatumGetChar(values[COL_STATE - 1]);
	row->created = DatumGetTimestampTz(values[COL_CREATED - 1]);
	memcpy(row->database, DatumGetUUIDP(values[COL_DATABASE - 1])->data, UUID_LEN);
	memcpy(row->master, DatumGetUUIDP(values[COL_MASTER - 1])->data, UUID_LEN);
	copy_bytes(row->kcv, sizeof(row->kcv), &kcv_size, values[COL_KCV - 1]);
	copy_bytes(row->wrapped, sizeof(row->wrapped), &wrapped_size, values[COL_WRAPPED - 1]);
	/* a damaged row is an error when its key is needed, and no obstacle to the use of others */
	if (kcv_size != sizeof(row->kcv) || wrapped_size > sizeof(row->wrapped))
		wrapped_size = 0;
	row->wrapped_size = wrapped_size;
}

static void
scan_relation(Relation rel, TdeDataKeyVisitor visit, void *arg)
{
	/*
	 * No index and no snapshot of ours: a NULL snapshot is a fresh one for such a table (the transaction's would miss keys
	 * newer than itself) and the historic one during logical decoding, and the table is small.
	 */
	SysScanDesc scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		TdeDataKey	row;

		row_from_tuple(tuple, RelationGetDescr(rel), &row);
		visit(&row, arg);
	}
	systable_endscan(scan);
}

void
tde_keystore_scan(TdeDataKeyVisitor visit, void *arg)
{
	Oid			relid = tde_keystore_relid();
	Relation	rel;

	if (!OidIsValid(relid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("extension \"tde_column\" is not installed in this database"),
				 errhint("Run CREATE EXTENSION tde_column.")));
	rel = table_open(relid, AccessShareLock);
	scan_relation(rel, visit, arg);
	table_close(rel, AccessShareLock);
}

/* ---- adding keys ---- */

static Datum
uuid_datum(const uint8 *bytes)
{
	pg_uuid_t  *uuid = palloc(sizeof(pg_uuid_t));

	memcpy(uuid->data, bytes, UUID_LEN);
	return UUIDPGetDatum(uuid);
}

static Datum
bytea_datum(const uint8 *bytes, size_t size)
{
	return PointerGetDatum(cstring_to_text_with_len((const char *) bytes, size));
}

static HeapTuple
tuple_from_row(const TdeDataKey *row, TupleDesc desc)
{
	Datum		values[NUM_COLS];
	bool		nulls[NUM_COLS] = {0};

	values[COL_ID - 1] = Int32GetDatum(row->id);
	values[COL_UUID - 1] = uuid_datum(row->uuid);
	values[COL_SLOT - 1] = Int32GetDatum(row->slot);
	values[COL_VERSION - 1] = Int32GetDatum(row->version);
	values[COL_KIND - 1] = CharGetDatum(row->kind);
	values[COL_STATE - 1] = CharGetDatum(row->state);
	values[COL_CREATED - 1] = TimestampTzGetDatum(row->created);
	values[COL_DATABASE - 1] = uuid_datum(row->database);
	values[COL_MASTER - 1] = uuid_datum(row->master);
	values[COL_KCV - 1] = bytea_datum(row->kcv, sizeof(row->kcv));
	values[COL_WRAPPED - 1] = bytea_datum(row->wrapped, row->wrapped_size);
	return heap_form_tuple(desc, values, nulls);
}

static void
insert_index_entries(Relation rel, HeapTuple tuple)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(RelationGetDescr(rel), &TTSOpsHeapTuple);
	ListCell   *cell;

	ExecStoreHeapTuple(tuple, slot, false);
	foreach(cell, RelationGetIndexList(rel))
	{
		Relation	index = index_open(lfirst_oid(cell), RowExclusiveLock);
		IndexInfo  *info = BuildIndexInfo(index);
		Datum		values[INDEX_MAX_KEYS];
		bool		nulls[INDEX_MAX_KEYS];

		FormIndexDatum(info, slot, NULL, values, nulls);
		index_insert(index, values, nulls, &tuple->t_self, rel, UNIQUE_CHECK_YES, false, info);
		index_close(index, RowExclusiveLock);
	}
	ExecDropSingleTupleTableSlot(slot);
}

/*
 * Add a row that exists from this moment for everybody, whatever becomes of this transaction: its xmin is frozen, and the
 * WAL is on disk before anything can be encrypted under the key.
 */
static void
insert_for_ever(Relation rel, const TdeDataKey *row)
{
	HeapTuple	tuple = tuple_from_row(row, RelationGetDescr(rel));
	SharedInvalidationMessage message;

	/* a cancel between the two would leave a row that its indexes do not know */
	HOLD_INTERRUPTS();
	heap_insert(rel, tuple, GetCurrentCommandId(true), HEAP_INSERT_FROZEN, NULL);
	insert_index_entries(rel, tuple);
	XLogFlush(XactLastRecEnd);
	RESUME_INTERRUPTS();
	heap_freetuple(tuple);

	/* at once to the other backends of this server; with the commit record, if there is one, to standbys */
	memset(&message, 0, sizeof(message));
	message.rc.id = SHAREDINVALRELCACHE_ID;
	message.rc.dbId = MyDatabaseId;
	message.rc.relId = RelationGetRelid(rel);
	SendSharedInvalidMessages(&message, 1);
	CacheInvalidateRelcache(rel);
	tde_keystore_changed = true;
	keys_made_in_transaction = true;
}

/* What a new row has to know of the others. */
typedef struct Survey
{
	int32		slot;
	char		kind;
	bool		found;			/* an active key of that slot and kind */
	uint32		last_id;
	bool		has_database;
	uint8		database[16];
	TdeDataKey	foreign;		/* a key whose master key the wallet lacks; id 0: there is none */
} Survey;

static void
survey_row(const TdeDataKey *row, void *arg)
{
	Survey	   *survey = arg;
	uint8		master[TDE_MASTER_KEY_SIZE];

	if (row->slot == survey->slot && row->kind == survey->kind && row->state == TDE_STATE_ACTIVE)
		survey->found = true;
	survey->last_id = Max(survey->last_id, row->id);
	memcpy(survey->database, row->database, sizeof(survey->database));
	survey->has_database = true;
	if (!tde_wallet_master_key(row->master, NULL, master))
		survey->foreign = *row;
	OPENSSL_cleanse(master, sizeof(master));
}

/* A random UUID (RFC 9562, version 4). */
static void
new_uuid(uint8 *bytes)
{
	tde_check(tde_random_key(bytes, UUID_LEN));
	bytes[6] = (bytes[6] & 0x0f) | 0x40;
	bytes[8] = (bytes[8] & 0x3f) | 0x80;
}

/* From a sequence, so that the number of a row that was deleted is never given to another key. */
static uint32
next_id(const Survey *survey)
{
	Oid			sequence = get_relname_relid("tde_data_keys_id_seq", get_rel_namespace(tde_keystore_relid()));
	int64		id;

	if (!OidIsValid(sequence))
		elog(ERROR, "sequence of tde_data_keys is missing");
	do
		id = nextval_internal(sequence, false);
	while (id <= survey->last_id);
	if (id > PG_INT32_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED), errmsg("no more data keys can be made")));
	return (uint32) id;
}

static void
make_key(Relation rel, const Survey *survey)
{
	TdeDataKey	row;

	/* what is encrypted under this wallet would be lost when the right one comes back: refuse as reading would */
	if (survey->foreign.id != 0)
		tde_keywrap_require_master(&survey->foreign);

	memset(&row, 0, sizeof(row));
	row.id = next_id(survey);
	row.slot = survey->slot;
	row.version = 1;
	row.kind = survey->kind;
	row.state = TDE_STATE_ACTIVE;
	row.created = GetCurrentTimestamp();
	new_uuid(row.uuid);
	if (survey->has_database)
		memcpy(row.database, survey->database, sizeof(row.database));
	else
		new_uuid(row.database);
	tde_keywrap_new(&row);
	insert_for_ever(rel, &row);
}

bool
tde_keystore_ensure(int32 slot, char kind)
{
	Survey		survey = {.slot = slot, .kind = kind};
	Relation	rel;

	if (!OidIsValid(tde_keystore_relid()))
		return false;
	tde_keystore_scan(survey_row, &survey);
	if (survey.found)
		return true;
	if (RecoveryInProgress() || IsInParallelMode() || XactReadOnly || IsBinaryUpgrade || !tde_wallet_ensure_open())
		return false;

	/* look again under a lock that keeps other makers out; it is released at once, not at the end of the transaction */
	rel = table_open(tde_keystore_relid(), ShareRowExclusiveLock);
	memset(&survey, 0, sizeof(survey));
	survey.slot = slot;
	survey.kind = kind;
	scan_relation(rel, survey_row, &survey);
	if (!survey.found)
		make_key(rel, &survey);
	table_close(rel, ShareRowExclusiveLock);
	return true;
}

bool
tde_keystore_ensure_basic(void)
{
	return tde_keystore_ensure(TDE_SLOT_DEFAULT, TDE_KIND_MAC) &&
		tde_keystore_ensure(TDE_SLOT_CATALOG, TDE_KIND_CATALOG) &&
		tde_keystore_ensure(TDE_SLOT_HASH, TDE_KIND_HASH);
}
