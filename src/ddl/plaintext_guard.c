/*
 * plaintext_guard.c - declarations that would store in clear what they compute from encrypted columns.
 *
 * Casts that decrypt are STABLE, which keeps them out of index expressions and partition keys.  PostgreSQL does
 * not ask for the volatility of a cast to a generated column's own type, nor of expressions in CREATE STATISTICS,
 * and it believes functions that are declared IMMUTABLE.  So the expressions themselves are looked at here;
 * nothing is decrypted for that, and nothing evaluated: they are read from the catalogs as they are stored.  What the relation
 * cache has of indexes and partition keys is folded, and folding calls users' functions, as whoever runs the command.
 * Which expressions hold decrypted values: ddl/in_clear.c.
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
#include "commands/defrem.h"
#include "commands/prepare.h"
#include "commands/tablecmds.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parse_utilcmd.h"
#include "rewrite/rewriteHandler.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"
#include "utils/syscache.h"

#include "client/postponed.h"
#include "ddl/declared_type.h"
#include "ddl/in_clear.h"
#include "ddl/plaintext_guard.h"
#include "operators/computed.h"
#include "operators/index_conditions.h"
#include "server/compat.h"
#include "server/stored_tree.h"
#include "type/inside.h"
#include "type/type.h"

/*
 * ---- CREATE INDEX on an expression, or with a condition, makes an index that does not decrypt ----
 *
 * Applications and their migrations index lower(email).  PostgreSQL refuses that, since decryption is not IMMUTABLE, and the index would
 * hold plaintext; what it gets is an index on tde_computed() of the same function, under the specification and key of the column.  Whether a
 * condition is true is no value, but PostgreSQL wants it computed by what is IMMUTABLE: comparisons of the encrypted types are.
 */

/*
 * Returns the expression in a form that stays encrypted; the expression itself if it has none, which PostgreSQL refuses next.  Throws if
 * tde_column.require excludes the specification that the result would have.
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
	form = tde_form_encrypted(expr);
	if (form && tde_is_computed(form))
	{
		TdeType    *type = tde_type_get(exprType(form));

		tde_ddl_check_spec(type->base, tde_type_modifiers(type, exprTypmod(linitial(((FuncExpr *) form)->args))).spec);
	}
	return form ? form : expr;
}

void
tde_guard_expression_index_prepare(IndexStmt *stmt, const char *source)
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

/* What tde_computed_is_current() and its like say of a call. */
typedef bool (*IsRight) (const FuncExpr *call);

/* An expression_tree_walker.  Returns true if one of the calls of tde_computed() is not right. */
static bool
computes_wrongly(Node *node, void *is_right)
{
	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (tde_is_computed(node) && !(*(const IsRight *) is_right) ((FuncExpr *) node))
		return true;
	return expression_tree_walker(node, computes_wrongly, is_right);
}

static void
check_expression_index(Oid index)
{
	Node	   *trees = (Node *) tde_stored_index_trees(index);
	IsRight		takes_arguments = tde_computed_takes_arguments;
	IsRight		is_current = tde_computed_is_current;

	if (computes_wrongly(trees, &takes_arguments))
		ereport(WARNING,
				(errmsg("index \"%s\" computes with the former type of its column", get_rel_name(index)),
				 errdetail("Values that this type does not have are errors, others are rounded to it, and the index serves no query."),
				 errhint("Drop it, and create it again.")));
	else if (computes_wrongly(trees, &is_current))
		ereport(WARNING,
				(errmsg("index \"%s\" keeps the former specification and key of its column", get_rel_name(index)),
				 errdetail("It holds what is computed of an encrypted column, which has another specification or key now."),
				 errhint("Drop it, and create it again.")));
}

/*
 * ALTER TABLE t ALTER email TYPE encrypted_text('key=new'): PostgreSQL makes indexes anew by their definitions, in which the result's specification
 * stands, and the function that computes it.
 */
void
tde_guard_expression_index_check(Relation rel)
{
	ListCell   *cell;

	foreach(cell, RelationGetIndexList(rel))
		check_expression_index(lfirst_oid(cell));
}

/* ---- other declarations are refused ---- */

/* PostgreSQL does not ask for the volatility of a cast to the column's own type: a text generated of an encrypted_text would be stored in clear. */
static void
check_generated(Relation rel)
{
	TupleDesc	columns = RelationGetDescr(rel);

	for (int i = 0; i < columns->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(columns, i);

		if (column->attisdropped || column->attgenerated != ATTRIBUTE_GENERATED_STORED ||
			!tde_in_clear(build_column_default(rel, i + 1)))
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
	if (tde_in_clear_any(tde_stored_tree(STATEXTOID, tuple, Anum_pg_statistic_ext_stxexprs)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("statistics object \"%s\" would store decrypted values",
						NameStr(((Form_pg_statistic_ext) GETSTRUCT(tuple))->stxname)),
				 errdetail("An expression reads an encrypted column, and its type is not encrypted."),
				 errhint("Name the columns themselves: their statistics are encrypted.")));
	ReleaseSysCache(tuple);
}

/*
 * what: how the message calls it.  cache, column: where its expressions are stored.  What PostgreSQL accepts as immutable may be meant so by its
 * author.
 */
static void
warn_in_clear(Relation rel, const char *what, int cache, AttrNumber column)
{
	HeapTuple	tuple = SearchSysCache1(cache, ObjectIdGetDatum(RelationGetRelid(rel)));
	bool		warn;

	if (!HeapTupleIsValid(tuple))
		return;
	warn = tde_in_clear_any(tde_stored_tree(cache, tuple, column));
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

/* ---- ALTER TABLE ... ALTER ... TYPE ... USING ---- */

/* Returns true if the column itself was encrypted, and is not any more: ddl/plaintext_alter.c has said so, and once is enough. */
static bool
is_decrypted(Node *expr, AttrNumber column, Oid type)
{
	ListCell   *cell;

	foreach(cell, pull_var_clause(expr, PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS | PVC_RECURSE_PLACEHOLDERS))
		if (((Var *) lfirst(cell))->varattno == column && tde_type_holds_encrypted(((Var *) lfirst(cell))->vartype))
			return !tde_type_holds_encrypted(type);
	return false;
}

/*
 * Returns true if the column holds in clear what USING, as it has been analyzed, computes of encrypted columns.  Its value is cast as PostgreSQL
 * casts it.
 */
static bool
using_in_clear(Node *expr, Form_pg_attribute column)
{
	Node	   *stored;

	if (exprType(expr) == UNKNOWNOID || is_decrypted(expr, column->attnum, column->atttypid))
		return false;
	stored = coerce_to_target_type(NULL, expr, exprType(expr), column->atttypid, column->atttypmod, COERCION_ASSIGNMENT,
								   COERCE_IMPLICIT_CAST, -1);
	return tde_in_clear(stored ? stored : expr);
}

/* Refused where plain types for encrypted columns are; otherwise a WARNING, since nobody can tell what the user meant. */
static void
report_using(Relation rel, Form_pg_attribute column)
{
	bool		refuse = TDE_PLAINTEXT_ALTER == TDE_ALTER_ERROR;

	ereport(refuse ? ERROR : WARNING,
			(errcode(refuse ? ERRCODE_INVALID_TABLE_DEFINITION : ERRCODE_WARNING),
			 errmsg("column \"%s\" stores decrypted values", NameStr(column->attname)),
			 errdetail("In table \"%s\", USING computes them of an encrypted column, and type %s is not encrypted, or not in all its parts.",
					   RelationGetRelationName(rel), format_type_be(column->atttypid)),
			 errhint("Declare an encrypted type.")));
}

void
tde_guard_using(Relation rel, const CollectedCommand *command)
{
	ListCell   *cell;

	if (command->type != SCT_AlterTable || TDE_PLAINTEXT_ALTER == TDE_ALTER_ALLOW)
		return;
	foreach(cell, command->d.alterTable.subcmds)
	{
		CollectedATSubcmd *part = lfirst(cell);
		AlterTableCmd *cmd = (AlterTableCmd *) part->parsetree;
		ColumnDef  *def = IsA(cmd, AlterTableCmd) && cmd->subtype == AT_AlterColumnType ? (ColumnDef *) cmd->def : NULL;
		AttrNumber	column = part->address.objectSubId;

		/* a child's is as the table's own */
		if (def == NULL || part->address.objectId != RelationGetRelid(rel) || column <= 0)
			continue;
		if (def->raw_default && def->cooked_default == NULL)
			elog(ERROR, "could not find what USING computes");
		if (def->cooked_default &&
			using_in_clear(def->cooked_default, TupleDescAttr(RelationGetDescr(rel), column - 1)))
			report_using(rel, TupleDescAttr(RelationGetDescr(rel), column - 1));
	}
}

/* ---- indexes that PostgreSQL is going to refuse ---- */

typedef struct ColumnSearch
{
	Oid			table;
	const char *found;			/* the name of an encrypted column; NULL: none yet */
} ColumnSearch;

/* A raw_expression_tree_walker, which stops at the first encrypted column. */
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

/*
 * Returns the query whose result is stored; NULL if it cannot be told.  Of CREATE TABLE t AS EXECUTE p it is the prepared statement's, as it was
 * analyzed for the client and without what decrypts for that one.
 */
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

/* what, stored: how the message calls the relation, and its name.  names: of the columns, as far as they are given. */
static void
warn_query(Query *query, const char *what, const char *stored, List *names)
{
	StringInfoData columns;
	ListCell   *cell;

	initStringInfo(&columns);
	foreach(cell, tde_output_columns(query))
	{
		TargetEntry *entry = lfirst(cell);

		if (!entry->resjunk && tde_in_clear_output(query, entry->resno))
			appendStringInfo(&columns, "%s\"%s\"", columns.len > 0 ? ", " : "",
							 entry->resno <= list_length(names) ? strVal(list_nth(names, entry->resno - 1)) : entry->resname);
	}
	if (columns.len > 0)
		ereport(WARNING,
				(errmsg("%s \"%s\" stores decrypted values", what, stored),
				 errdetail("Columns: %s.", columns.data),
				 errhint("Cast them to an encrypted type.")));
}

/* Nothing is stored where IF NOT EXISTS finds a relation. */
static void
warn_stored(CreateTableAsStmt *stmt)
{
	Query	   *query = stored_query(stmt);

	if (query && !(stmt->if_not_exists && tde_declared_exists(stmt->into->rel)))
		warn_query(query, stmt->objtype == OBJECT_MATVIEW ? "materialized view" : "table", stmt->into->rel->relname, stmt->into->colNames);
}

/*
 * What the query of a materialized view reads may be another view by now.  The lock is given back: REFRESH takes a stronger one, and two would wait
 * for each other.
 */
static void
warn_refreshed(RefreshMatViewStmt *stmt)
{
	Oid			relid = RangeVarGetRelid(stmt->relation, NoLock, true);
	Relation	rel = NULL;
	List	   *names = NIL;

	if (!stmt->skipData && get_rel_relkind(relid) == RELKIND_MATVIEW && TDE_MAINTAINS_RELATION(relid))
		rel = try_relation_open(relid, AccessShareLock);
	if (rel == NULL)
		return;
	for (int i = 0; i < RelationGetNumberOfAttributes(rel); i++)
		names = lappend(names, makeString(pstrdup(NameStr(TupleDescAttr(RelationGetDescr(rel), i)->attname))));
	/* as PostgreSQL does; get_view_query() is for views */
	if (rel->rd_rules && rel->rd_rules->numLocks == 1)
		warn_query(copyObject(linitial_node(Query, rel->rd_rules->rules[0]->actions)), "materialized view", RelationGetRelationName(rel), names);
	relation_close(rel, AccessShareLock);
}

void
tde_guard_query(Node *stmt)
{
	Query	   *explained = IsA(stmt, ExplainStmt) ? (Query *) ((ExplainStmt *) stmt)->query : NULL;
	ListCell   *cell;

	if (IsA(stmt, CreateTableAsStmt))
		warn_stored((CreateTableAsStmt *) stmt);
	if (IsA(stmt, RefreshMatViewStmt))
		warn_refreshed((RefreshMatViewStmt *) stmt);
	if (explained == NULL || explained->commandType != CMD_UTILITY || !IsA(explained->utilityStmt, CreateTableAsStmt))
		return;
	foreach(cell, ((ExplainStmt *) stmt)->options)
		if (strcmp(lfirst_node(DefElem, cell)->defname, "analyze") == 0 && defGetBoolean(lfirst(cell)))
			warn_stored((CreateTableAsStmt *) explained->utilityStmt);
}
