/*
 * widened_calls.c - calls that an encrypted argument has find another function than its base type would are refused.
 *
 * An encrypted integer becomes an integer, and whatever an integer becomes; none of that is its own type.  So of f(integer) and f(double precision)
 * PostgreSQL takes the second, whose type is preferred, where an integer has it take the first: another result, and nobody would notice.  (Of its own
 * functions and operators sql/46_smaller.sql makes versions for encrypted values; these are users'.)
 *
 * So where an encrypted value has become something larger for a call, that is looked up again as PostgreSQL would if the column were plain.  A finished
 * expression does not tell all of how it was written: with a schema or without, a constant in quotes or with a type.  A way of writing it counts if it
 * leads to the function that is called.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_func.h"
#include "parser/parse_oper.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

#include "ddl/widened_calls.h"
#include "server/compat.h"
#include "type/core.h"
#include "type/type.h"

/* A call of a function, or an operator's. */
typedef struct Call
{
	ParseState *pstate;			/* NULL: it comes from a catalog */
	bool		is_operator;
	Oid			called;
	int			location;
	int			count;
	Oid			actual[FUNC_MAX_ARGS];	/* types of the arguments, before they became what it takes */
	Oid			plain[FUNC_MAX_ARGS];	/* ... if those that are decrypted were plain */
	bool		quoted[FUNC_MAX_ARGS];	/* may it have been a constant, or a parameter, of no type? */
	List	   *names;			/* of the last arguments, where they have any */
	bool		is_variadic;	/* the last one is an array, and was written as one */
	Oid			widened;		/* a base type whose encrypted value has become something larger */
} Call;

/* ---- arguments ---- */

/* Returns an argument without what the parser has put round it to make it what the function takes. */
static Node *
before_coercion(Node *arg)
{
	return strip_implicit_coercions(IsA(arg, NamedArgExpr) ? (Node *) ((NamedArgExpr *) arg)->arg : arg);
}

/*
 * Returns the type that an argument would have if it were plain, where it has become another one.  *widened is set to that, too, if the
 * argument has become something else than its base type, which then is larger.  Arrays have no casts of their own, so that their elements tell.
 */
static Oid
plain_argument_type(Oid actual, Oid taken, Oid *widened)
{
	Oid			type = getBaseType(actual);
	Oid			element = get_element_type(type);
	TdeType    *encrypted = tde_type_find(OidIsValid(element) ? element : type);
	Oid			plain;

	taken = getBaseType(taken);
	if (encrypted == NULL || taken == type)
		return actual;
	if (OidIsValid(element))
		taken = get_element_type(taken);
	if (!OidIsValid(taken) || tde_type_find(taken))
		return actual;
	plain = OidIsValid(element) ? get_array_type(encrypted->base) : encrypted->base;
	if (taken != encrypted->base)
		*widened = plain;
	return plain;
}

/* Returns the expression of an argument; NULL if it is none: aggregates have target entries, which may have more behind them to sort by. */
static Node *
argument(ListCell *cell)
{
	TargetEntry *entry = lfirst(cell);

	if (!IsA(entry, TargetEntry))
		return lfirst(cell);
	return entry->resjunk ? NULL : (Node *) entry->expr;
}

/*
 * Returns true if one of them has become something larger.  Few arguments of the server's statements have anything round them that this looks into.
 */
static bool
is_widened(List *args)
{
	ListCell   *cell;
	Oid			widened = InvalidOid;

	foreach(cell, args)
	{
		Node	   *arg = argument(cell);
		Node	   *before = arg ? before_coercion(arg) : NULL;

		if (before != arg && exprType(before) >= FirstNormalObjectId)
			(void) plain_argument_type(exprType(before), exprType(arg), &widened);
	}
	return OidIsValid(widened);
}

/*
 * Returns true if an argument may have been a constant or parameter of no type when the function was looked for.  The text tells 5 from '5', where
 * there is one; without it both ways are tried.
 */
static bool
may_be_quoted(Call *call, Node *arg)
{
	const char *text = call->pstate ? call->pstate->p_sourcetext : NULL;
	Const	   *constant = (Const *) arg;

	if (IsA(arg, Param))
		return ((Param *) arg)->paramkind == PARAM_EXTERN && call->pstate && call->pstate->p_coerce_param_hook;
	if (!IsA(arg, Const))
		return false;
	return constant->constisnull || constant->location < 0 || text == NULL || constant->location >= (int) strlen(text) ||
		strchr("'$EeUuNn", text[constant->location]) != NULL;
}

static void
add_argument(Call *call, Node *arg)
{
	Node	   *before = before_coercion(arg);
	int			i = call->count++;

	if (IsA(arg, NamedArgExpr))
		call->names = lappend(call->names, ((NamedArgExpr *) arg)->name);
	call->actual[i] = exprType(before);
	call->plain[i] = before == arg ? call->actual[i] : plain_argument_type(call->actual[i], exprType(arg), &call->widened);
	call->quoted[i] = may_be_quoted(call, before);
}

/* is_variadic: the last one is an array, which the parser may have made of several arguments; these stand for it again. */
static void
add_arguments(Call *call, List *args, bool is_variadic)
{
	ListCell   *cell;
	ListCell   *element;

	foreach(cell, args)
	{
		Node	   *arg = argument(cell);

		if (arg == NULL)
			return;
		if (!is_variadic || lnext(args, cell) != NULL || !IsA(arg, ArrayExpr))
		{
			add_argument(call, arg);
			call->is_variadic = is_variadic && lnext(args, cell) == NULL;
			continue;
		}
		foreach(element, ((ArrayExpr *) arg)->elements)
			if (call->count < FUNC_MAX_ARGS)
				add_argument(call, lfirst(element));
	}
}

/* ---- what is called ---- */

/* InvalidOid: none, or several.  As the parser looks for one, without an error. */
static Oid
find_operator(const Call *call, List *name, Oid *types)
{
	Operator	tuple = call->count == 1 ? left_oper(NULL, name, types[0], true, -1) : oper(NULL, name, types[0], types[1], true, -1);
	Oid			found = InvalidOid;

	if (tuple)
	{
		found = oprid(tuple);
		ReleaseSysCache(tuple);
	}
	return found;
}

/* InvalidOid: none, or several.  As the parser looks for one, by func_get_detail(). */
static Oid
find_function(const Call *call, List *name, Oid *types)
{
	Oid			found;
	Oid			result;
	bool		is_set;
	int			variadic;
	Oid			variadic_type;
	Oid		   *declared;
	FuncDetailCode code = TDE_FUNC_GET_DETAIL(name, call->names, call->count, types, !call->is_variadic, &found, &result, &is_set, &variadic,
											  &variadic_type, &declared);

	return code == FUNCDETAIL_NOTFOUND || code == FUNCDETAIL_MULTIPLE ? InvalidOid : found;
}

/* quoted: what may have been a constant of no type counts as one. */
static Oid
find_called(const Call *call, List *name, const Oid *types, bool quoted)
{
	Oid			read[FUNC_MAX_ARGS];

	for (int i = 0; i < call->count; i++)
		read[i] = quoted && call->quoted[i] ? UNKNOWNOID : types[i];
	return call->is_operator ? find_operator(call, name, read) : find_function(call, name, read);
}

/*
 * Returns what would be called of plain values, if it is something else; InvalidOid if it is the same, or nothing.  *counts: written in this way,
 * with this name, the call leads to the function that is called.
 */
static Oid
find_other(const Call *call, List *name, bool quoted, bool *counts)
{
	Oid			other;

	*counts = find_called(call, name, call->actual, quoted) == call->called;
	other = *counts ? find_called(call, name, call->plain, quoted) : InvalidOid;
	return other == call->called ? InvalidOid : other;
}

static void
refuse(const Call *call, const char *name, Oid other)
{
	const char *called = call->is_operator ? format_operator(call->called) : format_procedure(call->called);
	const char *wanted = call->is_operator ? format_operator(other) : format_procedure(other);
	const char *signature = !call->is_operator ? func_signature_string(list_make1(makeString(pstrdup(name))), call->count, call->names, call->actual) :
	call->count == 1 ? psprintf("%s %s", name, format_type_be(call->actual[0])) :
	psprintf("%s %s %s", format_type_be(call->actual[0]), name, format_type_be(call->actual[1]));

	ereport(ERROR,
			(errcode(ERRCODE_AMBIGUOUS_FUNCTION),
			 call->is_operator ? errmsg("operator is not unique: %s", signature) : errmsg("function %s is not unique", signature),
			 errdetail("Of plain values %s would be called, and of encrypted ones %s.", wanted, called),
			 errhint("Cast the encrypted argument to type %s.", format_type_be(call->widened)),
			 parser_errposition(call->pstate, call->location)));
}

static char *
schema_of(const Call *call)
{
	return get_namespace_name(call->is_operator ? GetSysCacheOid1(OPEROID, Anum_pg_operator_oprnamespace, ObjectIdGetDatum(call->called)) :
							  get_func_namespace(call->called));
}

/* Returns true for functions of the extension, which take what PostgreSQL's would: sql/46_smaller.sql. */
static bool
is_our_function(const Call *call)
{
	return !tde_is_core(call->called) &&
		tde_core_is_member(call->is_operator ? OperatorRelationId : ProcedureRelationId, call->called);
}

/* Tries how the call may have been written: constants with a type or without, the name alone or with its schema. */
static pg_noinline void
check_call(Call *call)
{
	char	   *name = call->is_operator ? get_opname(call->called) : get_func_name(call->called);
	List	   *names;

	if (name == NULL || !OidIsValid(call->widened) || is_our_function(call))
		return;
	names = list_make1(makeString(name));
	for (int quoted = 0; quoted < 2; quoted++)
	{
		bool		counts;
		Oid			other = find_other(call, names, quoted, &counts);

		if (!counts)
			other = find_other(call, list_make2(makeString(schema_of(call)), linitial(names)), quoted, &counts);
		if (OidIsValid(other))
			refuse(call, name, other);
	}
}

/* direct: the direct arguments of an ordered-set aggregate.  args: may be target entries. */
static void
check_function(ParseState *pstate, Oid function, List *direct, List *args, bool is_variadic, int location)
{
	Node	   *last = is_variadic && args != NIL ? argument(list_tail(args)) : NULL;
	List	   *written = last && IsA(last, ArrayExpr) ? ((ArrayExpr *) last)->elements : NIL;
	Call	   *call;

	if (likely(!is_widened(args) && !is_widened(direct) && !is_widened(written)) || list_length(direct) + list_length(args) > FUNC_MAX_ARGS)
		return;
	call = palloc0(sizeof(Call));
	call->pstate = pstate;
	call->called = function;
	call->location = location;
	add_arguments(call, direct, false);
	add_arguments(call, args, is_variadic);
	check_call(call);
}

/* is_scalar_array: the right operand is an array, each element of which is one. */
static void
check_operator(ParseState *pstate, Oid operator, List *args, bool is_scalar_array, int location)
{
	Call	   *call;

	if (likely(!is_widened(args)))
		return;
	call = palloc0(sizeof(Call));
	call->pstate = pstate;
	call->is_operator = true;
	call->called = operator;
	call->location = location;
	add_arguments(call, args, false);
	if (is_scalar_array)
	{
		call->actual[1] = get_base_element_type(call->actual[1]);
		call->plain[1] = get_base_element_type(call->plain[1]);
	}
	check_call(call);
}

void
tde_widened_call_check(Node *node, ParseState *pstate)
{
	switch (nodeTag(node))
	{
		case T_FuncExpr:
			check_function(pstate, ((FuncExpr *) node)->funcid, NIL, ((FuncExpr *) node)->args, ((FuncExpr *) node)->funcvariadic,
						   ((FuncExpr *) node)->location);
			break;
		case T_Aggref:
			check_function(pstate, ((Aggref *) node)->aggfnoid, ((Aggref *) node)->aggdirectargs, ((Aggref *) node)->args,
						   ((Aggref *) node)->aggvariadic, ((Aggref *) node)->location);
			break;
		case T_WindowFunc:
			check_function(pstate, ((WindowFunc *) node)->winfnoid, NIL, ((WindowFunc *) node)->args, false, ((WindowFunc *) node)->location);
			break;
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
			check_operator(pstate, ((OpExpr *) node)->opno, ((OpExpr *) node)->args, false, ((OpExpr *) node)->location);
			break;
		case T_ScalarArrayOpExpr:
			check_operator(pstate, ((ScalarArrayOpExpr *) node)->opno, ((ScalarArrayOpExpr *) node)->args, true,
						   ((ScalarArrayOpExpr *) node)->location);
			break;
		default:
			break;
	}
}

/* A query_or_expression_tree_walker. */
static bool
check_calls(Node *node, void *context)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, check_calls, context, 0);
	tde_widened_call_check(node, context);
	return expression_tree_walker(node, check_calls, context);
}

void
tde_widened_calls_check(Node *tree, ParseState *pstate)
{
	(void) check_calls(tree, pstate);
}
