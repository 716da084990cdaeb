/*
 * analyzed.c - the one walk through a statement's tree when it has been analyzed, for all that looks for something in it; what XML is made of.
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "tcop/utility.h"
#include "utils/lsyscache.h"

#include "client/catalog_trees.h"
#include "ddl/widened_calls.h"
#include "functions/analyzed.h"
#include "operators/indexed_tables.h"
#include "server/compat.h"
#include "type/inside.h"

/* ---- what may have encrypted values ---- */

/* Returns false for a function of PostgreSQL's own type, or of a row type of a plain table. */
static bool
function_may_return_some(RangeTblFunction *function)
{
	Oid			type = tde_expr_type((Expr *) function->funcexpr);

	return type == RECORDOID || (type >= FirstNormalObjectId && !tde_table_type_is_plain(type));
}

/* Returns true if an entry of the range table may have encrypted columns.  Joins and groups have those of other entries. */
static pg_noinline bool
may_have_some(RangeTblEntry *entry)
{
	ListCell   *cell;

	if (entry->rtekind == RTE_RELATION)
		return !tde_table_is_plain(entry->relid);
	if (entry->rtekind != RTE_FUNCTION)
		return entry->rtekind != RTE_JOIN && entry->rtekind != RTE_RESULT && TDE_GROUP_EXPRESSIONS(entry) == NIL;
	foreach(cell, entry->functions)
		if (function_may_return_some(lfirst(cell)))
			return true;
	return false;
}

/* Returns true if a text names a type of ours, "encrypted_...", in any case of letters.  Strings and comments count, too: that only takes longer. */
static bool
names_type(const char *text)
{
	static const char prefix[] = "encrypted";
	const size_t size = sizeof(prefix) - 1;

	for (const char *p = text; (p = strchr(p, '_')) != NULL; p++)
		if (p - text >= size && pg_strncasecmp(p - size, prefix, size) == 0)
			return true;
	return false;
}

/*
 * Returns true if a query can have encrypted values at all.  Every statement of the server comes here, and to look through its tree costs more than
 * to look at its tables.  An encrypted constant names its type; variables of languages come by hooks, which a client's parameters do not need.
 */
static bool
may_be_encrypted(ParseState *pstate, Query *query)
{
	const char *text = pstate->p_sourcetext;
	ListCell   *cell;

	if (query->hasSubLinks || query->cteList != NIL || text == NULL || pstate->p_pre_columnref_hook || pstate->p_post_columnref_hook ||
		(pstate->p_paramref_hook && !pstate->p_coerce_param_hook) || names_type(text))
		return true;
	foreach(cell, query->rtable)
	{
		RangeTblEntry *entry = lfirst(cell);

		if (!(entry->rtekind == RTE_RELATION && tde_table_is_known_plain(entry->relid)) && may_have_some(entry))
			return true;
	}
	return false;
}

/*
 * ---- XMLELEMENT and XMLFOREST print encrypted values as they print plain ones ----
 *
 * XML has forms of its own for booleans, dates and binary data, by the OID of the type; of any other type it prints the text.  So what
 * they are given is cast to the base type when a statement, a view or a function's query is analyzed.
 */

/* Casts each value of an encrypted type to its base type, in place; other values stay. */
static void
show_values(List *values)
{
	ListCell   *cell;

	foreach(cell, values)
	{
		Node	   *value = lfirst(cell);
		Oid			type = exprType(value);
		Oid			inner = type < FirstNormalObjectId ? type : getBaseType(type);
		Oid			shown = tde_catalog_shown_type(inner);

		if (shown != inner)
			lfirst(cell) = coerce_to_target_type(NULL, value, type, shown, -1, COERCION_EXPLICIT, COERCE_IMPLICIT_CAST, -1);
	}
}

/* The attributes of XMLELEMENT, the columns of XMLFOREST, and the content of XMLELEMENT. */
static void
show_xml_values(XmlExpr *xml)
{
	show_values(xml->named_args);
	if (xml->op == IS_XMLELEMENT)
		show_values(xml->args);
}

/* ---- the walk ---- */

/* A query_or_expression_tree_walker. */
static bool
look(Node *node, void *context)
{
	check_stack_depth();
	CHECK_FOR_INTERRUPTS();
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, look, context, 0);
	if (IsA(node, XmlExpr))
		show_xml_values((XmlExpr *) node);
	else
		tde_widened_call_check(node, context);
	return expression_tree_walker(node, look, context);
}

/* CALL has no query; of EXPLAIN, DECLARE, CREATE TABLE AS and the like, the query inside is looked through. */
void
tde_analyzed_tree(ParseState *pstate, Query *query)
{
	if (query->commandType == CMD_UTILITY && IsA(query->utilityStmt, CallStmt))
	{
		(void) look((Node *) ((CallStmt *) query->utilityStmt)->funcexpr, pstate);
		return;
	}
	if (query->commandType == CMD_UTILITY)
		query = UtilityContainsQuery(query->utilityStmt);
	if (unlikely(query != NULL && may_be_encrypted(pstate, query)))
		(void) look((Node *) query, pstate);
}
