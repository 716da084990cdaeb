/*
 * convert.c - converting a column of a table in use: which value its copy gets, and the trigger that keeps it.
 *
 * The copy is a second column.  The trigger sees to rows that others write; for the others: convert_rows.c.
 *
 * The trigger's name and arguments say what is converted into what, and nothing else does: so a conversion that was broken off can be gone on with by
 * whoever reads them.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_proc.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "conversion/convert.h"
#include "conversion/under_way.h"
#include "server/compat.h"

PG_FUNCTION_INFO_V1(tde_conversion_convert_trigger);

/* What SQL knows of it is the core's. */
extern Datum tde_convert_trigger(PG_FUNCTION_ARGS);

static AttrNumber
column_number(Relation rel, const char *name)
{
	AttrNumber	number = get_attnum(RelationGetRelid(rel), name);

	if (number <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist", name, RelationGetRelationName(rel))));
	return number;
}

/* ---- a value ---- */

void
tde_convert_begin_as_owner(TdeCaller *caller, Relation rel)
{
	tde_owner_begin(caller, rel);
	/* in 17 the same was done just now */
	(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

/*
 * It runs as the table's owner, for whoever writes to the table.  So it belongs to the owner, or to a superuser: its name may be in a schema
 * where others make functions, and who may make triggers on the table has not the owner's rights either.
 */
static Oid
find_opener(Relation rel, const char *name)
{
	Oid			function = DatumGetObjectId(DirectFunctionCall1(regprocedurein, CStringGetDatum(name)));
	Oid			owner = GetSysCacheOid1(PROCOID, Anum_pg_proc_proowner, ObjectIdGetDatum(function));

	if (!tde_owner_is_trusted(owner, rel->rd_rel->relowner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("function %s belongs neither to the owner of table \"%s\" nor to a superuser", name, RelationGetRelationName(rel)),
				 errdetail("It would run as role \"%s\", for all who write to the table.", GetUserNameFromId(rel->rd_rel->relowner, false)),
				 errhint("ALTER FUNCTION %s OWNER TO %s;", name, quote_identifier(GetUserNameFromId(rel->rd_rel->relowner, false)))));
	return function;
}

static Node *
coerce(Node *value, Oid type, int32 typmod, CoercionContext context, const char *column)
{
	Node	   *result = coerce_to_target_type(NULL, value, exprType(value), type, typmod, context, COERCE_IMPLICIT_CAST, -1);

	if (result == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" cannot be cast automatically to type %s", column, format_type_be(type))));
	return result;
}

/* Makes the call of the function for the value, or for the row that it is in. */
static Node *
opened(Relation rel, Node *value, const char *opener, const char *column)
{
	Oid			function = find_opener(rel, opener);
	Oid		   *types;
	int			count;
	Oid			result = get_func_signature(function, &types, &count);

	if (count != 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_FUNCTION_DEFINITION),
				 errmsg("function %s does not take one argument", opener)));
	if (type_is_rowtype(types[0]))
		value = (Node *) makeVar(1, InvalidAttrNumber, rel->rd_rel->reltype, -1, InvalidOid, 0);
	value = coerce(value, types[0], -1, COERCION_IMPLICIT, column);
	return (Node *) makeFuncExpr(function, result, list_make1(value), get_typcollation(result), exprCollation(value), COERCE_EXPLICIT_CALL);
}

/* Makes the expression: the value as an assignment would store it. */
static Expr *
conversion_expr(Relation rel, AttrNumber source, AttrNumber target, const char *opener)
{
	Form_pg_attribute from = TupleDescAttr(RelationGetDescr(rel), source - 1);
	Form_pg_attribute to = TupleDescAttr(RelationGetDescr(rel), target - 1);
	Node	   *value = (Node *) makeVar(1, source, from->atttypid, from->atttypmod, from->attcollation, 0);

	if (opener)
		value = opened(rel, value, opener, NameStr(from->attname));
	return expression_planner((Expr *) coerce(value, to->atttypid, to->atttypmod, COERCION_ASSIGNMENT, NameStr(from->attname)));
}

void
tde_convert_init(TdeConversion *conversion, Relation rel, const char *source, const char *target, const char *opener, ExprContext *context)
{
	TdeCaller	caller;

	conversion->source = source ? column_number(rel, source) : InvalidAttrNumber;
	conversion->target = column_number(rel, target);
	conversion->context = context;
	conversion->opener = source ? opener : NULL;
	conversion->expr = NULL;
	if (source == NULL)
		return;
	/* the owner is who must be allowed to call it, and by whose names it is found */
	tde_convert_begin_as_owner(&caller, rel);
	conversion->expr = ExecInitExpr(conversion_expr(rel, conversion->source, conversion->target, opener), NULL);
	tde_owner_end(&caller);
}

/* What the function could not open is found by its place. */
static void
describe_row(void *arg)
{
	TupleTableSlot *row = arg;

	if (ItemPointerIsValid(&row->tts_tid))
		errcontext("row (%u,%u), which is being taken over", ItemPointerGetBlockNumber(&row->tts_tid), ItemPointerGetOffsetNumber(&row->tts_tid));
}

/* Calls the opener.  It may be written in SQL, so it runs on the owner's path, too; and it must not lose a value. */
static Datum
open_value(TdeConversion *conversion, Relation rel, TupleTableSlot *row, bool *isnull)
{
	TdeCaller	caller;
	ErrorContextCallback context = {.previous = error_context_stack, .callback = describe_row, .arg = row};
	Datum		result;

	if (slot_attisnull(row, conversion->source))
		return (Datum) 0;
	error_context_stack = &context;
	tde_convert_begin_as_owner(&caller, rel);
	conversion->context->ecxt_scantuple = row;
	result = ExecEvalExprSwitchContext(conversion->expr, conversion->context, isnull);
	tde_owner_end(&caller);
	if (*isnull)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("function %s has returned NULL for a value of column \"%s\"", conversion->opener,
						NameStr(TupleDescAttr(RelationGetDescr(rel), conversion->source - 1)->attname)),
				 errdetail("The value would be lost."),
				 errhint("Let the function return what the value is in clear, or fail; set the column to NULL where nothing can open it.")));
	error_context_stack = context.previous;
	return result;
}

Datum
tde_convert_value(TdeConversion *conversion, Relation rel, TupleTableSlot *row, bool *isnull)
{
	Oid			user;
	int			context;
	Datum		result;

	*isnull = true;
	if (conversion->expr == NULL)
		return (Datum) 0;
	if (conversion->opener)
		return open_value(conversion, rel, row, isnull);
	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(rel->rd_rel->relowner, context | SECURITY_RESTRICTED_OPERATION);
	conversion->context->ecxt_scantuple = row;
	result = ExecEvalExprSwitchContext(conversion->expr, conversion->context, isnull);
	SetUserIdAndSecContext(user, context);
	return result;
}

/* ---- the trigger ---- */

/* What the trigger keeps between rows of one statement, in fn_mcxt. */
typedef struct TriggerState
{
	TdeConversion conversion;
	TupleTableSlot *slot;
} TriggerState;

/* Returns what the trigger keeps for this statement, made with its first row.  A trigger that somebody else has made is refused here. */
static TriggerState *
trigger_state(FunctionCallInfo fcinfo, TriggerData *data)
{
	MemoryContext old;
	TriggerState *state = fcinfo->flinfo->fn_extra;
	TdeRoles	roles;

	if (state != NULL)
		return state;
	tde_under_way_read(data->tg_relation, data->tg_trigger, &roles);
	old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	state = palloc0(sizeof(TriggerState));
	state->slot = MakeSingleTupleTableSlot(CreateTupleDescCopy(RelationGetDescr(data->tg_relation)), &TTSOpsHeapTuple);
	tde_convert_init(&state->conversion, data->tg_relation, roles.source, roles.target, roles.opener ? pstrdup(roles.opener) : NULL,
					 CreateStandaloneExprContext());
	fcinfo->flinfo->fn_extra = state;
	MemoryContextSwitchTo(old);
	return state;
}

/* Row trigger before INSERT and UPDATE. */
Datum
tde_conversion_convert_trigger(PG_FUNCTION_ARGS)
{
	TriggerData *data = (TriggerData *) fcinfo->context;
	TriggerState *state;
	HeapTuple	row;
	int			target;
	Datum		value;
	bool		isnull;

	if (!CALLED_AS_TRIGGER(fcinfo) || !TRIGGER_FIRED_BEFORE(data->tg_event) || !TRIGGER_FIRED_FOR_ROW(data->tg_event) ||
		TRIGGER_FIRED_BY_DELETE(data->tg_event))
		tde_under_way_refuse();
	state = trigger_state(fcinfo, data);
	row = TRIGGER_FIRED_BY_UPDATE(data->tg_event) ? data->tg_newtuple : data->tg_trigtuple;
	ResetExprContext(state->conversion.context);
	ExecStoreHeapTuple(row, state->slot, false);
	value = tde_convert_value(&state->conversion, data->tg_relation, state->slot, &isnull);
	target = state->conversion.target;
	row = heap_modify_tuple_by_cols(row, RelationGetDescr(data->tg_relation), 1, &target, &value, &isnull);
	ExecClearTuple(state->slot);
	return PointerGetDatum(row);
}
