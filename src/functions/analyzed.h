/*
 * analyzed.h - the one walk through what has been analyzed.
 */
#ifndef TDE_FUNCTIONS_ANALYZED_H
#define TDE_FUNCTIONS_ANALYZED_H

#include "nodes/parsenodes.h"
#include "nodes/primnodes.h"
#include "parser/parse_node.h"

/* When a statement has been analyzed: ereport if it must not run, and change what would print values otherwise than plain ones. */
extern void tde_analyzed_tree(ParseState *pstate, Query *query);

/* When a statement has been analyzed: what this part of it makes XML of gets its base types, in place. */
extern void tde_analyzed_xml_values(XmlExpr *xml);

#endif							/* TDE_FUNCTIONS_ANALYZED_H */
