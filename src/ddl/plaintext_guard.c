/*
 * plaintext_guard.c - declarations that would store in clear what they compute from encrypted columns.
 *
 * Casts that decrypt are STABLE, which keeps them out of index expressions and partition keys.  PostgreSQL does
 * not ask for the volatility of a cast to a generated column's own type, nor of expressions in CREATE STATISTICS,
 * and it believes functions that are declared IMMUTABLE.  So the expressions themselves are looked at here;
 * nothing is decrypted for that, and nothing evaluated: they are read from the catalogs as they are stored.  What the relation
 * cache has of indexes and partition keys is folded, and folding calls users' functions, as whoever runs the command.
 *
 * An expression is in clear if its type is not an encrypted one, and something of an encrypted type goes into it.
 * Whether a value is NULL is no secret.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/tupdesc.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_partitioned_table.h"
#include "catalog/pg_statistic_ext.h"
#include "catalog/pg_type.h"
#include "commands/prepare.h"
#include "commands/tablecmds.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_utilcmd.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteHandler.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/syscache.h"

#include "client/postponed.h"
#include "ddl/columns_read.h"
#include "ddl/declare.h"
#include "ddl/plaintext_guard.h"
#include "operators/computed.h"
#include "operators/index_conditions.h"
#include "server/compat.h"
#include "type/inside.h"
#include "type/type.h"

/*
 * ---- CREATE INDEX on an expression, or with a condition, makes an index that does not decrypt ----
 *
 * Applications and their migrations index lower(email).  PostgreSQL refuses that, since decryption is not IMMUTABLE, and the index would
 * hold plaintext; what it gets is an index on tde_computed() of the same function, under the specification and key of the column.  Whether a
 * condition is true is no value, but PostgreSQL wants it computed by what is IMMUTABLE: comparisons of the encrypted types are.
 */

static Node *
keep_encrypted(Node *expr)
{
	Node	   *form;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (IsA(expr, CollateExpr))
	{
		((CollateExpr *) expr)->arg = (Expr *) keep_encrypted((Node *) ((CollateExpr *) expr)->arg);
		return expr;
	}
	form = tde_encrypted_form(expr);
	if (form && tde_is_computed(form))
	{
		TdeType    *type = tde_type_get(exprType(form));

		tde_ddl_check_mac(type->base, tde_type_modifiers(type, exprTypmod(linitial(((FuncExpr *) form)->args))).spec);
	}
	return form ? form : expr;
}

void
tde_expression_index_prepare(IndexStmt *stmt, const char *source)
{
	Oid			table;
	ListCell   *cell;

	table = RangeVarGetRelidExtended(stmt->relation, stmt->concurrent ? ShareUpdateExclusiveLock : ShareLock, 0,
									 RangeVarCallbackOwnsRelation, NULL);
	*stmt = *transformIndexStmt(table, stmt, source);
	foreach(cell, stmt->indexParams)
	{
		IndexElem  *element = lfirst(cell);

		if (element->expr)
			element->expr = keep_encrypted(element->expr);
	}
	stmt->whereClause = tde_index_condition_form(stmt->whereClause);
}

/* An expression_tree_walker: is something computed otherwise than the columns are now? */
static bool
is_former(Node *node, void *context)
{
	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (tde_is_computed(node) && !tde_computed_is_current((FuncExpr *) node))
		return true;
	return expression_tree_walker(node, is_former, context);
}

/* PostgreSQL makes indexes anew by their definitions, in which the result's specification stands. */
void
tde_expression_index_check(Relation rel)
{
	ListCell   *cell;

	foreach(cell, RelationGetIndexList(rel))
		if (is_former((Node *) tde_index_trees(lfirst_oid(cell)), NULL))
			ereport(WARNING,
					(errmsg("index \"%s\" keeps the former specification and key of its column", get_rel_name(lfirst_oid(cell))),
					 errdetail("It holds what is computed of an encrypted column, which has another specification or key now."),
					 errhint("Drop it, and create it as it was created.")));
}

/* ---- other declarations are refused ---- */

static bool reads_encrypted(Node *node, void *queries);

/* ---- queries ---- */

/* Does an output column of a query read something encrypted?  outer: the queries around it, the innermost first. */
static bool output_reads(Query *query, AttrNumber column, List *outer);

static bool
set_operation_reads(Node *node, AttrNumber column, List *queries)
{
	Query	   *query = linitial(queries);

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (IsA(node, SetOperationStmt))
		return set_operation_reads(((SetOperationStmt *) node)->larg, column, queries) ||
			set_operation_reads(((SetOperationStmt *) node)->rarg, column, queries);
	return output_reads(rt_fetch(((RangeTblRef *) node)->rtindex, query->rtable)->subquery, column, queries);
}

static bool
output_reads(Query *query, AttrNumber column, List *outer)
{
	List	   *queries;
	TargetEntry *entry = get_tle_by_resno(tde_output_columns(query), column);
	bool		reads = false;

	if (tde_was_looked_at(query, column, &reads))
		return reads;
	queries = lcons(query, list_copy(outer));
	if (query->setOperations)
		reads = set_operation_reads(query->setOperations, column, queries);
	else if (entry)
		reads = reads_encrypted((Node *) entry->expr, queries);
	return tde_looked_at(query, column, reads);
}

static bool
with_query_reads(RangeTblEntry *rte, AttrNumber column, List *queries)
{
	List	   *defining = list_copy_tail(queries, rte->ctelevelsup);
	ListCell   *cell;

	if (rte->self_reference)
		return false;			/* the other branch of the recursion tells */
	foreach(cell, ((Query *) linitial(defining))->cteList)
	{
		CommonTableExpr *cte = lfirst(cell);

		if (strcmp(cte->ctename, rte->ctename) == 0)
			return output_reads((Query *) cte->ctequery, column, defining);
	}
	return false;
}

static bool
values_read(RangeTblEntry *rte, AttrNumber column, List *queries)
{
	ListCell   *cell;

	foreach(cell, rte->values_lists)
		if (reads_encrypted(list_nth(lfirst(cell), column - 1), queries))
			return true;
	return false;
}

/* Where a column comes from: from are the queries around it, the innermost of which has the entry. */
static bool
entry_reads(RangeTblEntry *rte, Var *var, List *from)
{
	if (TDE_GROUP_EXPRESSIONS(rte) != NIL)
		return reads_encrypted(list_nth(TDE_GROUP_EXPRESSIONS(rte), var->varattno - 1), from);
	switch (rte->rtekind)
	{
		case RTE_RELATION:
			return rte->relkind == RELKIND_VIEW && output_reads(tde_view_looked_at(rte->relid), var->varattno, NIL);
		case RTE_SUBQUERY:
			return output_reads(rte->subquery, var->varattno, from);
		case RTE_JOIN:
			return reads_encrypted(list_nth(rte->joinaliasvars, var->varattno - 1), from);
		case RTE_CTE:
			return with_query_reads(rte, var->varattno, from);
		case RTE_VALUES:
			return values_read(rte, var->varattno, from);
		case RTE_FUNCTION:
			return expression_tree_walker((Node *) rte->functions, reads_encrypted, from);
		case RTE_TABLEFUNC:
			return expression_tree_walker((Node *) rte->tablefunc, reads_encrypted, from);
		default:
			return false;
	}
}

/* A column that is not of an encrypted type may still be made of some. */
static bool
column_reads(Var *var, List *queries)
{
	List	   *from = list_copy_tail(queries, var->varlevelsup);
	RangeTblEntry *rte;
	bool		reads;

	if (from == NIL || var->varattno <= 0)
		return false;			/* a table's own expression, or a row, whose type has told */
	rte = rt_fetch(var->varno, ((Query *) linitial(from))->rtable);
	if (tde_was_looked_at(rte, var->varattno, &reads))
		return reads;
	return tde_looked_at(rte, var->varattno, entry_reads(rte, var, from));
}

static bool
sublink_reads(SubLink *sublink, List *queries)
{
	Query	   *query = (Query *) sublink->subselect;
	ListCell   *cell;

	if (sublink->subLinkType == EXISTS_SUBLINK)
		return false;
	foreach(cell, tde_output_columns(query))
		if (output_reads(query, ((TargetEntry *) lfirst(cell))->resno, queries))
			return true;
	return reads_encrypted(sublink->testexpr, queries);
}

/* An expression_tree_walker; the context is the list of queries around the expression, or NIL. */
static bool
reads_encrypted(Node *node, void *queries)
{
	if (node == NULL)
		return false;
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	switch (nodeTag(node))
	{
		case T_Var:
			return tde_type_holds_encrypted(((Var *) node)->vartype) || column_reads((Var *) node, queries);
		case T_FieldSelect:
			return tde_type_holds_encrypted(((FieldSelect *) node)->resulttype);
		case T_SubLink:
			return sublink_reads((SubLink *) node, queries);
		case T_NullTest:
			return false;
		case T_Aggref:
			if (((Aggref *) node)->aggfnoid == F_COUNT_ANY)
				return false;
			break;
		case T_WindowFunc:
			if (((WindowFunc *) node)->winfnoid == F_COUNT_ANY)
				return false;
			break;
		case T_FuncExpr:
			if (tde_type_holds_encrypted(((FuncExpr *) node)->funcresulttype))
				return true;
			break;
		default:
			break;
	}
	return expression_tree_walker(node, reads_encrypted, queries);
}

/* ---- expressions of a table ---- */

/* A row is in clear where a part of it is. */
static bool
in_clear(Node *expr)
{
	ListCell   *cell;

	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (!tde_type_holds_encrypted(exprType(expr)))
		return reads_encrypted(expr, NIL);
	if (IsA(expr, RowExpr))
		foreach(cell, ((RowExpr *) expr)->args)
			if (in_clear(lfirst(cell)))
				return true;
	return false;
}

static bool
any_in_clear(List *expressions)
{
	ListCell   *cell;

	tde_looks_begin();
	foreach(cell, expressions)
		if (in_clear(lfirst(cell)))
			return true;
	return false;
}

static void
check_generated(Relation rel)
{
	TupleDesc	columns = RelationGetDescr(rel);

	tde_looks_begin();
	for (int i = 0; i < columns->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(columns, i);

		if (column->attisdropped || column->attgenerated != ATTRIBUTE_GENERATED_STORED ||
			!in_clear(build_column_default(rel, i + 1)))
			continue;
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("generated column \"%s\" would store decrypted values",
						NameStr(column->attname)),
				 errdetail("Its expression reads an encrypted column, and its type %s is not encrypted.",
						   format_type_be(column->atttypid)),
				 errhint("Give it an encrypted type, or compute it in a view.")));
	}
}

void
tde_guard_statistics(Oid statistics)
{
	HeapTuple	tuple = SearchSysCache1(STATEXTOID, ObjectIdGetDatum(statistics));

	if (!HeapTupleIsValid(tuple))
		return;
	if (any_in_clear(tde_stored_tree(STATEXTOID, tuple, Anum_pg_statistic_ext_stxexprs)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("statistics object \"%s\" would store decrypted values",
						NameStr(((Form_pg_statistic_ext) GETSTRUCT(tuple))->stxname)),
				 errdetail("An expression reads an encrypted column, and its type is not encrypted."),
				 errhint("Name the columns themselves: their statistics are encrypted.")));
	ReleaseSysCache(tuple);
}

/* What PostgreSQL accepts as immutable may be meant so by its author. */
static void
warn_in_clear(Relation rel, const char *what, int cache, AttrNumber column)
{
	HeapTuple	tuple = SearchSysCache1(cache, ObjectIdGetDatum(RelationGetRelid(rel)));
	bool		warn;

	if (!HeapTupleIsValid(tuple))
		return;
	warn = any_in_clear(tde_stored_tree(cache, tuple, column));
	ReleaseSysCache(tuple);
	if (warn)
		ereport(WARNING,
				(errmsg("%s \"%s\" stores decrypted values",
						what, RelationGetRelationName(rel)),
				 errdetail("An expression reads an encrypted column, and its type is not encrypted."),
				 errhint("Let the expression be of an encrypted type.")));
}

void
tde_guard_relation(Relation rel)
{
	List	   *statistics;
	ListCell   *cell;

	switch (rel->rd_rel->relkind)
	{
		case RELKIND_INDEX:
		case RELKIND_PARTITIONED_INDEX:
			warn_in_clear(rel, "index", INDEXRELID, Anum_pg_index_indexprs);
			return;
		case RELKIND_PARTITIONED_TABLE:
			warn_in_clear(rel, "partition key of table", PARTRELID, Anum_pg_partitioned_table_partexprs);
			break;
		case RELKIND_RELATION:
		case RELKIND_FOREIGN_TABLE:
			break;
		default:
			return;
	}
	check_generated(rel);
	statistics = RelationGetStatExtList(rel);
	foreach(cell, statistics)
		tde_guard_statistics(lfirst_oid(cell));
}

/* ---- indexes that PostgreSQL is going to refuse ---- */

typedef struct ColumnSearch
{
	Oid			table;
	const char *found;
} ColumnSearch;

/* A raw_expression_tree_walker. */
static bool
names_encrypted(Node *node, void *context)
{
	ColumnSearch *search = context;
	Node	   *last;
	AttrNumber	column;

	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (!IsA(node, ColumnRef))
		return raw_expression_tree_walker(node, names_encrypted, context);
	last = llast(((ColumnRef *) node)->fields);
	column = IsA(last, String) ? get_attnum(search->table, strVal(last)) : InvalidAttrNumber;
	if (column <= 0 || !tde_type_holds_encrypted(get_atttype(search->table, column)))
		return false;
	search->found = strVal(last);
	return true;
}

const char *
tde_guard_index(IndexStmt *stmt)
{
	ColumnSearch search = {InvalidOid, NULL};

	/* expressions that come from another table's index have been accepted there */
	if (stmt->relation == NULL || stmt->transformed)
		return NULL;
	search.table = RangeVarGetRelid(stmt->relation, NoLock, true);
	if (OidIsValid(search.table) && !names_encrypted((Node *) stmt->indexParams, &search))
		(void) names_encrypted(stmt->whereClause, &search);
	return search.found;
}

/* ---- tables made of queries ---- */

/* The query whose result is stored; NULL if it cannot be told. */
static Query *
stored_query(CreateTableAsStmt *stmt)
{
	Query	   *query = (Query *) stmt->query;
	PreparedStatement *prepared;

	if (query->commandType != CMD_UTILITY)
		return query;
	if (!IsA(query->utilityStmt, ExecuteStmt))
		return NULL;
	prepared = FetchPreparedStatement(((ExecuteStmt *) query->utilityStmt)->name, false);
	if (prepared == NULL || prepared->plansource->query_list == NIL)
		return NULL;
	query = copyObject(linitial_node(Query, prepared->plansource->query_list));
	/* what is decrypted for the client is stored as it was */
	(void) tde_postponed_take(query);
	return query;
}

static const char *
result_name(CreateTableAsStmt *stmt, TargetEntry *entry)
{
	List	   *names = stmt->into->colNames;

	return entry->resno <= list_length(names) ? strVal(list_nth(names, entry->resno - 1)) : entry->resname;
}

void
tde_guard_query(CreateTableAsStmt *stmt)
{
	Query	   *query = stored_query(stmt);
	StringInfoData names;
	ListCell   *cell;

	if (query == NULL || (stmt->if_not_exists && OidIsValid(RangeVarGetRelid(stmt->into->rel, NoLock, true))))
		return;
	initStringInfo(&names);
	tde_looks_begin();
	foreach(cell, tde_output_columns(query))
	{
		TargetEntry *entry = lfirst(cell);

		if (!entry->resjunk && !tde_type_holds_encrypted(exprType((Node *) entry->expr)) &&
			output_reads(query, entry->resno, NIL))
			appendStringInfo(&names, "%s\"%s\"", names.len > 0 ? ", " : "", result_name(stmt, entry));
	}
	if (names.len > 0)
		ereport(WARNING,
				(errmsg("%s \"%s\" stores decrypted values",
						stmt->objtype == OBJECT_MATVIEW ? "materialized view" : "table", stmt->into->rel->relname),
				 errdetail("Columns: %s.", names.data),
				 errhint("Cast them to an encrypted type.")));
}
