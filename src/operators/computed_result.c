/*
 * computed_result.c - which expressions are calls of tde_computed(), and which specification and key their results have.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "utils/lsyscache.h"

#include "operators/computed.h"
#include "operators/computed_choice.h"
#include "server/compat.h"
#include "type/plain_bytes.h"
#include "type/type.h"

static PGFunction computed = NULL;

void
tde_computed_init(PGFunction function)
{
	computed = function;
}

Oid
tde_computed_function(void)
{
	Oid			types[] = {ANYELEMENTOID, REGPROCEDUREOID, ANYOID};

	return tde_type_internal_function("tde_computed", computed, types, lengthof(types));
}

bool
tde_is_computed(const Node *node)
{
	return IsA(node, FuncExpr) && tde_type_is_function(((const FuncExpr *) node)->funcid, "tde_computed", computed);
}

/*
 * Of coalesce(name, 'none') it is that of the name.  Of a call's result it is what its first argument says: an index has it there.  PostgreSQL 15 and
 * 16 take no modifiers there in a generated column; then it is what the others are.
 */
int32
tde_computed_typmod_of(Node *arg)
{
	int32		typmod = -1;
	ListCell   *cell;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (IsA(arg, CollateExpr))
		return tde_computed_typmod_of((Node *) ((CollateExpr *) arg)->arg);
	if (tde_is_computed(arg))
	{
		FuncExpr   *call = (FuncExpr *) arg;

		typmod = exprTypmod(linitial(call->args));
		return typmod >= 0 ? typmod : tde_computed_typmod(tde_type_get(call->funcresulttype), list_copy_tail(call->args, 2));
	}
	if (!tde_is_choice(arg))
		return exprTypmod(arg);
	foreach(cell, tde_choice_alternatives(arg))
		if (typmod < 0)
			typmod = tde_computed_typmod_of(lfirst(cell));
	return typmod;
}

int32
tde_computed_unsalted(TdeType *result, TdeType *type, int32 typmod)
{
	TdeModifiers modifiers;
	size_t		pad;

	if (typmod < 0)
		return -1;
	modifiers = tde_type_modifiers(type, typmod);
	pad = tde_plain_pad(type->base, &modifiers);
	modifiers.base_typmod = -1;
	modifiers.unordered = false;
	modifiers.spec = tde_modifiers_unsalted(modifiers.spec);
	tde_plain_pad_as(&modifiers, result->base, pad);
	return tde_typmod_pack(result->layout, &modifiers, &typmod) ? typmod : -1;
}

int32
tde_computed_typmod(TdeType *result, List *args)
{
	ListCell   *cell;

	foreach(cell, args)
	{
		TdeType    *type = tde_type_find(exprType(lfirst(cell)));

		if (type)
			return tde_computed_unsalted(result, type, tde_computed_typmod_of(lfirst(cell)));
	}
	return -1;
}

bool
tde_computed_is_current(const FuncExpr *call)
{
	return exprTypmod(linitial(call->args)) == tde_computed_typmod(tde_type_get(call->funcresulttype), list_copy_tail(call->args, 2));
}

bool
tde_computed_takes_arguments(const FuncExpr *call)
{
	Const	   *function = lsecond(call->args);
	Oid		   *declared;
	int			count;

	/* a cast by the type's output function has none */
	if (!IsA(function, Const) || function->constisnull || !OidIsValid(DatumGetObjectId(function->constvalue)))
		return true;
	(void) get_func_signature(DatumGetObjectId(function->constvalue), &declared, &count);
	for (int i = 0; i < count && i + 2 < list_length(call->args); i++)
	{
		TdeType    *type = tde_type_find(exprType(list_nth(call->args, i + 2)));

		if (type && !IsPolymorphicType(declared[i]) && !IsBinaryCoercible(type->base, declared[i]))
			return false;
	}
	return true;
}
