/*
 * generated_column.c - a stored generated column that is computed of encrypted ones is encrypted, and computed without decryption that
 * PostgreSQL would see.
 *
 * PostgreSQL wants the expression IMMUTABLE, which decryption is not, and it wants it as the parser makes it, before it has looked at any
 * column.  So the expression is analyzed here, over the columns that the table is going to have; its encrypted form (see
 * operators/computed.h) is written back as what a user could have written, tde_computed(NULL::encrypted_text, 'lower(text)', email).
 */
#include "postgres.h"

#include "access/relation.h"
#include "commands/tablecmds.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "ddl/declare.h"
#include "ddl/generated_column.h"
#include "ddl/new_expression.h"
#include "ddl/plaintext_alter.h"
#include "operators/computed.h"
#include "server/compat.h"
#include "type/inside.h"

/* ---- the columns ---- */

/* PostgreSQL's own message says nothing of encryption. */
static void
refuse(const char *column)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg("generation expression is not immutable"),
			 errdetail("Column \"%s\" is encrypted, and decryption is not IMMUTABLE, so no generated column can be computed of its plaintext.",
					   column),
			 errhint("A generated column can have what PostgreSQL's own IMMUTABLE functions and operators make of encrypted columns: lower(name).  "
					 "A function of your own must take and return encrypted types.")));
}

/* What the column will hold, of the base type that was declared for it, or one that is the same but for its name. */
static Node *
as_declared(ParseState *pstate, Node *expr, Oid type)
{
	TdeType    *encrypted = tde_type_find(type);
	Oid			base = encrypted ? encrypted->base : type;
	Node	   *cast = coerce_to_target_type(pstate, expr, exprType(expr), base, -1, COERCION_ASSIGNMENT, COERCE_IMPLICIT_CAST, -1);

	return cast && !IsA(cast, RelabelType) ? cast : expr;
}

/* The encrypted column that comes first in an expression, where one does. */
static Var *
first_encrypted(Node *expr)
{
	ListCell   *cell;

	foreach(cell, pull_var_clause(expr, 0))
		if (tde_type_find(exprType(lfirst(cell))))
			return lfirst(cell);
	return NULL;
}

/* Declared as a plain column, it gets the specification and the key of the one that it is computed of. */
static void
declare_encrypted(ColumnDef *def, Oid type, int32 typmod, Var *source, List *columns)
{
	const char *wanted = format_type_with_typemod(type, typmod);

	if (source == NULL || !tde_encrypted_like(source->vartype, source->vartypmod, &type, &typmod))
		return;
	ereport(NOTICE,
			(errmsg("column \"%s\" becomes of type %s instead of %s", def->colname, format_type_with_typemod(type, typmod), wanted),
			 errdetail("It is generated of column \"%s\", which is encrypted.",
					   ((TargetEntry *) list_nth(columns, source->varattno - 1))->resname)));
	def->typeName = makeTypeNameFromOid(type, typmod);
}

/* The expression in a form that stays encrypted, if it has one; false: PostgreSQL says what is wrong with it. */
static bool
encrypt_expression(Constraint *constraint, ParseState *pstate, Node **expr, Oid type, TdeReadColumns *read)
{
	Node	   *form;
	Node	   *raw;

	*expr = as_declared(pstate, *expr, type);
	assign_expr_collations(pstate, *expr);
	form = tde_encrypted_form(*expr);
	raw = form ? tde_raw_form(form, read->columns) : NULL;
	if (contain_mutable_functions(raw ? form : *expr))
		refuse(read->encrypted);
	if (raw == NULL)
		return false;
	constraint->raw_expr = raw;
	*expr = form;
	return true;
}

static void
encrypt_column(ColumnDef *def, Constraint *constraint, List *columns, const char *table, const char *source)
{
	TdeReadColumns read = {columns, NULL};
	TargetEntry *declared = tde_new_column(columns, def->colname);
	ParseState *pstate;
	Node	   *expr;
	Oid			type;

	if (tde_reads_others(constraint->raw_expr, &read) || read.encrypted == NULL || declared == NULL)
		return;
	type = exprType((Node *) declared->expr);
	if (!tde_type_find(type) && tde_plaintext_alter != TDE_ALTER_KEEP)
		return;
	pstate = tde_new_parse_state(columns, table, source);
	expr = transformExpr(pstate, copyObject(constraint->raw_expr), EXPR_KIND_GENERATED_COLUMN);
	/* one that is encrypted as it is, may encrypt within: coalesce(n, 0) of a numeric */
	if (((tde_type_find(exprType(expr)) && !contain_mutable_functions(expr)) || encrypt_expression(constraint, pstate, &expr, type, &read)) &&
		!tde_type_find(type))
		declare_encrypted(def, type, exprTypmod((Node *) declared->expr), first_encrypted(expr), columns);
	free_parsestate(pstate);
}

static Constraint *
find_generation(ColumnDef *def)
{
	ListCell   *cell;

	foreach(cell, def->constraints)
	{
		Constraint *constraint = lfirst(cell);

		if (constraint->contype == CONSTR_GENERATED && constraint->raw_expr && TDE_IS_STORED(constraint))
			return constraint;
	}
	return NULL;
}

/* The new columns that are generated. */
static List *
generated(List *defs)
{
	List	   *found = NIL;
	ListCell   *cell;

	foreach(cell, defs)
		if (IsA(lfirst(cell), ColumnDef) && find_generation(lfirst(cell)))
			found = lappend(found, lfirst(cell));
	return found;
}

static void
encrypt_columns(List *defs, List *columns, List *generated, const RangeVar *table, const char *source)
{
	ListCell   *cell;

	columns = tde_new_columns_add(columns, defs);
	foreach(cell, generated)
		encrypt_column(lfirst(cell), find_generation(lfirst(cell)), columns, table->relname, source);
}

void
tde_generated_columns_create(CreateStmt *stmt, const char *source)
{
	List	   *found = generated(stmt->tableElts);

	if (found)
		encrypt_columns(stmt->tableElts, NIL, found, stmt->relation, source);
}

void
tde_generated_columns_alter(AlterTableStmt *stmt, const char *source)
{
	List	   *defs = NIL;
	List	   *found;
	ListCell   *cell;
	Oid			table;
	Relation	rel;

	foreach(cell, stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst(cell);

		if (cmd->subtype == AT_AddColumn && tde_ddl_declared_column(cmd))
			defs = lappend(defs, cmd->def);
	}
	found = generated(defs);
	/* as ALTER TABLE does it next, with the same errors */
	table = found ? AlterTableLookupRelation(stmt, AlterTableGetLockLevel(stmt->cmds)) : InvalidOid;
	if (!OidIsValid(table))
		return;
	rel = relation_open(table, NoLock);
	encrypt_columns(defs, tde_new_columns_of(rel), found, stmt->relation, source);
	relation_close(rel, NoLock);
}
