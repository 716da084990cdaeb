/*
 * catalog_trees.h - stored expressions of encrypted columns, as they would be of plain ones: defaults, conditions, generated columns.
 *
 * The entry is tde_catalog_shown_tree() (client/catalog_queries.h).  From there one TdeShowing goes through the tree.  As soon as failed is set, what
 * the functions return is not used any more.
 */
#ifndef TDE_CLIENT_CATALOG_TREES_H
#define TDE_CLIENT_CATALOG_TREES_H

#include "nodes/pg_list.h"
#include "nodes/parsenodes.h"

/*
 * Returns the base type of an encrypted type, of an array of one (then the base type's array), or of an operand beside one; any other type as it is.
 */
extern Oid	tde_catalog_shown_type(Oid oid);

/* ---- for catalog_queries.c ---- */

typedef struct TdeShowing TdeShowing;

/* One walk through a tree. */
struct TdeShowing
{
	Node	   *(*query) (Query *query, TdeShowing *showing);	/* catalog_queries.c: for a query within an expression, ... */
	Node	   *(*other) (Node *node, Node *shown, TdeShowing *showing);	/* ... and for nodes that only queries have */
	bool		failed;			/* something has no counterpart, or is a value that the user may not see; never reset */
	bool		in_query;		/* within a query, whose boolean expressions are printed as they are */
};

/* An expression_tree_mutator (context: a TdeShowing).  Returns the node in its new form. */
extern Node *tde_catalog_show_tree(Node *node, void *context);

/*
 * Returns a node as the parser coerces it to a type: an argument (COERCE_IMPLICIT_CAST), or a cast that somebody has written.  typmod -1: any.  If
 * there is no way, showing->failed is set and the node returned.
 */
extern Node *tde_catalog_show_coerced(Node *node, Oid type, int32 typmod, CoercionForm form, TdeShowing *showing);

/*
 * Returns the function to be shown for these arguments, which are shown already: the one of PostgreSQL that the parser takes.  A function that is
 * declared with none of our types stays.  InvalidOid if there is none.
 */
extern Oid	tde_catalog_shown_function(Oid function, List *args);

/*
 * Coerces such arguments to what the function takes, in place.  Returns its result's type, which may be polymorphic.  InvalidOid, with
 * showing->failed set, if function is InvalidOid.
 */
extern Oid	tde_catalog_show_passed(Oid function, List *args, TdeShowing *showing);

/* Returns PostgreSQL's operator of this name for these operands; InvalidOid if there is none.  left: InvalidOid for an operator of one operand. */
extern Oid	tde_catalog_shown_operator(Oid operator, Oid left, Oid right);

#endif							/* TDE_CLIENT_CATALOG_TREES_H */
