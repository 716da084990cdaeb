/*
 * outputs.c - output arguments of a client's CALL in the base types.
 *
 * PostgreSQL describes the result of CALL by the types of the expressions in outargs, which it never evaluates, and sends the row that the
 * procedure returns.  So these expressions are made to decrypt, which only says what the row is to be, and the row is decrypted by a
 * receiver.
 */
#include "postgres.h"

#include "commands/defrem.h"
#include "nodes/nodeFuncs.h"

#include "client/held_cursors.h"
#include "client/outputs.h"
#include "client/receiver.h"
#include "client/result.h"
#include "server/compat.h"

typedef struct OutputReceiver
{
	DestReceiver pub;
	CallStmt   *stmt;
	DestReceiver *client;		/* who gets the row: at first the one that was given, then what decrypts for it */
} OutputReceiver;

/* Is the result described by these expressions?  Up to 15.7 and 16.3 it is by the procedure's declaration alone. */
static bool
is_described(CallStmt *stmt)
{
	TupleDesc	described = CallStmtResultDesc(stmt);
	bool		same = described && described->natts == list_length(stmt->outargs);

	for (int i = 0; same && i < described->natts; i++)
		same = TupleDescAttr(described, i)->atttypid == exprType(list_nth(stmt->outargs, i));
	return same;
}

void
tde_outputs_describe(CallStmt *stmt)
{
	List	   *outputs = stmt->outargs;
	bool		any = false;
	ListCell   *cell;

	stmt->outargs = list_copy(outputs);
	foreach(cell, stmt->outargs)
	{
		TdeType    *type = tde_result_type(exprType(lfirst(cell)));

		if (type == NULL)
			continue;
		lfirst(cell) = tde_result_call(lfirst(cell), type);
		any = true;
	}
	if (any && !is_described(stmt))
		stmt->outargs = outputs;
}

/* The columns that are encrypted where the expressions have base types. */
static Bitmapset *
described_columns(CallStmt *stmt, TupleDesc encrypted)
{
	Bitmapset  *columns = NULL;

	for (int i = 0; i < encrypted->natts && i < list_length(stmt->outargs); i++)
	{
		Oid			type = TupleDescAttr(encrypted, i)->atttypid;

		if (tde_result_type(type) && exprType(list_nth(stmt->outargs, i)) != type)
			columns = bms_add_member(columns, i);
	}
	return columns;
}

static void
startup(DestReceiver *self, int operation, TupleDesc encrypted)
{
	OutputReceiver *receiver = (OutputReceiver *) self;
	Bitmapset  *columns = described_columns(receiver->stmt, encrypted);

	if (columns)
		receiver->client = tde_receiver_for(encrypted, columns, receiver->client);
	receiver->client->rStartup(receiver->client, operation, encrypted);
}

static bool
receive(TupleTableSlot *slot, DestReceiver *self)
{
	DestReceiver *client = ((OutputReceiver *) self)->client;

	return client->receiveSlot(slot, client);
}

static void
shutdown(DestReceiver *self)
{
	DestReceiver *client = ((OutputReceiver *) self)->client;

	client->rShutdown(client);
}

/* Whoever made the client's receiver destroys it. */
static void
destroy(DestReceiver *self)
{
}

DestReceiver *
tde_outputs_receiver(CallStmt *stmt, DestReceiver *client)
{
	OutputReceiver *receiver;
	bool		any = false;
	ListCell   *cell;

	foreach(cell, stmt->outargs)
		any = any || tde_result_decrypts(lfirst(cell));
	if (!any)
		return client;
	tde_held_rows_execute(client);
	receiver = palloc0(sizeof(OutputReceiver));
	receiver->pub.receiveSlot = receive;
	receiver->pub.rStartup = startup;
	receiver->pub.rShutdown = shutdown;
	receiver->pub.rDestroy = destroy;
	receiver->pub.mydest = client->mydest;
	receiver->stmt = stmt;
	receiver->client = client;
	return &receiver->pub;
}
