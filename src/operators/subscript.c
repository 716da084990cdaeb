/*
 * subscript.c - subscripts of encrypted values: j['a'], and assignment to it.
 *
 * The base type's subscripting does the work.  To read is to decrypt first, which the parser is told, so that the expression
 * holds the STABLE cast and no index can hold its result.  To assign is to decrypt, to assign, and to encrypt as the column
 * wants it, at execution.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/execExpr.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/subscripting.h"
#include "parser/parse_coerce.h"
#include "utils/lsyscache.h"

#include "server/compat.h"
#include "type/access.h"
#include "type/datum.h"

PG_FUNCTION_INFO_V1(tde_subscript);

/* The execution state of one assignment. */
typedef struct Assignment
{
	TdeType    *type;
	int32		typmod;			/* the container's */
	SubscriptExecSteps methods; /* the base type's */
	void	   *workspace;		/* likewise */
} Assignment;

/*
 * The container of INSERT INTO t (j['a']) VALUES (...) is a constant NULL.  With a constant source the planner would assign
 * once for all rows, and they would share one salt; a CASE that it cannot decide makes it wait.
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
		*op->resvalue = tde_datum_decrypt(assignment->type, *op->resvalue, assignment->typmod);
	}
	assignment->methods.sbs_assign(state, &base_op, econtext);
	if (!*op->resnull)
		*op->resvalue = tde_datum_encrypt(assignment->type, *op->resvalue, assignment->typmod);
}

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
