/*
 * analyzed.h - the one walk through what has been analyzed.
 */
#ifndef TDE_FUNCTIONS_ANALYZED_H
#define TDE_FUNCTIONS_ANALYZED_H

#include "nodes/parsenodes.h"
#include "parser/parse_node.h"

/*
 * Looks through a statement that has been analyzed; post_parse_analyze() (functions/hooks.c) calls it for each one.  Throws what
 * tde_widened_call_check() throws, and changes in place what XMLELEMENT and XMLFOREST are given: they would print encrypted values otherwise than
 * plain ones.
 */
extern void tde_analyzed_tree(ParseState *pstate, Query *query);

#endif							/* TDE_FUNCTIONS_ANALYZED_H */
