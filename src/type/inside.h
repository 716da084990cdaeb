/*
 * inside.h - encrypted values wherever they are: inside arrays, domains, composites and ranges, and in constants of expressions.
 *
 * Only the heads of values are read, of TOASTed ones a slice: no key is needed, and the wallet may be closed.
 *
 * tde_inside_find() says of a type where in its values encrypted ones are, and that is kept for a column or a statement; tde_inside_replace() goes
 * through one value after another with it.
 */
#ifndef TDE_TYPE_INSIDE_H
#define TDE_TYPE_INSIDE_H

#include "access/htup.h"
#include "access/transam.h"
#include "access/tupdesc.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"

#include "type/type.h"

/* ---- within a column's value: itself, or elements of arrays, members of composites and bounds of ranges, to any depth, under domains or not ---- */

/* What is known of a declared type: where in its values encrypted ones are.  Nothing tells it of a later ALTER TYPE. */
typedef struct TdeInside TdeInside;

/* Returns what is known of a type; NULL if its values hold no encrypted ones.  Made in the current memory context, and freed with that. */
extern PGDLLEXPORT TdeInside *tde_inside_find(Oid type, int32 typmod);

/* The same of a row with such fields, of a named type or of none. */
extern TdeInside *tde_inside_find_fields(TupleDesc fields);

/* Returns true if there is a place for encrypted values for which the test is true.  typmod: -1 where none is declared. */
extern bool tde_inside_any(const TdeInside *inside, bool (*test) (TdeType *type, int32 typmod));

/*
 * What to do with one encrypted value: returns it as it is, or another one.  declared: the typmod of the place where it stands,
 * or -1 where none is declared, as in a range.
 */
typedef Datum (*TdeInsideChange) (TdeType *type, Datum value, int32 declared, void *arg);

/*
 * Has change look at each encrypted value in value, which is not NULL.  Returns value itself if change left all as they are, otherwise a copy with
 * what it returned, palloc'd.  What is fetched from TOAST on the way is left to the current memory context.
 */
extern PGDLLEXPORT Datum tde_inside_replace(const TdeInside *nested, Datum value, TdeInsideChange change, void *arg);

/* ---- in data and expressions ---- */

/* Called for each encrypted value; header is NULL where its bytes do not begin with one: it is damaged. */
typedef void (*TdeHeaderVisitor) (const TdeHeader *header, void *arg);

/* Returns true if the type is an encrypted one, or has parts of one.  It looks into composites anew each time. */
extern PGDLLEXPORT bool tde_type_holds_encrypted(Oid type);

/* Returns true if it has parts that are not encrypted, as far as is known; also if it has no encrypted ones. */
extern bool tde_type_holds_plain(Oid type);

/*
 * Every encrypted value in a datum that is not NULL.  Of the type anyarray the array itself tells what it holds.  What is
 * allocated is left to the caller's memory context.
 */
extern void tde_inside_headers_of_datum(Oid type, Datum value, TdeHeaderVisitor visit, void *arg);

/* Every encrypted value in the constants of a stored expression, query, partition bound, or list of them. */
extern void tde_inside_headers_of_tree(Node *tree, TdeHeaderVisitor visit, void *arg);

/*
 * Returns true if two types, with their modifiers, are different only in that one is encrypted and the other is not, or is so otherwise; also of
 * arrays.  PostgreSQL would take a column of the first for one of the second if both were plain.
 */
extern bool tde_inside_differs(Oid type, int32 typmod, Oid wanted, int32 wanted_typmod);

/* Returns true for a base type's own operator, or one of ours.  Another one of the same name, in another schema, may do anything. */
extern PGDLLEXPORT bool tde_inside_is_base_operator(Oid operator);

/* Returns what a query gives out: its target list, or its RETURNING list.  It belongs to the query. */
static inline List *
tde_output_columns(Query *query)
{
	return query->commandType == CMD_SELECT ? query->targetList : query->returningList;
}

/*
 * Returns a node on a finished plan that evaluates what the one below cannot, as sorts and limits; at first it passes on the same columns.  The plan
 * becomes its child.
 */
extern Plan *tde_inside_projection_above(Plan *plan);

/* Returns false if such rows can hold nothing encrypted: all types are PostgreSQL's own, as mostly. */
static inline bool
tde_may_hold_encrypted(TupleDesc rows)
{
	for (int i = 0; i < rows->natts; i++)
		if (TupleDescAttr(rows, i)->atttypid >= FirstNormalObjectId || TupleDescAttr(rows, i)->atttypid == RECORDOID)
			return true;
	return false;
}

/* Returns exprType(), without a call for what most statements have: this is done for the columns of each statement of the server. */
static inline Oid
tde_expr_type(const Expr *expr)
{
	if (IsA(expr, Var))
		return ((const Var *) expr)->vartype;
	if (IsA(expr, Const))
		return ((const Const *) expr)->consttype;
	if (IsA(expr, FuncExpr))
		return ((const FuncExpr *) expr)->funcresulttype;
	return exprType((const Node *) expr);
}

/*
 * Returns true if all that a query gives out is of PostgreSQL's own types, and no rows, whose fields might be others.  Then nothing is to be done for
 * a client, as for most statements of the server.
 */
static inline bool
tde_outputs_are_core(Query *query)
{
	ListCell   *cell;

	if (query->commandType == CMD_UTILITY || query->setOperations)
		return false;
	foreach(cell, tde_output_columns(query))
	{
		Oid			type = tde_expr_type(((TargetEntry *) lfirst(cell))->expr);

		if (type >= FirstNormalObjectId || type == RECORDOID || type == RECORDARRAYOID)
			return false;
	}
	return true;
}

#endif							/* TDE_TYPE_INSIDE_H */
