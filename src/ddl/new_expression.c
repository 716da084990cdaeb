/*
 * new_expression.c - an expression over the columns that a table is going to have: it is analyzed, and written back as a user could have
 * written it.
 *
 * PostgreSQL wants the expression of a generated column or a partition key as the parser makes it, before it has looked at any column.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_relation.h"
#include "parser/parse_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "ddl/new_expression.h"
#include "operators/computed.h"
#include "operators/computed_choice.h"
#include "server/compat.h"
#include "type/core.h"
#include "type/inside.h"

/* ---- the columns that the table is going to have: target entries of NULLs ---- */

/*
 * Its number is its place in the list, by which a Var of an analyzed expression finds it.  PostgreSQL merges what has the same name, with an error
 * where the types differ.
 */
static List *
add_column(List *columns, const char *name, Oid type, int32 typmod, Oid collation)
{
	if (tde_new_column(columns, name))
		return columns;
	return lappend(columns, makeTargetEntry((Expr *) makeNullConst(type, typmod, collation), list_length(columns) + 1, pstrdup(name), false));
}

/* PostgreSQL says itself what is wrong with a type or a collation.  A column whose type is not known is left out, and so is all that reads it. */
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

List *
tde_new_columns_add(List *columns, List *defs)
{
	ListCell   *cell;

	foreach(cell, defs)
		if (IsA(lfirst(cell), ColumnDef))
			columns = add_declared(columns, lfirst(cell));
	return columns;
}

List *
tde_new_columns_add_relation(List *columns, Relation rel)
{
	for (int i = 0; i < RelationGetNumberOfAttributes(rel); i++)
	{
		Form_pg_attribute column = TupleDescAttr(RelationGetDescr(rel), i);

		if (!column->attisdropped)
			columns = add_column(columns, NameStr(column->attname), column->atttypid, column->atttypmod, column->attcollation);
	}
	return columns;
}

TargetEntry *
tde_new_column(List *columns, const char *name)
{
	ListCell   *cell;

	foreach(cell, columns)
		if (strcmp(((TargetEntry *) lfirst(cell))->resname, name) == 0)
			return lfirst(cell);
	return NULL;
}

/* A raw_expression_tree_walker.  A column may be qualified, t.c; only its last name is looked at. */
static bool
reads_others(Node *node, void *context)
{
	TdeReadColumns *read = context;
	Node	   *last;
	TargetEntry *column;

	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (!IsA(node, ColumnRef))
		return raw_expression_tree_walker(node, reads_others, context);
	last = llast(((ColumnRef *) node)->fields);
	column = IsA(last, String) ? tde_new_column(read->columns, strVal(last)) : NULL;
	if (column && tde_type_holds_encrypted(exprType((Node *) column->expr)))
		read->encrypted = column->resname;
	return column == NULL;
}

bool
tde_new_reads_others(Node *expr, TdeReadColumns *read)
{
	return reads_others(expr, read);
}

/* ---- an expression as the parser would make it ---- */

/* Returns a name with its schema, as a List of Strings. */
static List *
qualified(Oid schema, const char *name)
{
	return list_make2(makeString(get_namespace_name(schema)), makeString(pstrdup(name)));
}

/* Returns a cast; NULL if arg is NULL, which could not be written. */
static Node *
raw_cast(Node *arg, Oid type, int32 typmod)
{
	TypeCast   *cast = makeNode(TypeCast);

	cast->arg = arg;
	cast->typeName = makeTypeNameFromOid(type, typmod);
	cast->location = -1;
	return arg ? (Node *) cast : NULL;
}

/*
 * Makes 'text'::type, by the type's output function.  A function, as an argument of tde_computed(), is written by its OID, which finds it under every
 * search_path.
 */
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

/* Returns NIL if one of them cannot be written.  An empty list cannot be told from that, and is not written either. */
static List *
raw_list(List *args, List *columns)
{
	List	   *raw = NIL;
	ListCell   *cell;

	foreach(cell, args)
	{
		Node	   *arg = tde_new_raw_form(lfirst(cell), columns);

		if (arg == NULL)
			return NIL;
		raw = lappend(raw, arg);
	}
	return raw;
}

/* A call that is a cast is written as one, so that the parser finds the function again, with the arguments that it adds. */
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
raw_operator(A_Expr_Kind kind, Oid operator, List *operands, List *columns)
{
	List	   *args = raw_list(operands, columns);
	Node	   *left = list_length(args) == 2 ? linitial(args) : NULL;

	if (args == NIL)
		return NULL;
	return (Node *) makeA_Expr(kind, qualified(GetSysCacheOid1(OPEROID, Anum_pg_operator_oprnamespace, ObjectIdGetDatum(operator)), get_opname(operator)), left, llast(args), -1);
}

static Node *
raw_array_operator(ScalarArrayOpExpr *op, List *columns)
{
	return raw_operator(op->useOr ? AEXPR_OP_ANY : AEXPR_OP_ALL, op->opno, op->args, columns);
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
	raw->arg = tde_new_raw_form((Node *) collate->arg, columns);
	raw->location = -1;
	return raw->arg ? (Node *) raw : NULL;
}

/* Writes COALESCE, CASE, GREATEST and LEAST.  CASE x WHEN is not written: its conditions have x as a CaseTestExpr. */
static Node *
raw_choice(Node *choice, List *columns)
{
	List	   *alternatives = raw_list(tde_choice_alternatives(choice), columns);
	Node	   *raw = alternatives ? tde_choice_of(choice, InvalidOid, alternatives, tde_forms_remembered()) : NULL;
	ListCell   *cell;

	if (raw == NULL || !IsA(raw, CaseExpr))
		return raw;
	if (((CaseExpr *) raw)->arg)
		return NULL;
	foreach(cell, ((CaseExpr *) raw)->args)
	{
		CaseWhen   *when = lfirst(cell);

		when->expr = (Expr *) tde_new_raw_form((Node *) when->expr, columns);
		if (when->expr == NULL)
			return NULL;
	}
	return raw;
}

/* AND, OR and NOT. */
static Node *
raw_boolean(BoolExpr *expr, List *columns)
{
	List	   *args = raw_list(expr->args, columns);

	return args ? (Node *) makeBoolExpr(expr->boolop, args, -1) : NULL;
}

static Node *
raw_null_test(NullTest *test, List *columns)
{
	NullTest   *raw = makeNode(NullTest);

	*raw = *test;
	raw->arg = (Expr *) tde_new_raw_form((Node *) test->arg, columns);
	return raw->arg ? (Node *) raw : NULL;
}

/*
 * Only what tde_form_encrypted() makes, and what may stand inside of that, is here.  AND, OR, NOT and IS NULL are the same nodes in a raw tree, with
 * raw arguments.
 */
Node *
tde_new_raw_form(Node *expr, List *columns)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	switch (nodeTag(expr))
	{
		case T_Var:
			return raw_column((Var *) expr, columns);
		case T_Const:
			return raw_constant((Const *) expr);
		case T_FuncExpr:
			return raw_call((FuncExpr *) expr, columns);
		case T_OpExpr:
			return raw_operator(AEXPR_OP, ((OpExpr *) expr)->opno, ((OpExpr *) expr)->args, columns);
		case T_DistinctExpr:
			return raw_operator(AEXPR_DISTINCT, ((DistinctExpr *) expr)->opno, ((DistinctExpr *) expr)->args, columns);
		case T_ScalarArrayOpExpr:
			return raw_array_operator((ScalarArrayOpExpr *) expr, columns);
		case T_CollateExpr:
			return raw_collate((CollateExpr *) expr, columns);
		case T_CoalesceExpr:
		case T_CaseExpr:
		case T_MinMaxExpr:
			return raw_choice(expr, columns);
		case T_BoolExpr:
			return raw_boolean((BoolExpr *) expr, columns);
		case T_NullTest:
			return raw_null_test((NullTest *) expr, columns);
		case T_RelabelType:
			return raw_cast(tde_new_raw_form((Node *) ((RelabelType *) expr)->arg, columns), exprType(expr), exprTypmod(expr));
		case T_CoerceViaIO:
			return raw_cast(tde_new_raw_form((Node *) ((CoerceViaIO *) expr)->arg, columns), exprType(expr), -1);
		default:
			return NULL;
	}
}

/* ---- analysis ---- */

/* The columns are those of a subquery, SELECT NULL::type AS name, ..., since the table is not there yet. */
ParseState *
tde_new_parse_state(List *columns, const char *table, const char *source)
{
	ParseState *pstate = make_parsestate(NULL);
	Query	   *query = makeNode(Query);

	query->commandType = CMD_SELECT;
	query->targetList = columns;
	pstate->p_sourcetext = source;
	addNSItemToQuery(pstate, addRangeTableEntryForSubquery(pstate, query, makeAlias(table, NIL), false, true), false, true, true);
	return pstate;
}
