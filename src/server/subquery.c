/*
 * subquery.c - a table of a query becomes a subquery of its own in the same place, which reads the same rows.
 *
 * A caller does so when a table's rows have to pass through something before the query sees them: rows of catalogs as clients are to see them
 * (modules/catalog), or a part of a distributed table (modules/citus).
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#include "utils/rel.h"

#include "server/compat.h"
#include "server/subquery.h"

bool
tde_subquery_needs_table(Query *query, Index rtindex)
{
	RangeTblEntry *rte = rt_fetch(rtindex, query->rtable);
	int			first = bms_next_member(TDE_SELECTED_COLUMNS(query, rte), -1);

	return rte->tablesample || get_parse_rowmark(query, rtindex) || first < 0 - FirstLowInvalidHeapAttributeNumber;
}

/* The scan keeps its lock and its permissions. */
Query *
tde_subquery_make(Query *query, RangeTblEntry *rte, List *columns)
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

/* NULL for a column that is not read, or not there any more. */
static Expr *
column_of(Form_pg_attribute attribute, Bitmapset *read)
{
	if (attribute->attisdropped)
		return (Expr *) makeNullConst(INT4OID, -1, InvalidOid);
	if (!bms_is_member(attribute->attnum - FirstLowInvalidHeapAttributeNumber, read))
		return (Expr *) makeNullConst(attribute->atttypid, attribute->atttypmod, attribute->attcollation);
	return (Expr *) makeVar(1, attribute->attnum, attribute->atttypid, attribute->atttypmod, attribute->attcollation, 0);
}

/* The columns in their places.  Those of a subquery all have names, in a table those that were dropped have none. */
List *
tde_subquery_columns(RangeTblEntry *rte, Bitmapset *read)
{
	Relation	table = table_open(linitial_node(RangeTblEntry, rte->subquery->rtable)->relid, NoLock);
	List	   *columns = NIL;
	ListCell   *cell;

	rte->eref = copyObject(rte->eref);
	foreach(cell, rte->eref->colnames)
	{
		AttrNumber	number = foreach_current_index(cell) + 1;
		Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(table), number - 1);

		if (attribute->attisdropped)
			lfirst(cell) = makeString(pstrdup(NameStr(attribute->attname)));
		columns = lappend(columns, makeTargetEntry(column_of(attribute, read), number, pstrdup(strVal(lfirst(cell))), false));
	}
	table_close(table, NoLock);
	return columns;
}
