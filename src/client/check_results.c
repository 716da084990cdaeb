/*
 * check_results.c - values that go to the client encrypted, to be decrypted by output functions, are looked at before.
 *
 * Without transparent results, and in COPY (query) TO, PostgreSQL calls the output functions, which are told of a column no more than its
 * type.  Here it is known what the column declares.
 */
#include "postgres.h"

#include "access/transam.h"
#include "utils/lsyscache.h"

#include "client/check_results.h"
#include "server/compat.h"
#include "server/receiver.h"
#include "type/ciphertext_form.h"
#include "type/datum.h"
#include "type/declared.h"
#include "type/inside.h"

typedef struct CheckedColumn
{
	int			index;
	TdeType    *type;
	int32		declared;
} CheckedColumn;

typedef struct CheckingReceiver
{
	TdeReceiver pub;
	int			count;
	CheckedColumn columns[FLEXIBLE_ARRAY_MEMBER];
} CheckingReceiver;

static bool
receive(TupleTableSlot *slot, DestReceiver *self)
{
	CheckingReceiver *receiver = (CheckingReceiver *) self;

	slot_getallattrs(slot);
	for (int i = 0; i < receiver->count; i++)
	{
		CheckedColumn *column = &receiver->columns[i];
		Datum		value = slot->tts_values[column->index];

		/* reading it looks again, if it is told what to look for */
		if (!slot->tts_isnull[column->index] && !tde_datum_fits(column->type, value, column->declared))
			tde_datum_free(column->type, tde_datum_decrypt_once(column->type, value, column->declared));
	}
	return receiver->pub.next->receiveSlot(slot, receiver->pub.next);
}

static bool
is_given_out(DestReceiver *receiver)
{
	if (receiver == NULL || tde_ciphertext_wanted())
		return false;
	switch (receiver->mydest)
	{
		case DestRemote:
		case DestRemoteExecute:
		case DestRemoteSimple:
		case DestDebug:
		case DestCopyOut:
			return true;
		default:
			return false;
	}
}

/* The columns that declare something; how many there are. */
static int
find_columns(TupleDesc rows, CheckedColumn *columns)
{
	int			count = 0;

	for (int i = 0; i < rows->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(rows, i);
		int32		typmod = attribute->atttypmod;
		TdeType    *type;

		if (likely(attribute->atttypid < FirstNormalObjectId))
			continue;
		type = tde_type_find(getBaseTypeAndTypmod(attribute->atttypid, &typmod));
		if (type && typmod >= 0)
			columns[count++] = (CheckedColumn) {i, type, tde_declared(type, typmod)};
	}
	return count;
}

static pg_noinline void
check(QueryDesc *query)
{
	CheckingReceiver *receiver = tde_receiver_new(offsetof(CheckingReceiver, columns) + query->tupDesc->natts * sizeof(CheckedColumn), receive,
												  tde_receiver_startup);

	receiver->count = find_columns(query->tupDesc, receiver->columns);
	if (receiver->count == 0)
		return;
	tde_receiver_set_next(&receiver->pub, query->dest);
	query->dest = &receiver->pub.pub;
}

void
tde_results_check_begin(QueryDesc *query)
{
	if (is_given_out(query->dest) && query->tupDesc != NULL && unlikely(tde_has_users_types(query->tupDesc)))
		check(query);
}
