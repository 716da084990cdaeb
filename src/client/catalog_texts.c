/*
 * catalog_texts.c - definitions of indexes and constraints on encrypted columns, as they would be of plain ones.
 *
 * pg_get_indexdef() and pg_get_constraintdef() print what they find in the catalogs themselves.  So their text is taken, and in it each
 * expression, as it is printed alone, replaced by that of plain columns, as it is printed alone.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_index.h"
#include "catalog/pg_opclass.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "client/catalog.h"
#include "client/catalog_trees.h"
#include "server/compat.h"
#include "type/base_functions.h"
#include "type/inside.h"

PG_FUNCTION_INFO_V1(tde_catalog_indexdef);
PG_FUNCTION_INFO_V1(tde_catalog_constraintdef);

static char *
replace_first(char *definition, const char *from, const char *to)
{
	char	   *found = strstr(definition, from);

	return found ? psprintf("%.*s%s%s", (int) (found - definition), definition, to, found + strlen(from)) : definition;
}

static char *
printed(Node *expr, Oid relation, bool pretty)
{
	Datum		tree = CStringGetTextDatum(nodeToString(expr));

	return TextDatumGetCString(DirectFunctionCall3(pg_get_expr_ext, tree, ObjectIdGetDatum(relation), BoolGetDatum(pretty)));
}

/* Where a call is printed without parentheses, anything else needs them. */
static char *
show_expression(char *definition, Node *expr, Oid relation, bool pretty)
{
	Node	   *shown = tde_shown_tree(expr);
	char	   *to;

	if (shown == NULL || equal(shown, expr))
		return definition;
	to = printed(shown, relation, pretty);
	if (IsA(expr, FuncExpr) && !IsA(shown, FuncExpr))
		to = psprintf("(%s)", to);
	return replace_first(definition, printed(expr, relation, pretty), to);
}

/* Operator classes are named if they are not the default, with a schema if they need it. */
static char *
show_class(char *definition, Oid opclass)
{
	Oid			plain = tde_shown_class(opclass);
	HeapTuple	tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass));
	HeapTuple	shown = plain == opclass ? NULL : SearchSysCache1(CLAOID, ObjectIdGetDatum(plain));

	if (HeapTupleIsValid(tuple) && HeapTupleIsValid(shown))
	{
		Form_pg_opclass from = (Form_pg_opclass) GETSTRUCT(tuple);
		char	   *to = psprintf(" %s", NameStr(((Form_pg_opclass) GETSTRUCT(shown))->opcname));

		definition = replace_first(definition, psprintf(" %s", quote_qualified_identifier(get_namespace_name(from->opcnamespace), NameStr(from->opcname))), to);
		definition = replace_first(definition, psprintf(" %s", NameStr(from->opcname)), to);
	}
	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	if (HeapTupleIsValid(shown))
		ReleaseSysCache(shown);
	return definition;
}

static char *
show_index(char *definition, HeapTuple index, bool pretty)
{
	Oid			relation = ((Form_pg_index) GETSTRUCT(index))->indrelid;
	Node	   *predicate = tde_stored_tree(INDEXRELID, index, Anum_pg_index_indpred);
	bool		isnull;
	oidvector  *classes = (oidvector *) DatumGetPointer(SysCacheGetAttr(INDEXRELID, index, Anum_pg_index_indclass, &isnull));
	ListCell   *cell;

	foreach(cell, (List *) tde_stored_tree(INDEXRELID, index, Anum_pg_index_indexprs))
		definition = show_expression(definition, lfirst(cell), relation, pretty);
	/* several conditions are a list, which is printed as if AND stood between them */
	if (predicate)
		definition = show_expression(definition, IsA(predicate, List) ? (Node *) make_ands_explicit((List *) predicate) : predicate, relation, pretty);
	for (int i = 0; i < classes->dim1; i++)
		definition = show_class(definition, classes->values[i]);
	return definition;
}

/* tde_catalog_indexdef(oid [, column int4, pretty bool]) - as pg_get_indexdef(). */
Datum
tde_catalog_indexdef(PG_FUNCTION_ARGS)
{
	Oid			oid = PG_GETARG_OID(0);
	bool		pretty = PG_NARGS() == 3 && PG_GETARG_BOOL(2);
	HeapTuple	index = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(oid));
	Datum		definition;

	tde_require_execute(PG_NARGS() == 3 ? F_PG_GET_INDEXDEF_OID_INT4_BOOL : F_PG_GET_INDEXDEF_OID);
	if (!HeapTupleIsValid(index))
		PG_RETURN_NULL();
	if (PG_NARGS() == 3)
		definition = DirectFunctionCall3(pg_get_indexdef_ext, ObjectIdGetDatum(oid), PG_GETARG_DATUM(1), BoolGetDatum(pretty));
	else
		definition = DirectFunctionCall1(pg_get_indexdef, ObjectIdGetDatum(oid));
	definition = CStringGetTextDatum(show_index(TextDatumGetCString(definition), index, pretty));
	ReleaseSysCache(index);
	PG_RETURN_DATUM(definition);
}

/* tde_catalog_constraintdef(oid [, pretty bool]) - as pg_get_constraintdef(). */
Datum
tde_catalog_constraintdef(PG_FUNCTION_ARGS)
{
	Oid			oid = PG_GETARG_OID(0);
	bool		pretty = PG_NARGS() == 2 && PG_GETARG_BOOL(1);
	HeapTuple	constraint = SearchSysCache1(CONSTROID, ObjectIdGetDatum(oid));
	Node	   *expr;
	char	   *definition;

	tde_require_execute(PG_NARGS() == 2 ? F_PG_GET_CONSTRAINTDEF_OID_BOOL : F_PG_GET_CONSTRAINTDEF_OID);
	if (!HeapTupleIsValid(constraint))
		PG_RETURN_NULL();
	if (PG_NARGS() == 2)
		definition = TextDatumGetCString(DirectFunctionCall2(pg_get_constraintdef_ext, ObjectIdGetDatum(oid), BoolGetDatum(pretty)));
	else
		definition = TextDatumGetCString(DirectFunctionCall1(pg_get_constraintdef, ObjectIdGetDatum(oid)));
	expr = tde_stored_tree(CONSTROID, constraint, Anum_pg_constraint_conbin);
	if (expr)
		definition = show_expression(definition, expr, ((Form_pg_constraint) GETSTRUCT(constraint))->conrelid, pretty);
	ReleaseSysCache(constraint);
	PG_RETURN_TEXT_P(cstring_to_text(definition));
}
