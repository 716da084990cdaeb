/*
 * catalog_trees.c - stored expressions of encrypted columns, as they would be of plain ones: defaults, conditions, generated columns.
 *
 * They are looked at, rewritten and never evaluated; only literals are decrypted, as they are where they are printed.  What comes out is for
 * pg_get_expr() and its like, not for the executor.  An expression that has no counterpart is left as it is.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/namespace.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "parser/parse_func.h"
#include "parser/parse_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "client/catalog_trees.h"
#include "client/operand_results.h"
#include "operators/computed.h"
#include "server/compat.h"
#include "type/access.h"
#include "type/core.h"
#include "type/datum.h"
#include "type/inside.h"

/* ---- types ---- */

/* Returns InvalidOid for a type that is shown as it is. */
static Oid
shown_base(Oid oid)
{
	TdeType    *type = oid < FirstNormalObjectId ? NULL : tde_type_find(oid);

	if (oid < FirstNormalObjectId)
		return InvalidOid;
	return type ? type->base : tde_operand_base(oid);
}

Oid
tde_catalog_shown_type(Oid oid)
{
	Oid			element = oid < FirstNormalObjectId ? InvalidOid : get_element_type(oid);
	Oid			base = shown_base(OidIsValid(element) ? element : oid);

	return !OidIsValid(base) ? oid : OidIsValid(element) ? get_array_type(base) : base;
}

static bool
is_our_type(Oid oid)
{
	return tde_catalog_shown_type(oid) != oid;
}

static bool
has_our_argument(List *args)
{
	ListCell   *cell;

	foreach(cell, args)
		if (is_our_type(exprType(lfirst(cell))))
			return true;
	return false;
}

/* ---- parts of an expression ---- */

static List *
show_list(List *list, TdeShowing *showing)
{
	return (List *) tde_catalog_show_tree((Node *) list, showing);
}

Node *
tde_catalog_show_coerced(Node *node, Oid type, int32 typmod, CoercionForm form, TdeShowing *showing)
{
	CoercionContext ccontext = form == COERCE_IMPLICIT_CAST ? COERCION_ASSIGNMENT : COERCION_EXPLICIT;
	Node	   *result = node;

	if (!OidIsValid(type) || IsPolymorphicType(type) || type == ANYOID)
		return node;
	/* for the parser, a literal is text at once */
	if (IsA(node, Const) && exprType(node) == VARCHAROID && type == TEXTOID)
		((Const *) node)->consttype = type;
	if (exprType(node) != type || (typmod >= 0 && exprTypmod(node) != typmod))
		result = coerce_to_target_type(NULL, node, exprType(node), type, typmod, ccontext, form, -1);
	if (result)
		return result;
	showing->failed = true;
	return node;
}

static Const *
number_constant(int32 number)
{
	return makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(number), false, true);
}

/* Returns true if a number would be written as an integer without a sign: for the parser it is then a constant of type integer, cast to this type. */
static bool
is_written_as_integer(Oid base, Datum value, int32 *number)
{
	Oid			output;
	bool		is_varlena;
	char	   *text;
	char	   *end;
	long		parsed;

	if (base != INT2OID && base != INT8OID && base != NUMERICOID && base != FLOAT4OID && base != FLOAT8OID)
		return false;
	getTypeOutputInfo(base, &output, &is_varlena);
	text = OidOutputFunctionCall(output, value);
	errno = 0;
	parsed = strtol(text, &end, 10);
	*number = (int32) parsed;
	return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0 && parsed <= PG_INT32_MAX;
}

/*
 * A literal is shown to everybody (type/access.h), a column's value only to those who may decrypt.  The elements of a constant array are not looked
 * into: the expression is then left as it is.
 */
static Node *
show_constant(Const *constant, TdeShowing *showing)
{
	TdeType    *type = tde_type_find(constant->consttype);
	Oid			base = tde_catalog_shown_type(constant->consttype);
	Datum		value = constant->constvalue;
	int32		number;

	if (base == constant->consttype)
		return (Node *) copyObject(constant);
	/* an array's elements are not looked into */
	if (type && !constant->constisnull)
	{
		if (unlikely(tde_access_restricted) && !tde_access_permits(type, value))
		{
			showing->failed = true;
			return (Node *) constant;
		}
		value = tde_datum_decrypt_once(type, value, -1);
		if (is_written_as_integer(base, value, &number))
			return tde_catalog_show_coerced((Node *) number_constant(number), base, -1, COERCE_IMPLICIT_CAST, showing);
	}
	else if (!constant->constisnull && OidIsValid(get_element_type(base)))
		showing->failed = true;
	return (Node *) makeConst(base, -1, get_typcollation(base), get_typlen(base), value, constant->constisnull, get_typbyval(base));
}

/* Returns true if a function is declared with one of our types.  If not, it takes base types as well: anyelement, say. */
static bool
takes_ours(Oid function)
{
	Oid		   *types;
	int			count;

	(void) get_func_signature(function, &types, &count);
	for (int i = 0; i < count; i++)
		if (is_our_type(types[i]))
			return true;
	return false;
}

Oid
tde_catalog_shown_function(Oid function, List *args)
{
	List	   *name;
	Oid			types[FUNC_MAX_ARGS];
	Oid			found = InvalidOid;
	Oid			result;
	bool		is_set;
	int			variadic;
	Oid			variadic_type;
	Oid		   *declared;
	ListCell   *cell;

	if (!takes_ours(function))
		return function;
	name = list_make2(makeString("pg_catalog"), makeString(get_func_name(function)));
	foreach(cell, args)
		types[foreach_current_index(cell)] = exprType(lfirst(cell));
	(void) TDE_FUNC_GET_DETAIL(name, NIL, list_length(args), types, false, &found, &result, &is_set, &variadic, &variadic_type, &declared);
	return tde_is_core(found) ? found : InvalidOid;
}

Oid
tde_catalog_show_passed(Oid function, List *args, TdeShowing *showing)
{
	Oid		   *types;
	int			count;
	Oid			result;
	ListCell   *cell;

	if (!OidIsValid(function))
	{
		showing->failed = true;
		return InvalidOid;
	}
	result = get_func_signature(function, &types, &count);
	foreach(cell, args)
		if (foreach_current_index(cell) < count)
			lfirst(cell) = tde_catalog_show_coerced(lfirst(cell), types[foreach_current_index(cell)], -1, COERCE_IMPLICIT_CAST, showing);
	return result;
}

/* polymorphic: the type of a result that the function does not declare. */
static Node *
make_call(Oid function, List *args, Oid polymorphic, CoercionForm form, TdeShowing *showing)
{
	Oid			result = tde_catalog_show_passed(function, args, showing);

	if (!OidIsValid(result))
		return NULL;
	return (Node *) makeFuncExpr(function, IsPolymorphicType(result) ? polymorphic : result, args, InvalidOid, InvalidOid, form);
}

/* The collation is none: printing does not ask for it. */
static Node *
make_operation(Oid operator, List *args, TdeShowing *showing)
{
	Oid			types[2];
	ListCell   *cell;

	op_input_types(operator, &types[0], &types[1]);
	foreach(cell, args)
		lfirst(cell) = tde_catalog_show_coerced(lfirst(cell), types[list_length(args) == 1 ? 1 : foreach_current_index(cell)], -1, COERCE_IMPLICIT_CAST, showing);
	return (Node *) make_opclause(operator, get_op_rettype(operator), false, linitial(args), list_length(args) == 2 ? lsecond(args) : NULL,
								  InvalidOid, InvalidOid);
}

Oid
tde_catalog_shown_operator(Oid operator, Oid left, Oid right)
{
	return tde_core_operator(get_opname(operator), &left, &right);
}

/*
 * Returns the operator whose implementation a function of PostgreSQL is; InvalidOid: it is called by its name.  tde_computed() has the function
 * alone, also of an operator: n + 1 is int4pl(n, 1) there.
 */
static Oid
operator_of(Oid function)
{
	Relation	catalog = table_open(OperatorRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, NULL, 0, NULL);
	Oid			operator = InvalidOid;
	HeapTuple	tuple;

	while (!OidIsValid(operator) && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_operator form = (Form_pg_operator) GETSTRUCT(tuple);

		CHECK_FOR_INTERRUPTS();
		if (form->oprcode == function && tde_is_core(form->oid))
			operator = form->oid;
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return operator;
}

/* Nodes that only pass values on have types to be changed, or none.  What is not here is for showing->other(). */
static Node *
show_other(Node *node, TdeShowing *showing)
{
	Node	   *shown = expression_tree_mutator(node, tde_catalog_show_tree, showing);

#define SHOW_TYPE(type, field) \
	case T_##type: \
		((type *) shown)->field = tde_catalog_shown_type(((type *) shown)->field); \
		break

	switch (nodeTag(shown))
	{
			SHOW_TYPE(CaseExpr, casetype);
			SHOW_TYPE(CaseTestExpr, typeId);
			SHOW_TYPE(CoalesceExpr, coalescetype);
			SHOW_TYPE(MinMaxExpr, minmaxtype);
			SHOW_TYPE(CoerceToDomainValue, typeId);
		case T_ArrayExpr:
			((ArrayExpr *) shown)->array_typeid = tde_catalog_shown_type(((ArrayExpr *) shown)->array_typeid);
			((ArrayExpr *) shown)->element_typeid = tde_catalog_shown_type(((ArrayExpr *) shown)->element_typeid);
			break;
		case T_List:
		case T_CaseWhen:
		case T_BoolExpr:
		case T_NullTest:
		case T_BooleanTest:
		case T_CollateExpr:
		case T_NamedArgExpr:
		case T_SQLValueFunction:
		case T_NextValueExpr:
		case T_RowExpr:
		case T_FieldSelect:
		case T_CoerceToDomain:
		case T_FuncExpr:
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		case T_RelabelType:
		case T_CoerceViaIO:
		case T_ArrayCoerceExpr:
			break;
		default:
			return showing->other(node, shown, showing);
	}
	return shown;
}

/* tde_computed(NULL::result, function, arguments): operators/computed.h. */
static Node *
show_computed(FuncExpr *call, TdeShowing *showing)
{
	Const	   *called = lsecond(call->args);
	List	   *args = show_list(list_copy_tail(call->args, 2), showing);
	Oid			function = IsA(called, Const) ? DatumGetObjectId(called->constvalue) : InvalidOid;
	Oid			operator = OidIsValid(function) ? operator_of(function) : InvalidOid;
	Oid			result = tde_catalog_shown_type(call->funcresulttype);

	if (showing->failed || args == NIL)
		return (Node *) call;
	if (!OidIsValid(function))
		return tde_catalog_show_coerced(linitial(args), result, -1, COERCE_EXPLICIT_CAST, showing);
	if (OidIsValid(operator))
		return tde_catalog_show_coerced(make_operation(operator, args, showing), result, -1, COERCE_EXPLICIT_CAST, showing);
	return tde_catalog_show_coerced(make_call(function, args, result, COERCE_EXPLICIT_CALL, showing), result, -1, COERCE_EXPLICIT_CAST, showing);
}

/* A cast from, to or between our types is one between their base types, or nothing. */
static Node *
show_cast(Node *cast, Node *arg, CoercionForm form, TdeShowing *showing)
{
	Oid			type = exprType(cast);

	if (!is_our_type(type) && !is_our_type(exprType(arg)))
		return show_other(cast, showing);
	arg = tde_catalog_show_tree(arg, showing);
	return showing->failed ? arg : tde_catalog_show_coerced(arg, tde_catalog_shown_type(type), -1, form, showing);
}

static Node *
show_call(FuncExpr *call, TdeShowing *showing)
{
	List	   *args;
	Node	   *shown;

	if (tde_is_computed((Node *) call))
		return show_computed(call, showing);
	if (!is_our_type(call->funcresulttype) && !has_our_argument(call->args))
		return show_other((Node *) call, showing);
	if (call->funcformat == COERCE_IMPLICIT_CAST || call->funcformat == COERCE_EXPLICIT_CAST)
		return show_cast((Node *) call, linitial(call->args), call->funcformat, showing);
	args = show_list(call->args, showing);
	if (showing->failed)
		return (Node *) call;
	shown = make_call(tde_catalog_shown_function(call->funcid, args), args, tde_catalog_shown_type(call->funcresulttype), call->funcformat, showing);
	if (!showing->failed)
		((FuncExpr *) shown)->funcvariadic = call->funcvariadic;
	return shown;
}

/* Returns ok for ok = true, as conditions of indexes have it that were declared over ok; NOT ok for ok = false. */
static Node *
simplified(OpExpr *op)
{
	Const	   *right = list_length(op->args) == 2 ? lsecond(op->args) : NULL;

	if (op->opno != BooleanEqualOperator || !IsA(right, Const) || right->constisnull)
		return (Node *) op;
	return DatumGetBool(right->constvalue) ? linitial(op->args) : (Node *) makeBoolExpr(NOT_EXPR, list_make1(linitial(op->args)), -1);
}

static Node *
show_operation(OpExpr *op, TdeShowing *showing)
{
	List	   *args;
	Oid			operator;
	OpExpr	   *shown;

	if (!has_our_argument(op->args))
		return show_other((Node *) op, showing);
	args = show_list(op->args, showing);
	if (showing->failed)
		return (Node *) op;
	operator = tde_catalog_shown_operator(op->opno, list_length(args) == 2 ? exprType(linitial(args)) : InvalidOid, exprType(llast(args)));
	if (!OidIsValid(operator))
	{
		showing->failed = true;
		return (Node *) op;
	}
	shown = (OpExpr *) make_operation(operator, args, showing);
	/* IS DISTINCT FROM and NULLIF have the same fields */
	NodeSetTag(shown, nodeTag(op));
	return IsA(op, OpExpr) && !showing->in_query ? simplified(shown) : (Node *) shown;
}

/* c = ANY (ARRAY[...]), c IN (...): the operator is of the elements. */
static Node *
show_array_operation(ScalarArrayOpExpr *op, TdeShowing *showing)
{
	ScalarArrayOpExpr *shown = (ScalarArrayOpExpr *) expression_tree_mutator((Node *) op, tde_catalog_show_tree, showing);
	Oid			left = exprType(linitial(shown->args));
	Oid			element = get_base_element_type(exprType(lsecond(shown->args)));

	if (showing->failed || !has_our_argument(op->args))
		return (Node *) shown;
	shown->opno = tde_core_operator(get_opname(op->opno), &left, &element);
	showing->failed |= !OidIsValid(shown->opno);
	if (showing->failed)
		return (Node *) shown;
	shown->opfuncid = get_opcode(shown->opno);
	linitial(shown->args) = tde_catalog_show_coerced(linitial(shown->args), left, -1, COERCE_IMPLICIT_CAST, showing);
	lsecond(shown->args) = tde_catalog_show_coerced(lsecond(shown->args), get_array_type(element), -1, COERCE_IMPLICIT_CAST, showing);
	return (Node *) shown;
}

static Node *
show_column(Var *var)
{
	Var		   *shown = copyObject(var);
	TdeType    *type = is_our_type(var->vartype) ? tde_type_find(var->vartype) : NULL;

	shown->vartype = tde_catalog_shown_type(var->vartype);
	if (type)
		shown->vartypmod = tde_type_base_typmod(type, var->vartypmod);
	return (Node *) shown;
}

Node *
tde_catalog_show_tree(Node *node, void *context)
{
	TdeShowing *showing = context;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node == NULL || showing->failed)
		return node;
	switch (nodeTag(node))
	{
		case T_Var:
			return show_column((Var *) node);
		case T_Const:
			return show_constant((Const *) node, showing);
		case T_FuncExpr:
			return show_call((FuncExpr *) node, showing);
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
			return show_operation((OpExpr *) node, showing);
		case T_Query:
			return showing->query((Query *) node, showing);
		case T_ScalarArrayOpExpr:
			return show_array_operation((ScalarArrayOpExpr *) node, showing);
		case T_RelabelType:
			return show_cast(node, (Node *) ((RelabelType *) node)->arg, ((RelabelType *) node)->relabelformat, showing);
		case T_CoerceViaIO:
			return show_cast(node, (Node *) ((CoerceViaIO *) node)->arg, ((CoerceViaIO *) node)->coerceformat, showing);
		case T_ArrayCoerceExpr:
			return show_cast(node, (Node *) ((ArrayCoerceExpr *) node)->arg, ((ArrayCoerceExpr *) node)->coerceformat, showing);
		default:
			return show_other(node, showing);
	}
}
