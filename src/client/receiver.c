/*
 * receiver.c - the encrypted columns of a client's SELECT are decrypted when its rows are sent.
 *
 * client/result.c has made the query decrypt them, so that all who ask see the base types.  But as a part of the plan this
 * costs more than the decryption: planning, permissions and set-up of the function, for each statement.  So the planner gets
 * the query as the client wrote it, and everything inside the executor, workers and spilled rows included, has the encrypted
 * types and says so in its descriptors.  Those who start and run the executor see the base types: the descriptor is
 * replaced when it has started, and the receiver of the rows while it runs.
 *
 * So nothing has a row that is other than its descriptor says: what ExecutorRun_hook calls below this module sees the
 * encrypted types in both, what calls it above sees the base types in both.
 */
#include "postgres.h"

#include "access/toast_compression.h"
#include "executor/executor.h"
#include "optimizer/planner.h"
#include "port/pg_bitutils.h"
#include "tcop/tcopprot.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "client/receiver.h"
#include "client/result.h"
#include "server/compat.h"
#include "type/access.h"

typedef struct DecryptedColumn
{
	int			index;
	TdeType    *type;
	int32		declared;
	int32		base_typmod;
	TdeScratch	scratch;
} DecryptedColumn;

typedef struct DecryptingReceiver
{
	DestReceiver pub;
	DestReceiver *client;		/* who gets the rows */
	EState	   *estate;
	TupleTableSlot *slot;		/* the row in clear */
	MemoryContextCallback found;	/* by find_receiver() */
	int			count;
	DecryptedColumn columns[FLEXIBLE_ARRAY_MEMBER];
} DecryptingReceiver;

static planner_hook_type prev_planner = NULL;
static ExecutorStart_hook_type prev_executor_start = NULL;
static ExecutorRun_hook_type prev_executor_run = NULL;

/* ---- which columns ---- */

/* How many columns of the plan's result are to be decrypted?  For most statements of the server there is no list to look at. */
static int
count_postponed(PlannedStmt *plan)
{
	int			count = 0;
	uint32		which;
	ListCell   *cell;

	foreach(cell, plan->invalItems)
	{
		if (!tde_result_is_postponed(lfirst(cell)))
			continue;
		(void) tde_result_postponed_columns(lfirst(cell), &which);
		count += pg_popcount32(which);
	}
	return count;
}

/* The columns as the executor makes them, which is what standard_ExecutorStart() says of them. */
static TupleDesc
encrypted_descriptor(QueryDesc *query)
{
	JunkFilter *filter = query->estate->es_junkFilter;

	return filter ? filter->jf_cleanTupType : ExecGetResultType(query->planstate);
}

/* What is to be done with a column of encrypted type, or of a domain over one. */
static void
set_column(DecryptedColumn *column, int index, TupleDesc encrypted)
{
	Form_pg_attribute attribute = TupleDescAttr(encrypted, index);

	column->index = index;
	column->declared = attribute->atttypmod;
	column->type = tde_type_find(attribute->atttypid);
	if (column->type == NULL)
		column->type = tde_type_get(getBaseTypeAndTypmod(attribute->atttypid, &column->declared));
	column->base_typmod = tde_type_base_typmod(column->type, column->declared);
}

/* All columns that are to be decrypted. */
static void
set_columns(DecryptedColumn *columns, QueryDesc *query)
{
	TupleDesc	encrypted = encrypted_descriptor(query);
	ListCell   *cell;

	foreach(cell, query->plannedstmt->invalItems)
	{
		uint32		which;
		int			first;

		if (!tde_result_is_postponed(lfirst(cell)))
			continue;
		first = tde_result_postponed_columns(lfirst(cell), &which);
		for (; which != 0; which &= which - 1)
			set_column(columns++, first + pg_rightmost_one_pos32(which), encrypted);
	}
}

/* ---- rows ---- */

static void
startup(DestReceiver *self, int operation, TupleDesc encrypted)
{
	DecryptingReceiver *receiver = (DecryptingReceiver *) self;

	receiver->client->rStartup(receiver->client, operation, receiver->slot->tts_tupleDescriptor);
}

static bool
receive(TupleTableSlot *encrypted, DestReceiver *self)
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

	/* making up what is shown instead leaves something behind; the executor empties this before it makes the next row */
	if (unlikely(tde_access_restricted))
		MemoryContextSwitchTo(GetPerTupleMemoryContext(receiver->estate));
	for (int i = 0; i < receiver->count; i++)
	{
		DecryptedColumn *column = &receiver->columns[i];
		Datum	   *value = &slot->tts_values[column->index];
		bool	   *isnull = &slot->tts_isnull[column->index];

		column->scratch.allocated = NULL;
		if (!*isnull)
			*value = tde_result_peek(column->type, *value, column->declared, column->base_typmod, &column->scratch, isnull);
	}
	MemoryContextSwitchTo(context);
	ExecStoreVirtualTuple(slot);
	/* whoever keeps a row copies it */
	goes_on = receiver->client->receiveSlot(slot, receiver->client);
	ExecClearTuple(slot);
	for (int i = 0; i < receiver->count; i++)
		tde_datum_unpeek(&receiver->columns[i].scratch);
	return goes_on;
}

static void
shutdown(DestReceiver *self)
{
	DecryptingReceiver *receiver = (DecryptingReceiver *) self;

	receiver->client->rShutdown(receiver->client);
}

/* Whoever made the client's receiver destroys it. */
static void
destroy(DestReceiver *self)
{
}

/* Give a column its base type; it keeps name and collation. */
static void
describe(TupleDesc descriptor, DecryptedColumn *column)
{
	Form_pg_attribute attribute = TupleDescAttr(descriptor, column->index);
	TdeType    *type = column->type;

	attribute->atttypid = type->base;
	attribute->atttypmod = column->base_typmod;
	attribute->attlen = type->base_len;
	attribute->attbyval = type->base_byval;
	attribute->attalign = type->base_align;
	attribute->attstorage = type->base_storage;
	attribute->attcompression = InvalidCompressionMethod;
	attribute->attndims = 0;
	TDE_COLUMN_CHANGED(descriptor, column->index);
}

/* A query's receiver hangs on the memory context of its execution, where it is found again. */
static void
forget(void *receiver)
{
}

static DecryptingReceiver *
find_receiver(QueryDesc *query)
{
	MemoryContextCallback *callback = query->estate->es_query_cxt->reset_cbs;

	while (callback && callback->func != forget)
		callback = callback->next;
	return callback ? callback->arg : NULL;
}

/* The receiver of a query that has started, in which so many columns are to be decrypted. */
static DecryptingReceiver *
make_receiver(QueryDesc *query, int count)
{
	MemoryContext context = MemoryContextSwitchTo(query->estate->es_query_cxt);
	DecryptingReceiver *receiver = palloc(offsetof(DecryptingReceiver, columns) + count * sizeof(DecryptedColumn));
	TupleDesc	decrypted = CreateTupleDescCopy(encrypted_descriptor(query));

	receiver->pub.receiveSlot = receive;
	receiver->pub.rStartup = startup;
	receiver->pub.rShutdown = shutdown;
	receiver->pub.rDestroy = destroy;
	receiver->estate = query->estate;
	receiver->count = count;
	set_columns(receiver->columns, query);
	for (int i = 0; i < count; i++)
		describe(decrypted, &receiver->columns[i]);
	receiver->slot = MakeSingleTupleTableSlot(decrypted, &TTSOpsVirtual);
	receiver->found.func = forget;
	receiver->found.arg = receiver;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &receiver->found);
	MemoryContextSwitchTo(context);
	return receiver;
}

/* ---- hooks ---- */

static const char *awaited_source = NULL;
static int	awaited_location;

void
tde_receiver_await(Query *query, const char *source)
{
	awaited_source = query ? source : NULL;
	awaited_location = query ? query->stmt_location : 0;
}

/*
 * Between its analysis and its planning a statement is rewritten, and nothing else happens.  What is planned for others has
 * another text, or something on the error context stack.
 */
static bool
is_awaited(Query *query, const char *source)
{
	bool		awaited = awaited_source && awaited_source == source && awaited_location == query->stmt_location &&
		source == debug_query_string && error_context_stack == NULL;

	awaited_source = NULL;
	return awaited;
}

static PlannedStmt *
plan_query(Query *query, const char *source, int cursor_options, ParamListInfo params)
{
	List	   *postponed = NIL;
	PlannedStmt *plan;

	/* PostgreSQL describes the result of a SELECT with a data-changing WITH clause by its plan, and not after it has started */
	if (query->commandType == CMD_SELECT && !query->hasModifyingCTE)
		postponed = is_awaited(query, source) ? tde_result_mark(query) : tde_result_postpone(query);

	if (prev_planner)
		plan = prev_planner(query, source, cursor_options, params);
	else
		plan = standard_planner(query, source, cursor_options, params);
	plan->invalItems = list_concat(postponed, plan->invalItems);
	return plan;
}

static void
executor_start(QueryDesc *query, int flags)
{
	int			columns;

	if (prev_executor_start)
		prev_executor_start(query, flags);
	else
		standard_ExecutorStart(query, flags);
	columns = count_postponed(query->plannedstmt);
	/* what the client is told, and all who look at a query that has started */
	if (columns > 0)
		query->tupDesc = make_receiver(query, columns)->slot->tts_tupleDescriptor;
}

static void
call_executor_run(TDE_EXECUTOR_RUN_PARAMETERS)
{
	if (prev_executor_run)
		prev_executor_run(TDE_EXECUTOR_RUN_ARGUMENTS);
	else
		standard_ExecutorRun(TDE_EXECUTOR_RUN_ARGUMENTS);
}

static void
executor_run(TDE_EXECUTOR_RUN_PARAMETERS)
{
	/* if another module has kept us from starting it, there is none: rows are encrypted and declared so */
	DecryptingReceiver *receiver = find_receiver(query);

	/* MOVE and EXPLAIN ANALYZE look at no value */
	if (receiver == NULL || query->dest == None_Receiver)
	{
		call_executor_run(TDE_EXECUTOR_RUN_ARGUMENTS);
		return;
	}
	receiver->client = query->dest;
	receiver->pub.mydest = query->dest->mydest;
	query->dest = &receiver->pub;
	query->tupDesc = encrypted_descriptor(query);
	/* after an error the query cannot go on, so nothing need be put back then */
	call_executor_run(TDE_EXECUTOR_RUN_ARGUMENTS);
	query->tupDesc = receiver->slot->tts_tupleDescriptor;
	query->dest = receiver->client;
}

void
tde_receiver_init(void)
{
	prev_planner = planner_hook;
	planner_hook = plan_query;
	prev_executor_start = ExecutorStart_hook;
	ExecutorStart_hook = executor_start;
	prev_executor_run = ExecutorRun_hook;
	ExecutorRun_hook = executor_run;
}
