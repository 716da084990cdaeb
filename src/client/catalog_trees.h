/*
 * catalog_trees.h - stored expressions of encrypted columns, as they would be of plain ones: defaults, conditions, generated columns.
 */
#ifndef TDE_CLIENT_CATALOG_TREES_H
#define TDE_CLIENT_CATALOG_TREES_H

#include "nodes/pg_list.h"
#include "nodes/parsenodes.h"

/* The base type of an encrypted type, of an array of one, or of an operand beside one; any other type as it is. */
extern Oid	tde_catalog_shown_type(Oid oid);

/* ---- for catalog_queries.c ---- */

typedef struct TdeShowing TdeShowing;

struct TdeShowing
{
	Node	   *(*query) (Query *query, TdeShowing *showing);	/* catalog_queries.c: for a query within an expression, ... */
	Node	   *(*other) (Node *node, Node *shown, TdeShowing *showing);	/* ... and for nodes that only queries have */
	bool		failed;			/* something has no counterpart */
	bool		in_query;
};

/* An expression_tree_mutator (context: a TdeShowing). */
extern Node *tde_catalog_show_tree(Node *node, void *context);

/* As the parser coerces it: an argument (COERCE_IMPLICIT_CAST), or a cast that somebody has written. */
extern Node *tde_catalog_show_coerced(Node *node, Oid type, int32 typmod, CoercionForm form, TdeShowing *showing);

/* The function to be shown for these arguments: the one of PostgreSQL that the parser takes, unless it is declared with none of our types. */
extern Oid	tde_catalog_shown_function(Oid function, List *args);

/* Coerce such arguments to what it takes, in place.  Its result's type; InvalidOid, and it has failed: there is no such function. */
extern Oid	tde_catalog_show_passed(Oid function, List *args, TdeShowing *showing);

/* PostgreSQL's operator of this name, for these operands. */
extern Oid	tde_catalog_shown_operator(Oid operator, Oid left, Oid right);

#endif							/* TDE_CLIENT_CATALOG_TREES_H */
