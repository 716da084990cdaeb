/*
 * partition_key.c - an expression of encrypted columns in a partition key stays encrypted, as in an index: PARTITION BY LIST (lower(a)) is one by
 * tde_computed() of the same function, under the specification and key of the column.
 *
 * PostgreSQL wants the expression IMMUTABLE, which decryption is not.  Bounds become constants of the encrypted type.  Where there is no
 * such form, PostgreSQL refuses the key.
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"

#include "ddl/declare.h"
#include "ddl/new_expression.h"
#include "ddl/partition_key.h"
#include "operators/computed.h"
#include "operators/opclass.h"
#include "server/compat.h"
#include "type/type.h"

/* The columns that the table is going to have. */
static List *
columns_of(CreateStmt *stmt)
{
	List	   *columns = NIL;
	ListCell   *cell;

	foreach(cell, stmt->inhRelations)
	{
		Relation	parent = relation_openrv_extended(lfirst_node(RangeVar, cell), AccessShareLock, true);

		if (parent == NULL)
			continue;
		columns = list_concat(columns, tde_new_columns_of(parent));
		relation_close(parent, AccessShareLock);
	}
	return tde_new_columns_add(columns, stmt->tableElts);
}

/* The key's expression; what it has in a form that stays encrypted is put into the statement. */
static Node *
keep_encrypted(PartitionElem *element, List *columns, const char *table, const char *source)
{
	TdeReadColumns read = {columns, NULL};
	ParseState *pstate;
	Node	   *expr;
	Node	   *form;
	Node	   *raw;

	if (tde_reads_others(element->expr, &read) || read.encrypted == NULL)
		return NULL;
	pstate = tde_new_parse_state(columns, table, source);
	expr = transformExpr(pstate, copyObject(element->expr), EXPR_KIND_PARTITION_EXPRESSION);
	assign_expr_collations(pstate, expr);
	free_parsestate(pstate);
	form = contain_mutable_functions(expr) ? tde_encrypted_form(expr) : NULL;
	raw = form && tde_type_find(exprType(form)) && !contain_mutable_functions(form) ? tde_raw_form(form, columns) : NULL;
	if (raw == NULL)
		return expr;
	element->expr = raw;
	return form;
}

static Oid
key_type(PartitionElem *element, Node *expr, List *columns)
{
	TargetEntry *column = element->name ? tde_new_column(columns, element->name) : NULL;

	if (column)
		expr = (Node *) column->expr;
	return expr ? exprType(expr) : InvalidOid;
}

void
tde_partition_key_prepare(CreateStmt *stmt, const char *source)
{
	List	   *columns = NIL;
	ListCell   *cell;

	if (stmt->partspec == NULL)
		return;
	foreach(cell, stmt->partspec->partParams)
	{
		PartitionElem *element = lfirst_node(PartitionElem, cell);
		Node	   *expr;
		TdeType    *type;

		if (element->expr == NULL && element->opclass == NIL)
			continue;
		if (columns == NIL)
			columns = columns_of(stmt);
		expr = element->expr ? keep_encrypted(element, columns, stmt->relation->relname, source) : NULL;
		type = element->opclass ? tde_type_find(key_type(element, expr, columns)) : NULL;

		if (type)
			element->opclass = tde_opclass_adopted(type, TDE_PARTITION_METHOD(stmt->partspec), element->opclass);
	}
}
