/*
 * expression_index.c - CREATE INDEX on an expression of encrypted columns, or with such a condition, makes an index that does not decrypt.
 *
 * Applications and their migrations index lower(email).  PostgreSQL refuses that, since decryption is not IMMUTABLE, and the index would
 * hold plaintext; what it gets is an index on tde_computed() of the same function, under the specification and key of the column.  Whether a condition
 * is true is no value, but PostgreSQL wants it computed by what is IMMUTABLE: comparisons of the encrypted types are.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "commands/tablecmds.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_utilcmd.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "ddl/declare.h"
#include "ddl/expression_index.h"
#include "operators/computed.h"
#include "operators/index_conditions.h"

static Node *
keep_encrypted(Node *expr)
{
	Node	   *form;

	if (IsA(expr, CollateExpr))
	{
		((CollateExpr *) expr)->arg = (Expr *) keep_encrypted((Node *) ((CollateExpr *) expr)->arg);
		return expr;
	}
	form = tde_encrypted_form(expr);
	if (form && tde_is_computed(form))
	{
		TdeType    *type = tde_type_get(exprType(form));

		tde_ddl_check_mac(type->base, tde_type_modifiers(type, exprTypmod(linitial(((FuncExpr *) form)->args))).spec);
	}
	return form ? form : expr;
}

void
tde_expression_index_prepare(IndexStmt *stmt, const char *source)
{
	Oid			table;
	ListCell   *cell;

	table = RangeVarGetRelidExtended(stmt->relation, stmt->concurrent ? ShareUpdateExclusiveLock : ShareLock, 0,
									 RangeVarCallbackOwnsRelation, NULL);
	*stmt = *transformIndexStmt(table, stmt, source);
	foreach(cell, stmt->indexParams)
	{
		IndexElem  *element = lfirst(cell);

		if (element->expr)
			element->expr = keep_encrypted(element->expr);
	}
	stmt->whereClause = tde_index_condition_form(stmt->whereClause);
}

/* An expression_tree_walker: is something computed otherwise than the columns are now? */
static bool
is_former(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (tde_is_computed(node) && !tde_computed_is_current((FuncExpr *) node))
		return true;
	return expression_tree_walker(node, is_former, context);
}

/* PostgreSQL makes indexes anew by their definitions, in which the result's specification stands. */
void
tde_expression_index_check(Relation rel)
{
	ListCell   *cell;

	foreach(cell, RelationGetIndexList(rel))
		if (is_former((Node *) tde_index_trees(lfirst_oid(cell)), NULL))
			ereport(WARNING,
					(errmsg("index \"%s\" keeps the former specification and key of its column", get_rel_name(lfirst_oid(cell))),
					 errdetail("It holds what is computed of an encrypted column, which has another specification or key now."),
					 errhint("Drop it, and create it as it was created.")));
}
