/*
 * result_receiver.c - the encrypted columns of a client's SELECT are decrypted when its rows are sent.
 *
 * client/result.c has made the query decrypt them, so that all who ask see the base types.  But as a part of the plan this
 * costs more than the decryption: planning, permissions and set-up of the function, for each statement.  So the planner gets
 * the query as the client wrote it, and everything inside the executor, workers and spilled rows included, has the encrypted
 * types and says so in its descriptors.  Those who start and run the executor see the base types: the descriptor is
 * replaced when it has started, and the receiver of the rows while it runs.
 *
 * What this file is for, in instructions of a backend (valgrind, PostgreSQL 15, SELECT by primary key of so many columns):
 *
 *                          1 column    4 columns    20 columns    100,000 rows of 1 and 4, 20,000 rows of 20
 *  simple      receiver     105,630      135,746       305,963      409 M    1,406 M    1,300 M
 *              function      +4.9 %      +16.9 %       +40.0 %     +0.9 %     +1.0 %     +2.7 %
 *  extended    receiver     138,353      182,790       426,820
 *              function      +3.1 %      +12.4 %       +29.0 %
 *  prepared    receiver      49,189       64,958       135,551
 *              function      +2.6 %      +10.6 %       +34.5 %
 *
 * In EXPLAIN the top node of the plan decrypts with the function instead, so that one sees it and its time, as with RETURNING.
 *
 * So nothing has a row that is other than its descriptor says: what functions/hooks.c calls sees the encrypted
 * types in both, what calls it sees the base types in both.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "lib/ilist.h"
#include "optimizer/planner.h"
#include "tcop/tcopprot.h"
#include "utils/memutils.h"

#include "client/held_cursors.h"
#include "client/plain_form.h"
#include "client/postponed.h"
#include "client/result_receiver.h"
#include "client/result.h"
#include "server/compat.h"
#include "server/receiver.h"
#include "server/statement.h"
#include "type/access.h"
#include "type/datum.h"
#include "type/masks.h"
#include "type/opened.h"

/* A column that is decrypted. */
typedef struct DecryptedColumn
{
	int			index;			/* from 0 on */
	TdePlainColumn plain;
	TdeColumn	masked;			/* that it is, if that has masks */
	TdeColumn	counted;		/* for which it counts: looked up when the first value is counted */
	TdeDecrypted *place;		/* where it is counted, for the current role; NULL: not yet */
	TdeScratch	scratch;		/* of the value of the row that is on its way */
} DecryptedColumn;

/* Lives in the executor's memory, or in that of the command that reads kept rows, and serves several runs. */
struct DecryptingReceiver
{
	TdeReceiver pub;			/* next: who gets the rows */
	EState	   *estate;			/* who makes them; NULL: they are kept */
	QueryDesc  *query;			/* the same; NULL: origins are known */
	MemoryContext row;			/* for what is made up for one row; NULL: nothing was yet */
	TupleTableSlot *slot;		/* the row in clear */
	dlist_node	node;			/* in tde_receivers */
	MemoryContextCallback gone; /* with the execution */
	int			count;
	DecryptedColumn columns[FLEXIBLE_ARRAY_MEMBER];
};

/* ---- which columns ---- */

/* The columns as the executor makes them, which is what standard_ExecutorStart() says of them. */
static TupleDesc
encrypted_descriptor(QueryDesc *query)
{
	JunkFilter *filter = query->estate->es_junkFilter;

	return filter ? filter->jf_cleanTupType : ExecGetResultType(query->planstate);
}

/* ---- rows ---- */

static void
result_startup(DestReceiver *self, int operation, TupleDesc encrypted)
{
	DecryptingReceiver *receiver = (DecryptingReceiver *) self;

	receiver->pub.next->rStartup(receiver->pub.next, operation, receiver->slot->tts_tupleDescriptor);
}

static MemoryContext
context_of_row(DecryptingReceiver *receiver)
{
	if (receiver->row == NULL)
		receiver->row = AllocSetContextCreate(GetMemoryChunkContext(receiver), "tde row", ALLOCSET_SMALL_SIZES);
	MemoryContextReset(receiver->row);
	return receiver->row;
}

/* Returns true if the user is given the value, for tde.decryptions.  Of an array no mask shows anything. */
static bool
is_given(const DecryptedColumn *column, Datum value)
{
	return column->plain.is_array ? tde_access_is_permitted() : tde_result_gives(column->plain.type, column->masked, value);
}

static pg_noinline void
count_value(DecryptingReceiver *receiver, DecryptedColumn *column, Datum value)
{
	if (!is_given(column, value))
		return;
	if (column->place == NULL && receiver->query)
		column->counted = tde_decryptions->result(receiver->query, column->index);
	tde_decryptions->add(&column->place, column->counted, value, column->plain.is_array);
}

/*
 * Each row comes here.  A value in clear lives until the row has been sent: in the column's scratch, or in memory that is cleansed then.
 */
static bool
receive_and_decrypt(TupleTableSlot *encrypted, DestReceiver *self)
{
	DecryptingReceiver *receiver = (DecryptingReceiver *) self;
	TupleTableSlot *slot = receiver->slot;
	int			width = slot->tts_tupleDescriptor->natts;
	MemoryContext context = CurrentMemoryContext;
	bool		goes_on;

	slot_getallattrs(encrypted);
	ExecClearTuple(slot);
	memcpy(slot->tts_values, encrypted->tts_values, width * sizeof(Datum));
	memcpy(slot->tts_isnull, encrypted->tts_isnull, width * sizeof(bool));

	/* making up what is shown instead leaves something behind */
	if (unlikely(tde_access_restricted))
		MemoryContextSwitchTo(context_of_row(receiver));
	for (int i = 0; i < receiver->count; i++)
	{
		DecryptedColumn *column = &receiver->columns[i];
		Datum	   *value = &slot->tts_values[column->index];
		bool	   *isnull = &slot->tts_isnull[column->index];

		column->scratch.allocated = NULL;
		if (*isnull)
			continue;
		if (unlikely(tde_track_decryptions) && (tde_access_restricted || column->plain.is_array || !tde_opened_one_more(column->place)))
			count_value(receiver, column, *value);
		if (unlikely(column->plain.is_array))
			*value = tde_result_peek_array(column->plain.type, *value, column->plain.declared, column->plain.base_typmod, &column->scratch);
		else if (unlikely(tde_access_restricted))
			*value = tde_result_peek(column->plain.type, column->masked, *value, column->plain.declared, column->plain.base_typmod, &column->scratch, isnull);
		else
			*value = tde_datum_peek(column->plain.type, *value, column->plain.declared, TDE_REMEMBER_NOT, &column->scratch);
	}
	MemoryContextSwitchTo(context);
	ExecStoreVirtualTuple(slot);
	/* whoever keeps a row copies it */
	goes_on = receiver->pub.next->receiveSlot(slot, receiver->pub.next);
	ExecClearTuple(slot);
	for (int i = 0; i < receiver->count; i++)
		tde_datum_unpeek(&receiver->columns[i].scratch);
	return goes_on;
}

dlist_head	tde_receivers = DLIST_STATIC_INIT(tde_receivers);

static void
forget_receiver(void *receiver)
{
	dlist_delete(&((DecryptingReceiver *) receiver)->node);
}

static DecryptingReceiver *
find_receiver(QueryDesc *query)
{
	dlist_iter	iter;

	dlist_foreach(iter, &tde_receivers)
	{
		DecryptingReceiver *receiver = dlist_container(DecryptingReceiver, node, iter.cur);

		if (receiver->estate == query->estate)
			return receiver;
	}
	return NULL;
}

/* A receiver of such rows in which these columns are to be decrypted; items: of the plan, for tde_masks_result(). */
static DecryptingReceiver *
make_receiver(TupleDesc encrypted, Bitmapset *columns, List *items)
{
	int			count = bms_num_members(columns);
	DecryptingReceiver *receiver = tde_receiver_new(offsetof(DecryptingReceiver, columns) + count * sizeof(DecryptedColumn), receive_and_decrypt, result_startup);
	TupleDesc	decrypted = CreateTupleDescCopy(encrypted);
	int			index = -1;

	receiver->count = count;
	for (int i = 0; i < count; i++)
	{
		Form_pg_attribute attribute;

		index = bms_next_member(columns, index);
		attribute = TupleDescAttr(encrypted, index);
		receiver->columns[i].index = index;
		receiver->columns[i].masked = tde_masks_result(items, index);
		receiver->columns[i].plain = tde_plain_column(attribute->atttypid, attribute->atttypmod);
		tde_plain_describe(decrypted, index, receiver->columns[i].plain);
	}
	receiver->slot = MakeSingleTupleTableSlot(decrypted, &TTSOpsVirtual);
	return receiver;
}

/* The receiver of a query that has started. */
static DecryptingReceiver *
make_query_receiver(QueryDesc *query, Bitmapset *postponed)
{
	MemoryContext context = MemoryContextSwitchTo(query->estate->es_query_cxt);
	DecryptingReceiver *receiver = make_receiver(encrypted_descriptor(query), postponed, query->plannedstmt->invalItems);

	receiver->estate = query->estate;
	receiver->gone.func = forget_receiver;
	receiver->gone.arg = receiver;
	dlist_push_head(&tde_receivers, &receiver->node);
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &receiver->gone);
	MemoryContextSwitchTo(context);
	return receiver;
}

/* ---- for the hooks ---- */

TdeAwaited	tde_receiver_awaited = {NULL};

void
tde_receiver_await(Query *query, const char *source, bool core)
{
	tde_receiver_awaited = (TdeAwaited) {query ? source : NULL, query ? query->stmt_location : 0, core};
}

/*
 * Returns true if the query is the one that was announced.  Between its analysis and its planning a statement is rewritten, and nothing else happens.
 * What is planned for others has another text.  Whatever comes ends the waiting.
 */
static bool
is_awaited(Query *query, const char *source)
{
	bool		awaited = source && tde_receiver_awaited.source == source && tde_receiver_awaited.location == query->stmt_location &&
	source == debug_query_string;

	tde_receiver_awaited.source = NULL;
	return awaited;
}

List *
tde_receiver_plan(Query *query, const char *source)
{
	/* PostgreSQL describes the result of a SELECT with a data-changing WITH clause by its plan, and not after it has started */
	if (query->commandType != CMD_SELECT || query->hasModifyingCTE)
		return NIL;
	if (is_awaited(query, source))
		return tde_receiver_awaited.core ? NIL : tde_postponed_mark(query);
	return tde_postponed_take(query);
}

void
tde_receiver_starts(QueryDesc *query)
{
	if (tde_statement.client && IsA(tde_statement.utility, ExplainStmt) && query->dest->mydest != DestIntoRel &&
		tde_postponed_columns(query->plannedstmt))
		query->plannedstmt = tde_postponed_show(query->plannedstmt);
}

void
tde_receiver_started(QueryDesc *query)
{
	Bitmapset  *postponed = tde_postponed_columns(query->plannedstmt);

	/* what the client is told, and all who look at a query that has started */
	if (postponed)
		query->tupDesc = make_query_receiver(query, postponed)->slot->tts_tupleDescriptor;
}

DecryptingReceiver *
tde_receiver_begin(QueryDesc *query)
{
	/* if another module has kept us from starting it, there is none: rows are encrypted and declared so */
	DecryptingReceiver *receiver = tde_receiver_any() ? find_receiver(query) : NULL;

	/* MOVE looks at no value */
	if (receiver == NULL || query->dest == None_Receiver)
		return NULL;
	query->tupDesc = encrypted_descriptor(query);
	/* what CREATE TABLE AS EXECUTE stores stays encrypted */
	if (query->dest->mydest == DestIntoRel)
		return NULL;
	if (tde_held_cursor_persists(query))
	{
		tde_held_cursor_keep(query, tde_postponed_columns(query->plannedstmt));
		return NULL;
	}
	receiver->query = query;
	/* FETCH may run as another role than the last one */
	if (unlikely(tde_track_decryptions))
		for (int i = 0; i < receiver->count; i++)
			receiver->columns[i].place = NULL;
	tde_receiver_set_next(&receiver->pub, query->dest);
	query->dest = &receiver->pub.pub;
	return receiver;
}

void
tde_receiver_end(DecryptingReceiver *receiver, QueryDesc *query)
{
	query->tupDesc = receiver->slot->tts_tupleDescriptor;
	query->dest = receiver->pub.next;
}

DestReceiver *
tde_receiver_for(TupleDesc encrypted, Bitmapset *columns, const TdeOrigin *origins, DestReceiver *client)
{
	DecryptingReceiver *receiver = make_receiver(encrypted, columns, NIL);

	for (int i = 0; origins && i < receiver->count; i++)
	{
		receiver->columns[i].masked = origins[receiver->columns[i].index].masked;
		receiver->columns[i].counted = origins[receiver->columns[i].index].counted;
	}
	tde_receiver_set_next(&receiver->pub, client);
	return &receiver->pub.pub;
}
