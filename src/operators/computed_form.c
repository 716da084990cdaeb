/*
 * computed_form.c - an expression of encrypted columns as one whose result is encrypted, too: tde_computed() of PostgreSQL's function.
 *
 * The same expression always gets the same form: one is in an index, the other in a query that is to use it.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/dependency.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_func.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "operators/computed.h"
#include "server/compat.h"
#include "type/cast.h"
#include "type/inside.h"
#include "type/type.h"

extern Datum tde_computed(PG_FUNCTION_ARGS);

/* ---- the function itself ---- */

static Oid
computed_function(void)
{
	Oid			types[] = {ANYELEMENTOID, REGPROCEDUREOID, ANYOID};

	return tde_internal_function("tde_computed", tde_computed, types, lengthof(types));
}

bool
tde_is_computed(const Node *node)
{
	return IsA(node, FuncExpr) && tde_is_function(((const FuncExpr *) node)->funcid, "tde_computed", tde_computed);
}

/* ---- what an expression calls ---- */

static Oid
base_type_of(Node *node)
{
	Oid			type = exprType(node);
	TdeType    *encrypted = tde_type_find(type);

	return encrypted ? encrypted->base : type;
}

static Oid
namesake_of_function(FuncExpr *call)
{
	List	   *name = list_make2(makeString("pg_catalog"), makeString(get_func_name(call->funcid)));
	int			count = list_length(call->args);
	Oid			types[FUNC_MAX_ARGS];
	Oid			function;
	ListCell   *cell;

	if (getExtensionOfObject(ProcedureRelationId, call->funcid) != get_extension_oid("tde_column", true))
		return InvalidOid;
	foreach(cell, call->args)
		types[foreach_current_index(cell)] = base_type_of(lfirst(cell));
	function = LookupFuncName(name, count, types, true);
	if (OidIsValid(function))
		return function;
	/* varchar has the functions of text */
	for (int i = 0; i < count; i++)
		types[i] = types[i] == VARCHAROID ? TEXTOID : types[i];
	return LookupFuncName(name, count, types, true);
}

static Oid
namesake_of_operator(OpExpr *op)
{
	Oid			left = list_length(op->args) == 2 ? base_type_of(linitial(op->args)) : InvalidOid;
	Oid			right = base_type_of(llast(op->args));
	Oid			operator;

	if (getExtensionOfObject(OperatorRelationId, op->opno) != get_extension_oid("tde_column", true))
		return InvalidOid;
	operator = tde_operator_for(PG_CATALOG_NAMESPACE, get_opname(op->opno), &left, &right);
	return OidIsValid(operator) ? get_opcode(operator) : InvalidOid;
}

/* PostgreSQL's function that an expression calls, or that one of ours stands for; InvalidOid: none that tde_computed() can call. */
static Oid
called_function(Node *expr, List **args)
{
	Oid			function = InvalidOid;

	if (IsA(expr, FuncExpr))
	{
		FuncExpr   *call = (FuncExpr *) expr;

		*args = call->args;
		function = call->funcid < FirstUnpinnedObjectId ? call->funcid : namesake_of_function(call);
	}
	else if (IsA(expr, OpExpr))
	{
		OpExpr	   *op = (OpExpr *) expr;

		*args = op->args;
		function = op->opno < FirstUnpinnedObjectId ? get_opcode(op->opno) : namesake_of_operator(op);
	}
	return OidIsValid(function) && tde_is_computable(function) ? function : InvalidOid;
}

/* ---- what is decrypted for it ---- */

/* Does a cast give the same at all times?  Through text, dates do not. */
static bool
cast_is_immutable(Oid source, Oid target)
{
	CaseTestExpr *value = makeNode(CaseTestExpr);
	Node	   *cast;

	value->typeId = source;
	value->typeMod = -1;
	value->collation = get_typcollation(source);
	cast = coerce_to_target_type(NULL, (Node *) value, source, target, -1, COERCION_EXPLICIT, COERCE_EXPLICIT_CAST, -1);
	return cast != NULL && !contain_mutable_functions(cast);
}

/* What a cast decrypts; NULL if it is none that does. */
static Node *
decrypted(Node *node)
{
	Node	   *arg = NULL;

	if (IsA(node, FuncExpr) && ((FuncExpr *) node)->args != NIL)
		arg = linitial(((FuncExpr *) node)->args);
	else if (IsA(node, CoerceViaIO))
		arg = (Node *) ((CoerceViaIO *) node)->arg;
	if (arg == NULL || tde_type_find(exprType(arg)) == NULL)
		return NULL;
	return IsA(node, CoerceViaIO) || tde_is_decryption(((FuncExpr *) node)->funcid) ? arg : NULL;
}

/* A varchar as it stands for text: itself; NULL if it is something else. */
static Node *
relabelled_varchar(Node *node)
{
	RelabelType *relabel = (RelabelType *) node;

	return IsA(node, RelabelType) && relabel->resulttype == TEXTOID && exprType((Node *) relabel->arg) == VARCHAROID ? (Node *) relabel->arg : NULL;
}

/* What is cast to the type of the expression, encrypted, if the cast always gives the same; NULL if it is no cast. */
static Node *
encrypted_cast(Node *node)
{
	Oid			wanted = exprType(node);
	Node	   *relabelled = relabelled_varchar(node);
	Node	   *arg = decrypted(relabelled ? relabelled : node);

	/* of what is computed */
	if (arg == NULL && IsA(node, CoerceViaIO))
		arg = tde_encrypted_form((Node *) ((CoerceViaIO *) node)->arg);
	else if (arg && IsA(arg, CoalesceExpr))
		arg = tde_encrypted_form(arg);
	return arg && cast_is_immutable(base_type_of(arg), wanted) ? arg : NULL;
}

/* An argument as tde_computed() takes it: encrypted, if it is one way or another. */
static Node *
encrypted_argument(Node *node)
{
	Node	   *arg;

	if (IsA(node, CollateExpr))
	{
		CollateExpr *collate = copyObject((CollateExpr *) node);

		collate->arg = (Expr *) encrypted_argument((Node *) collate->arg);
		return (Node *) collate;
	}
	arg = encrypted_cast(node);
	if (arg == NULL)
		arg = tde_encrypted_form(node);
	return arg ? arg : node;
}

/* ---- the form ---- */

static int32 declared_typmod(FuncExpr *call);

/* Of coalesce(name, 'none') it is that of the name. */
static int32
typmod_of(Node *arg)
{
	int32		typmod = tde_is_computed(arg) ? declared_typmod((FuncExpr *) arg) : exprTypmod(arg);
	ListCell   *cell;

	if (typmod < 0 && IsA(arg, CoalesceExpr))
		foreach(cell, ((CoalesceExpr *) arg)->args)
			if (typmod < 0)
				typmod = typmod_of(lfirst(cell));
	return typmod;
}

int32
tde_computed_typmod(TdeType *result, List *args)
{
	ListCell   *cell;

	foreach(cell, args)
	{
		Node	   *arg = lfirst(cell);
		TdeType    *type = tde_type_find(exprType(arg));
		TdeModifiers modifiers;
		int32		typmod;

		if (type == NULL)
			continue;
		typmod = typmod_of(arg);
		if (typmod < 0)
			return -1;
		modifiers = tde_type_modifiers(type, typmod);
		modifiers.base_typmod = -1;
		modifiers.spec = tde_spec_unsalted(modifiers.spec);
		return tde_typmod_pack(result->layout, &modifiers, &typmod) ? typmod : -1;
	}
	return -1;
}

/* Of a call's result: what its first argument says or, where that says nothing, what its others are. */
static int32
declared_typmod(FuncExpr *call)
{
	int32		typmod = exprTypmod(linitial(call->args));

	return typmod >= 0 ? typmod : tde_computed_typmod(tde_type_get(call->funcresulttype), list_copy_tail(call->args, 2));
}

/* Collations are what the parser would make of it, as when an index's definition is read again. */
static Node *
make_form(TdeType *type, int32 typmod, Oid function, List *args)
{
	Const	   *result = makeNullConst(type->oid, typmod, get_typcollation(type->oid));
	Const	   *called = makeConst(REGPROCEDUREOID, -1, InvalidOid, sizeof(Oid), ObjectIdGetDatum(function), false, true);
	Node	   *form = (Node *) makeFuncExpr(computed_function(), type->oid, lcons(result, lcons(called, args)), InvalidOid, InvalidOid,
											 COERCE_EXPLICIT_CALL);
	ParseState *pstate = make_parsestate(NULL);

	assign_expr_collations(pstate, form);
	free_parsestate(pstate);
	return form;
}

/* Does the cast change nothing that the encrypted type compares? */
static bool
is_same(Node *arg, Oid type)
{
	Oid			base = base_type_of(arg);

	return base == type || (base == VARCHAROID && type == TEXTOID);
}

static bool
may_decrypt(Node *expr)
{
	return IsA(expr, FuncExpr) || IsA(expr, OpExpr) || IsA(expr, CoerceViaIO) || IsA(expr, RelabelType) || IsA(expr, CoalesceExpr);
}

/* What is encrypted by a cast, to the type of the others; the node itself, if it is none. */
static Node *
before_encryption(Node *node)
{
	bool		encryption = IsA(node, FuncExpr) && exprTypmod(node) < 0 && tde_is_encryption(((FuncExpr *) node)->funcid);

	return encryption ? linitial(((FuncExpr *) node)->args) : node;
}

/* An alternative of COALESCE in the type of all, a plain one encrypted as the model is; NULL: it has no such form. */
static Node *
alternative_form(TdeType *type, Node *arg, Node *model)
{
	List	   *args = tde_type_find(exprType(arg)) ? list_make1(arg) : list_make2(arg, model);
	int32		typmod = tde_computed_typmod(type, args);

	if (exprType(arg) == type->oid)
		return arg;
	if (typmod < 0 || !OidIsValid(computed_function()) || !cast_is_immutable(base_type_of(arg), type->base))
		return NULL;
	return make_form(type, typmod, InvalidOid, args);
}

/* COALESCE(price, 0) is a plain one of what is decrypted, or an encrypted one of what is encrypted anew each time. */
static Node *
coalesced_form(TdeType *type, CoalesceExpr *coalesce)
{
	CoalesceExpr *form = makeNode(CoalesceExpr);
	Node	   *model = NULL;
	ListCell   *cell;
	ParseState *pstate;

	foreach(cell, coalesce->args)
	{
		Node	   *arg = encrypted_argument(before_encryption(lfirst(cell)));

		if (model == NULL && tde_type_find(exprType(arg)))
			model = arg;
		form->args = lappend(form->args, arg);
	}
	if (model == NULL)
		return NULL;
	foreach(cell, form->args)
	{
		lfirst(cell) = alternative_form(type, lfirst(cell), model);
		if (lfirst(cell) == NULL)
			return NULL;
	}
	form->coalescetype = type->oid;
	form->location = -1;
	pstate = make_parsestate(NULL);
	assign_expr_collations(pstate, (Node *) form);
	free_parsestate(pstate);
	return (Node *) form;
}

bool
tde_computed_is_current(const FuncExpr *call)
{
	return exprTypmod(linitial(call->args)) == tde_computed_typmod(tde_type_get(call->funcresulttype), list_copy_tail(call->args, 2));
}

Node *
tde_encrypted_operand(Node *expr)
{
	Node	   *cast = may_decrypt(expr) ? encrypted_cast(expr) : NULL;

	return cast && is_same(cast, exprType(expr)) ? cast : NULL;
}

Node *
tde_encrypted_form(Node *expr)
{
	TdeType    *type = may_decrypt(expr) ? tde_type_of_base(exprType(expr)) : NULL;
	List	   *args = NIL;
	List	   *encrypted = NIL;
	Oid			function = InvalidOid;
	int32		typmod;
	Node	   *cast;
	ListCell   *cell;

	if (type == NULL && IsA(expr, CoalesceExpr))
		type = tde_type_find(exprType(expr));
	if (type == NULL)
		return NULL;
	if (IsA(expr, CoalesceExpr))
		return coalesced_form(type, (CoalesceExpr *) expr);
	cast = encrypted_cast(expr);
	if (cast && is_same(cast, exprType(expr)))
		return cast;
	if (cast == NULL && relabelled_varchar(expr))
		return tde_encrypted_form(relabelled_varchar(expr));
	if (cast)
		encrypted = list_make1(cast);
	else
		function = called_function(expr, &args);
	if (OidIsValid(function))
		foreach(cell, args)
			encrypted = lappend(encrypted, encrypted_argument(lfirst(cell)));
	typmod = tde_computed_typmod(type, encrypted);
	return typmod < 0 || !OidIsValid(computed_function()) ? NULL : make_form(type, typmod, function, encrypted);
}
