/*
 * mask_stores.c - no value of another column gets into one that is shown to somebody.
 *
 * A value of another column, put into one that has masks, would be shown with it.  So what a statement stores there must be new, or what the same
 * column has; anything else of a column is refused to who may not decrypt.  A part of the column's own value is another one, which would show more.
 *
 * ON UPDATE CASCADE brings what is stored in a referenced column to the columns that reference it.  If one of these is plain, or shown, only new values
 * are stored, and the row's own.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/partition.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "masks/column_masks.h"
#include "masks/mask_sources.h"
#include "masks/mask_stores.h"
#include "server/compat.h"
#include "type/access.h"
#include "type/cast.h"
#include "type/inside.h"

PG_FUNCTION_INFO_V1(tde_masks_for_column);

/* ---- which columns are shown ---- */

static bool
any_has_masks(List *tables, TdeColumn column)
{
	char	   *name = get_attname(column.table, column.number, false);
	ListCell   *cell;

	foreach(cell, tables)
		if (tde_masks_exist((TdeColumn) {lfirst_oid(cell), get_attnum(lfirst_oid(cell), name)}))
			return true;
	return false;
}

/*
 * Returns true if roles see the column by masks.  A row of a partition is also shown as one of the table that it is a partition of, and the other way
 * round.
 */
static bool
is_shown(TdeColumn column)
{
	if (tde_masks_exist(column))
		return true;
	return (has_superclass(column.table) && any_has_masks(get_partition_ancestors(column.table), column)) ||
		(has_subclass(column.table) && any_has_masks(find_all_inheritors(column.table, NoLock, NULL), column));
}

/* Returns the column that references this one by the foreign key; number InvalidAttrNumber: none does. */
static TdeColumn
referencing_column(Oid constraint, AttrNumber number)
{
	HeapTuple	tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(constraint));
	TdeColumn	result = {InvalidOid, InvalidAttrNumber};
	bool		isnull;
	ArrayType  *keys;
	ArrayType  *referenced;

	if (!HeapTupleIsValid(tuple))
		return result;
	keys = DatumGetArrayTypeP(SysCacheGetAttr(CONSTROID, tuple, Anum_pg_constraint_conkey, &isnull));
	referenced = DatumGetArrayTypeP(SysCacheGetAttr(CONSTROID, tuple, Anum_pg_constraint_confkey, &isnull));
	for (int i = 0; i < ARR_DIMS(referenced)[0]; i++)
		if (((int16 *) ARR_DATA_PTR(referenced))[i] == number)
			result = (TdeColumn) {((Form_pg_constraint) GETSTRUCT(tuple))->conrelid, ((int16 *) ARR_DATA_PTR(keys))[i]};
	ReleaseSysCache(tuple);
	return result;
}

/* Returns the foreign keys with ON UPDATE CASCADE that reference a table: what looks at them next may have its triggers read anew. */
static List *
cascading_keys(Oid table)
{
	Relation	rel = table_open(table, AccessShareLock);
	TriggerDesc *triggers = rel->trigdesc;
	List	   *keys = NIL;

	for (int i = 0; triggers && i < triggers->numtriggers; i++)
		if (triggers->triggers[i].tgfoid == F_RI_FKEY_CASCADE_UPD)
			keys = lappend_oid(keys, triggers->triggers[i].tgconstraint);
	table_close(rel, NoLock);
	return keys;
}

static bool shows_by_reference(TdeColumn column, List **seen);

/* Returns true if a foreign key of this one table brings what its column gets to a column where it is seen. */
static bool
table_shows_by_reference(TdeColumn column, List **seen)
{
	ListCell   *cell;

	foreach(cell, cascading_keys(column.table))
	{
		TdeColumn	other = referencing_column(lfirst_oid(cell), column.number);

		if (OidIsValid(other.table) &&
			(!tde_type_holds_encrypted(get_atttype(other.table, other.number)) || is_shown(other) || shows_by_reference(other, seen)))
			return true;
	}
	return false;
}

static bool
is_seen(const List *seen, TdeColumn column)
{
	ListCell   *cell;

	foreach(cell, seen)
		if (memcmp(lfirst(cell), &column, sizeof(column)) == 0)
			return true;
	return false;
}

/* Returns true if foreign keys do so, over any number of tables.  seen: columns that have been looked at, since they may reference each other. */
static bool
shows_by_reference(TdeColumn column, List **seen)
{
	char	   *name = get_attname(column.table, column.number, false);
	List	   *tables = has_subclass(column.table) ? find_all_inheritors(column.table, AccessShareLock, NULL) : list_make1_oid(column.table);
	TdeColumn  *looked_at;
	ListCell   *cell;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (is_seen(*seen, column))
		return false;
	looked_at = palloc(sizeof(TdeColumn));
	*looked_at = column;
	*seen = lappend(*seen, looked_at);
	foreach(cell, tables)
		if (table_shows_by_reference((TdeColumn) {lfirst_oid(cell), get_attnum(lfirst_oid(cell), name)}, seen))
			return true;
	return false;
}

/* ---- what is stored ---- */

/* A column that is guarded, and the query that stores there. */
typedef struct Guarded
{
	TdeColumn	column;
	Query	   *query;
	bool		by_reference;	/* it is not shown itself */
} Guarded;

extern Datum tde_for_column(PG_FUNCTION_ARGS);	/* the core's, which calls the one below */

/*
 * Returns true in a foreign key's action, which brings what the referenced column has.  It runs as the table's owner; a trigger of somebody else's
 * table that runs inside of such an action does not.
 */
static bool
is_foreign_key_action(Oid table)
{
	HeapTuple	tuple = InNoForceRLSOperation() ? SearchSysCache1(RELOID, ObjectIdGetDatum(table)) : NULL;
	bool		result = HeapTupleIsValid(tuple) && ((Form_pg_class) GETSTRUCT(tuple))->relowner == GetUserId();

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return result;
}

/* tde_for_column(anyelement, regclass, int2) returns anyelement - the value; an error if it is a column's, and the user may not decrypt it. */
Datum
tde_masks_for_column(PG_FUNCTION_ARGS)
{
	TdeType    *type = tde_type_find(getBaseType(get_fn_expr_argtype(fcinfo->flinfo, 0)));

	if (unlikely(tde_access_restricted) && type && !tde_access_permits(type, PG_GETARG_DATUM(0)) && !is_foreign_key_action(PG_GETARG_OID(1)))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to store another column's value in column \"%s\" of table \"%s\"",
						get_attname(PG_GETARG_OID(1), PG_GETARG_INT16(2), false), get_rel_name(PG_GETARG_OID(1))),
				 is_shown((TdeColumn) {PG_GETARG_OID(1), PG_GETARG_INT16(2)}) ? errdetail("The column has masks, by which roles would see it.")
				 : errdetail("ON UPDATE CASCADE would bring it to a column where it is seen."),
				 errhint("Store a new value, or have somebody do this who may decrypt.")));
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}

static Oid
guard_function(void)
{
	Oid			types[] = {ANYELEMENTOID, REGCLASSOID, INT2OID};

	return tde_type_internal_function("tde_for_column", tde_for_column, types, lengthof(types));
}

static void guard(Expr **place, const Guarded *target, TdeMaskScope *scope);

static void
guard_list(List *expressions, const Guarded *target, TdeMaskScope *scope)
{
	ListCell   *cell;

	foreach(cell, expressions)
		guard((Expr **) &lfirst(cell), target, scope);
}

/* Each result of CASE may become the value. */
static void
guard_case(CaseExpr *expr, const Guarded *target, TdeMaskScope *scope)
{
	ListCell   *cell;

	foreach(cell, expr->args)
		guard(&lfirst_node(CaseWhen, cell)->result, target, scope);
	guard(&expr->defresult, target, scope);
}

/* Guards the expressions that VALUES have for each row.  Returns false if the Var is of something else. */
static bool
guard_rows(Var *var, const Guarded *target, TdeMaskScope *scope)
{
	RangeTblEntry *rte = tde_mask_entry_of(var, &scope);
	ListCell   *row;

	if (rte == NULL || rte->rtekind != RTE_VALUES)
		return false;
	foreach(row, rte->values_lists)
		guard((Expr **) &lfirst(list_nth_cell(lfirst(row), var->varattno - 1)), target, scope);
	return true;
}

/* Returns true if it takes the value on, in whatever form.  What is given a plain one makes a new value. */
static bool
takes_on(Expr *expr)
{
	return IsA(expr, FuncExpr) && (exprIsLengthCoercion((Node *) expr, NULL) || tde_cast_is_encryption(((FuncExpr *) expr)->funcid));
}

/* Returns true if the value is new: a constant, or made of what is plain. */
static bool
is_new(Expr *expr)
{
	while (IsA(expr, RelabelType) || IsA(expr, CoerceToDomain) || takes_on(expr))
		expr = IsA(expr, RelabelType) ? ((RelabelType *) expr)->arg :
			IsA(expr, CoerceToDomain) ? ((CoerceToDomain *) expr)->arg : linitial(((FuncExpr *) expr)->args);
	return IsA(expr, Const) || tde_mask_encrypted_type(expr) == NULL;
}

/* Returns true if it may be a part of a column's value: pan::encrypted_varchar(8).  A cast that nobody has written cuts blanks alone. */
static bool
may_be_cut(Expr *expr)
{
	return IsA(expr, FuncExpr) && ((FuncExpr *) expr)->funcformat == COERCE_EXPLICIT_CAST && !is_new(expr);
}

/* Returns true if the expression is the row's own value, or the one that was to be inserted, which has been guarded. */
static bool
is_own_value(Expr *expr, const Guarded *target, TdeMaskScope *scope)
{
	OnConflictExpr *conflict = target->query->onConflict;
	Var		   *var = (Var *) expr;

	return IsA(expr, Var) && scope->query == target->query && var->varlevelsup == 0 &&
		(var->varno == target->query->resultRelation || (conflict && var->varno == conflict->exclRelIndex));
}

/* Returns true if the column may get the value, whoever stores it. */
static bool
may_take(const Guarded *target, Expr *expr, TdeMaskScope *scope)
{
	TdeColumn	source = tde_mask_column_of(expr, scope);

	return source.table == target->column.table && source.number == target->column.number &&
		(!target->by_reference || is_own_value(expr, target, scope));
}

/* Guards an expression whose value becomes that of the column: puts it under a call of tde_for_column() unless it is new, or the same column's. */
static void
guard(Expr **place, const Guarded *target, TdeMaskScope *scope)
{
	Expr	   *expr = *place;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (expr == NULL || IsA(expr, Const) || tde_mask_encrypted_type(expr) == NULL)
		return;
	if (IsA(expr, RelabelType))
		guard(&((RelabelType *) expr)->arg, target, scope);
	else if (IsA(expr, CoerceToDomain))
		guard(&((CoerceToDomain *) expr)->arg, target, scope);
	else if (IsA(expr, CoalesceExpr))
		guard_list(((CoalesceExpr *) expr)->args, target, scope);
	else if (IsA(expr, CaseExpr))
		guard_case((CaseExpr *) expr, target, scope);
	else if (takes_on(expr) && !may_be_cut(expr))
		guard((Expr **) &linitial(((FuncExpr *) expr)->args), target, scope);
	else if ((!IsA(expr, Var) || !guard_rows((Var *) expr, target, scope)) && !may_take(target, expr, scope))
		*place = tde_masks_call_of(guard_function(), expr, target->column);
}

/* Guards what an INSERT, UPDATE or MERGE stores in columns that are shown. */
static void
guard_targets(List *targets, TdeMaskScope *scope)
{
	Oid			table = rt_fetch(scope->query->resultRelation, scope->query->rtable)->relid;
	ListCell   *cell;

	foreach(cell, targets)
	{
		TargetEntry *entry = lfirst(cell);
		Guarded		target = {{table, entry->resno}, scope->query};
		List	   *seen = NIL;

		if (entry->resjunk || entry->expr == NULL || tde_mask_encrypted_type(entry->expr) == NULL)
			continue;
		target.by_reference = !is_shown(target.column);
		if (!target.by_reference || shows_by_reference(target.column, &seen))
			guard(&entry->expr, &target, scope);
	}
}

void
tde_mask_guard_stores(TdeMaskScope *scope)
{
	Query	   *query = scope->query;
	ListCell   *cell;

	if (query->commandType != CMD_SELECT && query->commandType != CMD_UTILITY)
		guard_targets(query->targetList, scope);
	if (query->onConflict)
		guard_targets(query->onConflict->onConflictSet, scope);
	foreach(cell, query->mergeActionList)
		guard_targets(lfirst_node(MergeAction, cell)->targetList, scope);
}
