/*
 * foreign_values.c - tde_foreign_values_in(): which columns of a table hold values under another key than they declare.
 *
 * Only the heads of values are read, so that it works with the wallet closed; and nothing is refused.
 *
 * A value is foreign if its key's slot is another one than the column's.
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "keys/table.h"
#include "maintenance/usage_scan.h"
#include "server/compat.h"
#include "server/extension.h"
#include "type/datum.h"
#include "type/inside.h"

PG_FUNCTION_INFO_V1(tde_audit_foreign_values_in);

/* What a count is of. */
typedef struct ForeignId
{
	int32		column;
	int32		declared;		/* slots */
	int32		slot;
} ForeignId;

/* How many values of a column are under one other key. */
typedef struct Foreign
{
	ForeignId	id;				/* hash key */
	int64		count;
} Foreign;

/* The slot of a key that values name, looked up once for each key. */
typedef struct KnownKey
{
	uint32		id;				/* hash key */
	int32		slot;			/* TDE_NO_SLOT: there is no such key */
} KnownKey;

/* What is found in a table. */
typedef struct Search
{
	HTAB	   *found;
	HTAB	   *keys;
	TdeInside **columns;		/* by number - 1; NULL where nothing is encrypted */
	AttrNumber	last;			/* the last column where something is */
	AttrNumber	column;			/* the one that is looked at */
} Search;

/* ---- values ---- */

static int32
slot_of(Search *search, uint32 id)
{
	bool		known;
	KnownKey   *key = hash_search(search->keys, &id, HASH_ENTER, &known);
	TdeDataKey	row;

	if (!known)
		key->slot = TDE_NO_SLOT;
	if (!known && tde_keys_find(id, &row))
		key->slot = row.slot;
	return key->slot;
}

/* A TdeInside callback as if to change the value; it returns what it got.  Only heads are read, so no key is needed. */
static Datum
look(TdeType *type, Datum value, int32 typmod, void *arg)
{
	Search	   *search = arg;
	ForeignId	id = {search->column};
	TdeHeader	header;
	Foreign    *foreign;
	bool		counted;

	/* of what is damaged, or under no key, the key is not known */
	if (typmod < 0 || !tde_datum_header(value, &header))
		return value;
	id.declared = tde_type_modifiers(type, typmod).slot;
	id.slot = slot_of(search, header.key_id);
	if (id.slot == TDE_NO_SLOT || id.slot == id.declared)
		return value;
	foreign = hash_search(search->found, &id, HASH_ENTER, &counted);
	foreign->count = counted ? foreign->count + 1 : 1;
	return value;
}

/* ---- tables ---- */

static void
look_at_row(Search *search, TupleTableSlot *row)
{
	slot_getsomeattrs(row, search->last);
	for (AttrNumber i = 1; i <= search->last; i++)
	{
		search->column = i;
		if (search->columns[i - 1] && !row->tts_isnull[i - 1])
			(void) tde_inside_replace(search->columns[i - 1], row->tts_values[i - 1], look, search);
	}
}

/* Looks at the first so many pages. */
static void
look_at_rows(Search *search, Relation rel, BlockNumber pages)
{
	MemoryContext per_row = AllocSetContextCreate(CurrentMemoryContext, "tde_column row", ALLOCSET_DEFAULT_SIZES);
	TdeRows    *rows = tde_scan_rows_begin(rel);
	TupleTableSlot *row;

	while ((row = tde_scan_rows_next(rows)) != NULL && ItemPointerGetBlockNumberNoCheck(&row->tts_tid) < pages)
	{
		MemoryContext before = MemoryContextSwitchTo(per_row);

		look_at_row(search, row);
		MemoryContextSwitchTo(before);
		MemoryContextReset(per_row);
	}
	tde_scan_rows_end(rows);
	MemoryContextDelete(per_row);
}

/* Finds the columns that can hold encrypted values.  Others cost nothing then. */
static void
find_foreign_columns(Search *search, TupleDesc columns)
{
	search->columns = palloc0(Max(columns->natts, 1) * sizeof(TdeInside *));
	for (int i = 0; i < columns->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(columns, i);

		if (!column->attisdropped)
			search->columns[i] = tde_inside_find(column->atttypid, column->atttypmod);
		if (search->columns[i])
			search->last = i + 1;
	}
}

/* Returns a row for each column and other key: column, the key that it declares, the other one, and how many values. */
static void
put_found(Search *search, Relation rel, ReturnSetInfo *result)
{
	HASH_SEQ_STATUS status;
	Foreign    *foreign;

	hash_seq_init(&status, search->found);
	while ((foreign = hash_seq_search(&status)) != NULL)
	{
		Datum		values[4];
		bool		nulls[4] = {0};

		CHECK_FOR_INTERRUPTS();
		values[0] = NameGetDatum(&TupleDescAttr(RelationGetDescr(rel), foreign->id.column - 1)->attname);
		values[1] = CStringGetTextDatum(tde_keys_slot_called(foreign->id.declared));
		values[2] = CStringGetTextDatum(tde_keys_slot_called(foreign->id.slot));
		values[3] = Int64GetDatum(foreign->count);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
}

static HTAB *
make_table(const char *name, Size key, Size entry)
{
	HASHCTL		control = {.keysize = key, .entrysize = entry, .hcxt = CurrentMemoryContext};

	return hash_create(name, 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/*
 * tde_foreign_values_in(relation regclass, pages int4, OUT column, declared_key, key, count) - pages: look at so many alone, and do not wait for
 * who has locked the table.  For who may execute tde_foreign_values(); 42501 otherwise.
 */
Datum
tde_audit_foreign_values_in(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	bool		all = PG_ARGISNULL(1);
	Oid			types[] = {REGCLASSOID};
	Search		search = {0};
	Relation	rel;

	if (!tde_extension_may_execute("tde_foreign_values", types, lengthof(types), GetUserId()))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FUNCTION, "tde_foreign_values");
	InitMaterializedSRF(fcinfo, 0);
	if (all)
		LockRelationOid(relid, AccessShareLock);
	else if (!ConditionalLockRelationOid(relid, AccessShareLock))
		return (Datum) 0;
	rel = try_relation_open(relid, NoLock);
	if (rel == NULL)
		return (Datum) 0;
	search.found = make_table("tde_column foreign values", sizeof(ForeignId), sizeof(Foreign));
	search.keys = make_table("tde_column keys", sizeof(uint32), sizeof(KnownKey));
	find_foreign_columns(&search, RelationGetDescr(rel));
	if (search.last > 0 && !RELATION_IS_OTHER_TEMP(rel))
		look_at_rows(&search, rel, all ? MaxBlockNumber : PG_GETARG_INT32(1));
	put_found(&search, rel, (ReturnSetInfo *) fcinfo->resultinfo);
	relation_close(rel, AccessShareLock);
	return (Datum) 0;
}
