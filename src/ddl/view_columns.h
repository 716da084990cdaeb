/*
 * view_columns.h - CREATE OR REPLACE VIEW, and the rule "_RETURN", keep the types of the view's columns.
 */
#ifndef TDE_DDL_VIEW_COLUMNS_H
#define TDE_DDL_VIEW_COLUMNS_H

#include "parser/parse_node.h"

/* When a query of a utility command has been analyzed: changes that of such a command. */
extern void tde_view_columns_analyzed(ParseState *pstate, Query *query);

/* Before CREATE RULE: changes the query of a rule for SELECT. */
extern void tde_view_rule_prepare(RuleStmt *rule);

#endif							/* TDE_DDL_VIEW_COLUMNS_H */
