/*
 * generated_column.c - a stored generated column that is computed of encrypted ones is encrypted, and computed without decryption that
 * PostgreSQL would see.
 *
 * PostgreSQL wants the expression IMMUTABLE, which decryption is not, and it wants it as the parser makes it, before it has looked at any
 * column.  So the expression is analyzed here, over the columns that the table is going to have; its encrypted form (see
 * operators/computed.h) is written back as what a user could have written, tde_computed(NULL::encrypted_text, 'lower(text)', email).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/transam.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "commands/tablecmds.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_relation.h"
#include "parser/parse_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "ddl/declare.h"
#include "ddl/generated_column.h"
#include "ddl/plaintext_alter.h"
#include "operators/computed.h"
#include "server/compat.h"
#include "type/inside.h"

/* ---- the columns that the table is going to have: target entries of NULLs ---- */

static List *
add_column(List *columns, const char *name, Oid type, int32 typmod, Oid collation)
{
	return lappend(columns, makeTargetEntry((Expr *) makeNullConst(type, typmod, collation), list_length(columns) + 1, pstrdup(name), false));
}

/* PostgreSQL says itself what is wrong with a type or a collation. */
static List *
add_declared(List *columns, ColumnDef *def)
{
	Oid			type = InvalidOid;
	int32		typmod;

	if (def->typeName && !def->typeName->setof && !def->typeName->pct_type)
		type = LookupTypeNameOid(NULL, def->typeName, true);
	if (!OidIsValid(type))
		return columns;
	typenameTypeIdAndMod(NULL, def->typeName, &type, &typmod);
	return add_column(columns, def->colname, type, typmod, GetColumnDefCollation(NULL, def, type));
}

static List *
columns_of(Relation rel)
{
	List	   *columns = NIL;

	for (int i = 0; i < RelationGetNumberOfAttributes(rel); i++)
	{
		Form_pg_attribute column = TupleDescAttr(RelationGetDescr(rel), i);

		if (!column->attisdropped)
			columns = add_column(columns, NameStr(column->attname), column->atttypid, column->atttypmod, column->attcollation);
	}
	return columns;
}

static TargetEntry *
find_column(List *columns, const char *name)
{
	ListCell   *cell;

	foreach(cell, columns)
		if (strcmp(((TargetEntry *) lfirst(cell))->resname, name) == 0)
			return lfirst(cell);
	return NULL;
}

typedef struct ReadColumns
{
	List	   *columns;
	const char *encrypted;		/* one that the expression reads */
} ReadColumns;

/* A raw_expression_tree_walker: does it read something else than these columns? */
static bool
reads_others(Node *node, void *context)
{
	ReadColumns *read = context;
	Node	   *last;
	TargetEntry *column;

	if (node == NULL)
		return false;
	if (!IsA(node, ColumnRef))
		return raw_expression_tree_walker(node, reads_others, context);
	last = llast(((ColumnRef *) node)->fields);
	column = IsA(last, String) ? find_column(read->columns, strVal(last)) : NULL;
	if (column && tde_type_holds_encrypted(exprType((Node *) column->expr)))
		read->encrypted = column->resname;
	return column == NULL;
}

/* ---- an expression as the parser would make it ---- */

static Node *raw_form(Node *expr, List *columns);

static List *
qualified(Oid schema, const char *name)
{
	return list_make2(makeString(get_namespace_name(schema)), makeString(pstrdup(name)));
}

static Node *
raw_cast(Node *arg, Oid type, int32 typmod)
{
	TypeCast   *cast = makeNode(TypeCast);

	cast->arg = arg;
	cast->typeName = makeTypeNameFromOid(type, typmod);
	cast->location = -1;
	return arg ? (Node *) cast : NULL;
}

/* A function by its OID, which finds it under every search_path. */
static Node *
raw_constant(Const *constant)
{
	A_Const    *raw = makeNode(A_Const);
	Oid			output;
	bool		varlena;

	raw->location = -1;
	raw->isnull = constant->constisnull;
	if (raw->isnull)
		return raw_cast((Node *) raw, constant->consttype, -1);
	raw->val.sval.type = T_String;
	getTypeOutputInfo(constant->consttype, &output, &varlena);
	raw->val.sval.sval = constant->consttype == REGPROCEDUREOID ? psprintf("%u", DatumGetObjectId(constant->constvalue))
		: OidOutputFunctionCall(output, constant->constvalue);
	return raw_cast((Node *) raw, constant->consttype, constant->consttypmod);
}

/* NULL: one of them cannot be written. */
static List *
raw_list(List *args, List *columns)
{
	List	   *raw = NIL;
	ListCell   *cell;

	foreach(cell, args)
	{
		Node	   *arg = raw_form(lfirst(cell), columns);

		if (arg == NULL)
			return NIL;
		raw = lappend(raw, arg);
	}
	return raw;
}

static Node *
raw_call(FuncExpr *call, List *columns)
{
	List	   *args = raw_list(call->args, columns);

	if (args == NIL || call->funcvariadic)
		return NULL;
	if (call->funcformat != COERCE_EXPLICIT_CALL)
		return raw_cast(linitial(args), call->funcresulttype, exprTypmod((Node *) call));
	return (Node *) makeFuncCall(qualified(get_func_namespace(call->funcid), get_func_name(call->funcid)), args, COERCE_EXPLICIT_CALL, -1);
}

static Node *
raw_operator(OpExpr *op, List *columns)
{
	List	   *args = raw_list(op->args, columns);
	Node	   *left = list_length(args) == 2 ? linitial(args) : NULL;

	if (args == NIL || op->opno >= FirstUnpinnedObjectId)
		return NULL;
	return (Node *) makeA_Expr(AEXPR_OP, qualified(PG_CATALOG_NAMESPACE, get_opname(op->opno)), left, llast(args), -1);
}

static Node *
raw_column(Var *var, List *columns)
{
	ColumnRef  *raw = makeNode(ColumnRef);

	raw->fields = list_make1(makeString(((TargetEntry *) list_nth(columns, var->varattno - 1))->resname));
	raw->location = -1;
	return (Node *) raw;
}

static Node *
raw_collate(CollateExpr *collate, List *columns)
{
	CollateClause *raw = makeNode(CollateClause);
	HeapTuple	tuple = SearchSysCache1(COLLOID, ObjectIdGetDatum(collate->collOid));
	Form_pg_collation collation = HeapTupleIsValid(tuple) ? (Form_pg_collation) GETSTRUCT(tuple) : NULL;

	if (collation == NULL)
		return NULL;
	raw->collname = qualified(collation->collnamespace, NameStr(collation->collname));
	ReleaseSysCache(tuple);
	raw->arg = raw_form((Node *) collate->arg, columns);
	raw->location = -1;
	return raw->arg ? (Node *) raw : NULL;
}

static Node *
raw_coalesce(CoalesceExpr *coalesce, List *columns)
{
	CoalesceExpr *raw = makeNode(CoalesceExpr);

	raw->args = raw_list(coalesce->args, columns);
	raw->location = -1;
	return raw->args ? (Node *) raw : NULL;
}

/* NULL: it cannot be written. */
static Node *
raw_form(Node *expr, List *columns)
{
	switch (nodeTag(expr))
	{
		case T_Var:
			return raw_column((Var *) expr, columns);
		case T_Const:
			return raw_constant((Const *) expr);
		case T_FuncExpr:
			return raw_call((FuncExpr *) expr, columns);
		case T_OpExpr:
			return raw_operator((OpExpr *) expr, columns);
		case T_CollateExpr:
			return raw_collate((CollateExpr *) expr, columns);
		case T_CoalesceExpr:
			return raw_coalesce((CoalesceExpr *) expr, columns);
		case T_RelabelType:
			return raw_cast(raw_form((Node *) ((RelabelType *) expr)->arg, columns), exprType(expr), exprTypmod(expr));
		case T_CoerceViaIO:
			return raw_cast(raw_form((Node *) ((CoerceViaIO *) expr)->arg, columns), exprType(expr), -1);
		default:
			return NULL;
	}
}

/* ---- the columns ---- */

static ParseState *
parse_over(List *columns, const char *table, const char *source)
{
	ParseState *pstate = make_parsestate(NULL);
	Query	   *query = makeNode(Query);

	query->commandType = CMD_SELECT;
	query->targetList = columns;
	pstate->p_sourcetext = source;
	addNSItemToQuery(pstate, addRangeTableEntryForSubquery(pstate, query, makeAlias(table, NIL), false, true), false, true, true);
	return pstate;
}

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
encrypt_expression(Constraint *constraint, ParseState *pstate, Node **expr, Oid type, ReadColumns *read)
{
	Node	   *form;
	Node	   *raw;

	*expr = as_declared(pstate, *expr, type);
	assign_expr_collations(pstate, *expr);
	form = tde_encrypted_form(*expr);
	raw = form ? raw_form(form, read->columns) : NULL;
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
	ReadColumns read = {columns, NULL};
	TargetEntry *declared = find_column(columns, def->colname);
	ParseState *pstate;
	Node	   *expr;
	Oid			type;

	if (reads_others(constraint->raw_expr, &read) || read.encrypted == NULL || declared == NULL)
		return;
	type = exprType((Node *) declared->expr);
	if (!tde_type_find(type) && tde_plaintext_alter != TDE_ALTER_KEEP)
		return;
	pstate = parse_over(columns, table, source);
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

	foreach(cell, defs)
		if (IsA(lfirst(cell), ColumnDef))
			columns = add_declared(columns, lfirst(cell));
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
	encrypt_columns(defs, columns_of(rel), found, stmt->relation, source);
	relation_close(rel, NoLock);
}
