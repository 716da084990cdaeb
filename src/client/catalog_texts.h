/*
 * catalog_texts.h - definitions of indexes, constraints, partition keys, views and rules on encrypted columns, as they would be of plain ones.
 */
#ifndef TDE_CLIENT_CATALOG_TEXTS_H
#define TDE_CLIENT_CATALOG_TEXTS_H

#include "nodes/nodes.h"

/* In a text, an expression of a relation's columns, as it would be of plain ones.  Where PostgreSQL prints a call without parentheses. */
extern char *tde_show_expression(char *definition, Node *expr, Oid relation, bool pretty);

#endif							/* TDE_CLIENT_CATALOG_TEXTS_H */
