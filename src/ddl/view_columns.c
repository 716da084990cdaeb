/*
 * view_columns.c - CREATE OR REPLACE VIEW, and the rule "_RETURN", keep the types of the view's columns.
 *
 * PostgreSQL wants the new query to have them.  An expression that took the place of a plain column, upper(a) for a, would have the same
 * type; of an encrypted column it is of the plain type, and gets a cast, as the user could have written it.  A table's column gets none:
 * nobody could write through the view any more, and would find out only then.
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/namespace.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "ddl/view_columns.h"
#include "server/compat.h"
#include "server/statement.h"
#include "type/inside.h"

static bool
is_column_of_table(Node *expr, Query *query)
{
	return IsA(expr, Var) && rt_fetch(((Var *) expr)->varno, query->rtable)->rtekind == RTE_RELATION;
}

/* What is sorted, grouped or compared with other queries' columns stays as it is. */
static void
fit_column(ParseState *pstate, Query *query, TargetEntry *column, Form_pg_attribute wanted)
{
	Node	   *expr = (Node *) column->expr;
	Node	   *cast;

	if (column->ressortgroupref != 0 || !tde_type_holds_encrypted(wanted->atttypid) || is_column_of_table(expr, query) ||
		!tde_differs_encrypted(exprType(expr), exprTypmod(expr), wanted->atttypid, wanted->atttypmod))
		return;
	cast = coerce_to_target_type(pstate, expr, exprType(expr), wanted->atttypid, wanted->atttypmod, COERCION_EXPLICIT, COERCE_EXPLICIT_CAST, -1);
	if (cast == NULL)
		return;
	assign_expr_collations(pstate, cast);
	column->expr = (Expr *) cast;
}

void
tde_view_columns_analyzed(ParseState *pstate, Query *query)
{
	ViewStmt   *stmt = (ViewStmt *) tde_statement.utility;
	Oid			existing = InvalidOid;
	Relation	view;
	ListCell   *cell;

	if (!IsA(stmt, ViewStmt) || !stmt->replace || query->commandType != CMD_SELECT || query->setOperations)
		return;
	/* as PostgreSQL looks for it next, with the same errors */
	(void) RangeVarGetAndCheckCreationNamespace(copyObject(stmt->view), AccessShareLock, &existing);
	view = OidIsValid(existing) ? relation_open(existing, NoLock) : NULL;
	if (view == NULL)
		return;
	foreach(cell, query->targetList)
	{
		TargetEntry *column = lfirst(cell);

		if (!column->resjunk && column->resno <= RelationGetNumberOfAttributes(view))
			fit_column(pstate, query, column, TupleDescAttr(RelationGetDescr(view), column->resno - 1));
	}
	relation_close(view, NoLock);
}

/* t.*, which may be any number of columns */
static bool
is_star(Node *raw)
{
	List	   *fields = IsA(raw, ColumnRef) ? ((ColumnRef *) raw)->fields : IsA(raw, A_Indirection) ? ((A_Indirection *) raw)->indirection : NIL;

	return fields && IsA(llast(fields), A_Star);
}

static Node *
fit_raw(Node *raw, Oid view, AttrNumber number)
{
	TypeCast   *cast = makeNode(TypeCast);
	Oid			type;
	int32		typmod;
	Oid			collation;

	if (IsA(raw, ColumnRef) || get_attname(view, number, true) == NULL)
		return raw;
	get_atttypetypmodcoll(view, number, &type, &typmod, &collation);
	if (!OidIsValid(type) || !tde_type_holds_encrypted(type))
		return raw;
	cast->arg = raw;
	cast->typeName = makeTypeNameFromOid(type, typmod);
	cast->location = -1;
	return (Node *) cast;
}

/* PostgreSQL calls no hook when it has analyzed a rule's query, so that the casts stand in what is parsed. */
void
tde_view_rule_prepare(RuleStmt *rule)
{
	SelectStmt *query = rule->event == CMD_SELECT && list_length(rule->actions) == 1 ? linitial(rule->actions) : NULL;
	Oid			view = query ? RangeVarGetRelid(rule->relation, NoLock, true) : InvalidOid;
	ListCell   *cell;

	if (!OidIsValid(view) || !IsA(query, SelectStmt) || query->op != SETOP_NONE || query->distinctClause || query->sortClause || query->groupClause)
		return;
	foreach(cell, query->targetList)
	{
		ResTarget  *column = lfirst(cell);

		if (is_star(column->val))
			return;
		column->val = fit_raw(column->val, view, foreach_current_index(cell) + 1);
	}
}
