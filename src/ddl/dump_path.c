/*
 * dump_path.c - the operators that a dump cannot name.
 *
 * pg_dump empties the search path and writes OPERATOR(public.=) for operators that are not found then.  IS DISTINCT FROM, NULLIF, CASE x
 * WHEN, USING and NATURAL JOIN take "=" and have no place for its schema.  So they would compare what encrypted values become by their
 * casts: a view of an integer and a numeric could not be restored, nor an index with such a condition, since decryption is not IMMUTABLE.
 *
 * While a command runs that stores such an expression, the extension's schema is on the path.  Names there could mean something else than
 * in pg_catalog: so only if nobody may create any there whom the current user does not trust, and if the command itself names a schema.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_database.h"
#include "catalog/pg_namespace.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "ddl/dump_path.h"
#include "keys/table.h"

/* ---- what needs the operators ---- */

/* A raw_expression_tree_walker: does it take an operator "=" that it cannot name? */
static bool
compares_unnamed(Node *node, void *context)
{
	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_A_Expr:
			switch (((A_Expr *) node)->kind)
			{
				case AEXPR_DISTINCT:
				case AEXPR_NOT_DISTINCT:
				case AEXPR_NULLIF:
					return true;
				default:
					break;
			}
			break;
		case T_CaseExpr:
			if (((CaseExpr *) node)->arg)
				return true;
			break;
		case T_JoinExpr:
			if (((JoinExpr *) node)->isNatural || ((JoinExpr *) node)->usingClause)
				return true;
			break;
		default:
			break;
	}
	return raw_expression_tree_walker(node, compares_unnamed, context);
}

static bool declares(List *parts);

/* Part of a declaration, or a new default; most of the former are no nodes that the walker knows. */
static bool
declares_part(Node *part)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (part == NULL)
		return false;
	switch (nodeTag(part))
	{
		case T_List:
			return declares((List *) part);
		case T_ColumnDef:
			return compares_unnamed(((ColumnDef *) part)->raw_default, NULL) || declares(((ColumnDef *) part)->constraints);
		case T_Constraint:
			return compares_unnamed(((Constraint *) part)->raw_expr, NULL) ||
				compares_unnamed(((Constraint *) part)->where_clause, NULL);
		case T_AlterTableCmd:
			return declares_part(((AlterTableCmd *) part)->def);
		case T_IndexElem:
			return compares_unnamed(((IndexElem *) part)->expr, NULL);
		case T_StatsElem:
			return compares_unnamed(((StatsElem *) part)->expr, NULL);
		case T_ReturnStmt:
			return compares_unnamed(((ReturnStmt *) part)->returnval, NULL);
		case T_SelectStmt:
		case T_InsertStmt:
		case T_UpdateStmt:
		case T_DeleteStmt:
		case T_MergeStmt:
		case T_A_Expr:
		case T_CaseExpr:
		case T_FuncCall:
		case T_TypeCast:
			return compares_unnamed(part, NULL);
		default:
			return false;
	}
}

static bool
declares(List *parts)
{
	ListCell   *lc;

	foreach(lc, parts)
	{
		if (declares_part((Node *) lfirst(lc)))
			return true;
	}
	return false;
}

/* Commands that say in which schema they create something. */
static bool
needs_operators(Node *stmt)
{
	switch (nodeTag(stmt))
	{
		case T_ViewStmt:
			return ((ViewStmt *) stmt)->view->schemaname && compares_unnamed(((ViewStmt *) stmt)->query, NULL);
		case T_CreateStmt:
			return ((CreateStmt *) stmt)->relation->schemaname &&
				(declares(((CreateStmt *) stmt)->tableElts) || declares(((CreateStmt *) stmt)->constraints));
		case T_AlterTableStmt:
			return ((AlterTableStmt *) stmt)->relation->schemaname && declares(((AlterTableStmt *) stmt)->cmds);
		case T_IndexStmt:
			/* one that is built concurrently commits on its way, and is in no dump */
			return ((IndexStmt *) stmt)->relation->schemaname && !((IndexStmt *) stmt)->concurrent &&
				(compares_unnamed(((IndexStmt *) stmt)->whereClause, NULL) || declares(((IndexStmt *) stmt)->indexParams));
		case T_CreateTrigStmt:
			return ((CreateTrigStmt *) stmt)->relation->schemaname && compares_unnamed(((CreateTrigStmt *) stmt)->whenClause, NULL);
		case T_RuleStmt:
			return ((RuleStmt *) stmt)->relation->schemaname &&
				(compares_unnamed(((RuleStmt *) stmt)->whereClause, NULL) || declares(((RuleStmt *) stmt)->actions));
		case T_CreatePolicyStmt:
			return ((CreatePolicyStmt *) stmt)->table->schemaname &&
				(compares_unnamed(((CreatePolicyStmt *) stmt)->qual, NULL) || compares_unnamed(((CreatePolicyStmt *) stmt)->with_check, NULL));
		case T_CreateFunctionStmt:
			return list_length(((CreateFunctionStmt *) stmt)->funcname) > 1 && declares_part(((CreateFunctionStmt *) stmt)->sql_body);
		case T_CreateDomainStmt:
			return list_length(((CreateDomainStmt *) stmt)->domainname) > 1 && declares(((CreateDomainStmt *) stmt)->constraints);
		case T_AlterDomainStmt:
			return list_length(((AlterDomainStmt *) stmt)->typeName) > 1 && declares_part(((AlterDomainStmt *) stmt)->def);
		case T_CreateStatsStmt:
			return list_length(((CreateStatsStmt *) stmt)->defnames) > 1 && declares(((CreateStatsStmt *) stmt)->exprs);
		default:
			return false;
	}
}

/* ---- whom the current user trusts ---- */

static Oid
database_owner(void)
{
	HeapTuple	tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	owner = ((Form_pg_database) GETSTRUCT(tuple))->datdba;
	ReleaseSysCache(tuple);
	return owner;
}

/* pg_upgrade's superuser restores what was there, names of the database's owner included. */
static bool
is_trusted(Oid role)
{
	if (role == ROLE_PG_DATABASE_OWNER)
	{
		if (IsBinaryUpgrade)
			return true;
		role = database_owner();
	}
	return role != ACL_ID_PUBLIC && (role == GetUserId() || superuser_arg(role));
}

static bool
is_trusted_schema(Oid schema)
{
	HeapTuple	tuple = SearchSysCache1(NAMESPACEOID, ObjectIdGetDatum(schema));
	bool		trusted;
	bool		isnull;
	Datum		value;

	if (!HeapTupleIsValid(tuple))
		return false;
	trusted = is_trusted(((Form_pg_namespace) GETSTRUCT(tuple))->nspowner);
	value = SysCacheGetAttr(NAMESPACEOID, tuple, Anum_pg_namespace_nspacl, &isnull);
	if (trusted && !isnull)
	{
		Acl		   *acl = DatumGetAclPCopy(value);

		for (int i = 0; i < ACL_NUM(acl) && trusted; i++)
			trusted = (ACLITEM_GET_PRIVS(ACL_DAT(acl)[i]) & ACL_CREATE) == 0 || is_trusted(ACL_DAT(acl)[i].ai_grantee);
		pfree(acl);
	}
	ReleaseSysCache(tuple);
	return trusted;
}

/* ---- the path ---- */

/* As pg_dump's set_config() makes it, or SET search_path = ''. */
static inline bool
path_is_empty(void)
{
	return namespace_search_path[0] == '\0' || strcmp(namespace_search_path, "\"\"") == 0;
}

int
tde_dump_path_begin(Node *stmt)
{
	Oid			schema;
	int			level;

	if (likely(!path_is_empty()) || !IsTransactionState() || !needs_operators(stmt))
		return 0;
	schema = tde_extension_schema();
	if (!OidIsValid(schema) || !is_trusted_schema(schema))
		return 0;
	level = NewGUCNestLevel();
	(void) set_config_option("search_path", quote_identifier(get_namespace_name(schema)), PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE,
							 true, 0, false);
	return level;
}

void
tde_dump_path_end(int level)
{
	if (unlikely(level > 0))
		AtEOXact_GUC(true, level);
}
