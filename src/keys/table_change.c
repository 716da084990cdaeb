/*
 * table_change.c - changing, adding and removing rows of tde.data_keys together, in the transaction.
 *
 * Other than keys that are made here, which are there for ever at once, these can be taken back by a rollback: nobody else sees them
 * before the commit, and what this transaction encrypts under them goes with it.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "miscadmin.h"
#include "utils/inval.h"
#include "utils/rel.h"

#include "crypto/primitives.h"
#include "keys/table_rows.h"
#include "server/error.h"
#include "server/permanent.h"

/* The row that is changed, and by which change. */
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
changed_tuple(HeapTuple old, TupleDesc desc, const TdeDataKey *row)
{
	HeapTuple	new = tde_keystore_tuple(row, desc);
	Datum		values[TDE_KEYS_COLUMNS] = {0};
	bool		nulls[TDE_KEYS_COLUMNS] = {0};
	bool		replace[TDE_KEYS_COLUMNS] = {0};

	values[TDE_KEYS_DESCRIPTION - 1] = heap_getattr(old, TDE_KEYS_DESCRIPTION, desc, &nulls[TDE_KEYS_DESCRIPTION - 1]);
	replace[TDE_KEYS_DESCRIPTION - 1] = true;
	return heap_modify_tuple(new, desc, values, nulls, replace);
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
		tde_keystore_row(tuple, RelationGetDescr(rel), &row);
		change = change_of(changes, row.id);
		if (change == NULL)
			continue;
		if (!change->remove)
		{
			wrap(change);
			tuples = lappend(tuples, changed_tuple(tuple, RelationGetDescr(rel), &change->row));
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
		tde_keystore_number(rel, &change->row);
		/* of a database without keys: this is its identity from now on */
		if (first)
			memcpy(change->row.database, first->database, sizeof(first->database));
		first = &change->row;
		wrap(change);
		tuples = lappend(tuples, tde_keystore_tuple(&change->row, RelationGetDescr(rel)));
	}
	return tuples;
}

void
tde_keystore_change(List *changes)
{
	Relation	rel = table_open(tde_keystore_require(), RowExclusiveLock);
	List	   *tuples;
	ListCell   *cell;

	tde_permanent_check_indexes(rel);
	/* first, so that rows may exchange slots and versions, which are unique */
	tuples = take_old_rows(rel, changes);
	tuples = list_concat(tuples, make_new_rows(rel, changes));
	foreach(cell, tuples)
		CatalogTupleInsert(rel, lfirst(cell));
	table_close(rel, NoLock);
	CacheInvalidateRelcacheByRelid(tde_keystore_relid());
	CommandCounterIncrement();
	tde_keystore_changed = true;
	tde_keystore_made_keys = tde_keystore_changed_rows = true;
}
