/*
 * node_results.c - rows that Citus sends its nodes, and writes into files for them: intermediate results, what a repartition join moves, and
 * what INSERT ... SELECT and COPY store elsewhere.
 *
 * Citus writes them by the types' output functions, in receivers of its own.  So these get their rows through one that has the output
 * functions give ciphertext (type/node_form.c) while Citus writes a row, and nothing else: expressions have been evaluated then.
 *
 * Citus casts what INSERT ... SELECT gives to the column's type, without its modifiers (13.2).  A value without them is encrypted as a
 * literal is, under the catalog's key with HMAC-SHA256, and so encrypted once more where it is stored.  As a column's value it takes a
 * third of the time, and may be stored as it is.
 */
#include "postgres.h"

#include "commands/copy.h"

#include "citus/node_results.h"
#include "distributed/distribution.h"
#include "keys/typmod.h"
#include "server/compat.h"
#include "server/receiver.h"
#include "type/base_functions.h"
#include "type/cast.h"
#include "type/ciphertext_form.h"
#include "type/node_form.h"
#include "type/type.h"

/* While Citus writes this row, output functions give ciphertext.  An error must not leave that on for the client. */
static bool
receive_from_node(TupleTableSlot *slot, DestReceiver *self)
{
	DestReceiver *citus = ((TdeReceiver *) self)->next;
	bool		outer = tde_node_form_written;
	bool		goes_on = false;

	tde_node_form_written = true;
	PG_TRY();
	{
		goes_on = citus->receiveSlot(slot, citus);
	}
	PG_FINALLY();
	{
		tde_node_form_written = outer;
	}
	PG_END_TRY();
	return goes_on;
}

/* Returns true of Citus' receivers: they say that they are COPY's, and are not PostgreSQL's. */
static bool
is_citus(DestReceiver *receiver)
{
	static bool (*copy_receive) (TupleTableSlot *slot, DestReceiver *self) = NULL;

	if (receiver->mydest != DestCopyOut)
		return false;
	if (copy_receive == NULL)
	{
		DestReceiver *copy = CreateCopyDestReceiver();

		copy_receive = copy->receiveSlot;
		copy->rDestroy(copy);
	}
	return receiver->receiveSlot != copy_receive;
}

bool
tde_results_begin(QueryDesc *query)
{
	TdeReceiver *receiver;

	if (likely(tde_citus_results == TDE_IO_PLAINTEXT) || query->dest == NULL || !is_citus(query->dest))
		return false;
	receiver = tde_receiver_new(sizeof(TdeReceiver), receive_from_node, tde_receiver_startup);
	tde_receiver_set_next(receiver, query->dest);
	query->dest = &receiver->pub;
	return true;
}

/* Calls of casts that encrypt, without the modifiers' argument: so does Citus make them, and nobody else but by name. */
void
tde_results_cast(Query *query)
{
	ListCell   *lc;

	if (query->commandType != CMD_SELECT)
		return;
	foreach(lc, query->targetList)
	{
		FuncExpr   *call = (FuncExpr *) ((TargetEntry *) lfirst(lc))->expr;

		if (IsA(call, FuncExpr) && list_length(call->args) == 1 && tde_cast_is_encryption(call->funcid))
			call->args = tde_base_modifier_args(linitial(call->args), tde_typmod_default());
	}
}
