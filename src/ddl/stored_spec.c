/*
 * stored_spec.c - the values that a statement stores get their columns' specifications.
 *
 * PostgreSQL's parser has each value that goes into a column coerced to its modifiers, unless the expression's are the same already,
 * and the executor stores what it is given.  Who builds or changes plans himself, and compares types without their modifiers (Citus
 * did, in INSERT ... SELECT), stores values under another specification or key: without the MAC that the column declares, say, which
 * no query reads any more.  And of a function in C that returns record, nobody asks whether its values are as the column definition
 * list says.
 *
 * So a plan that writes is looked at when it is finished: what goes into an encrypted column and is not made by one of our coercions
 * gets one.  For values that are as they should be, it reads the header and no more.
 */
#include "postgres.h"

#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/plannodes.h"
#include "optimizer/planmain.h"
#include "optimizer/planner.h"
#include "parser/parse_coerce.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "ddl/stored_spec.h"
#include "operators/indexed_tables.h"
#include "server/compat.h"
#include "type/base_functions.h"
#include "type/cast.h"
#include "type/inside.h"
#include "type/type.h"

extern Datum tde_coerce(PG_FUNCTION_ARGS);
extern Datum tde_encrypt(PG_FUNCTION_ARGS);
extern Datum tde_recast(PG_FUNCTION_ARGS);

/* Coercions met before, to be recognized without a lookup. */
#define COERCION_MEMOS	16

/* Where an expression stands: by that its Vars are followed. */
typedef struct Source
{
	Plan	   *plan;			/* whose target list has it; NULL: in a ModifyTable itself */
	List	   *tables;			/* the range table */
} Source;

/* Columns that are written, and where their values come from. */
typedef struct Target
{
	Oid			table;
	List	   *numbers;		/* of the columns, in the order of the target list; NIL: the table's, in their order */
	Source		source;
} Target;

/* ---- expressions ---- */

/* Returns true if the function makes what its second argument says.  A user may have declared casts by functions of his own. */
static bool
is_our_coercion(Oid function)
{
	static Oid	met_before[COERCION_MEMOS];
	FmgrInfo	finfo;

	if (met_before[function % COERCION_MEMOS] == function)
		return true;
	fmgr_info(function, &finfo);
	if (finfo.fn_addr != tde_coerce && finfo.fn_addr != tde_encrypt && finfo.fn_addr != tde_recast)
		return false;
	met_before[function % COERCION_MEMOS] = function;
	return true;
}

static bool is_made_for(Node *expr, int32 wanted, const Source *source);

/*
 * Returns the plans from one of which such a column's values come; NIL if they come from none.  A Var of Append has the same column of each branch.
 */
static List *
plans_below(Var *var, Plan *plan)
{
	Plan	   *below = NULL;

	if (plan == NULL)
		return NIL;
	if (IsA(plan, Append))
		return ((Append *) plan)->appendplans;
	if (IsA(plan, MergeAppend))
		return ((MergeAppend *) plan)->mergeplans;
	if (IsA(plan, SubqueryScan))
		below = ((SubqueryScan *) plan)->subplan;
	else if (var->varno == OUTER_VAR)
		below = outerPlan(plan);
	else if (var->varno == INNER_VAR)
		below = innerPlan(plan);
	return below ? list_make1(below) : NIL;
}

/* INSERT INTO t VALUES (...), (...): each row must be made so. */
static bool
are_values_made_for(List *rows, AttrNumber column, int32 wanted, const Source *source)
{
	ListCell   *row;

	foreach(row, rows)
		if (!is_made_for(list_nth(lfirst(row), column - 1), wanted, source))
			return false;
	return true;
}

/*
 * Returns true if a column is that of a table which declares what is wanted: its values were looked at when they were stored.  A domain's column
 * declares what the domain does.  Of an index-only scan the values are the index's copies.
 */
static bool
is_of_table(Var *var, int32 wanted, const Source *source)
{
	int32		declared = var->vartypmod;

	getBaseTypeAndTypmod(var->vartype, &declared);
	if (declared != wanted)
		return false;
	if (IS_SPECIAL_VARNO(var->varno))
		return source->plan && IsA(source->plan, IndexOnlyScan);
	return rt_fetch(var->varno, source->tables)->rtekind == RTE_RELATION;
}

/* Follows a column to the target lists below.  UPDATE t SET a = a, or INSERT ... SELECT of a column that declares the same, is left as it is. */
static bool
is_column_made_for(Var *var, int32 wanted, const Source *source)
{
	List	   *plans = plans_below(var, source->plan);
	ListCell   *cell;

	if (source->plan && IsA(source->plan, ValuesScan))
		return are_values_made_for(((ValuesScan *) source->plan)->values_lists, var->varattno, wanted, source);
	if (plans == NIL)
		return is_of_table(var, wanted, source);
	foreach(cell, plans)
	{
		Source		below = {lfirst(cell), source->tables};
		TargetEntry *entry = get_tle_by_resno(below.plan->targetlist, var->varattno);

		if (entry == NULL || !is_made_for((Node *) entry->expr, wanted, &below))
			return false;
	}
	return true;
}

/*
 * Returns true if this value, if it is not NULL, is sure to be encrypted as the typmod says.  In doubt it is not: a coercion then reads its header.
 */
static bool
is_made_for(Node *expr, int32 wanted, const Source *source)
{
	int32		typmod;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (IsA(expr, Var))
		return is_column_made_for((Var *) expr, wanted, source);
	if (IsA(expr, Const))
		return ((Const *) expr)->constisnull;
	if (IsA(expr, CoerceToDomain))
		return is_made_for((Node *) ((CoerceToDomain *) expr)->arg, wanted, source);
	if (IsA(expr, RelabelType))
		return is_made_for((Node *) ((RelabelType *) expr)->arg, wanted, source);
	return IsA(expr, FuncExpr) && exprIsLengthCoercion(expr, &typmod) && typmod == wanted &&
		is_our_coercion(((FuncExpr *) expr)->funcid);
}

/*
 * Returns the same modifier without the base type's: who has declared a length is believed that the value fits.  A plan makes no row of
 * tde.specifications for it, so the modifier itself is returned where one would be needed.
 */
static int32
without_base(TdeType *type, int32 typmod)
{
	TdeModifiers mods = tde_type_modifiers(type, typmod);
	int32		bare;

	mods.base_typmod = -1;
	mods.unordered = false;
	bare = tde_modifiers_pack_known(type->layout, &mods);
	return bare >= 0 ? bare : typmod;
}

/* Returns a call of the type's length coercion, which makes values fit that do not; the expression itself if the type has none of ours. */
static Node *
coerced(Node *expr, TdeType *type, int32 typmod)
{
	Oid			function;

	if (find_typmod_coercion_function(type->oid, &function) != COERCION_PATH_FUNC || !is_our_coercion(function))
		return expr;
	return (Node *) makeFuncExpr(function, type->oid, tde_base_modifier_args(expr, typmod), exprCollation(expr), InvalidOid, COERCE_IMPLICIT_CAST);
}

/*
 * Elements of arrays have no other modifier than their array, if it is believed.  Of triple DES it is not: what a variable holds is encrypted as a
 * literal (type/datum_encrypt.c).  declared: the expression says that it has the column's modifier.
 */
static Node *
fit_array(Node *expr, Oid array, int32 wanted, bool declared)
{
	TdeType    *type = tde_type_find(get_element_type(array));
	CaseTestExpr *element = makeNode(CaseTestExpr);
	ArrayCoerceExpr *each = makeNode(ArrayCoerceExpr);

	if (type == NULL)
		return expr;
	if (!declared)
		return coerce_to_target_type(NULL, expr, array, array, wanted, COERCION_ASSIGNMENT, COERCE_IMPLICIT_CAST, -1);
	if (tde_type_modifiers(type, wanted).spec.cipher != TDE_3DES168)
		return expr;
	element->typeId = type->oid;
	element->typeMod = -1;
	element->collation = exprCollation(expr);
	each->arg = (Expr *) expr;
	each->elemexpr = (Expr *) coerced((Node *) element, type, without_base(type, wanted));
	each->resulttype = array;
	each->resulttypmod = wanted;
	each->resultcollid = exprCollation(expr);
	each->coerceformat = COERCE_IMPLICIT_CAST;
	each->location = -1;
	return (Node *) each;
}

/*
 * Returns what to store in the column instead of this; the expression itself if there is nothing to do.  Values that a domain has checked mean the
 * same afterwards, so the domain is not checked again.
 */
static Node *
fit_expression(Node *expr, Form_pg_attribute column, const Source *source)
{
	int32		wanted = column->atttypmod;
	bool		declared;
	TdeType    *type;
	Oid			base;
	Node	   *fitting;

	/* one that was dropped has no type */
	if (exprType(expr) != column->atttypid || column->attisdropped)
		return expr;
	base = getBaseTypeAndTypmod(column->atttypid, &wanted);
	if (wanted < 0)
		return expr;
	declared = base != column->atttypid || exprTypmod(expr) == wanted;
	type = tde_type_find(base);
	if (type && is_made_for(expr, wanted, source))
		return expr;
	if (type)
	{
		fitting = coerced(expr, type, declared ? without_base(type, wanted) : wanted);
		return base == column->atttypid ? fitting :
			(Node *) makeRelabelType((Expr *) fitting, column->atttypid, -1, exprCollation(fitting), COERCE_IMPLICIT_CAST);
	}
	return fit_array(expr, column->atttypid, wanted, declared);
}

/* ---- target lists ---- */

/* Returns true if a column's type may be one of ours.  For most statements of the server it is not. */
static bool
has_users_types(List *targets)
{
	ListCell   *cell;

	foreach(cell, targets)
		if (tde_expr_type(lfirst_node(TargetEntry, cell)->expr) >= FirstNormalObjectId)
			return true;
	return false;
}

/* position: in the target list, from 0 on. */
static Node *
fit_entry(TargetEntry *entry, int position, Relation rel, const Target *target)
{
	int			number = target->numbers ? list_nth_int(target->numbers, position) : entry->resno;

	return fit_expression((Node *) entry->expr, TupleDescAttr(RelationGetDescr(rel), number - 1), &target->source);
}

/* Returns what is to be stored instead of each entry of a target list, as fit_expression() says; NIL if all are good, as mostly. */
static List *
fit_entries(List *targets, const Target *target)
{
	List	   *result = NIL;
	bool		changed = false;
	Relation	rel = table_open(target->table, NoLock);	/* the planner has locked it */
	ListCell   *cell;

	foreach(cell, targets)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);
		Node	   *fitting = entry->resjunk ? (Node *) entry->expr : fit_entry(entry, foreach_current_index(cell), rel, target);

		changed |= fitting != (Node *) entry->expr;
		result = lappend(result, fitting);
	}
	table_close(rel, NoLock);
	return changed ? result : NIL;
}

static void
replace_expressions(List *targets, List *expressions)
{
	ListCell   *entry,
			   *expr;

	forboth(entry, targets, expr, expressions)
		lfirst_node(TargetEntry, entry)->expr = lfirst(expr);
}

static void
fit_targets(List *targets, const Target *target)
{
	if (has_users_types(targets))
		replace_expressions(targets, fit_entries(targets, target));
}

/* ---- plans ---- */

/*
 * The values that come from the plan below: INSERT ... SELECT, UPDATE.  A plan that cannot compute, such as a sort, gets a node on top of it that
 * can.  Then the entries are Vars of that node, and are looked at once more.
 */
static void
fit_rows(ModifyTable *writer, Oid table, List *tables)
{
	Plan	   *plan = outerPlan(writer);
	Target		target = {.table = table, .source = {plan, tables}};
	List	   *fitting;

	if (writer->operation == CMD_UPDATE)
		target.numbers = linitial(writer->updateColnosLists);
	fitting = fit_entries(plan->targetlist, &target);
	if (fitting == NIL)
		return;
	if (!is_projection_capable_plan(plan))
	{
		outerPlan(writer) = target.source.plan = plan = tde_inside_projection_above(plan);
		fitting = fit_entries(plan->targetlist, &target);
	}
	replace_expressions(plan->targetlist, fitting);
}

/* INSERT ... ON CONFLICT DO UPDATE SET: evaluated by the ModifyTable itself. */
static void
fit_conflict(ModifyTable *writer, Oid table, List *tables)
{
	Target		target = {table, writer->onConflictCols, {NULL, tables}};

	fit_targets(writer->onConflictSet, &target);
}

/* WHEN MATCHED THEN UPDATE, WHEN NOT MATCHED THEN INSERT: likewise. */
static void
fit_merge(List *actions, Oid table, List *tables)
{
	ListCell   *cell;

	foreach(cell, actions)
	{
		MergeAction *action = lfirst_node(MergeAction, cell);
		Target		target = {table, action->updateColnos, {NULL, tables}};

		fit_targets(action->targetList, &target);
	}
}

/* entry: of the first table that is written.  Its children have the same columns. */
static pg_noinline void
fit_written(ModifyTable *writer, RangeTblEntry *entry, List *tables)
{
	ListCell   *cell;
	int			at = 0;

	/* what a view's trigger or another server gets stores it in its turn */
	if (entry->relkind != RELKIND_RELATION && entry->relkind != RELKIND_PARTITIONED_TABLE)
		return;
	if (writer->operation != CMD_MERGE && has_users_types(outerPlan(writer)->targetlist))
		fit_rows(writer, entry->relid, tables);
	if (writer->onConflictAction == ONCONFLICT_UPDATE)
		fit_conflict(writer, entry->relid, tables);
	foreach(cell, writer->mergeActionLists)
		fit_merge(lfirst(cell), rt_fetch(list_nth_int(writer->resultRelations, at++), tables)->relid, tables);
}

/* Every statement that writes comes here, mostly of a table in which nothing is encrypted, so it must be quick to say no. */
static inline void
fit_writer(ModifyTable *writer, List *tables)
{
	RangeTblEntry *entry = rt_fetch(linitial_int(writer->resultRelations), tables);

	if (!tde_table_is_known_plain(entry->relid) && writer->operation != CMD_DELETE)
		fit_written(writer, entry, tables);
}

/* A plan that writes has this node at its top, or below one of another module's; a WITH clause that does is a subplan. */
static void
fit_plan(Plan *plan, List *tables)
{
	ListCell   *cell;

	if (plan == NULL)
		return;
	if (IsA(plan, ModifyTable))
	{
		fit_writer((ModifyTable *) plan, tables);
		return;
	}
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (IsA(plan, CustomScan))
		foreach(cell, ((CustomScan *) plan)->custom_plans)
			fit_plan(lfirst(cell), tables);
}

void
tde_stored_spec_planned(PlannedStmt *plan)
{
	ListCell   *cell;

	if (plan->commandType == CMD_SELECT && !plan->hasModifyingCTE)
		return;
	fit_plan(plan->planTree, plan->rtable);
	foreach(cell, plan->subplans)
		fit_plan(lfirst(cell), plan->rtable);
}
