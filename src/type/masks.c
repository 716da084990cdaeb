/*
 * masks.c - which column a value comes from, for its masks; what becomes of statements without the module "masks".
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_seclabel.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/plannodes.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"

#include "server/compat.h"
#include "server/module.h"
#include "type/masks.h"

PG_FUNCTION_INFO_V1(tde_of_column);

const TdeMasksCalls *tde_masks = NULL;
static bool looked_for = false;

/*
 * ---- which column a value comes from ----
 *
 * What says so is a call that gives back its argument.  It has the form of a cast, as no user can write it: CREATE CAST takes no function of these types.
 */

extern Datum tde_of_column(PG_FUNCTION_ARGS);

/* tde_of_column(anyelement, regclass, int2) returns anyelement - the value. */
Datum
tde_of_column(PG_FUNCTION_ARGS)
{
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

/* tde_of_column() in this database; InvalidOid: it is not here. */
static Oid
call_function(void)
{
	Oid			types[] = {ANYELEMENTOID, REGCLASSOID, INT2OID};

	return tde_type_internal_function("tde_of_column", tde_of_column, types, lengthof(types));
}

Node *
tde_masks_argument(Node *arg, TdeColumn *column)
{
	FuncExpr   *call = (FuncExpr *) arg;
	Const	   *table;
	Const	   *number;

	*column = TDE_NO_COLUMN;
	if (arg == NULL || !IsA(arg, FuncExpr) || call->funcformat != COERCE_EXPLICIT_CAST || list_length(call->args) != 3)
		return arg;
	table = lsecond(call->args);
	number = lthird(call->args);
	if (!IsA(table, Const) || table->consttype != REGCLASSOID || !IsA(number, Const) || number->consttype != INT2OID ||
		call->funcid != call_function())
		return arg;
	*column = (TdeColumn) {DatumGetObjectId(table->constvalue), DatumGetInt16(number->constvalue)};
	return linitial(call->args);
}

/* Such a call, or that of another function with these arguments. */
Expr *
tde_masks_call_of(Oid function, Expr *expr, TdeColumn column)
{
	Oid			collation = exprCollation((Node *) expr);
	Const	   *table = makeConst(REGCLASSOID, -1, InvalidOid, sizeof(Oid), ObjectIdGetDatum(column.table), false, true);
	Const	   *number = makeConst(INT2OID, -1, InvalidOid, sizeof(int16), Int16GetDatum(column.number), false, true);

	return (Expr *) makeFuncExpr(function, exprType((Node *) expr), list_make3(expr, table, number), collation, collation, COERCE_EXPLICIT_CAST);
}

Expr *
tde_masks_call(Expr *expr, TdeColumn column)
{
	Oid			function = OidIsValid(column.table) ? call_function() : InvalidOid;

	return OidIsValid(function) ? tde_masks_call_of(function, expr, column) : expr;
}

/* ---- columns of a result ---- */

Node *
tde_masks_item(int index, TdeColumn column)
{
	PlanInvalItem *item = makeNode(PlanInvalItem);

	StaticAssertStmt(MaxTupleAttributeNumber < 2048, "two numbers of columns fit into an item");
	item->cacheId = TDE_MASKED_ITEM - (index << 11 | column.number);
	item->hashValue = column.table;
	return (Node *) item;
}

TdeColumn
tde_masks_result(List *items, int index)
{
	ListCell   *cell;

	foreach(cell, items)
	{
		PlanInvalItem *item = lfirst(cell);
		int			numbers = TDE_MASKED_ITEM - item->cacheId;

		if (item->cacheId < 0 && numbers > 0 && numbers >> 11 == index)
			return (TdeColumn) {item->hashValue, numbers & 2047};
	}
	return TDE_NO_COLUMN;
}

/* ---- without the module ---- */

/* Returns true if any object of the database has a label of ours.  Only asked without the module, before rows are changed. */
static bool
any_column_has_masks(void)
{
	Relation	labels = table_open(SecLabelRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	bool		found;

	ScanKeyInit(&key, Anum_pg_seclabel_provider, BTEqualStrategyNumber, F_TEXTEQ, CStringGetTextDatum(TDE_LABEL_PROVIDER));
	scan = systable_beginscan(labels, InvalidOid, false, NULL, 1, &key);
	found = HeapTupleIsValid(systable_getnext(scan));
	systable_endscan(scan);
	table_close(labels, AccessShareLock);
	return found;
}

List *
tde_masks_columns(Query *query)
{
	tde_masks_load();
	if (tde_masks)
		return tde_masks->columns(query);
	if ((query->commandType != CMD_SELECT || query->hasModifyingCTE) && query->commandType != CMD_UTILITY && any_column_has_masks())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot change rows while columns have masks, without a module"),
				 errdetail("Module \"masks\" of tde_column, which checks what is stored in such columns, was missing when the library was loaded."),
				 errhint("Install the module \"masks\" of tde_column, and restart the server.")));
	return NIL;
}

void
tde_masks_load(void)
{
	const TdeModule *module;

	if (looked_for)
		return;
	looked_for = true;
	module = tde_module_load("masks");
	tde_masks = module ? module->calls : NULL;
}

/*
 * Elsewhere than in the postmaster not yet: parallel workers load libraries in the order in which the leader finished loading them, and this one
 * is to be the first.
 */
void
tde_masks_init(void)
{
	if (process_shared_preload_libraries_in_progress)
		tde_masks_load();
}
