/*
 * tde_result.c - the encrypted columns of a query's result are decrypted by the query itself and have the base type.
 *
 * They are decrypted by a VOLATILE function, tde_result(encrypted, int4): the planner evaluates it above every sort,
 * hash table and window, so that those spill ciphertext.  Its second argument only tells the result's typmod, as in
 * numeric(15,2).
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "tde_compat.h"
#include "tde_access.h"
#include "tde_datum.h"
#include "tde_guard.h"
#include "tde_result.h"

PG_FUNCTION_INFO_V1(tde_result);

/* The functions that this backend has put into queries, by the hash value by which plans name what they depend on. */
static List *functions = NIL;

Datum
tde_result(PG_FUNCTION_ARGS)
{
	TdeCall    *call = tde_call(fcinfo);
	TdeType    *type = call->proc->args[0];

	if (unlikely(tde_access_restricted) && !tde_access_permits(type, PG_GETARG_DATUM(0)))
		return tde_access_result(type, PG_GETARG_INT32(1), &fcinfo->isnull);
	PG_RETURN_DATUM(tde_datum_decrypt_once(type, PG_GETARG_DATUM(0), call->declared[0]));
}

/*
 * The encrypted type of a visible column, or of the domain that it has; or NULL.  Every statement of the server comes
 * here, so it must be quick to say no.
 */
static TdeType *
encrypted_column(TargetEntry *column)
{
	Oid			type = column->resjunk ? InvalidOid : exprType((Node *) column->expr);

	return type < FirstNormalObjectId ? NULL : tde_type_find(getBaseType(type));
}

bool
tde_result_is_encrypted(Query *query)
{
	ListCell   *cell;

	foreach(cell, tde_output_columns(query))
		if (encrypted_column(lfirst(cell)))
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
		TdeType    *type = encrypted_column(column);

		if (type && column->resno <= described->natts &&
			TupleDescAttr(described, column->resno - 1)->atttypid == type->base)
			return true;
	}
	return false;
}

/* tde_result(type, int4), beside the type; InvalidOid if there is none. */
static Oid
look_up_function(TdeType *type)
{
	Oid			arg_types[2] = {type->oid, INT4OID};
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type->oid));
	Oid			schema;
	Oid			function = InvalidOid;

	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	schema = ((Form_pg_type) GETSTRUCT(tuple))->typnamespace;
	ReleaseSysCache(tuple);

	tuple = SearchSysCache3(PROCNAMEARGSNSP, CStringGetDatum("tde_result"),
							PointerGetDatum(buildoidvector(arg_types, 2)), ObjectIdGetDatum(schema));
	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	/* only superusers can make C functions */
	if (((Form_pg_proc) GETSTRUCT(tuple))->prolang == ClanguageId &&
		((Form_pg_proc) GETSTRUCT(tuple))->prorettype == type->base)
		function = ((Form_pg_proc) GETSTRUCT(tuple))->oid;
	ReleaseSysCache(tuple);
	return function;
}

/* The same, looked up once: statements of clients come here for each column. */
static Oid
find_function(TdeType *type)
{
	if (!OidIsValid(type->result_function))
		type->result_function = look_up_function(type);
	return type->result_function;
}

static uint32
function_hash(Oid function)
{
	return GetSysCacheHashValue1(PROCOID, ObjectIdGetDatum(function));
}

static void
remember_function(Oid function)
{
	int			hash = (int) function_hash(function);

	if (!list_member_int(functions, hash))
	{
		MemoryContext context = MemoryContextSwitchTo(TopMemoryContext);

		functions = lappend_int(functions, hash);
		MemoryContextSwitchTo(context);
	}
}

/* The expression, decrypted; itself if it is not encrypted. */
static Expr *
decrypted(Expr *expr, TdeType *type)
{
	Oid			function = type ? find_function(type) : InvalidOid;
	int32		typmod = exprTypmod((Node *) expr);
	Oid			collation = exprCollation((Node *) expr);
	Const	   *base_typmod;

	if (!OidIsValid(function))
		return expr;
	if (getBaseTypeAndTypmod(exprType((Node *) expr), &typmod) != exprType((Node *) expr))
		expr = (Expr *) makeRelabelType(expr, type->oid, typmod, collation, COERCE_IMPLICIT_CAST);
	remember_function(function);
	typmod = typmod < 0 ? -1 : tde_type_modifiers(type, typmod).base_typmod;
	base_typmod = makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(typmod), false, true);
	/* in the form of a cast, the second argument counts as the typmod */
	return (Expr *) makeFuncExpr(function, type->base, list_make2(expr, base_typmod), collation, collation,
								 COERCE_EXPLICIT_CAST);
}

/* Sorting, grouping and windows go on using the encrypted column, as a hidden copy. */
static List *
decrypt_columns(List *columns)
{
	List	   *hidden = NIL;
	ListCell   *cell;

	foreach(cell, columns)
	{
		TargetEntry *column = lfirst(cell);
		TdeType    *type = encrypted_column(column);

		if (type == NULL)
			continue;
		if (column->ressortgroupref != 0)
		{
			TargetEntry *copy = copyObject(column);

			copy->resjunk = true;
			copy->resno = list_length(columns) + list_length(hidden) + 1;
			column->ressortgroupref = 0;
			hidden = lappend(hidden, copy);
		}
		column->expr = decrypted(column->expr, type);
	}
	return list_concat(columns, hidden);
}

/* Make it a subquery; decrypt what comes out of it. */
static void
decrypt_outside(Query *query)
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
		rte->eref->colnames = lappend(rte->eref->colnames,
									  makeString(pstrdup(column->resname ? column->resname : "?column?")));
		shown = flatCopyTargetEntry(column);
		shown->ressortgroupref = 0;
		shown->expr = decrypted((Expr *) makeVarFromTargetEntry(1, column), encrypted_column(column));
		outer->targetList = lappend(outer->targetList, shown);
	}

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

		if (column->ressortgroupref != 0 && encrypted_column(column) &&
			contain_volatile_functions((Node *) column->expr))
			return true;
	}
	return false;
}

void
tde_result_decrypt(Query *query)
{
	if (query->commandType != CMD_SELECT)
		query->returningList = decrypt_columns(query->returningList);
	else if (!query->setOperations && !query->distinctClause && !query->hasTargetSRFs && !sorts_by_volatile(query))
		query->targetList = decrypt_columns(query->targetList);
	/* a WITH clause that changes data, and FOR UPDATE, must stay on the top level */
	else if (!query->hasModifyingCTE && query->rowMarks == NIL)
		decrypt_outside(query);
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
			FuncExpr   *call = (FuncExpr *) ((TargetEntry *) lfirst(column))->expr;

			if (IsA(call, FuncExpr) && list_member_int(functions, (int) function_hash(call->funcid)))
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

		if (item->cacheId == PROCOID && list_member_int(functions, (int) item->hashValue))
			return true;
	}
	return false;
}
