/*
 * opened.c - a value is given out in clear: to who may see it, and counted by its column, for tde.decryptions.
 *
 * A call site looks its column up when it gives the first value out.
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "utils/array.h"
#include "utils/memutils.h"

#include "server/compat.h"
#include "server/statement.h"
#include "type/call.h"
#include "type/inside.h"
#include "type/opened.h"

/* The row that goes to the client at the moment. */
static TupleTableSlot *row = NULL;
static const TdeColumn *row_origins;

static void
row_is_gone(SubXactEvent event, SubTransactionId id, SubTransactionId parent, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		row = NULL;
}

static void
rows_are_gone(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_ABORT)
		row = NULL;
}

void
tde_opened_row(TupleTableSlot *slot, const TdeColumn *origins)
{
	static bool registered = false;

	if (!registered)
	{
		RegisterSubXactCallback(row_is_gone, NULL);
		RegisterXactCallback(rows_are_gone, NULL);
	}
	registered = true;
	row = slot;
	row_origins = origins;
}

/* Output functions get a row's values as they stand in it. */
static TdeColumn
origin_in_row(Datum value)
{
	for (int i = 0; i < row->tts_nvalid; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!row->tts_isnull[i] && row->tts_values[i] == value)
			return row_origins[i];
	}
	return TDE_NO_COLUMN;
}

TdeColumn
tde_opened_column(FunctionCallInfo fcinfo, int arg)
{
	const TdeCall *call = tde_call(fcinfo);
	List	   *args;

	/* one with masks has been told */
	if (OidIsValid(call->columns[arg].table))
		return call->columns[arg];
	args = tde_call_arguments(fcinfo);
	if (arg < list_length(args))
		return tde_origin_of(list_nth(args, arg));
	if (fcinfo->flinfo->fn_expr || fcinfo->context)
		return TDE_NO_COLUMN;
	if (row)
		return origin_in_row(fcinfo->args[arg].value);
	return OidIsValid(tde_statement.copied) ?
		tde_origin_of_copied(tde_statement.copied, call->proc->args[arg]->oid, DatumGetPointer(fcinfo->args[arg].value)) :
		TDE_NO_COLUMN;
}

/* What a call site keeps when it has given values out. */
typedef struct Opened
{
	bool		known[3];
	TdeColumn	column[3];
	TdeDecrypted *place[3];
} Opened;

StaticAssertDecl(lengthof(((Opened *) NULL)->place) == lengthof(((TdeCall *) NULL)->declared), "one for each argument");

void
tde_opened_argument(FunctionCallInfo fcinfo, int arg)
{
	TdeCall    *call = fcinfo->flinfo->fn_extra;
	Opened	   *opened = call->opened;

	if (unlikely(opened == NULL))
		call->opened = opened = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(Opened));
	if (unlikely(!opened->known[arg]))
		opened->column[arg] = tde_opened_column(fcinfo, arg);
	opened->known[arg] = true;
	tde_decryptions_add(&opened->place[arg], opened->column[arg], 1);
}

bool
tde_opened_permits(FunctionCallInfo fcinfo, int arg)
{
	if (!tde_access_permits_argument(tde_call(fcinfo), arg, PG_GETARG_DATUM(arg)))
		return false;
	if (tde_track_decryptions)
		tde_opened_argument(fcinfo, arg);
	return true;
}

void
tde_opened_check_watched(FunctionCallInfo fcinfo, int arg)
{
	if (!tde_opened_permits(fcinfo, arg))
		tde_access_refuse(tde_call(fcinfo)->proc->args[arg]);
}

uint64
tde_opened_elements(Datum array)
{
	ArrayType  *detoasted = DatumGetArrayTypeP(array);
	const uint8 *nulls = ARR_NULLBITMAP(detoasted);
	int			count = ArrayGetNItems(ARR_NDIM(detoasted), ARR_DIMS(detoasted));
	uint64		values = count;

	for (int i = 0; nulls && i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		values -= (nulls[i / 8] >> (i % 8) & 1) == 0;
	}
	if ((Pointer) detoasted != DatumGetPointer(array))
		pfree(detoasted);
	return values;
}
