/*
 * language_rows.c - rows that procedural languages get, in the base types: those of triggers, arguments, and results of statements.
 *
 * These languages convert a value by its type's OID, which they take from the descriptor of the rows: the relation's of a trigger, that of a
 * statement's result, or the type of which a row says that it is.  So rows and descriptors are replaced together.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "client/language_rows.h"
#include "client/plain_form.h"
#include "client/result.h"
#include "server/receiver.h"
#include "type/access.h"

/* ---- arguments ---- */

/* Returns true if the argument has rows, which tell their type.  What is no row has the type that the function declares (client/languages.c). */
static bool
tells_type(Oid type, bool by_header)
{
	return type == RECORDOID || (by_header && tde_result_type(type) == NULL);
}

/* A copy, since the caller's arguments may be constants for all calls. */
static FunctionCallInfo
copy_call(FunctionCallInfo fcinfo)
{
	return memcpy(palloc(SizeForFunctionCallInfo(fcinfo->nargs)), fcinfo, SizeForFunctionCallInfo(fcinfo->nargs));
}

Datum
tde_language_function(FunctionCallInfo fcinfo, PGFunction handler, bool by_header)
{
	FunctionCallInfo call = fcinfo;
	Oid		   *types = NULL;
	int			count = 0;
	Datum		result;

	if (fcinfo->nargs > 0)
		(void) get_func_signature(fcinfo->flinfo->fn_oid, &types, &count);
	for (int i = 0; i < Min(count, fcinfo->nargs); i++)
	{
		NullableDatum argument = fcinfo->args[i];

		if (argument.isnull || !tells_type(types[i], by_header))
			continue;
		argument.value = tde_plain_value(types[i], -1, argument.value, true, &argument.isnull);
		if (argument.value == fcinfo->args[i].value)
			continue;
		if (call == fcinfo)
			call = copy_call(fcinfo);
		call->args[i] = argument;
	}
	result = handler(call);
	fcinfo->isnull = call->isnull;
	return result;
}

/* ---- triggers ---- */

static HeapTuple
plain_row(HeapTuple row, TriggerData *trigger, TupleDesc plain, bool by_header)
{
	return row ? tde_plain_tuple(row, RelationGetDescr(trigger->tg_relation), plain, by_header) : NULL;
}

/* The rows as they are shown.  Without masks: what a function in C computes of one would be stored. */
static void
show_rows(TriggerData *shown, TriggerData *trigger, TupleDesc plain, bool by_header, bool masks)
{
	int			policy = tde_decrypt_policy;

	PG_TRY();
	{
		tde_decrypt_policy = masks ? policy : TDE_POLICY_ERROR;
		shown->tg_trigtuple = plain_row(trigger->tg_trigtuple, trigger, plain, by_header);
		shown->tg_newtuple = plain_row(trigger->tg_newtuple, trigger, plain, by_header);
	}
	PG_FINALLY();
	{
		tde_decrypt_policy = policy;
	}
	PG_END_TRY();
}

/*
 * Returns what a trigger function returns, in terms of what it was called with: the same row, or an encrypted one with its changes; NULL: the row is
 * left out.
 */
static HeapTuple
returned_row(HeapTuple returned, TriggerData *trigger, TriggerData *shown, TupleDesc plain)
{
	bool		updates = TRIGGER_FIRED_BY_UPDATE(trigger->tg_event);

	if (returned == NULL || returned == shown->tg_trigtuple)
		return returned ? trigger->tg_trigtuple : NULL;
	if (returned == shown->tg_newtuple)
		return trigger->tg_newtuple;
	return tde_plain_changed(updates ? trigger->tg_newtuple : trigger->tg_trigtuple, RelationGetDescr(trigger->tg_relation),
							 updates ? shown->tg_newtuple : shown->tg_trigtuple, returned, plain);
}

Datum
tde_language_trigger(FunctionCallInfo fcinfo, PGFunction handler, bool by_header, bool masks)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	TupleDesc	plain = NULL;
	FunctionCallInfo call;
	TriggerData shown;
	RelationData relation;
	HeapTuple	returned;

	if (CALLED_AS_TRIGGER(fcinfo) && TRIGGER_FIRED_FOR_ROW(trigger->tg_event))
		plain = tde_plain_descriptor(RelationGetDescr(trigger->tg_relation), by_header);
	if (plain == NULL)
		return handler(fcinfo);
	shown = *trigger;
	relation = *trigger->tg_relation;
	relation.rd_att = plain;
	shown.tg_relation = &relation;
	show_rows(&shown, trigger, plain, by_header, masks);
	call = copy_call(fcinfo);
	call->context = (Node *) &shown;
	returned = (HeapTuple) DatumGetPointer(handler(call));
	fcinfo->isnull = call->isnull;
	/* afterwards nobody takes it */
	if (TRIGGER_FIRED_AFTER(trigger->tg_event))
		return PointerGetDatum(NULL);
	return PointerGetDatum(returned_row(returned, trigger, &shown, plain));
}

/* ---- results of statements ---- */

/* Stands before SPI's receiver for one statement. */
typedef struct LanguageReceiver
{
	TdeReceiver pub;			/* next: the server programming interface's */
	bool		by_header;		/* the language reads rows by the types that they tell themselves */
	TupleTableSlot *slot;		/* the row in the base types; NULL: it is so already */
	MemoryContext row;			/* for what is made for one row */
} LanguageReceiver;

/* SPI is told the plain descriptor, and keeps that with the rows. */
static void
language_startup(DestReceiver *self, int operation, TupleDesc rows)
{
	LanguageReceiver *receiver = (LanguageReceiver *) self;
	TupleDesc	plain = tde_plain_descriptor(rows, receiver->by_header);

	receiver->slot = NULL;
	if (plain)
	{
		receiver->slot = MakeSingleTupleTableSlot(plain, &TTSOpsVirtual);
		receiver->row = AllocSetContextCreate(CurrentMemoryContext, "tde row for a language", ALLOCSET_SMALL_SIZES);
	}
	receiver->pub.next->rStartup(receiver->pub.next, operation, plain ? plain : rows);
}

static bool
receive_for_language(TupleTableSlot *row, DestReceiver *self)
{
	LanguageReceiver *receiver = (LanguageReceiver *) self;
	DestReceiver *next = receiver->pub.next;
	TupleTableSlot *slot = receiver->slot;
	MemoryContext context;
	bool		goes_on;

	if (slot == NULL)
		return next->receiveSlot(row, next);
	slot_getallattrs(row);
	ExecClearTuple(slot);
	context = MemoryContextSwitchTo(receiver->row);
	for (int i = 0; i < slot->tts_tupleDescriptor->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(row->tts_tupleDescriptor, i);

		slot->tts_isnull[i] = row->tts_isnull[i];
		slot->tts_values[i] = tde_plain_value(attribute->atttypid, attribute->atttypmod, row->tts_values[i], receiver->by_header, &slot->tts_isnull[i]);
	}
	MemoryContextSwitchTo(context);
	ExecStoreVirtualTuple(slot);
	/* that keeps a copy */
	goes_on = next->receiveSlot(slot, next);
	ExecClearTuple(slot);
	MemoryContextReset(receiver->row);
	return goes_on;
}

DestReceiver *
tde_language_rows(DestReceiver *spi, bool by_header)
{
	LanguageReceiver *receiver = tde_receiver_new(sizeof(LanguageReceiver), receive_for_language, language_startup);

	tde_receiver_set_next(&receiver->pub, spi);
	receiver->by_header = by_header;
	return &receiver->pub.pub;
}
