/*
 * calls.c - a value is given out in clear: which column it comes from, and that it is counted.
 *
 * A call site looks its column up when it gives the first value out.
 *
 * The core calls through TdeDecryptionsCalls (type/opened.h), while tde_column.track_decryptions is on.  What a call site has found out is kept with
 * it: the next value costs an addition.
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "nodes/primnodes.h"
#include "utils/array.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "decryptions/counts.h"
#include "decryptions/origin.h"
#include "decryptions/counts_shared.h"
#include "server/compat.h"
#include "server/module.h"
#include "server/statement.h"
#include "type/call.h"

/* The row that goes to the client at the moment, and the columns its values are from.  NULL: none does. */
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

/* TdeDecryptionsCalls.row: this row goes to the client now; NULL: it has gone.  origins: by column, and good as long. */
static void
send_row(TupleTableSlot *slot, const TdeColumn *origins)
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

/* Output functions get a row's values as they stand in it, so a value by reference is known by its address. */
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

/*
 * Finds the column of an argument: from what masks know, the expression in a plan, the row that is sent, or the table that is copied, in this order.
 */
static TdeColumn
column_of_argument(FunctionCallInfo fcinfo, int arg)
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

/* What a call site keeps when it has given values out, by argument. */
typedef struct Opened
{
	bool		known[3];
	TdeColumn	column[3];
	TdeDecrypted *place[3];
} Opened;

StaticAssertDecl(lengthof(((Opened *) NULL)->place) == lengthof(((TdeCall *) NULL)->declared), "one for each argument");

/* TdeDecryptionsCalls.add_argument: an argument of this call is given out.  What is found is kept in call->opened, with the call site. */
static void
add_argument(FunctionCallInfo fcinfo, int arg)
{
	TdeCall    *call = fcinfo->flinfo->fn_extra;
	Opened	   *opened = call->opened;

	if (unlikely(opened == NULL))
		call->opened = opened = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(Opened));
	if (unlikely(!opened->known[arg]))
		opened->column[arg] = column_of_argument(fcinfo, arg);
	opened->known[arg] = true;
	tde_counts_add(&opened->place[arg], opened->column[arg], 1);
}

/* Of an array that is given out each element counts that is not NULL. */
static uint64
count_elements(Datum array)
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

/* TdeDecryptionsCalls.add: a value of a column is given out, or an array of such values. */
static void
add(TdeDecrypted **place, TdeColumn column, Datum value, bool is_array)
{
	tde_counts_add(place, column, is_array ? count_elements(value) : 1);
}

/* TdeDecryptionsCalls.statement_ends; query NULL: a utility command.  A query within another one ends no statement of the client's. */
static void
statement_ends(QueryDesc *query)
{
	if (query == NULL || tde_origin_is_only(query))
		tde_counts_statement_ends(GetCurrentStatementStartTimestamp());
}

/* ---- the module ---- */

static void
init(void)
{
	DefineCustomBoolVariable("tde_column.log_decryptions",
							 "Logs which roles are given how many values of which columns in clear.",
							 "One line for each statement and role, without values.  Has no effect without tde_column.track_decryptions.",
							 &tde_log_decryptions, false, PGC_SIGHUP, 0,
							 NULL, NULL, NULL);
	if (process_shared_preload_libraries_in_progress)
		DefineCustomIntVariable("tde_column.decryptions_max",
								"Sets how many rows the view tde.decryptions can have.",
								"What finds no row any more is counted in one number.",
								&tde_decryptions_max, 10000, 100, INT_MAX / 4, PGC_POSTMASTER, 0,
								NULL, NULL, NULL);
	tde_decryptions_init();
}

static const TdeDecryptionsCalls calls = {
	.assign = tde_counts_assign,
	.query_starts = tde_origin_started,
	.statement_ends = statement_ends,
	.add = add,
	.add_argument = add_argument,
	.argument = column_of_argument,
	.result = tde_origin_of_result,
	.row = send_row,
};

TDE_MODULE("decryptions", init, &calls);
