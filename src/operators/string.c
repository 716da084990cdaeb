/*
 * string.c - functions of encrypted strings: parts of them and their length, LIKE and regular expressions; subscripts of any encrypted value.
 *
 * substr() and left() read no more of a large value than they need, where that can be done: see tde_datum_decrypt_slice().
 * length() looks at the plaintext and leaves nothing behind.  The results are those of the base type's functions.
 *
 * LIKE, regular expressions and ^@: each function in SQL is named after the one of PostgreSQL that does it for the base type:
 * tde_textlike() after textlike().  What a fixed beginning of the pattern says of an index on the column, LIKE 'abc%' of one in the C
 * collation or with a pattern operator class, PostgreSQL's planner support function for the base type tells, which is asked as if the
 * column were plain.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "executor/execExpr.h"
#include "mb/pg_wchar.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/subscripting.h"
#include "nodes/supportnodes.h"
#include "parser/parse_coerce.h"
#include "parser/parse_func.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

#include "operators/opclass.h"
#include "server/compat.h"
#include "type/access.h"
#include "type/base_functions.h"
#include "type/datum.h"
#include "type/declared.h"
#include "type/opened.h"

PG_FUNCTION_INFO_V1(tde_substr);
PG_FUNCTION_INFO_V1(tde_left);
PG_FUNCTION_INFO_V1(tde_length);
PG_FUNCTION_INFO_V1(tde_match);
PG_FUNCTION_INFO_V1(tde_match_support);
PG_FUNCTION_INFO_V1(tde_subscript);

/*
 * Characters first to last (from 1 on) of the argument, with perhaps some before them, whose number is *skipped: bytes for
 * bytea and where characters are bytes; elsewhere a slice can only begin at the beginning.
 */
static Datum
slice(FunctionCallInfo fcinfo, int64 first, int64 last, int32 *skipped)
{
	TdeCall    *call = tde_call(fcinfo);
	TdeType    *type = call->proc->args[0];
	int			width = type->base == BYTEAOID ? 1 : pg_database_encoding_max_length();
	uint64		from = width == 1 && first > 1 ? (uint64) first - 1 : 0;
	uint64		to = last > 0 ? (uint64) last * width : 0;
	uint64		begin;
	struct varlena *plain;

	tde_opened_check(fcinfo, 0);
	plain = tde_datum_decrypt_slice(type, PG_GETARG_DATUM(0), call->declared[0], from, to, &begin);
	*skipped = (int32) begin;
	return PointerGetDatum(plain);
}

/* tde_substr(encrypted, int4 start [, int4 length]) returns the base type, as substr() of the base type does. */
Datum
tde_substr(PG_FUNCTION_ARGS)
{
	bool		bytes = tde_call(fcinfo)->proc->args[0]->base == BYTEAOID;
	bool		to_end = PG_NARGS() == 2;
	int32		start = PG_GETARG_INT32(1);
	int64		last = to_end ? PG_INT32_MAX : (int64) start + PG_GETARG_INT32(2) - 1;
	int32		skipped;
	Datum		plain;

	plain = slice(fcinfo, start, last, &skipped);
	if (to_end)
		return DirectFunctionCall2(bytes ? bytea_substr_no_len : text_substr_no_len, plain, Int32GetDatum(start - skipped));
	return DirectFunctionCall3(bytes ? bytea_substr : text_substr, plain, Int32GetDatum(start - skipped), PG_GETARG_DATUM(2));
}

/* tde_left(encrypted, int4 n) returns text: the first n characters, or all but the last -n. */
Datum
tde_left(PG_FUNCTION_ARGS)
{
	int32		n = PG_GETARG_INT32(1);
	int32		skipped;
	Datum		plain = slice(fcinfo, 1, n >= 0 ? n : PG_INT32_MAX, &skipped);

	return DirectFunctionCall2(text_left, plain, Int32GetDatum(n));
}

/* tde_length(encrypted) returns int4: characters, of bytea bytes; of bpchar without the blanks at the end. */
Datum
tde_length(PG_FUNCTION_ARGS)
{
	TdeCall    *call = tde_call(fcinfo);
	TdeType    *type = call->proc->args[0];
	PGFunction	length = type->base == BYTEAOID ? byteaoctetlen : type->base == BPCHAROID ? bpcharlen : textlen;
	TdeScratch	scratch;
	Datum		plain;
	Datum		result;

	tde_opened_check(fcinfo, 0);
	plain = tde_datum_peek(type, PG_GETARG_DATUM(0), call->declared[0], TDE_REMEMBER_ROW, &scratch);
	result = DirectFunctionCall1(length, plain);
	tde_datum_unpeek(&scratch);
	return result;
}

/* ---- patterns ---- */

/* What our functions' names have before those of PostgreSQL's. */
#define PREFIX	"tde_"

/* PostgreSQL's function for the base type, by the name of ours; ereport if it has none of that name. */
static Oid
namesake(Oid function, TdeType *type)
{
	char	   *name = get_func_name(function);
	Oid			arg_types[2] = {tde_base_compared_as(type->base), TEXTOID};

	if (name == NULL || strncmp(name, PREFIX, strlen(PREFIX)) != 0)
		elog(ERROR, "function %u does not stand for one of PostgreSQL's", function);
	return LookupFuncName(list_make2(makeString("pg_catalog"), makeString(name + strlen(PREFIX))), 2, arg_types, false);
}

/* tde_match(encrypted, pattern text) returns bool - what PostgreSQL's function says of the string: WHERE name LIKE 'a%'. */
Datum
tde_match(PG_FUNCTION_ARGS)
{
	TdeCall    *call = tde_call(fcinfo);
	TdeProc    *proc = call->proc;
	TdeScratch	scratch;
	Datum		value;
	Datum		result;

	if (!tde_is_resolved(proc))
	{
		uint64		epoch = tde_functions_epoch;

		proc->base_function = tde_type_function(namesake(proc->oid, proc->args[0]));
		proc->resolved = epoch;
	}
	tde_opened_check(fcinfo, 0);
	value = tde_datum_peek(proc->args[0], PG_GETARG_DATUM(0), call->declared[0], TDE_REMEMBER_ROW, &scratch);
	result = FunctionCall2Coll(proc->base_function, PG_GET_COLLATION(), value, PG_GETARG_DATUM(1));
	tde_datum_unpeek(&scratch);
	PG_RETURN_DATUM(result);
}

/* The base type's operator class whose encrypted version this family is of; InvalidOid if it is of none. */
static Oid
plain_opclass(const TdeType *type, Oid method, Oid family)
{
	Oid			usual = GetDefaultOpClass(type->oid, method);
	Oid			pattern = tde_opclass_pattern(type);

	if (OidIsValid(usual) && get_opclass_family(usual) == family)
		return GetDefaultOpClass(type->base, method);
	if (OidIsValid(pattern) && get_opclass_family(pattern) == family)
		return tde_opclass_base_pattern(type);
	return InvalidOid;
}

/*
 * The conditions that PostgreSQL's support function derives for the plain column, as such of the encrypted one: name >= 'abc' AND name < 'abd' of
 * name LIKE 'abc%'.  The bounds stay plain, since the families have members for a plain operand.  NIL: none is derived.
 */
static List *
index_conditions(SupportRequestIndexCondition *request)
{
	OpExpr	   *clause = (OpExpr *) request->node;
	Node	   *column = linitial(clause->args);
	Node	   *pattern = lsecond(clause->args);
	TdeType    *type = tde_type_get(exprType(column));
	Oid			opclass = plain_opclass(type, request->index->relam, request->opfamily);
	SupportRequestIndexCondition plain = *request;
	Oid			support;
	List	   *conditions;
	ListCell   *cell;

	if (!OidIsValid(opclass))
		return NIL;
	plain.funcid = namesake(request->funcid, type);
	support = get_func_support(plain.funcid);
	if (!OidIsValid(support))
		return NIL;
	plain.opfamily = get_opclass_family(opclass);
	plain.node = (Node *) make_opclause(clause->opno, BOOLOID, false,
										(Expr *) makeRelabelType((Expr *) column, get_opclass_input_type(opclass), -1,
																 exprCollation(column), COERCE_IMPLICIT_CAST),
										(Expr *) pattern, InvalidOid, clause->inputcollid);
	conditions = (List *) DatumGetPointer(OidFunctionCall1(support, PointerGetDatum(&plain)));
	request->lossy = plain.lossy;
	foreach(cell, conditions)
	{
		OpExpr	   *condition = lfirst_node(OpExpr, cell);
		Expr	   *bound = lsecond(condition->args);
		int			strategy = get_op_opfamily_strategy(condition->opno, plain.opfamily);
		Oid			operator = get_opfamily_member(request->opfamily, type->oid, exprType((Node *) bound), strategy);

		if (!OidIsValid(operator))
			return NIL;
		lfirst(cell) = make_opclause(operator, BOOLOID, false, (Expr *) column, bound, InvalidOid, request->indexcollation);
	}
	return conditions;
}

/* tde_match_support(internal) returns internal - planner support for tde_match(). */
Datum
tde_match_support(PG_FUNCTION_ARGS)
{
	SupportRequestIndexCondition *request = (SupportRequestIndexCondition *) PG_GETARG_POINTER(0);

	if (!IsA(request, SupportRequestIndexCondition) || !is_opclause(request->node) || request->indexarg != 0)
		PG_RETURN_POINTER(NULL);
	PG_RETURN_POINTER(index_conditions(request));
}

/*
 * ---- subscripts: j['a'], and assignment to it ----
 *
 * The base type's subscripting does the work.  To read is to decrypt first, which the parser is told, so that the expression
 * holds the STABLE cast and no index can hold its result.  To assign is to decrypt, to assign, and to encrypt as the column
 * wants it, at execution.
 */

/* The execution state of one assignment. */
typedef struct Assignment
{
	TdeType    *type;
	int32		typmod;			/* the container's */
	SubscriptExecSteps methods; /* the base type's */
	TdeDecrypted *place;
	void	   *workspace;		/* likewise */
} Assignment;

/*
 * The container of INSERT INTO t (j['a']) VALUES (...) is a constant NULL.  With a constant source the planner would assign once for all rows, and
 * they would share one salt; a CASE that it cannot decide makes it wait.  The current user is not decided before execution, and never NULL.
 */
static Expr *
hide_constant(Expr *container)
{
	SQLValueFunction *user = makeNode(SQLValueFunction);
	NullTest   *test = makeNode(NullTest);
	CaseWhen   *when = makeNode(CaseWhen);
	CaseExpr   *result = makeNode(CaseExpr);

	user->op = SVFOP_CURRENT_USER;
	user->type = NAMEOID;
	user->typmod = -1;
	test->arg = (Expr *) user;
	test->nulltesttype = IS_NULL;
	when->expr = (Expr *) test;
	when->result = container;
	result->casetype = exprType((Node *) container);
	result->casecollid = exprCollation((Node *) container);
	result->args = list_make1(when);
	result->defresult = container;
	return (Expr *) result;
}

/*
 * A SubscriptRoutines.transform: for reading, the container is cast to the base type; either way the base type's own transform does the rest, and
 * refuses what it does not know.
 */
static void
transform(SubscriptingRef *sbsref, List *indirection, ParseState *pstate, bool is_slice, bool is_assignment)
{
	Oid			base = tde_type_get(sbsref->refcontainertype)->base;
	Node	   *container = (Node *) sbsref->refexpr;

	if (is_assignment && IsA(container, Const))
		sbsref->refexpr = hide_constant(sbsref->refexpr);
	if (!is_assignment)
	{
		sbsref->refexpr = (Expr *) coerce_to_target_type(pstate, container, exprType(container), base, -1,
														 COERCION_IMPLICIT, COERCE_IMPLICIT_CAST, -1);
		sbsref->refcontainertype = base;
	}
	getSubscriptingRoutines(base, NULL)->transform(sbsref, indirection, pstate, is_slice, is_assignment);
}

/* Calls the base type's own, with its workspace in place of ours.  The step and the state are copied, since they belong to the expression. */
static bool
check_subscripts(ExprState *state, ExprEvalStep *op, ExprContext *econtext)
{
	Assignment *assignment = op->d.sbsref_subscript.state->workspace;
	SubscriptingRefState base_state = *op->d.sbsref_subscript.state;
	ExprEvalStep base_op = *op;

	base_state.workspace = assignment->workspace;
	base_op.d.sbsref_subscript.state = &base_state;
	return assignment->methods.sbs_check_subscripts(state, &base_op, econtext);
}

/*
 * Assigns to what is decrypted, and encrypts the result as the column wants it.  The user must be permitted to see the old value: an error about it
 * might tell it.
 */
static void
assign(ExprState *state, ExprEvalStep *op, ExprContext *econtext)
{
	Assignment *assignment = op->d.sbsref.state->workspace;
	SubscriptingRefState base_state = *op->d.sbsref.state;
	ExprEvalStep base_op = *op;

	base_state.workspace = assignment->workspace;
	base_op.d.sbsref.state = &base_state;
	if (!*op->resnull)
	{
		/* the error of a subscript that does not fit tells what is there, and a variable without modifier keeps a constant */
		tde_access_check(assignment->type, *op->resvalue);
		tde_opened_value(&assignment->place, TDE_NO_COLUMN, *op->resvalue, false);
		*op->resvalue = tde_datum_decrypt(assignment->type, *op->resvalue, tde_declared(assignment->type, assignment->typmod));
	}
	assignment->methods.sbs_assign(state, &base_op, econtext);
	if (!*op->resnull)
		*op->resvalue = tde_datum_encrypt(assignment->type, *op->resvalue, assignment->typmod);
}

/* A SubscriptRoutines.exec_setup: only for assignments, since transform() has made a cast of what is read. */
static void
exec_setup(const SubscriptingRef *sbsref, SubscriptingRefState *sbsrefstate, SubscriptExecSteps *methods)
{
	Assignment *assignment = palloc0(sizeof(Assignment));

	Assert(sbsref->refassgnexpr != NULL);
	assignment->type = tde_type_get(sbsref->refcontainertype);
	assignment->typmod = sbsref->reftypmod;
	getSubscriptingRoutines(assignment->type->base, NULL)->exec_setup(sbsref, sbsrefstate, &assignment->methods);
	assignment->workspace = sbsrefstate->workspace;
	sbsrefstate->workspace = assignment;
	/* fetch_old is for elements that are composite or subscripted again, which no such type has */
	if (assignment->methods.sbs_check_subscripts)
		methods->sbs_check_subscripts = check_subscripts;
	if (assignment->methods.sbs_assign)
		methods->sbs_assign = assign;
}

/* tde_subscript(internal) returns internal - the subscripting handler of encrypted types whose base type has one. */
Datum
tde_subscript(PG_FUNCTION_ARGS)
{
	static const SubscriptRoutines routines = {
		.transform = transform,
		.exec_setup = exec_setup,
		.fetch_strict = true,
		.fetch_leakproof = false,
		.store_leakproof = false
	};

	PG_RETURN_POINTER(&routines);
}
