/*
 * check_results.c - values that go to the client encrypted, to be decrypted by output functions, are looked at before.
 *
 * Without transparent results, in COPY (query) TO, and inside of rows, PostgreSQL calls the output functions, which are told of a column no more
 * than its type.  Here it is known what the column declares, or the row's type.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "tcop/pquery.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/portal.h"
#include "utils/typcache.h"

#include "client/catalog.h"
#include "client/check_results.h"
#include "client/plain_form.h"
#include "client/result.h"
#include "server/compat.h"
#include "server/receiver.h"
#include "type/ciphertext_form.h"
#include "type/datum.h"
#include "type/declared.h"
#include "type/inside.h"
#include "type/opened.h"

/* A column whose values are looked at. */
typedef struct CheckedColumn
{
	int			index;			/* from 0 on */
	TdeType    *type;			/* of it; NULL: values are inside of others */
	int32		declared;		/* tde_declared() of it */
	TdeInside  *inside;			/* then where; NULL: nowhere in this row */
	Oid			row_type;		/* of rows of no named type: that of the last one, which tells what is inside */
	int32		row_typmod;
} CheckedColumn;

/* Lives for one run of the executor. */
typedef struct CheckingReceiver
{
	TdeReceiver pub;			/* next: who gets the rows, as they are */
	MemoryContext context;		/* of this, and of what is known of types */
	MemoryContext row;			/* for what is made to look at one row; NULL: nothing is */
	TdeColumn  *origins;		/* of the columns, for tde.decryptions; NULL: not asked for */
	int			count;
	CheckedColumn columns[FLEXIBLE_ARRAY_MEMBER];
} CheckingReceiver;

/* ---- one value ---- */

/* What does not fit is read once, as its column's declaration wants: that throws, or warns where tde_column.key_wall says so. */
static void
check_value(TdeType *type, Datum value, int32 declared)
{
	if (!tde_datum_fits(type, value, declared))
		tde_datum_free(type, tde_datum_decrypt_once(type, value, declared));
}

static Datum
check_inside(TdeType *type, Datum value, int32 typmod, void *arg)
{
	check_value(type, value, tde_declared(type, typmod));
	return value;
}

/* Looks up what is inside of this row of no named type, unless it is of the same type as the last one. */
static void
look_up_row(CheckingReceiver *receiver, CheckedColumn *column, Datum value)
{
	HeapTupleHeader header = DatumGetHeapTupleHeader(value);
	Oid			type = HeapTupleHeaderGetTypeId(header);
	int32		typmod = HeapTupleHeaderGetTypMod(header);
	MemoryContext before;
	TupleDesc	fields;

	if (type == column->row_type && typmod == column->row_typmod)
		return;
	before = MemoryContextSwitchTo(receiver->context);
	fields = lookup_rowtype_tupdesc(type, typmod);
	column->inside = tde_inside_find_fields(fields);
	column->row_type = type;
	column->row_typmod = typmod;
	ReleaseTupleDesc(fields);
	MemoryContextSwitchTo(before);
}

static void
check_column(CheckingReceiver *receiver, CheckedColumn *column, Datum value)
{
	MemoryContext before;

	if (column->type)
	{
		check_value(column->type, value, column->declared);
		return;
	}
	before = MemoryContextSwitchTo(receiver->row);
	if (OidIsValid(column->row_type))
		look_up_row(receiver, column, value);
	if (column->inside)
		(void) tde_inside_replace(column->inside, value, check_inside, NULL);
	MemoryContextSwitchTo(before);
}

/* The output functions are told of no column: the module knows by the row that is on its way. */
static bool
send_counted(CheckingReceiver *receiver, TupleTableSlot *slot)
{
	bool		goes_on;

	tde_decryptions->row(slot, receiver->origins);
	goes_on = receiver->pub.next->receiveSlot(slot, receiver->pub.next);
	tde_decryptions->row(NULL, NULL);
	return goes_on;
}

static bool
check_row(TupleTableSlot *slot, DestReceiver *self)
{
	CheckingReceiver *receiver = (CheckingReceiver *) self;

	slot_getallattrs(slot);
	for (int i = 0; i < receiver->count; i++)
	{
		int			index = receiver->columns[i].index;

		if (!slot->tts_isnull[index])
			check_column(receiver, &receiver->columns[i], slot->tts_values[index]);
	}
	if (receiver->row)
		MemoryContextReset(receiver->row);
	if (unlikely(receiver->origins != NULL))
		return send_counted(receiver, slot);
	return receiver->pub.next->receiveSlot(slot, receiver->pub.next);
}

/* ---- which columns ---- */

/* Returns true if the portal keeps these rows at first: of RETURNING, of EXECUTE and FETCH, and of a cursor WITH HOLD.  Others fill tables. */
static bool
is_kept(QueryDesc *query)
{
	return ActivePortal && (ActivePortal->queryDesc == query || list_member_ptr(ActivePortal->stmts, query->plannedstmt));
}

/* Returns true if output functions are going to print these rows for somebody.  The ciphertext form needs no look: it says what it is. */
static bool
is_given_out(QueryDesc *query)
{
	if (query->dest == NULL || tde_ciphertext_wanted())
		return false;
	switch (query->dest->mydest)
	{
		case DestRemote:
		case DestRemoteExecute:
		case DestRemoteSimple:
		case DestDebug:
		case DestCopyOut:
			return true;
		case DestTuplestore:
			return is_kept(query);
		default:
			return false;
	}
}

/*
 * Returns true, and *column, for one that is to be looked at.  decrypted: columns of encrypted types, and arrays of them, are looked at by who
 * decrypts them.  plain_rows: so are rows (client/rows.c), which are not of the type that they are declared of.
 */
static bool
find_column(Form_pg_attribute attribute, int index, bool decrypted, bool plain_rows, CheckedColumn *column)
{
	int32		typmod = attribute->atttypmod;
	Oid			oid = attribute->atttypid;

	*column = (CheckedColumn) {.index = index, .row_type = oid == RECORDOID ? RECORDOID : InvalidOid, .row_typmod = -1};
	if (plain_rows && tde_plain_type_has_rows(oid))
		return false;
	if (oid == RECORDOID)
		return true;
	if (likely(oid < FirstNormalObjectId) || (decrypted && tde_result_type(oid)))
		return false;
	column->type = tde_type_find(getBaseTypeAndTypmod(oid, &typmod));
	if (column->type)
		column->declared = tde_declared(column->type, typmod);
	else
		column->inside = tde_inside_find(oid, typmod);
	return column->type ? typmod >= 0 || tde_track_decryptions : column->inside != NULL;
}

/* Puts in a receiver in a memory context of its own, which is all there is to free.  Where no column is to be looked at, none stays. */
static pg_noinline void
check(QueryDesc *query, bool decrypted)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "tde checked results", ALLOCSET_SMALL_SIZES);
	MemoryContext before = MemoryContextSwitchTo(context);
	TupleDesc	rows = query->tupDesc;
	CheckingReceiver *receiver = tde_receiver_new(offsetof(CheckingReceiver, columns) + rows->natts * sizeof(CheckedColumn), check_row, tde_receiver_startup);
	bool		plain_rows = tde_transparent_catalog && query->dest->mydest != DestCopyOut;
	bool		nested = false;

	for (int i = 0; i < rows->natts; i++)
		if (find_column(TupleDescAttr(rows, i), i, decrypted, plain_rows, &receiver->columns[receiver->count]))
			nested |= receiver->columns[receiver->count++].type == NULL;
	if (unlikely(tde_track_decryptions) && receiver->count > 0)
	{
		receiver->origins = palloc(rows->natts * sizeof(TdeColumn));
		for (int i = 0; i < rows->natts; i++)
			receiver->origins[i] = tde_decryptions->result(query, i);
	}
	receiver->context = context;
	if (nested)
		receiver->row = AllocSetContextCreate(context, "tde checked row", ALLOCSET_SMALL_SIZES);
	MemoryContextSwitchTo(before);
	if (receiver->count == 0)
	{
		MemoryContextDelete(context);
		return;
	}
	tde_receiver_set_next(&receiver->pub, query->dest);
	query->dest = &receiver->pub.pub;
}

void
tde_results_check_begin(QueryDesc *query, bool decrypted)
{
	if (query->tupDesc != NULL && is_given_out(query) && unlikely(tde_may_hold_encrypted(query->tupDesc)))
		check(query, decrypted);
}

void
tde_results_check_end(QueryDesc *query)
{
	CheckingReceiver *receiver = (CheckingReceiver *) query->dest;

	if (likely(receiver == NULL || receiver->pub.pub.receiveSlot != check_row))
		return;
	query->dest = receiver->pub.next;
	MemoryContextDelete(receiver->context);
}
