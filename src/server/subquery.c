/*
 * subquery.c - a table of a query becomes a subquery of its own in the same place, which reads the same rows.
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "nodes/makefuncs.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"

#include "server/compat.h"
#include "server/subquery.h"

bool
tde_needs_table(Query *query, Index rtindex)
{
	RangeTblEntry *rte = rt_fetch(rtindex, query->rtable);
	int			first = bms_next_member(TDE_SELECTED_COLUMNS(query, rte), -1);

	return rte->tablesample || get_parse_rowmark(query, rtindex) || first < 0 - FirstLowInvalidHeapAttributeNumber;
}

/* The scan keeps its lock and its permissions. */
Query *
tde_make_subquery(Query *query, RangeTblEntry *rte, List *columns)
{
	Query	   *inner = makeNode(Query);
	RangeTblEntry *scan = copyObject(rte);
	RangeTblEntry *outer = makeNode(RangeTblEntry);
	RangeTblRef *ref = makeNode(RangeTblRef);

	ref->rtindex = 1;
	inner->commandType = CMD_SELECT;
	inner->querySource = query->querySource;
	inner->canSetTag = true;
	inner->rtable = list_make1(scan);
	inner->jointree = makeFromExpr(list_make1(ref), NULL);
	inner->targetList = columns;
	TDE_MOVE_PERMISSIONS(query, rte, inner, scan);

	outer->rtekind = RTE_SUBQUERY;
	outer->subquery = inner;
	outer->alias = rte->alias;
	outer->eref = rte->eref;
	outer->lateral = rte->lateral;
	outer->inFromCl = rte->inFromCl;
	*rte = *outer;
	return inner;
}
