/*
 * secrets.c - the trigger of tde.passphrase, by which a session gives a secret: COPY's data stand in no statement and in no parameter.
 *
 * COPY leaves what it has read in its buffers, and an error would quote it, so both are seen to here.
 *
 * A session sends COPY tde.passphrase FROM STDIN.  tde_secrets_utility() marks the command before it runs, and the trigger keeps the secret in locked
 * memory (wallet/given.c), from where the next function that needs one takes it.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "commands/copyfrom_internal.h"
#include "commands/trigger.h"
#include "fmgr.h"
#include "nodes/parsenodes.h"
#include "utils/rel.h"

#include "functions/secrets.h"
#include "server/compat.h"
#include "server/error.h"
#include "server/hidden.h"
#include "wallet/given.h"

PG_FUNCTION_INFO_V1(tde_give_secret);

/* Returns the COPY FROM that is calling us; NULL if something else is.  Its error callback is the last one then: see src/README.md. */
static CopyFromState
calling_copy(void)
{
	return error_context_stack != NULL && error_context_stack->callback == CopyFromErrorCallback ?
		(CopyFromState) error_context_stack->arg : NULL;
}

/* Overwrites what was read of the line, and before it.  COPY would keep it until it ends, and quote it in an error. */
static void
cleanse_copy(CopyFromState copy)
{
	StringInfo	texts[] = {&copy->line_buf, &copy->attribute_buf};

	for (int i = 0; i < lengthof(texts); i++)
		if (texts[i]->data != NULL)
			explicit_bzero(texts[i]->data, texts[i]->len);
	if (copy->raw_buf != NULL)
		explicit_bzero(copy->raw_buf, copy->raw_buf_index);
	if (copy->input_buf != NULL)
		explicit_bzero(copy->input_buf, copy->input_buf_index);
}

/*
 * Throws unless the trigger is called for a row that COPY brings.  A secret in INSERT has been seen already: the statement is hidden from then on,
 * and the user told how else.
 */
static void
check_call(FunctionCallInfo fcinfo)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo) || !TRIGGER_FIRED_INSTEAD(trigger->tg_event) || !TRIGGER_FIRED_BY_INSERT(trigger->tg_event) ||
		!TRIGGER_FIRED_FOR_ROW(trigger->tg_event) || RelationGetNumberOfAttributes(trigger->tg_relation) != 1 ||
		TupleDescAttr(RelationGetDescr(trigger->tg_relation), 0)->atttypid != TEXTOID)
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("tde_give_secret() must be called as the trigger of tde.passphrase")));
	tde_hidden_data();
	if (calling_copy() != NULL)
		return;
	tde_hidden_statement("tde.passphrase");
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("a secret cannot be inserted"),
			 errdetail("In INSERT it is part of the statement or of its parameters, which others may be shown."),
			 errhint("Use COPY tde.passphrase FROM STDIN.")));
}

/*
 * tde_give_secret() returns trigger - keep the row's only column for the function that needs it next.  The INSTEAD OF INSERT trigger of the view
 * tde.passphrase, which has no rows.
 *
 * Throws ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED on any other table, ERRCODE_FEATURE_NOT_SUPPORTED if INSERT calls it, and
 * ERRCODE_NULL_VALUE_NOT_ALLOWED.
 */
Datum
tde_give_secret(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	CopyFromState copy;
	Datum		value;
	bool		is_null;
	text	   *secret;

	check_call(fcinfo);
	copy = calling_copy();
	value = heap_getattr(trigger->tg_trigtuple, 1, RelationGetDescr(trigger->tg_relation), &is_null);
	if (is_null)
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("secret must not be null")));
	secret = DatumGetTextPP(value);
	tde_given_put(VARDATA_ANY(secret), VARSIZE_ANY_EXHDR(secret));

	/* the row is stored nowhere: its copies may go, the one that the tuple was made of included */
	explicit_bzero(VARDATA_ANY(secret), VARSIZE_ANY_EXHDR(secret));
	if (trigger->tg_trigslot != NULL && !TTS_EMPTY(trigger->tg_trigslot) && trigger->tg_trigslot->tts_nvalid > 0)
	{
		secret = (text *) DatumGetPointer(trigger->tg_trigslot->tts_values[0]);
		explicit_bzero(VARDATA_ANY(secret), VARSIZE_ANY_EXHDR(secret));
	}
	cleanse_copy(copy);
	return PointerGetDatum(trigger->tg_trigtuple);
}

/*
 * An error about COPY's data comes before the trigger is called, and may have them.  So the name alone counts, whatever schema the view is in, and if
 * there is none.
 */
void
tde_secrets_utility(Node *stmt)
{
	if (IsA(stmt, CopyStmt))
	{
		CopyStmt   *copy = (CopyStmt *) stmt;

		if (copy->is_from && copy->relation != NULL && strcmp(copy->relation->relname, "passphrase") == 0)
			tde_hidden_data();
	}
	else if (IsA(stmt, DiscardStmt))
		tde_given_drop();
}
