/*
 * params.c - parameters whose type a client leaves open get the base type instead of the encrypted one.
 *
 * So a driver sends a number for a number, and the value is encrypted once, for its column, and not first as a literal.
 * In "amount > $1" the operator becomes that of the encrypted and the base type, and the parameter is not encrypted at
 * all.
 *
 * A statement whose tables have changed is analyzed again, with the types that were found the first time.  So only
 * those parameters are retyped of which every use would be resolved to the same with the base type: values for a
 * column, comparisons, and casts.  The argument of a user's function that takes an encrypted type is not.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_operator.h"
#include "miscadmin.h"
#include "nodes/bitmapset.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_param.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "client/params.h"
#include "server/compat.h"
#include "server/error.h"
#include "type/core.h"
#include "type/inside.h"
#include "type/type.h"

typedef struct Params
{
	ParseState *pstate;
	int			declared;		/* so many of the first ones stay as they are */
	Bitmapset  *kept;			/* and these, because of one of their uses */
	Bitmapset  *found;			/* by unchanged_walker() */
	int		   *groups;			/* see group_of() */
} Params;

/* ---- parameters ---- */

/* Returns a parameter that may be retyped, of an encrypted type; array: of an array of one.  NULL if the node is anything else. */
static Param *
open_param(Node *node, bool array, Params *params)
{
	Param	   *param = (Param *) node;
	Oid			type;

	if (node == NULL || !IsA(node, Param) || param->paramkind != PARAM_EXTERN)
		return NULL;
	if (param->paramtype < FirstNormalObjectId || param->paramid <= params->declared ||
		bms_is_member(param->paramid, params->kept))
		return NULL;
	type = array ? get_element_type(param->paramtype) : param->paramtype;
	return OidIsValid(type) && tde_type_find(type) ? param : NULL;
}

/* The base type of an encrypted type, or the array of it that belongs to an array; InvalidOid for other types. */
static Oid
plain_param_type(Oid type)
{
	Oid			element = get_element_type(type);
	TdeType    *encrypted = tde_type_find(OidIsValid(element) ? element : type);

	if (encrypted == NULL)
		return InvalidOid;
	return OidIsValid(element) ? get_array_type(encrypted->base) : encrypted->base;
}

/* The parameter with its new type. */
static Param *
as_plain(Param *param)
{
	Param	   *plain = copyObject(param);

	plain->paramtype = plain_param_type(param->paramtype);
	plain->paramcollid = get_typcollation(plain->paramtype);
	return plain;
}

/* Returns the parameter with its new type, cast to target as the parser would cast it; NULL if that is not possible. */
static Node *
retyped(Param *param, Oid target, CoercionContext context, Params *params)
{
	Param	   *plain = as_plain(param);
	Node	   *result;

	if (!OidIsValid(plain->paramtype) || !can_coerce_type(1, &plain->paramtype, &target, context))
		return NULL;
	result = coerce_type(NULL, (Node *) plain, plain->paramtype, target, -1, context, COERCE_IMPLICIT_CAST, -1);
	assign_expr_collations(params->pstate, result);
	return result;
}

/* ---- comparisons ---- */

/*
 * Returns the operator of the same name that takes a plain type on the parameter's side, and in *operand what it takes there; InvalidOid if there is
 * none.  The other side must be taken as it is: otherwise each row would be decrypted and no index used.
 */
static Oid
mixed_operator(Oid operator, Oid plain, Oid other, bool param_is_left, Oid *operand)
{
	HeapTuple	tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(operator));
	Form_pg_operator form;
	Oid			left = param_is_left ? plain : other;
	Oid			right = param_is_left ? other : plain;
	Oid			result = InvalidOid;

	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	form = (Form_pg_operator) GETSTRUCT(tuple);
	/* upper(name) = $1 has no encrypted side any more */
	if (OidIsValid(plain))
		result = tde_type_find(other) ? tde_core_operator_for(form->oprnamespace, NameStr(form->oprname), &left, &right) :
			tde_core_operator(NameStr(form->oprname), &left, &right);
	ReleaseSysCache(tuple);
	if (!OidIsValid(result))
		return InvalidOid;
	*operand = param_is_left ? left : right;
	return get_op_rettype(result) == get_op_rettype(operator) && (param_is_left ? right : left) == other &&
		tde_type_find(*operand) == NULL ? result : InvalidOid;
}

/* amount > $1, also IS DISTINCT FROM; NULL if it is not like that. */
static Node *
retype_operator(OpExpr *op, Params *params)
{
	bool		is_left = open_param(linitial(op->args), false, params) != NULL;
	Node	   *other = is_left ? llast(op->args) : linitial(op->args);
	Param	   *param = open_param(is_left ? linitial(op->args) : llast(op->args), false, params);
	Node	   *plain;
	Oid			operand;
	Oid			operator;

	if (param == NULL || list_length(op->args) != 2 || IsA(other, Param))
		return NULL;
	operator = mixed_operator(op->opno, plain_param_type(param->paramtype), exprType(other), is_left, &operand);
	plain = OidIsValid(operator) ? retyped(param, operand, COERCION_IMPLICIT, params) : NULL;
	if (plain == NULL)
		return NULL;
	op = copyObject(op);
	op->opno = operator;
	op->opfuncid = get_opcode(operator);
	op->args = is_left ? list_make2(plain, lsecond(op->args)) : list_make2(linitial(op->args), plain);
	return (Node *) op;
}

/* The array of amount IN ($1, $2), with elements of this type. */
static Node *
retype_array(ArrayExpr *array, Oid operand, Params *params)
{
	List	   *elements = NIL;
	ListCell   *cell;

	foreach(cell, array->elements)
	{
		Param	   *param = open_param(lfirst(cell), false, params);
		Node	   *plain = param ? retyped(param, operand, COERCION_IMPLICIT, params) : NULL;

		if (plain == NULL)
			return NULL;
		elements = lappend(elements, plain);
	}
	array = copyObject(array);
	array->elements = elements;
	array->element_typeid = operand;
	array->array_typeid = get_array_type(operand);
	array->array_collid = get_typcollation(array->array_typeid);
	return (Node *) array;
}

/* amount IN ($1, $2), amount = ANY ($1) */
static Node *
retype_any(ScalarArrayOpExpr *op, Params *params)
{
	Node	   *left = linitial(op->args);
	Node	   *right = lsecond(op->args);
	Param	   *param = open_param(right, true, params);
	Oid			element = get_element_type(exprType(right));
	Oid			operand;
	Oid			operator;

	if ((param == NULL && !IsA(right, ArrayExpr)) || !OidIsValid(element))
		return NULL;
	operator = mixed_operator(op->opno, plain_param_type(element), exprType(left), false, &operand);
	if (!OidIsValid(operator))
		return NULL;
	right = param ? retyped(param, get_array_type(operand), COERCION_IMPLICIT, params) :
		retype_array((ArrayExpr *) right, operand, params);
	if (right == NULL)
		return NULL;
	op = copyObject(op);
	op->opno = operator;
	op->opfuncid = get_opcode(operator);
	op->args = list_make2(linitial(op->args), right);
	return (Node *) op;
}

/* ---- casts ---- */

/* A value for a column, and what casts make of a parameter. */
static Node *
retype_cast(FuncExpr *call, Params *params)
{
	Param	   *param = open_param(linitial(call->args), false, params);
	Oid			encrypted = param ? param->paramtype : InvalidOid;
	Node	   *plain;
	Oid			encrypt;

	if (param == NULL || (call->funcformat != COERCE_IMPLICIT_CAST && call->funcformat != COERCE_EXPLICIT_CAST))
		return NULL;
	if (list_length(call->args) == 1)
		return retyped(param, call->funcresulttype, COERCION_EXPLICIT, params);
	/* encrypt it for the column, instead of making what has been encrypted fit */
	if (call->funcresulttype != encrypted || list_length(call->args) != 3 ||
		find_coercion_pathway(encrypted, plain_param_type(encrypted), COERCION_EXPLICIT, &encrypt) != COERCION_PATH_FUNC)
		return NULL;
	plain = retyped(param, plain_param_type(encrypted), COERCION_EXPLICIT, params);
	call = copyObject(call);
	call->funcid = encrypt;
	call->args = list_make3(plain, lsecond(call->args), lthird(call->args));
	return (Node *) call;
}

/* The same of an array. */
static Node *
retype_array_cast(ArrayCoerceExpr *cast, Params *params)
{
	Param	   *param = open_param((Node *) cast->arg, true, params);

	if (param == NULL || cast->resulttype != param->paramtype)
		return NULL;
	param = as_plain(param);
	return coerce_to_target_type(params->pstate, (Node *) param, param->paramtype, cast->resulttype, cast->resulttypmod, COERCION_ASSIGNMENT,
								 COERCE_IMPLICIT_CAST, -1);
}

/* ---- a query ---- */

/* The parser's structure for parameters of open types, which it does not show. */
typedef struct VarParamState
{
	Oid		  **types;
	int		   *count;
} VarParamState;

/* The hook that comes with it; NULL if it turns out that this version has another structure. */
static CoerceParamHook
variable_params_hook(void)
{
	static bool looked_up = false;
	static CoerceParamHook hook = NULL;

	if (!looked_up)
	{
		ParseState *sample = make_parsestate(NULL);
		Oid		   *types = NULL;
		int			count = 0;
		VarParamState *state;

		setup_parse_variable_parameters(sample, &types, &count);
		state = sample->p_ref_hook_state;
		if (state->types == &types && state->count == &count)
			hook = sample->p_coerce_param_hook;
		free_parsestate(sample);
		looked_up = true;
	}
	return hook;
}

static Node *
retype_mutator(Node *node, void *context)
{
	Params	   *params = context;
	Node	   *changed = NULL;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return NULL;
	if (IsA(node, Query))
		return (Node *) query_tree_mutator((Query *) node, retype_mutator, context, 0);
	if (IsA(node, OpExpr) || IsA(node, DistinctExpr))
		changed = retype_operator((OpExpr *) node, params);
	else if (IsA(node, ScalarArrayOpExpr))
		changed = retype_any((ScalarArrayOpExpr *) node, params);
	else if (IsA(node, FuncExpr) && ((FuncExpr *) node)->args != NIL)
		changed = retype_cast((FuncExpr *) node, params);
	else if (IsA(node, ArrayCoerceExpr))
		changed = retype_array_cast((ArrayCoerceExpr *) node, params);
	/* what has been changed may hold other parameters, on the other side of an operator */
	return expression_tree_mutator(changed ? changed : node, retype_mutator, context);
}

/* Note the parameters that could have been retyped, but are still of an encrypted type. */
static bool
unchanged_walker(Node *node, void *context)
{
	Params	   *params = context;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, unchanged_walker, context, 0);
	if (open_param(node, false, params) || open_param(node, true, params))
		params->found = bms_add_member(params->found, ((Param *) node)->paramid);
	return expression_tree_walker(node, unchanged_walker, context);
}

/* ---- parameters that keep each other ---- */

/* Returns one element that stands for all of the array's: a disjoint-set forest, whose paths are halved on the way. */
static int
group_of(int param, int *groups)
{
	while (groups[param] != param)
	{
		CHECK_FOR_INTERRUPTS();
		param = groups[param] = groups[groups[param]];
	}
	return param;
}

/* Where one element of amount IN ($1, $2) stays encrypted, all do. */
static bool
group_walker(Node *node, void *context)
{
	Params	   *params = context;
	Param	   *first = NULL;
	ListCell   *cell;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, group_walker, context, 0);
	foreach(cell, IsA(node, ArrayExpr) ? ((ArrayExpr *) node)->elements : NIL)
	{
		Param	   *param = open_param(lfirst(cell), false, params);

		if (param && first)
			params->groups[group_of(param->paramid, params->groups)] = group_of(first->paramid, params->groups);
		first = first ? first : param;
	}
	return expression_tree_walker(node, group_walker, context);
}

/* Keep those that were found, and those that they keep: not one after the other, each time in all of the query. */
static void
keep_found(Params *params, int count)
{
	Bitmapset  *kept = NULL;
	int			param = -1;

	while ((param = bms_next_member(params->found, param)) >= 0)
		kept = bms_add_member(kept, group_of(param, params->groups));
	for (param = 1; param <= count; param++)
		if (bms_is_member(group_of(param, params->groups), kept))
			params->kept = bms_add_member(params->kept, param);
	params->kept = bms_add_members(params->kept, params->found);
}

void
tde_params_retype(ParseState *pstate, Query *query, int declared)
{
	Params		params = {pstate, declared};
	VarParamState *state = pstate->p_ref_hook_state;
	Oid		   *types;
	int			count;
	Query	   *changed;
	bool		any = false;

	if (pstate->p_coerce_param_hook == NULL || pstate->p_coerce_param_hook != variable_params_hook())
		return;
	types = *state->types;
	count = *state->count;
	for (int i = declared; i < count; i++)
		any = any || (types[i] >= FirstNormalObjectId && OidIsValid(plain_param_type(types[i])));
	if (!any)
		return;

	params.groups = palloc((count + 1) * sizeof(int));
	for (int i = 0; i <= count; i++)
		params.groups[i] = i;
	(void) query_tree_walker(query, group_walker, &params, 0);
	/* a parameter with a use where it must stay encrypted is left alone everywhere, which may keep others, too */
	for (;;)
	{
		changed = query_tree_mutator(query, retype_mutator, &params, 0);
		params.found = NULL;
		(void) query_tree_walker(changed, unchanged_walker, &params, 0);
		if (bms_is_empty(params.found))
			break;
		keep_found(&params, count);
	}
	*query = *changed;
	for (int i = declared; i < count; i++)
	{
		if (types[i] >= FirstNormalObjectId && !bms_is_member(i + 1, params.kept) && OidIsValid(plain_param_type(types[i])))
		{
			types[i] = plain_param_type(types[i]);
			tde_log_plain_params = true;
		}
	}
}
