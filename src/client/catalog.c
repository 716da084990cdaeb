/*
 * catalog.c - in a client's own statements the catalogs tell the base types of encrypted columns, as results do.
 *
 * Drivers, ORMs and schema browsers read the types of columns from pg_attribute, joined with pg_type, through format_type() or from
 * information_schema.  All of these follow from two pairs of columns: the type and modifier of a column, and those that a domain is
 * over.  So a scan of pg_attribute or pg_type becomes a subquery over this scan in which tde_catalog_type() and tde_catalog_typmod()
 * stand for the two; everything else is what it was, its name, its types, the indexes that serve it and who may read it.  As the
 * result of a statement does not depend on it, this may be done when views have been expanded, right before the statement is planned.
 * Functions are left alone, and so are views of users and of this extension.
 *
 * Whoever copies tables by what the catalogs say must not be told that they are plain: see copies_tables().
 */
#include "postgres.h"

#include "access/sysattr.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"
#include "utils/rel.h"
#include "utils/rls.h"
#include "utils/syscache.h"

#include "client/catalog.h"
#include "server/compat.h"
#include "type/type.h"

bool		tde_transparent_catalog = false;

/* Where a catalog tells a type, and its modifier. */
typedef struct TypedColumn
{
	Oid			catalog;
	AttrNumber	type;
	AttrNumber	typmod;
} TypedColumn;

static const TypedColumn typed_columns[] = {
	{AttributeRelationId, Anum_pg_attribute_atttypid, Anum_pg_attribute_atttypmod},
	{TypeRelationId, Anum_pg_type_typbasetype, Anum_pg_type_typtypmod},
};

/* The functions, as they are in this database. */
typedef struct ShownBy
{
	Oid			type;
	Oid			typmod;
} ShownBy;

PG_FUNCTION_INFO_V1(tde_catalog_type);
PG_FUNCTION_INFO_V1(tde_catalog_typmod);

/* ---- what is shown ---- */

/* The encrypted type that this is, or is an array of; or NULL. */
static TdeType *
encrypted_type(Oid oid, bool *is_array)
{
	Oid			element = oid < FirstNormalObjectId ? InvalidOid : get_element_type(oid);

	*is_array = OidIsValid(element);
	return oid < FirstNormalObjectId ? NULL : tde_type_find(*is_array ? element : oid);
}

/* tde_catalog_type(oid) - the base type of an encrypted one, an array's likewise; any other type as it is. */
Datum
tde_catalog_type(PG_FUNCTION_ARGS)
{
	Oid			oid = PG_GETARG_OID(0);
	bool		is_array;
	TdeType    *type = encrypted_type(oid, &is_array);

	if (type)
		oid = is_array ? get_array_type(type->base) : type->base;
	PG_RETURN_OID(oid);
}

/* tde_catalog_typmod(oid, int4) - the modifier of that type. */
Datum
tde_catalog_typmod(PG_FUNCTION_ARGS)
{
	int32		typmod = PG_GETARG_INT32(1);
	bool		is_array;
	TdeType    *type = encrypted_type(PG_GETARG_OID(0), &is_array);

	PG_RETURN_INT32(type ? tde_type_base_typmod(type, typmod) : typmod);
}

/* ---- in a query ---- */

static Oid
find_function(Oid schema, const char *name, PGFunction address, int count, Oid *arg_types)
{
	Oid			function = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum(name),
										   PointerGetDatum(buildoidvector(arg_types, count)), ObjectIdGetDatum(schema));

	return OidIsValid(function) && tde_is_function(function, name, address) ? function : InvalidOid;
}

/* False if the extension is not in this database, or is of an earlier version there. */
static bool
find_functions(ShownBy *by)
{
	Oid			schema = get_namespace_oid("tde_internal", true);
	Oid			arg_types[2] = {OIDOID, INT4OID};

	if (!OidIsValid(schema))
		return false;
	by->type = find_function(schema, "tde_catalog_type", tde_catalog_type, 1, arg_types);
	by->typmod = find_function(schema, "tde_catalog_typmod", tde_catalog_typmod, 2, arg_types);
	return OidIsValid(by->type) && OidIsValid(by->typmod);
}

static const TypedColumn *
typed_column(Oid catalog)
{
	for (int i = 0; i < lengthof(typed_columns); i++)
		if (typed_columns[i].catalog == catalog)
			return &typed_columns[i];
	return NULL;
}

/* What a subquery does not have: rows that can be locked or sampled, and system columns. */
static bool
needs_table(Query *query, Index rtindex)
{
	RangeTblEntry *rte = rt_fetch(rtindex, query->rtable);
	int			first = bms_next_member(TDE_SELECTED_COLUMNS(query, rte), -1);

	return rte->tablesample || get_parse_rowmark(query, rtindex) || first < 0 - FirstLowInvalidHeapAttributeNumber;
}

/* The columns of the catalog, by their numbers, with the two that tell something else. */
static List *
shown_columns(const TypedColumn *typed, const ShownBy *by)
{
	Relation	catalog = table_open(typed->catalog, NoLock);
	TupleDesc	descriptor = RelationGetDescr(catalog);
	List	   *columns = NIL;

	for (AttrNumber number = 1; number <= descriptor->natts; number++)
	{
		Form_pg_attribute attribute = TupleDescAttr(descriptor, number - 1);
		Expr	   *column = (Expr *) makeVar(1, number, attribute->atttypid, attribute->atttypmod, attribute->attcollation, 0);
		Expr	   *type = (Expr *) makeVar(1, typed->type, OIDOID, -1, InvalidOid, 0);

		if (number == typed->type)
			column = (Expr *) makeFuncExpr(by->type, OIDOID, list_make1(type), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
		else if (number == typed->typmod)
			column = (Expr *) makeFuncExpr(by->typmod, INT4OID, list_make2(type, column), InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
		columns = lappend(columns, makeTargetEntry(column, number, pstrdup(NameStr(attribute->attname)), false));
	}
	table_close(catalog, NoLock);
	return columns;
}

/* The scan keeps its lock and its permissions. */
static void
make_subquery(Query *query, RangeTblEntry *rte, const TypedColumn *typed, const ShownBy *by)
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
	inner->targetList = shown_columns(typed, by);
	TDE_MOVE_PERMISSIONS(query, rte, inner, scan);

	outer->rtekind = RTE_SUBQUERY;
	outer->subquery = inner;
	outer->alias = rte->alias;
	outer->eref = rte->eref;
	outer->lateral = rte->lateral;
	outer->inFromCl = rte->inFromCl;
	*rte = *outer;
}

/* A view's query whose scans are none of the client's?  The system's own views were made by initdb. */
static bool
is_users_view(RangeTblEntry *rte)
{
	return TDE_VIEW_OF(rte) >= FirstNormalObjectId;
}

/* A query_or_expression_tree_walker. */
static bool
show_base_types(Node *node, void *context)
{
	Query	   *query = (Query *) node;
	ListCell   *cell;

	if (node == NULL)
		return false;
	if (!IsA(node, Query))
		return expression_tree_walker(node, show_base_types, context);
	foreach(cell, query->rtable)
	{
		RangeTblEntry *rte = lfirst(cell);
		const TypedColumn *typed = rte->rtekind == RTE_RELATION ? typed_column(rte->relid) : NULL;

		if (rte->rtekind == RTE_SUBQUERY && !is_users_view(rte))
			(void) show_base_types((Node *) rte->subquery, context);
		if (typed && !needs_table(query, foreach_current_index(cell) + 1))
			make_subquery(query, rte, typed, context);
	}
	return query_tree_walker(query, show_base_types, context, QTW_IGNORE_RT_SUBQUERIES);
}

/*
 * pg_dump must read all catalogs and tables as of one moment, and changes nothing, so its transaction is READ ONLY and at least
 * REPEATABLE READ; it also switches off what would give it fewer rows, or rows in another order.  What it
 * is told, whoever restores the dump makes.  Each of the three is enough.
 */
static bool
copies_tables(void)
{
	return (XactReadOnly && IsolationUsesXactSnapshot()) || !row_security || !synchronize_seqscans;
}

void
tde_catalog_show(Query *query)
{
	ShownBy		by;

	if (query->commandType == CMD_SELECT && !query->hasModifyingCTE && !copies_tables() && find_functions(&by))
		(void) show_base_types((Node *) query, &by);
}

/* Plans that there are show what the setting was when they were made. */
void
tde_catalog_assign(bool newval, void *extra)
{
	if (newval != tde_transparent_catalog)
		ResetPlanCache();
}
