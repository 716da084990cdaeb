/*
 * modifiers.c - the table tde.specifications: modifiers that do not fit into a typmod.
 *
 * Its rows never change and are never removed, so a process looks each one up once, as long as it is the same table.
 *
 * A row is found by its number when a typmod is unpacked, and by its contents when one is packed.  Only this file writes rows: the trigger
 * tde_guard_keys() refuses what SQL would change.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/rel.h"
#include "utils/relcache.h"

#include "keys/cache.h"
#include "keys/modifiers.h"
#include "keys/table.h"
#include "keys/typmod.h"
#include "server/compat.h"
#include "server/extension.h"
#include "server/memory.h"
#include "server/permanent.h"

static const char table_name[] = "specifications";

/* The columns of the table. */
enum
{
	SPEC_NUMBER = 1,
	SPEC_SPEC,
	SPEC_SLOT,
	SPEC_BASE,
	SPEC_COLUMNS = SPEC_BASE
};

/* A row of the table as this process remembers it. */
typedef struct Numbered
{
	int32		number;			/* hash key */
	TdeModifiers mods;
} Numbered;

static HTAB *known = NULL;		/* rows that were looked up */
static Oid	known_relid = InvalidOid;	/* of this table; InvalidOid: it may be another by now */

/* The extension may be dropped, and made anew with another table. */
static void
modifiers_changed(Oid relid)
{
	if (relid == InvalidOid || relid == known_relid)
		known_relid = InvalidOid;
}

void
tde_modifiers_init(void)
{
	known = tde_memory_table_new("tde_column specifications", sizeof(int32), sizeof(Numbered));
	tde_memory_when_relation_changes(modifiers_changed);
}

static void
forget_all(void)
{
	HASH_SEQ_STATUS status;
	Numbered   *entry;

	hash_seq_init(&status, known);
	while ((entry = hash_seq_search(&status)) != NULL)
		(void) hash_search(known, &entry->number, HASH_REMOVE, NULL);
}

/* The row of this number, if it was looked up; NULL if not. */
static const Numbered *
recall(int32 number)
{
	Oid			relid;

	if (!OidIsValid(known_relid) && !IsBinaryUpgrade)
	{
		relid = tde_extension_table(table_name);
		forget_all();
		known_relid = relid;
	}
	return hash_search(known, &number, HASH_FIND, NULL);
}

static void
remember(int32 number, const TdeModifiers *mods)
{
	Numbered   *entry = hash_search(known, &number, HASH_ENTER, NULL);

	entry->mods = *mods;
}

/* Opens the table, of which an extension that was not updated may have none: ERRCODE_UNDEFINED_OBJECT. */
static Relation
open_table(LOCKMODE mode)
{
	static const Oid types[SPEC_COLUMNS] = {INT4OID, INT4OID, INT4OID, INT4OID};
	Oid			relid = tde_extension_table(table_name);
	Relation	rel;

	if (!OidIsValid(relid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("table \"%s\" does not exist", "tde.specifications"),
				 errhint("Run CREATE EXTENSION tde_column, or ALTER EXTENSION tde_column UPDATE.")));
	rel = table_open(relid, mode);
	tde_permanent_check_columns(rel, SPEC_COLUMNS, types);
	return rel;
}

static int32
column_of(Relation rel, HeapTuple tuple, AttrNumber column)
{
	bool		isnull;
	Datum		value = heap_getattr(tuple, column, RelationGetDescr(rel), &isnull);

	return isnull ? -1 : DatumGetInt32(value);
}

static TdeModifiers
modifiers_of(Relation rel, HeapTuple tuple)
{
	TdeModifiers mods;

	tde_typmod_read_row_bits(column_of(rel, tuple, SPEC_SPEC), &mods);
	mods.slot = column_of(rel, tuple, SPEC_SLOT);
	mods.base_typmod = column_of(rel, tuple, SPEC_BASE);
	return mods;
}

/* Reads what the row of this number says.  Returns false if there is none. */
static bool
find_number(int32 number, TdeModifiers *mods)
{
	Relation	rel = open_table(AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	Oid			index = tde_permanent_index(rel, SPEC_NUMBER);

	ScanKeyInit(&key, SPEC_NUMBER, BTEqualStrategyNumber, F_INT4EQ, Int32GetDatum(number));
	scan = systable_beginscan(rel, index, OidIsValid(index), NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		*mods = modifiers_of(rel, tuple);
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return HeapTupleIsValid(tuple);
}

/* Returns the number of the row that says this; 0 if there is none.  The index begins with the specification. */
static int32
number_of(Relation rel, const TdeModifiers *mods)
{
	ScanKeyData keys[3];
	SysScanDesc scan;
	HeapTuple	tuple;
	int32		number = 0;
	Oid			index = tde_permanent_index(rel, SPEC_SPEC);

	ScanKeyInit(&keys[0], SPEC_SPEC, BTEqualStrategyNumber, F_INT4EQ, Int32GetDatum(tde_typmod_row_bits(mods)));
	ScanKeyInit(&keys[1], SPEC_SLOT, BTEqualStrategyNumber, F_INT4EQ, Int32GetDatum(mods->slot));
	ScanKeyInit(&keys[2], SPEC_BASE, BTEqualStrategyNumber, F_INT4EQ, Int32GetDatum(mods->base_typmod));
	scan = systable_beginscan(rel, index, OidIsValid(index), NULL, lengthof(keys), keys);
	if (HeapTupleIsValid(tuple = systable_getnext(scan)))
		number = column_of(rel, tuple, SPEC_NUMBER);
	systable_endscan(scan);
	return number;
}

static int32
last_number(Relation rel)
{
	HeapTuple	tuple = tde_permanent_last(rel, tde_permanent_index(rel, SPEC_NUMBER));

	return tuple ? column_of(rel, tuple, SPEC_NUMBER) : 0;
}

/* Adds a row for what none says yet, and returns its number.  The caller keeps others out. */
static int32
add_row(Relation rel, const TdeModifiers *mods)
{
	Datum		values[SPEC_COLUMNS];
	bool		nulls[SPEC_COLUMNS] = {0};
	int32		last = last_number(rel);
	int32		number;
	HeapTuple	tuple;

	/* casts need rows, too: whoever may make no more than temporary tables does not use up the numbers of others */
	if (last < 0 || last >= (TDE_MAY_CREATE_SCHEMAS() ? TDE_TYPMOD_LAST_NUMBER : TDE_TYPMOD_LAST_NUMBER / 2))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("no more combinations of modifiers can be recorded"),
				 errdetail("The second half of %d is kept for roles with the privilege CREATE on the database.", TDE_TYPMOD_LAST_NUMBER)));
	number = last + 1;
	values[SPEC_NUMBER - 1] = Int32GetDatum(number);
	values[SPEC_SPEC - 1] = Int32GetDatum(tde_typmod_row_bits(mods));
	values[SPEC_SLOT - 1] = Int32GetDatum(mods->slot);
	values[SPEC_BASE - 1] = Int32GetDatum(mods->base_typmod);
	tuple = tde_permanent_form(rel, SPEC_COLUMNS, values, nulls);
	tde_permanent_insert(rel, tuple, 0);
	heap_freetuple(tuple);
	return number;
}

/* The same by whoever does not have the table open. */
static int32
existing_number(const TdeModifiers *mods)
{
	Relation	rel = open_table(AccessShareLock);
	int32		number = number_of(rel, mods);

	table_close(rel, AccessShareLock);
	return number;
}

/* Rows stay for ever: nobody makes any who may not make so much as a temporary table. */
static void
require_privilege(void)
{
	if (!TDE_MAY_CREATE_IN_DATABASE())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to use modifiers that no column is declared with"),
				 errdetail("They do not fit into a type modifier and have no row in tde.specifications yet."),
				 errhint("Omit the modifiers of the cast, or have the privilege TEMPORARY on the database granted.")));
}

/* The number of a row that says this, made now if nobody else has made it meanwhile. */
static int32
make_number(const TdeModifiers *mods)
{
	Relation	rel;
	int32		number;

	require_privilege();
	if (XactReadOnly || RecoveryInProgress() || IsInParallelMode())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("modifiers that no column is declared with cannot be used in a read-only transaction"),
				 errdetail("They do not fit into a type modifier and have no row in tde.specifications yet."),
				 errhint("Omit the modifiers of the cast, or use it in a read-write transaction.")));

	/*
	 * Look again under a lock that keeps others out; it is released at once, not at the end of the transaction.  Not one on the table
	 * itself, which REINDEX CONCURRENTLY may hold while it waits for this transaction.
	 */
	rel = open_table(RowExclusiveLock);
	LockDatabaseObject(RelationRelationId, RelationGetRelid(rel), 1, ExclusiveLock);
	number = number_of(rel, mods);
	if (number == 0)
		number = add_row(rel, mods);
	UnlockDatabaseObject(RelationRelationId, RelationGetRelid(rel), 1, ExclusiveLock);
	table_close(rel, RowExclusiveLock);
	return number;
}

int32
tde_modifiers_pack_known(TdeModLayout layout, const TdeModifiers *mods)
{
	int32		typmod;
	int32		number;

	if (tde_typmod_pack(layout, mods, &typmod))
		return typmod;
	number = existing_number(mods);
	return number > 0 ? tde_modifiers_offer(number, mods) : -1;
}

int32
tde_modifiers_pack(TdeModLayout layout, const TdeModifiers *mods)
{
	int32		typmod = tde_modifiers_pack_known(layout, mods);

	return typmod >= 0 ? typmod : tde_modifiers_offer(make_number(mods), mods);
}

int32
tde_modifiers_offer(int32 number, const TdeModifiers *mods)
{
	remember(number, mods);
	return tde_typmod_of_number(mods->spec, number);
}

TdeModifiers
tde_modifiers_unpack(TdeModLayout layout, int32 typmod)
{
	int32		number = tde_typmod_number(typmod);
	const Numbered *entry;
	TdeModifiers mods;

	if (number == 0)
		return tde_typmod_unpack(layout, typmod);
	entry = recall(number);
	if (entry)
		mods = entry->mods;
	else if (!find_number(number, &mods))
		tde_typmod_invalid(typmod);
	/* so that neither can lead to a value that nothing would read */
	if (tde_spec_refused(mods.spec) != NULL || tde_typmod_of_number(mods.spec, number) != typmod || mods.slot < 0 ||
		!tde_typmod_base_valid(layout, mods.base_typmod))
		tde_typmod_invalid(typmod);
	if (!entry)
		remember(number, &mods);
	return mods;
}
