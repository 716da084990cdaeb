/*
 * merge.c - MERGE into a table by its encrypted distribution column, from a source whose column is plain.
 *
 * Citus moves the source's rows to where the target's are, by the column that ON compares, and wants it to have the type of the target's
 * (13.2).  So the source gets one more column, of the same values, encrypted as literals are, and ON and INSERT read that one.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "parser/parse_coerce.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

#include "citus/merge.h"
#include "citus/tables.h"
#include "server/compat.h"
#include "server/subquery.h"
#include "type/type.h"

/* A MERGE whose target is distributed by an encrypted column. */
typedef struct Merge
{
	Query	   *query;
	Index		target;
	AttrNumber	column;			/* by which the target is distributed */
	TdeType    *type;			/* of it */
} Merge;

/* Returns the column of a table, or a subquery, under what only changes its type's name; NULL: it is none. */
static Var *
column_of(Node *node)
{
	node = strip_implicit_coercions(node);
	while (node && IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return node && IsA(node, Var) && ((Var *) node)->varlevelsup == 0 ? (Var *) node : NULL;
}

static bool
is_target(const Var *column, const Merge *merge)
{
	return column && column->varno == merge->target && column->varattno == merge->column;
}

static bool
is_plain(const Var *column, const Merge *merge)
{
	return column && column->varno != merge->target && column->varattno > 0 && column->vartype == merge->type->base;
}

/* Returns true if a condition is "target's = source's", or the other way around; then the two columns. */
static bool
compares(Node *condition, const Merge *merge, Var **target, Var **source)
{
	OpExpr	   *op = (OpExpr *) condition;
	Var		   *left;
	Var		   *right;

	if (!IsA(condition, OpExpr) || list_length(op->args) != 2 || !tde_citus_is_equality(op->opno))
		return false;
	left = column_of(linitial(op->args));
	right = column_of(lsecond(op->args));
	*target = is_target(left, merge) ? left : right;
	*source = is_target(left, merge) ? right : left;
	return is_target(*target, merge) && is_plain(*source, merge);
}

/* Returns the source as a subquery, to which a column can be added; NULL: it cannot be one. */
static Query *
source_query(Query *query, Index source)
{
	RangeTblEntry *rte = rt_fetch(source, query->rtable);

	if (rte->rtekind == RTE_RELATION && !tde_subquery_needs_table(query, source))
	{
		Bitmapset  *read = bms_copy(TDE_SELECTED_COLUMNS(query, rte));

		/* the whole row would have one column more */
		if (bms_is_member(0 - FirstLowInvalidHeapAttributeNumber, read))
			return NULL;
		(void) tde_subquery_make(query, rte, NIL);
		rte->subquery->targetList = tde_subquery_columns(rte, read);
	}
	return rte->rtekind == RTE_SUBQUERY && rte->subquery->setOperations == NULL ? rte->subquery : NULL;
}

/* Adds the new column.  NULL: there can be none, as of a source whose columns are not all that its query has. */
static Var *
add_encrypted(const Merge *merge, const Var *source)
{
	RangeTblEntry *rte = rt_fetch(source->varno, merge->query->rtable);
	Query	   *query = source_query(merge->query, source->varno);
	TargetEntry *plain = query ? list_nth(query->targetList, source->varattno - 1) : NULL;
	AttrNumber	number = list_length(rte->eref->colnames) + 1;
	Node	   *encrypted;

	if (plain == NULL || plain->resjunk || number != list_length(query->targetList) + 1)
		return NULL;
	encrypted = coerce_to_target_type(NULL, copyObject((Node *) plain->expr), source->vartype, merge->type->oid, -1, COERCION_EXPLICIT,
									  COERCE_EXPLICIT_CAST, -1);
	if (encrypted == NULL)
		return NULL;
	query->targetList = lappend(query->targetList, makeTargetEntry((Expr *) encrypted, number, pstrdup("tde_merged"), false));
	rte->eref = copyObject(rte->eref);
	rte->eref->colnames = lappend(rte->eref->colnames, makeString(pstrdup("tde_merged")));
	return makeVar(source->varno, number, merge->type->oid, -1, source->varcollid, 0);
}

/* INSERT (target's column) VALUES (source's column) reads the new one, too, as ON does. */
static void
insert_encrypted(const Merge *merge, const Var *source, Var *encrypted)
{
	ListCell   *cell;
	ListCell   *value;

	foreach(cell, merge->query->mergeActionList)
	{
		MergeAction *action = lfirst_node(MergeAction, cell);

		if (action->commandType != CMD_INSERT)
			continue;
		foreach(value, action->targetList)
		{
			TargetEntry *entry = lfirst(value);
			Var		   *column = column_of((Node *) entry->expr);

			if (entry->resno != merge->column || column == NULL || column->varno != source->varno || column->varattno != source->varattno)
				continue;
			entry->expr = (Expr *) coerce_to_target_type(NULL, (Node *) copyObject(encrypted), merge->type->oid, merge->type->oid,
														 exprTypmod((Node *) entry->expr), COERCION_ASSIGNMENT, COERCE_IMPLICIT_CAST, -1);
		}
	}
}

void
tde_merge_prepare(Query *query)
{
	Merge		merge = {query, query->resultRelation};
	const TdeDistribution *distribution;
	ListCell   *cell;

	if (query->commandType != CMD_MERGE)
		return;
	distribution = tde_distribution_of(rt_fetch(merge.target, query->rtable));
	if (distribution == NULL || distribution->column == InvalidAttrNumber)
		return;
	merge.column = distribution->column;
	merge.type = tde_type_find(distribution->type);
	foreach(cell, merge.type ? make_ands_implicit((Expr *) TDE_MERGE_CONDITION(query)) : NIL)
	{
		OpExpr	   *op = lfirst(cell);
		Var		   *target;
		Var		   *source;
		Var		   *encrypted;

		if (!compares((Node *) op, &merge, &target, &source) || (encrypted = add_encrypted(&merge, source)) == NULL)
			continue;
		insert_encrypted(&merge, source, encrypted);
		op->opno = tde_citus_own_equality(merge.type);
		op->opfuncid = get_opcode(op->opno);
		op->args = list_make2(target, encrypted);
		return;
	}
}
