/*
 * operand_results.c - results of the types that operands have beside encrypted ones: they get the base type.
 *
 * NULLIF(5, n) is of the type that its operator takes on the left, which beside an encrypted n is a type of ours (sql/25_operands.sql).
 * Nobody else is to meet it: no client, no table, no view, and so it ends where a query does.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/syscache.h"

#include "client/operand_results.h"
#include "type/inside.h"
#include "type/type.h"

/* The types are named after their base types, as plain_int8 is, but for two. */
static Oid
base_by_name(const char *name)
{
	static const char *const kinds[] = {"plain_", "same_", "bare_"};

	if (strcmp(name, "plain_decimal") == 0)
		return NUMERICOID;
	if (strcmp(name, "plain_fraction") == 0)
		return FLOAT8OID;
	for (int i = 0; i < lengthof(kinds); i++)
		if (strncmp(name, kinds[i], strlen(kinds[i])) == 0)
			return GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum(name + strlen(kinds[i])), ObjectIdGetDatum(PG_CATALOG_NAMESPACE));
	return InvalidOid;
}

Oid
tde_operand_base(Oid type)
{
	HeapTuple	tuple;
	Form_pg_type form;
	Oid			base = InvalidOid;

	if (type < FirstNormalObjectId || tde_type_find(type))
		return InvalidOid;
	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	form = (Form_pg_type) GETSTRUCT(tuple);
	/* what is a domain is shown as its base type anyway */
	if (form->typtype == TYPTYPE_BASE && form->typnamespace == get_namespace_oid("tde_internal", true))
		base = base_by_name(NameStr(form->typname));
	ReleaseSysCache(tuple);
	return base;
}

/* Returns the query whose columns somebody gets; NULL if a utility command has none that is analyzed. */
static Query *
giving_out(Query *query)
{
	Node	   *stmt = query->commandType == CMD_UTILITY ? query->utilityStmt : NULL;

	if (stmt == NULL)
		return query;
	if (IsA(stmt, CreateTableAsStmt))
		stmt = ((CreateTableAsStmt *) stmt)->query;
	else if (IsA(stmt, DeclareCursorStmt))
		stmt = ((DeclareCursorStmt *) stmt)->query;
	return IsA(stmt, Query) ? (Query *) stmt : NULL;
}

/* Returns true if somebody has cast the value to this type: the bodies of functions for casts to it do. */
static bool
is_meant(const Expr *expr)
{
	return IsA(expr, RelabelType) && ((const RelabelType *) expr)->relabelformat == COERCE_EXPLICIT_CAST;
}

/* Changes what the branches of UNION and its like have in common.  The planner makes those columns of a branch fit that are of another type. */
static void
show_branches(Node *node)
{
	SetOperationStmt *set = (SetOperationStmt *) node;
	ListCell   *cell;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node == NULL || !IsA(node, SetOperationStmt))
		return;
	foreach(cell, set->colTypes)
	{
		Oid			base = tde_operand_base(lfirst_oid(cell));

		if (OidIsValid(base))
			lfirst_oid(cell) = base;
	}
	show_branches(set->larg);
	show_branches(set->rarg);
}

/* A column of a set operation is a Var of its first branch, and must stay one. */
static void
show_column(Query *query, TargetEntry *column)
{
	Oid			type = tde_expr_type(column->expr);
	Oid			base = type < FirstNormalObjectId ? InvalidOid : tde_operand_base(type);

	/* what is grouped must stay the same expression */
	if (!OidIsValid(base) || column->resjunk || is_meant(column->expr) || (column->ressortgroupref != 0 && query->groupClause != NIL))
		return;
	if (query->setOperations)
		castNode(Var, column->expr)->vartype = base;
	else
		column->expr = (Expr *) makeRelabelType(column->expr, base, -1, exprCollation((Node *) column->expr), COERCE_IMPLICIT_CAST);
}

void
tde_operand_results(Query *query)
{
	ListCell   *cell;

	query = giving_out(query);
	if (query == NULL || query->commandType == CMD_UTILITY)
		return;
	foreach(cell, tde_output_columns(query))
		show_column(query, lfirst(cell));
	show_branches(query->setOperations);
}
