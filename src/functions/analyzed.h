/*
 * analyzed.h - the one walk through what has been analyzed.
 */
#ifndef TDE_FUNCTIONS_ANALYZED_H
#define TDE_FUNCTIONS_ANALYZED_H

#include "nodes/parsenodes.h"
#include "parser/parse_node.h"

/* When a statement has been analyzed: ereport if it must not run, and change what would print values otherwise than plain ones. */
extern void tde_analyzed_tree(ParseState *pstate, Query *query);

#endif							/* TDE_FUNCTIONS_ANALYZED_H */
