/*
 * texts.c - definitions of indexes, constraints, partition keys, views and rules on encrypted columns, as they would be of plain ones.
 *
 * pg_get_indexdef() and its like print what they find in the catalogs themselves.  So their text is taken, and in it each expression or
 * query, as it is printed alone, replaced by that of plain columns, as it is printed alone.
 *
 * Each function asks first whether the user may execute PostgreSQL's, whose rights may have been revoked.  An object that is not there gives NULL, as
 * PostgreSQL's own functions do.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_index.h"
#include "catalog/pg_partitioned_table.h"
#include "catalog/pg_rewrite.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "rewrite/rewriteManip.h"
#include "rewrite/rewriteSupport.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"
#include "utils/syscache.h"
#include "utils/varlena.h"

#include "client/catalog_queries.h"
#include "client/catalog_trees.h"
#include "operators/opclass.h"
#include "server/compat.h"
#include "server/stored_tree.h"
#include "type/base_functions.h"
#include "type/inside.h"

PG_FUNCTION_INFO_V1(tde_catalog_catalog_indexdef);
PG_FUNCTION_INFO_V1(tde_catalog_catalog_constraintdef);
PG_FUNCTION_INFO_V1(tde_catalog_catalog_partkeydef);
PG_FUNCTION_INFO_V1(tde_catalog_catalog_viewdef);
PG_FUNCTION_INFO_V1(tde_catalog_catalog_viewdef_name);
PG_FUNCTION_INFO_V1(tde_catalog_catalog_ruledef);

/* Returns what PostgreSQL's function gives for an object and the rest of this call's arguments; NULL: there is none. */
static char *
original(PGFunction function, Oid object, FunctionCallInfo fcinfo)
{
	LOCAL_FCINFO(call, 3);
	Datum		definition;

	InitFunctionCallInfoData(*call, NULL, PG_NARGS(), InvalidOid, NULL, NULL);
	memcpy(call->args, fcinfo->args, PG_NARGS() * sizeof(NullableDatum));
	call->args[0].value = ObjectIdGetDatum(object);
	definition = function(call);
	return call->isnull ? NULL : TextDatumGetCString(definition);
}

/* A definition as a function's result. */
static Datum
result(char *definition, FunctionCallInfo fcinfo)
{
	if (definition == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(definition));
}

/* Shows the definition of a key: its expressions, with their conditions, and its operator classes. */
static char *
show_key(char *definition, List *trees, Datum opclasses, Oid relation, bool pretty)
{
	ListCell   *cell;

	foreach(cell, trees)
		definition = tde_catalog_show_expression(definition, lfirst(cell), relation, pretty);
	return tde_opclass_plain_texts(definition, opclasses);
}

/* Shows an index: its expressions, its condition and its classes. */
static char *
show_index(char *definition, HeapTuple index, bool pretty)
{
	List	   *trees = tde_stored_tree(INDEXRELID, index, Anum_pg_index_indexprs);
	Node	   *predicate = tde_stored_tree(INDEXRELID, index, Anum_pg_index_indpred);
	bool		isnull;

	/* several conditions are a list, which is printed as if AND stood between them */
	if (predicate)
		trees = lappend(trees, IsA(predicate, List) ? (Node *) make_ands_explicit((List *) predicate) : predicate);
	return show_key(definition, trees, SysCacheGetAttr(INDEXRELID, index, Anum_pg_index_indclass, &isnull),
					((Form_pg_index) GETSTRUCT(index))->indrelid, pretty);
}

/* tde_catalog_indexdef(oid [, column int4, pretty bool]) - as pg_get_indexdef(). */
Datum
tde_catalog_catalog_indexdef(PG_FUNCTION_ARGS)
{
	Oid			oid = PG_GETARG_OID(0);
	bool		pretty = PG_NARGS() == 3 && PG_GETARG_BOOL(2);
	HeapTuple	index = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(oid));
	char	   *definition;

	tde_base_require_execute(PG_NARGS() == 3 ? F_PG_GET_INDEXDEF_OID_INT4_BOOL : F_PG_GET_INDEXDEF_OID);
	if (!HeapTupleIsValid(index))
		PG_RETURN_NULL();
	definition = original(PG_NARGS() == 3 ? pg_get_indexdef_ext : pg_get_indexdef, oid, fcinfo);
	if (definition)
		definition = show_index(definition, index, pretty);
	ReleaseSysCache(index);
	return result(definition, fcinfo);
}

/* tde_catalog_constraintdef(oid [, pretty bool]) - as pg_get_constraintdef(). */
Datum
tde_catalog_catalog_constraintdef(PG_FUNCTION_ARGS)
{
	Oid			oid = PG_GETARG_OID(0);
	bool		pretty = PG_NARGS() == 2 && PG_GETARG_BOOL(1);
	HeapTuple	constraint = SearchSysCache1(CONSTROID, ObjectIdGetDatum(oid));
	Node	   *expr;
	char	   *definition;

	tde_base_require_execute(PG_NARGS() == 2 ? F_PG_GET_CONSTRAINTDEF_OID_BOOL : F_PG_GET_CONSTRAINTDEF_OID);
	if (!HeapTupleIsValid(constraint))
		PG_RETURN_NULL();
	definition = original(PG_NARGS() == 2 ? pg_get_constraintdef_ext : pg_get_constraintdef, oid, fcinfo);
	expr = tde_stored_tree(CONSTROID, constraint, Anum_pg_constraint_conbin);
	if (definition && expr)
		definition = tde_catalog_show_expression(definition, expr, ((Form_pg_constraint) GETSTRUCT(constraint))->conrelid, pretty);
	ReleaseSysCache(constraint);
	return result(definition, fcinfo);
}

/* tde_catalog_partkeydef(oid) - as pg_get_partkeydef(). */
Datum
tde_catalog_catalog_partkeydef(PG_FUNCTION_ARGS)
{
	Oid			oid = PG_GETARG_OID(0);
	HeapTuple	key = SearchSysCache1(PARTRELID, ObjectIdGetDatum(oid));
	bool		isnull;
	char	   *definition;

	tde_base_require_execute(F_PG_GET_PARTKEYDEF);
	if (!HeapTupleIsValid(key))
		PG_RETURN_NULL();
	definition = original(pg_get_partkeydef, oid, fcinfo);
	if (definition)
		definition = show_key(definition, tde_stored_tree(PARTRELID, key, Anum_pg_partitioned_table_partexprs),
							  SysCacheGetAttr(PARTRELID, key, Anum_pg_partitioned_table_partclass, &isnull), oid, false);
	ReleaseSysCache(key);
	return result(definition, fcinfo);
}

/* ---- views and rules ---- */

/*
 * Gives a view's columns the names that they have now, in all SELECTs that make them: they may have been renamed, and PostgreSQL prints these names.
 */
static void
name_columns(Query *query, Oid view)
{
	ListCell   *cell;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	foreach(cell, query->targetList)
	{
		TargetEntry *column = lfirst(cell);
		char	   *name = column->resjunk ? NULL : get_attname(view, column->resno, true);

		if (name)
			column->resname = name;
	}
	foreach(cell, query->setOperations ? query->rtable : NIL)
		if (((RangeTblEntry *) lfirst(cell))->rtekind == RTE_SUBQUERY)
			name_columns(((RangeTblEntry *) lfirst(cell))->subquery, view);
}

/* Printing locks what a query reads, and changes the tree, so a copy is printed. */
static char *
printed_query(Query *query, bool pretty)
{
	return pg_get_querydef(copyObject(query), pretty);
}

/* Prints a condition of a rule as the WHERE of a query that has OLD and NEW, since no function prints it alone. */
static char *
printed_condition(Node *condition, Query *action, bool pretty)
{
	static const char where[] = "WHERE ";
	Query	   *query = makeNode(Query);
	char	   *text;

	query->commandType = CMD_SELECT;
	query->rtable = getInsertSelectQuery(copyObject(action), NULL)->rtable;
	query->jointree = makeFromExpr(NIL, condition);
	text = printed_query(query, pretty);
	return strstr(text, where) + strlen(where);
}

/* Replaces the condition and each action of a rule, or of a view, which is a rule.  What is not found in the text as it is printed alone stays. */
static char *
show_rule(char *definition, HeapTuple rule, bool pretty)
{
	Form_pg_rewrite form = (Form_pg_rewrite) GETSTRUCT(rule);
	List	   *actions = tde_stored_tree(RULERELNAME, rule, Anum_pg_rewrite_ev_action);
	Node	   *condition = tde_stored_tree(RULERELNAME, rule, Anum_pg_rewrite_ev_qual);
	Node	   *shown = tde_catalog_shown_tree(condition);
	ListCell   *cell;

	if (shown && !equal(shown, condition))
		definition = tde_catalog_replace_first(definition, printed_condition(condition, linitial(actions), pretty), printed_condition(shown, linitial(actions), pretty));
	foreach(cell, actions)
	{
		Query	   *action = lfirst(cell);

		shown = tde_catalog_shown_tree((Node *) action);
		if (shown == NULL || equal(shown, action))
			continue;
		if (form->ev_type - '0' == CMD_SELECT)
		{
			name_columns(action, form->ev_class);
			name_columns((Query *) shown, form->ev_class);
		}
		definition = tde_catalog_replace_first(definition, printed_query(action, pretty), printed_query((Query *) shown, pretty));
	}
	return definition;
}

/* Both functions for views end here. */
static Datum
show_view(Oid view, FunctionCallInfo fcinfo)
{
	bool		pretty = PG_NARGS() == 2 && PG_GETARG_BOOL(1);
	char	   *definition = original(PG_NARGS() == 2 ? pg_get_viewdef_ext : pg_get_viewdef, view, fcinfo);
	HeapTuple	rule = SearchSysCache2(RULERELNAME, ObjectIdGetDatum(view), CStringGetDatum(ViewSelectRuleName));

	if (HeapTupleIsValid(rule))
	{
		if (definition)
			definition = show_rule(definition, rule, pretty);
		ReleaseSysCache(rule);
	}
	return result(definition, fcinfo);
}

/* tde_catalog_viewdef(oid [, pretty bool]) - as pg_get_viewdef(). */
Datum
tde_catalog_catalog_viewdef(PG_FUNCTION_ARGS)
{
	tde_base_require_execute(PG_NARGS() == 2 ? F_PG_GET_VIEWDEF_OID_BOOL : F_PG_GET_VIEWDEF_OID);
	return show_view(PG_GETARG_OID(0), fcinfo);
}

/* tde_catalog_viewdef_name(text [, pretty bool]) - as pg_get_viewdef(). */
Datum
tde_catalog_catalog_viewdef_name(PG_FUNCTION_ARGS)
{
	tde_base_require_execute(PG_NARGS() == 2 ? F_PG_GET_VIEWDEF_TEXT_BOOL : F_PG_GET_VIEWDEF_TEXT);
	return show_view(RangeVarGetRelid(makeRangeVarFromNameList(textToQualifiedNameList(PG_GETARG_TEXT_PP(0))), NoLock, false), fcinfo);
}

/* tde_catalog_ruledef(oid [, pretty bool]) - as pg_get_ruledef(). */
Datum
tde_catalog_catalog_ruledef(PG_FUNCTION_ARGS)
{
	bool		pretty = PG_NARGS() == 2 && PG_GETARG_BOOL(1);
	Relation	catalog;
	SysScanDesc scan;
	ScanKeyData key;
	HeapTuple	rule;
	char	   *definition;

	tde_base_require_execute(PG_NARGS() == 2 ? F_PG_GET_RULEDEF_OID_BOOL : F_PG_GET_RULEDEF_OID);
	definition = original(PG_NARGS() == 2 ? pg_get_ruledef_ext : pg_get_ruledef, PG_GETARG_OID(0), fcinfo);
	ScanKeyInit(&key, Anum_pg_rewrite_oid, BTEqualStrategyNumber, F_OIDEQ, PG_GETARG_DATUM(0));
	catalog = table_open(RewriteRelationId, AccessShareLock);
	scan = systable_beginscan(catalog, RewriteOidIndexId, true, NULL, 1, &key);
	rule = systable_getnext(scan);
	if (definition && HeapTupleIsValid(rule))
		definition = show_rule(definition, rule, pretty);
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return result(definition, fcinfo);
}
