/*
 * result.c - the encrypted columns of a query's result are decrypted by the query itself and have the base type.
 *
 * They are decrypted by a VOLATILE function, tde_result(encrypted, int4): the planner evaluates it above every sort,
 * hash table and window, so that those spill ciphertext.  Its second argument only tells the result's typmod, as in
 * numeric(15,2).
 *
 * So the query has the right types wherever PostgreSQL asks for them.  Before a SELECT is planned, the function is taken
 * out again (client/postponed.c): client/receiver.c does the same for less when the rows are sent.  Where nobody asks before the query is planned,
 * it is not put in at all.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "client/postponed.h"
#include "client/result.h"
#include "client/rows.h"
#include "operators/arrays.h"
#include "server/compat.h"
#include "type/access.h"
#include "type/datum.h"
#include "type/inside.h"

PG_FUNCTION_INFO_V1(tde_result);

/* The functions that this backend has put into queries, by the hash value by which plans name what they depend on. */
static List *functions = NIL;

/* Who may not see the value gets what the policy says. */
static inline bool
is_hidden(TdeType *type, Datum value)
{
	return unlikely(tde_access_restricted) && !tde_access_permits(type, value);
}

Datum
tde_result_value(TdeType *type, Datum value, int32 declared, int32 base_typmod, bool *isnull)
{
	if (is_hidden(type, value))
		return tde_access_result(type, base_typmod, isnull);
	return tde_datum_decrypt_once(type, value, declared);
}

Datum
tde_result(PG_FUNCTION_ARGS)
{
	TdeCall    *call = tde_call(fcinfo);

	return tde_result_value(call->proc->args[0], PG_GETARG_DATUM(0), call->declared[0], PG_GETARG_INT32(1), &fcinfo->isnull);
}

Datum
tde_result_peek(TdeType *type, Datum value, int32 declared, int32 base_typmod, TdeScratch *scratch, bool *isnull)
{
	if (is_hidden(type, value))
	{
		Datum		shown = tde_access_result(type, base_typmod, isnull);

		scratch->allocated = *isnull || type->base_byval ? NULL : DatumGetPointer(shown);
		scratch->allocated_size = 0;	/* a mask is no secret */
		return shown;
	}
	return tde_datum_peek(type, value, declared, TDE_REMEMBER_NOT, scratch);
}

Datum
tde_result_peek_array(TdeType *type, Datum value, int32 declared, int32 base_typmod, TdeScratch *scratch)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	ArrayType  *result = tde_array_decrypt(type, array, declared, base_typmod, tde_result_value);

	if ((Pointer) array != DatumGetPointer(value))
		pfree(array);
	scratch->allocated = result;
	scratch->allocated_size = ARR_SIZE(result);
	return PointerGetDatum(result);
}

/* Every statement of the server comes here, so it must be quick to say no, and to say yes without a look into the catalogs. */
TdeType *
tde_result_type(Oid oid)
{
	TdeType    *type;

	if (oid < FirstNormalObjectId)
		return NULL;
	type = tde_type_find(oid);
	if (type)
		return type;
	oid = getBaseType(oid);
	type = tde_type_find(oid);
	return type ? type : tde_type_find(get_element_type(oid));
}

TdeType *
tde_result_column(TargetEntry *column)
{
	return column->resjunk ? NULL : tde_result_type(tde_expr_type(column->expr));
}

bool
tde_result_has_rows(Query *query)
{
	ListCell   *cell;

	/* what is compared first stays as it is */
	if (query->setOperations || query->distinctClause)
		return false;
	foreach(cell, tde_output_columns(query))
		if (!lfirst_node(TargetEntry, cell)->resjunk && tde_row_is_encrypted(lfirst_node(TargetEntry, cell)->expr))
			return true;
	return false;
}

/* What the client is told instead. */
static Oid
shown_type(TdeType *type, Oid column)
{
	return OidIsValid(get_element_type(getBaseType(column))) ? get_array_type(type->base) : type->base;
}

bool
tde_result_is_encrypted(Query *query)
{
	ListCell   *cell;

	foreach(cell, tde_output_columns(query))
		if (tde_result_column(lfirst(cell)))
			return true;
	return false;
}

bool
tde_result_was_decrypted(Query *query, TupleDesc described)
{
	ListCell   *cell;

	foreach(cell, tde_output_columns(query))
	{
		TargetEntry *column = lfirst(cell);
		TdeType    *type = tde_result_column(column);

		if (type && column->resno <= described->natts &&
			TupleDescAttr(described, column->resno - 1)->atttypid == shown_type(type, exprType((Node *) column->expr)))
			return true;
	}
	return false;
}

/* tde_result(type, int4), beside the type's input function; InvalidOid if there is none. */
static Oid
look_up_function(TdeType *type)
{
	Oid			arg_types[2] = {type->oid, INT4OID};
	Oid			function = InvalidOid;
	Oid			input;
	Oid			ioparam;
	HeapTuple	tuple;

	getTypeInputInfo(type->oid, &input, &ioparam);
	tuple = SearchSysCache3(PROCNAMEARGSNSP, CStringGetDatum("tde_result"),
							PointerGetDatum(buildoidvector(arg_types, 2)), ObjectIdGetDatum(get_func_namespace(input)));
	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	/* only superusers can make C functions */
	if (((Form_pg_proc) GETSTRUCT(tuple))->prolang == ClanguageId &&
		((Form_pg_proc) GETSTRUCT(tuple))->prorettype == type->base)
		function = ((Form_pg_proc) GETSTRUCT(tuple))->oid;
	ReleaseSysCache(tuple);
	return function;
}

static uint32
function_hash(Oid function)
{
	return GetSysCacheHashValue1(PROCOID, ObjectIdGetDatum(function));
}

void
tde_result_remember(Oid function)
{
	int			hash = (int) function_hash(function);

	if (!list_member_int(functions, hash))
	{
		MemoryContext context = MemoryContextSwitchTo(TopMemoryContext);

		functions = lappend_int(functions, hash);
		MemoryContextSwitchTo(context);
	}
}

/* Looked up once: statements of clients come here for each column. */
Oid
tde_result_function(TdeType *type)
{
	if (!OidIsValid(type->result_function))
	{
		type->result_function = look_up_function(type);
		if (OidIsValid(type->result_function))
			tde_result_remember(type->result_function);
	}
	return type->result_function;
}

/* The call for one value.  In the form of a cast, the second argument counts as the typmod. */
static Expr *
decrypt_one(Expr *expr, TdeType *type, int32 base_typmod)
{
	Oid			collation = exprCollation((Node *) expr);
	Const	   *modifier = makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(base_typmod), false, true);

	return (Expr *) makeFuncExpr(tde_result_function(type), type->base, list_make2(expr, modifier), collation, collation, COERCE_EXPLICIT_CAST);
}

/* The same for each element, as PostgreSQL casts arrays. */
static Expr *
decrypt_each(Expr *expr, TdeType *type, int32 typmod, int32 base_typmod)
{
	CaseTestExpr *element = makeNode(CaseTestExpr);
	ArrayCoerceExpr *cast = makeNode(ArrayCoerceExpr);

	element->typeId = type->oid;
	element->typeMod = typmod;
	element->collation = exprCollation((Node *) expr);
	cast->arg = expr;
	cast->elemexpr = decrypt_one((Expr *) element, type, base_typmod);
	cast->resulttype = get_array_type(type->base);
	cast->resulttypmod = base_typmod;
	cast->resultcollid = element->collation;
	cast->coerceformat = COERCE_EXPLICIT_CAST;
	cast->location = -1;
	return (Expr *) cast;
}

Expr *
tde_result_call(Expr *expr, TdeType *type)
{
	Oid			column = exprType((Node *) expr);
	int32		typmod = exprTypmod((Node *) expr);
	Oid			base;
	int32		base_typmod;

	if (type == NULL || !OidIsValid(tde_result_function(type)))
		return expr;
	base = column == type->oid ? column : getBaseTypeAndTypmod(column, &typmod);
	if (base != column)
		expr = (Expr *) makeRelabelType(expr, base, typmod, exprCollation((Node *) expr), COERCE_IMPLICIT_CAST);
	base_typmod = tde_type_base_typmod(type, typmod);
	return base == type->oid ? decrypt_one(expr, type, base_typmod) : decrypt_each(expr, type, typmod, base_typmod);
}

/* The call, if an expression is what tde_result_call() makes, or could be; NULL otherwise. */
FuncExpr *
tde_result_called(Expr *expr)
{
	if (IsA(expr, ArrayCoerceExpr))
		expr = ((ArrayCoerceExpr *) expr)->elemexpr;
	return IsA(expr, FuncExpr) ? (FuncExpr *) expr : NULL;
}

/* Sorting, grouping and windows go on using the encrypted column, as a hidden copy. */
static List *
decrypt_columns(List *columns, bool with_rows)
{
	List	   *hidden = NIL;
	ListCell   *cell;

	foreach(cell, columns)
	{
		TargetEntry *column = lfirst(cell);
		TdeType    *type = tde_result_column(column);

		if (type == NULL && !(with_rows && tde_row_is_encrypted(column->expr)))
			continue;
		if (column->ressortgroupref != 0)
		{
			TargetEntry *copy = copyObject(column);

			copy->resjunk = true;
			copy->resno = list_length(columns) + list_length(hidden) + 1;
			column->ressortgroupref = 0;
			hidden = lappend(hidden, copy);
		}
		column->expr = type ? tde_result_call(column->expr, type) : tde_row_decrypt(column->expr);
	}
	return list_concat(columns, hidden);
}

/* A query_or_expression_tree_walker: the WITH clause of the query at depth 0 is one level higher now. */
static bool
raise_ctes(Node *node, void *context)
{
	int		   *depth = context;
	ListCell   *cell;
	bool		aborted;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, raise_ctes, context);
	foreach(cell, ((Query *) node)->rtable)
	{
		RangeTblEntry *rte = lfirst(cell);

		if (rte->rtekind == RTE_CTE && rte->ctelevelsup >= *depth)
			rte->ctelevelsup++;
	}
	++*depth;
	aborted = query_tree_walker((Query *) node, raise_ctes, context, 0);
	--*depth;
	return aborted;
}

/* A WITH clause that changes data must stay on the top level. */
static void
move_ctes(Query *inner, Query *outer)
{
	int			depth = 0;

	outer->cteList = inner->cteList;
	outer->hasModifyingCTE = true;
	outer->hasRecursive = inner->hasRecursive;
	inner->cteList = NIL;
	inner->hasModifyingCTE = false;
	inner->hasRecursive = false;
	(void) raise_ctes((Node *) inner, &depth);
}

/* Make it a subquery; decrypt what comes out of it. */
static void
decrypt_outside(Query *query, bool with_rows)
{
	Query	   *inner = makeNode(Query);
	Query	   *outer = makeNode(Query);
	RangeTblEntry *rte = makeNode(RangeTblEntry);
	RangeTblRef *ref = makeNode(RangeTblRef);
	ListCell   *cell;

	*inner = *query;
	inner->queryId = 0;
	rte->rtekind = RTE_SUBQUERY;
	rte->subquery = inner;
	rte->inFromCl = true;
	rte->alias = makeAlias("result", NIL);
	rte->eref = makeAlias("result", NIL);

	foreach(cell, inner->targetList)
	{
		TargetEntry *column = lfirst(cell);
		TargetEntry *shown;

		if (column->resjunk)
			continue;
		/* the query above sees no fields */
		if (with_rows && column->ressortgroupref == 0 && !tde_row_is_plain_for_client(column->expr))
			column->expr = tde_row_decrypt(column->expr);
		rte->eref->colnames = lappend(rte->eref->colnames,
									  makeString(pstrdup(column->resname ? column->resname : "?column?")));
		shown = flatCopyTargetEntry(column);
		shown->ressortgroupref = 0;
		shown->expr = tde_result_call((Expr *) makeVarFromTargetEntry(1, column), tde_result_column(column));
		if (with_rows && tde_row_is_plain_for_client(shown->expr))
			shown->expr = tde_row_decrypt(shown->expr);
		outer->targetList = lappend(outer->targetList, shown);
	}

	if (inner->hasModifyingCTE)
		move_ctes(inner, outer);
	outer->commandType = CMD_SELECT;
	outer->querySource = query->querySource;
	outer->queryId = query->queryId;
	outer->canSetTag = query->canSetTag;
	outer->stmt_location = query->stmt_location;
	outer->stmt_len = query->stmt_len;
	outer->rtable = list_make1(rte);
	ref->rtindex = 1;
	outer->jointree = makeFromExpr(list_make1(ref), NULL);
	*query = *outer;
}

/* A hidden copy of a volatile expression could have another value than the one that is shown. */
static bool
sorts_by_volatile(Query *query)
{
	ListCell   *cell;

	foreach(cell, query->targetList)
	{
		TargetEntry *column = lfirst(cell);

		if (column->ressortgroupref != 0 && (tde_result_column(column) || tde_row_is_encrypted(column->expr)) &&
			contain_volatile_functions((Node *) column->expr))
			return true;
	}
	return false;
}

void
tde_result_decrypt(Query *query, bool with_rows)
{
	if (query->commandType != CMD_SELECT)
		query->returningList = decrypt_columns(query->returningList, with_rows);
	else if (!query->setOperations && !query->distinctClause && !query->hasTargetSRFs && !sorts_by_volatile(query))
		query->targetList = decrypt_columns(query->targetList, with_rows);
	/* FOR UPDATE must stay on the top level */
	else if (query->rowMarks == NIL)
		decrypt_outside(query, with_rows);
}

/* ---- is it decrypted? ---- */

bool
tde_result_decrypts(Expr *expr)
{
	FuncExpr   *call = tde_result_called(expr);

	return call && list_member_int(functions, (int) function_hash(call->funcid));
}

bool
tde_result_in_source(CachedPlanSource *source)
{
	ListCell   *query;
	ListCell   *column;

	/* it could not be analyzed again the last time, so it is not known */
	if (source->query_list == NIL)
		return source->resultDesc != NULL;
	foreach(query, source->query_list)
	{
		foreach(column, tde_output_columns(lfirst(query)))
		{
			Expr	   *expr = lfirst_node(TargetEntry, column)->expr;

			if (tde_result_decrypts(expr) || tde_row_shows(expr, tde_result_decrypts))
				return true;
		}
	}
	return false;
}

bool
tde_result_in_plan(PlannedStmt *plan)
{
	ListCell   *cell;

	foreach(cell, plan->invalItems)
	{
		PlanInvalItem *item = lfirst(cell);

		if (tde_is_postponed(item) || (item->cacheId == PROCOID && list_member_int(functions, (int) item->hashValue)))
			return true;
	}
	return false;
}
