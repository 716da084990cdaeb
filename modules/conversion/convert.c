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
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "conversion/convert.h"
#include "ddl/declared_type.h"
#include "server/compat.h"
#include "server/table_name.h"
#include "type/type.h"

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

/* ---- what is a conversion ---- */

/* What its trigger's arguments say: 'copy', source, target; or 'erase', column, its converted copy; with an opener the function behind that. */
typedef struct Roles
{
	const char *source;			/* NULL: the target is erased */
	const char *target;			/* the helper column */
	const char *original;		/* what it is the copy of, or is replaced by */
	const char *opener;			/* the function that makes clear values of what is stored; NULL: none, one is encrypted, the other of its base type */
} Roles;

/* Returns true if the name consists of these words and a number, the same as in the other name from there on. */
static bool
is_numbered(const char *name, const char *words, const char *number)
{
	size_t		size = strlen(words);

	return strncmp(name, words, size) == 0 && strcmp(name + size, number) == 0;
}

/* Returns true of one column or array of an encrypted type, and one of its base type. */
static bool
are_pair(Oid one, Oid other)
{
	TdeType    *type;

	if (OidIsValid(get_element_type(one)) && OidIsValid(get_element_type(other)))
	{
		one = get_element_type(one);
		other = get_element_type(other);
	}
	type = tde_type_find(one);
	if (type && type->base == other)
		return true;
	type = tde_type_find(other);
	return type && type->base == one;
}

/* Returns true if both columns are there still, and of types that a conversion has. */
static bool
are_convertible(Relation rel, const Roles *roles)
{
	AttrNumber	numbers[] = {get_attnum(RelationGetRelid(rel), roles->target), get_attnum(RelationGetRelid(rel), roles->original)};
	Form_pg_attribute target;
	Form_pg_attribute original;

	if (numbers[0] <= 0 || numbers[1] <= 0)
		return false;
	target = TupleDescAttr(RelationGetDescr(rel), numbers[0] - 1);
	original = TupleDescAttr(RelationGetDescr(rel), numbers[1] - 1);
	if (target->attgenerated != '\0' || target->attidentity != '\0')
		return false;
	/* the other column's type is what the function takes */
	return roles->opener ? tde_ddl_encrypted(roles->source ? target->atttypid : original->atttypid) != NULL :
		are_pair(target->atttypid, original->atttypid);
}

/*
 * Returns true if the trigger looks like one of tde_encrypt_column(): '~tde_convert_N' for a column tde_convert_N, or tde_erase_N.  Whoever may make
 * triggers on a table can make one, and CREATE TABLE ... LIKE and DETACH PARTITION leave such columns behind: see is_owners().
 */
static bool
is_conversion(Relation rel, const Trigger *trigger, Roles *roles)
{
	static const char words[] = "~tde_convert_";
	const char *number = trigger->tgname + strlen(words);
	bool		copies;

	if (strncmp(trigger->tgname, words, strlen(words)) != 0 || *number == '\0' || strspn(number, "0123456789") != strlen(number) ||
		trigger->tgnargs < 3 || trigger->tgnargs > 4)
		return false;
	copies = strcmp(trigger->tgargs[0], "copy") == 0;
	if (!copies && strcmp(trigger->tgargs[0], "erase") != 0)
		return false;
	roles->source = copies ? trigger->tgargs[1] : NULL;
	roles->target = trigger->tgargs[copies ? 2 : 1];
	roles->original = trigger->tgargs[copies ? 1 : 2];
	roles->opener = trigger->tgnargs == 4 ? trigger->tgargs[3] : NULL;
	return (is_numbered(roles->target, "tde_convert_", number) || (!copies && is_numbered(roles->target, "tde_erase_", number))) &&
		are_convertible(rel, roles);
}

/*
 * Returns true if the trigger stands for the decision of the table's owner, that the column's values are copied as it says.  It is ENABLE ALWAYS, which
 * nobody but the owner can make it: CREATE TRIGGER, with OR REPLACE, too, makes one that is not.  A partition has its table's, whose owner
 * must be somebody who could become that of the partition.
 */
static bool
is_owners(Relation rel, const Trigger *trigger)
{
	ListCell   *cell;

	if (trigger->tgenabled != TRIGGER_FIRES_ALWAYS)
		return false;
	foreach(cell, trigger->tgisclone ? get_partition_ancestors(RelationGetRelid(rel)) : NIL)
	{
		Oid			owner = GetSysCacheOid1(RELOID, Anum_pg_class_relowner, ObjectIdGetDatum(lfirst_oid(cell)));

		if (!has_privs_of_role(owner, rel->rd_rel->relowner))
			return false;
	}
	return true;
}

/* Returns the name of the table that is converted: the one whose trigger partitions have a copy of. */
static const char *
converted_table(Relation rel, const Trigger *trigger)
{
	List	   *ancestors = trigger->tgisclone ? get_partition_ancestors(RelationGetRelid(rel)) : NIL;

	return tde_table_name(ancestors ? llast_oid(ancestors) : RelationGetRelid(rel));
}

/* Nobody has decided this conversion; or its trigger was disabled, and there may be rows whose copies are not right. */
pg_noreturn static void
refuse_disabled(Relation rel, const Trigger *trigger, const Roles *roles)
{
	const char *table = converted_table(rel, trigger);
	const char *column = quote_literal_cstr(roles->original);

	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("conversion of column \"%s\" of table \"%s\" cannot go on", roles->original, RelationGetRelationName(rel)),
			 errdetail("Trigger \"%s\" is not enabled as the owner's conversion has made it, ENABLE ALWAYS.  Rows may have been written without it.",
					   trigger->tgname),
			 roles->source ? errhint("CALL tde_abort_conversion(%s, %s); and begin again.", quote_literal_cstr(table), column) :
			 errhint("ALTER TABLE %s ENABLE ALWAYS TRIGGER %s; CALL tde_finish_conversion(%s, %s);", table, quote_identifier(trigger->tgname),
					 quote_literal_cstr(table), column)));
}

bool
tde_convert_is_under_way(Relation rel, const char *source, const char *target, char **opener)
{
	TriggerDesc *triggers = rel->trigdesc;

	for (int i = 0; triggers && i < triggers->numtriggers; i++)
	{
		Roles		roles;
		FmgrInfo	finfo;

		if (!is_conversion(rel, &triggers->triggers[i], &roles) || strcmp(roles.target, target) != 0 ||
			(roles.source == NULL) != (source == NULL) || (source && strcmp(roles.source, source) != 0))
			continue;
		fmgr_info(triggers->triggers[i].tgfoid, &finfo);
		if (finfo.fn_addr == tde_convert_trigger)
		{
			if (!is_owners(rel, &triggers->triggers[i]))
				refuse_disabled(rel, &triggers->triggers[i], &roles);
			*opener = roles.opener ? pstrdup(roles.opener) : NULL;
			return true;
		}
	}
	return false;
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

pg_noreturn static void
not_our_trigger(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
			 errmsg("tde_convert_trigger can only be called as the trigger that tde_encrypt_column() makes")));
}

/* The trigger is as it was made; somebody has renamed, altered or dropped one of its columns. */
static void
refuse_altered(Relation rel, const Trigger *trigger)
{
	const char *table = tde_table_name(RelationGetRelid(rel));

	if (trigger->tgnargs < 3 || strcmp(trigger->tgargs[0], "copy") != 0 || strcmp(trigger->tgname + 1, trigger->tgargs[2]) != 0)
		not_our_trigger();
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("conversion of column \"%s\" of table \"%s\" cannot go on", trigger->tgargs[1], RelationGetRelationName(rel)),
			 errdetail("The column or its copy \"%s\" was renamed, altered or dropped.", trigger->tgargs[2]),
			 errhint("End the conversion: DROP TRIGGER %s ON %s; ALTER TABLE %s DROP COLUMN IF EXISTS %s;", quote_identifier(trigger->tgname), table,
					 table, quote_identifier(trigger->tgargs[2]))));
}

/* Returns what the trigger keeps for this statement, made with its first row.  A trigger that somebody else has made is refused here. */
static TriggerState *
trigger_state(FunctionCallInfo fcinfo, TriggerData *data)
{
	MemoryContext old;
	TriggerState *state = fcinfo->flinfo->fn_extra;
	Roles		roles;

	if (state != NULL)
		return state;
	if (!is_conversion(data->tg_relation, data->tg_trigger, &roles))
		refuse_altered(data->tg_relation, data->tg_trigger);
	/* to erase takes nobody's rights */
	if (roles.source && !is_owners(data->tg_relation, data->tg_trigger))
		refuse_disabled(data->tg_relation, data->tg_trigger, &roles);
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
		not_our_trigger();
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
