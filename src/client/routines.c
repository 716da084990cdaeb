/*
 * routines.c - what procedures and functions return: output arguments of a client's CALL in the base types; RETURN QUERY and CALL of PL/pgSQL
 * convert between encrypted and plain types as its assignments do.
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/tupdesc.h"
#include "commands/defrem.h"
#include "executor/executor.h"
#include "executor/tstoreReceiver.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"

#include "client/held_cursors.h"
#include "client/result_receiver.h"
#include "client/result.h"
#include "client/routines.h"
#include "server/compat.h"
#include "server/receiver.h"
#include "type/inside.h"
#include "type/type.h"

/*
 * ---- output arguments of a client's CALL ----
 *
 * PostgreSQL describes the result of CALL by the types of the expressions in outargs, which it never evaluates, and sends the row that the
 * procedure returns.  So these expressions are made to decrypt, which only says what the row is to be, and the row is decrypted by a
 * receiver.
 */

/* Stands before the client's receiver for one CALL. */
typedef struct OutputReceiver
{
	TdeReceiver pub;			/* next: who gets the row: at first the one that was given, then what decrypts for it */
	CallStmt   *stmt;
} OutputReceiver;

/* Returns true if the result is described by these expressions.  Older minor releases go by the declaration of the procedure alone. */
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
tde_routine_outputs_describe(CallStmt *stmt)
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

/* Returns the columns that are encrypted where the expressions have base types; NULL if there are none. */
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

/* The row's descriptor is known only here, when the procedure has returned. */
static void
output_startup(DestReceiver *self, int operation, TupleDesc encrypted)
{
	OutputReceiver *receiver = (OutputReceiver *) self;
	Bitmapset  *columns = described_columns(receiver->stmt, encrypted);

	if (columns)
		receiver->pub.next = tde_receiver_for(encrypted, columns, NULL, receiver->pub.next);
	receiver->pub.next->rStartup(receiver->pub.next, operation, encrypted);
}

static bool
output_receive(TupleTableSlot *slot, DestReceiver *self)
{
	DestReceiver *client = ((TdeReceiver *) self)->next;

	return client->receiveSlot(slot, client);
}

DestReceiver *
tde_routine_outputs_receiver(CallStmt *stmt, DestReceiver *client)
{
	OutputReceiver *receiver;
	bool		any = false;
	ListCell   *cell;

	foreach(cell, stmt->outargs)
		any = any || tde_result_decrypts(lfirst(cell));
	if (!any)
		return client;
	tde_held_rows_execute(client);
	receiver = tde_receiver_new(sizeof(OutputReceiver), output_receive, output_startup);
	tde_receiver_set_next(&receiver->pub, client);
	receiver->stmt = stmt;
	return &receiver->pub.pub;
}

/*
 * ---- RETURN QUERY ----
 *
 * Functions stay as they were written when columns are encrypted.  Most of what PL/pgSQL does with a value is an assignment, which
 * converts it.  RETURN QUERY is none: it wants the query's columns to have the types that the function declares, and CALL wants
 * bare variables for output arguments.
 *
 * The rows of RETURN QUERY are converted on their way into the function's result, so the query and its plan are what they would be
 * anyway.  A column is converted where the plain types would be the same.  What decrypts is the cast of an assignment: a role that may
 * not decrypt gets its error.
 */

/* Stands before the receiver of a function's result for one run of the executor, and lives in its memory. */
typedef struct FittingReceiver
{
	TdeReceiver pub;			/* next: the function's */
	ExprContext *context;		/* of the projection; reset for each row */
	ProjectionInfo *projection;
} FittingReceiver;

/* What the receiver of RETURN QUERY begins with, which PostgreSQL does not show. */
typedef struct StoringReceiver
{
	DestReceiver pub;
	Tuplestorestate *store;
	MemoryContext context;
	bool		detoast;
	TupleDesc	wanted;
	const char *complaint;		/* if it gets others; tells whose it is */
} StoringReceiver;

static void (*storing_startup) (DestReceiver *self, int operation, TupleDesc rows) = NULL;

/* Set storing_startup; false if it turns out that this version has another structure. */
static bool
is_structure_known(void)
{
	static bool looked_up = false;

	if (!looked_up)
	{
		DestReceiver *sample = CreateTuplestoreDestReceiver();
		StoringReceiver *receiver = (StoringReceiver *) sample;
		TupleDesc	wanted = CreateTemplateTupleDesc(1);
		static const char complaint[] = "sample";

		SetTuplestoreDestReceiverParams(sample, NULL, CurrentMemoryContext, false, wanted, complaint);
		if (receiver->context == CurrentMemoryContext && receiver->wanted == wanted && receiver->complaint == complaint)
			storing_startup = sample->rStartup;
		sample->rDestroy(sample);
		looked_up = true;
	}
	return storing_startup != NULL;
}

/* Returns the types that rows for RETURN QUERY must have; NULL if they are for somebody else, known by the complaint of PL/pgSQL. */
static TupleDesc
wanted_by_function(DestReceiver *dest)
{
	StoringReceiver *receiver = (StoringReceiver *) dest;

	if (!is_structure_known() || dest->rStartup != storing_startup || receiver->wanted == NULL || receiver->complaint == NULL ||
		strcmp(receiver->complaint, "structure of query does not match function result type") != 0)
		return NULL;
	return receiver->wanted;
}

/* Returns a column of the query, made to fit by the cast of an assignment; the column itself if it fits or cannot be made to. */
static Expr *
fitted(Form_pg_attribute column, Form_pg_attribute wanted)
{
	Node	   *expr = (Node *) makeVar(OUTER_VAR, column->attnum, column->atttypid, column->atttypmod, column->attcollation, 0);
	Node	   *cast = NULL;

	if (tde_inside_differs(column->atttypid, column->atttypmod, wanted->atttypid, wanted->atttypmod))
		cast = coerce_to_target_type(NULL, expr, column->atttypid, wanted->atttypid, wanted->atttypmod, COERCION_ASSIGNMENT,
									 COERCE_IMPLICIT_CAST, -1);
	if (cast)
		assign_expr_collations(NULL, cast);
	return (Expr *) (cast ? cast : expr);
}

/* Most rows have the types that are wanted, all of them PostgreSQL's own. */
static bool
may_differ(TupleDesc query, TupleDesc wanted)
{
	bool		may = query->natts != wanted->natts;

	for (int i = 0; i < query->natts && !may; i++)
	{
		Oid			type = TupleDescAttr(query, i)->atttypid;

		may = type >= FirstNormalObjectId || type != TupleDescAttr(wanted, i)->atttypid;
	}
	return may;
}

/* Returns true if anything is to be converted.  Dropped columns of the function's row type have no counterpart in the query. */
static bool
any_differs(TupleDesc query, TupleDesc wanted)
{
	int			at = 0;
	bool		any = false;

	for (int i = 0; i < wanted->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(wanted, i);
		Form_pg_attribute column;

		if (attribute->attisdropped)
			continue;
		/* PostgreSQL will refuse this */
		if (at == query->natts)
			return false;
		column = TupleDescAttr(query, at++);
		if (unlikely(column->atttypid != attribute->atttypid || column->atttypmod != attribute->atttypmod))
			any = any || tde_inside_differs(column->atttypid, column->atttypmod, attribute->atttypid, attribute->atttypmod);
	}
	return any && at == query->natts;
}

static List *
fitted_columns(TupleDesc query, TupleDesc wanted)
{
	List	   *columns = NIL;
	int			at = 0;

	for (int i = 0; i < wanted->natts; i++)
	{
		Form_pg_attribute column;

		if (TupleDescAttr(wanted, i)->attisdropped)
			continue;
		column = TupleDescAttr(query, at++);
		columns = lappend(columns, makeTargetEntry(fitted(column, TupleDescAttr(wanted, i)), at, pstrdup(NameStr(column->attname)), false));
	}
	return columns;
}

static void
rows_startup(DestReceiver *self, int operation, TupleDesc rows)
{
	FittingReceiver *receiver = (FittingReceiver *) self;

	receiver->pub.next->rStartup(receiver->pub.next, operation, receiver->projection->pi_state.resultslot->tts_tupleDescriptor);
}

static bool
rows_receive(TupleTableSlot *slot, DestReceiver *self)
{
	FittingReceiver *receiver = (FittingReceiver *) self;

	ResetExprContext(receiver->context);
	receiver->context->ecxt_outertuple = slot;
	/* the function's result gets a copy */
	return receiver->pub.next->receiveSlot(ExecProject(receiver->projection), receiver->pub.next);
}

/* A receiver in the executor's memory, and with it gone. */
static DestReceiver *
make_receiver(QueryDesc *query, TupleDesc wanted)
{
	MemoryContext context = MemoryContextSwitchTo(query->estate->es_query_cxt);
	FittingReceiver *receiver = tde_receiver_new(sizeof(FittingReceiver), rows_receive, rows_startup);
	List	   *columns = fitted_columns(query->tupDesc, wanted);
	TupleTableSlot *slot = MakeSingleTupleTableSlot(ExecTypeFromTL(columns), &TTSOpsVirtual);

	tde_receiver_set_next(&receiver->pub, query->dest);
	receiver->context = CreateExprContext(query->estate);
	receiver->projection = ExecBuildProjectionInfo(columns, receiver->context, slot, NULL, query->tupDesc);
	MemoryContextSwitchTo(context);
	return &receiver->pub.pub;
}

pg_noinline void
tde_routine_rows_begin(QueryDesc *query)
{
	TupleDesc	wanted = wanted_by_function(query->dest);

	if (wanted != NULL && may_differ(query->tupDesc, wanted) && any_differs(query->tupDesc, wanted))
		query->dest = make_receiver(query, wanted);
}

/* ---- CALL ---- */

/* Returns the variable in a cast of it that encrypts or decrypts; NULL if the argument is anything else. */
static Node *
cast_variable(Node *argument)
{
	Node	   *variable;

	if (!IsA(argument, FuncExpr) || ((FuncExpr *) argument)->funcformat != COERCE_IMPLICIT_CAST)
		return NULL;
	variable = linitial(((FuncExpr *) argument)->args);
	if (!IsA(variable, Param) || ((Param *) variable)->paramkind != PARAM_EXTERN)
		return NULL;
	return tde_type_find(exprType(variable)) || tde_type_find(exprType(argument)) ? variable : NULL;
}

/*
 * Of the languages here PL/pgSQL alone looks at names before PostgreSQL does.  It reads from the output arguments which variables are
 * to be assigned to, and assigns what comes, by a cast in the other direction; nobody evaluates them.
 */
void
tde_routine_call_analyzed(Query *query)
{
	ListCell   *cell;

	if (query->commandType != CMD_UTILITY || !IsA(query->utilityStmt, CallStmt))
		return;
	foreach(cell, ((CallStmt *) query->utilityStmt)->outargs)
	{
		Node	   *variable = cast_variable(lfirst(cell));

		if (variable)
			lfirst(cell) = variable;
	}
}
