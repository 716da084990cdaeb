/*
 * in_clear_search.h - the search of in_clear.c: through expressions (in_clear.c), and on to what columns come from (in_clear_columns.c).
 *
 * The two files call each other by turns.  So that no file calls one that calls it, in_clear_columns.c reaches the walk through expressions by the
 * pointer TdeSearch.part alone.
 */
#ifndef TDE_DDL_IN_CLEAR_SEARCH_H
#define TDE_DDL_IN_CLEAR_SEARCH_H

#include "nodes/parsenodes.h"
#include "utils/hsearch.h"

/* How deep fields within fields are told apart.  What is deeper counts as a whole value. */
#define TDE_MAX_PATH	8

/* Which part of a value is asked for, and for what.  Compared byte by byte, so that unused places of the path are zero. */
typedef struct TdePart
{
	Oid			type;			/* of the field that the path leads to; InvalidOid: the whole value */
	bool		any;			/* encrypted values count, too: whoever gets them decrypts them */
	uint8		depth;			/* of the path; 0: the whole value */
	AttrNumber	path[TDE_MAX_PATH]; /* numbers of fields, the first one last; zeros after them */
} TdePart;

typedef struct TdeScope TdeScope;

/* How one search goes through expressions, and what it has come across. */
typedef struct TdeSearch
{
	bool		(*part) (Node *node, const TdeScope *scope);	/* tde_in_clear_part_reads() */
	HTAB	   *seen;			/* columns looked at, with the part (Seen of in_clear_columns.c); NULL: none yet */
	List	   *views;			/* queries of views (View, likewise), as they were at first sight */
} TdeSearch;

/* Where the search is.  Passed down by value or as a constant; whoever needs another one copies it. */
struct TdeScope
{
	TdeSearch  *search;			/* the same for all of it */
	List	   *queries;		/* around the expression, the innermost first; NIL: a table's own expression */
	TdePart		part;			/* that is asked for */
};

/*
 * Goes from a field to the row that has it: the part that was asked for is in this field of the row, which is of this type.  Returns false, with
 * nothing changed, if the path becomes too long; the caller then asks for all that goes in.
 */
extern bool tde_in_clear_enter_field(TdeScope *scope, AttrNumber field, Oid type);

/* Takes the outermost field off the path, which must not be empty, and returns its number. */
extern AttrNumber tde_in_clear_leave_field(TdeScope *scope);

/* Returns the same scope for a whole value.  any: encrypted values count, too. */
extern TdeScope tde_in_clear_of_whole(const TdeScope *scope, bool any);

/* Returns true if the part is an encrypted value and those count.  type: of the whole value. */
extern bool tde_in_clear_part_is_encrypted(const TdeScope *scope, Oid type);

/* Returns true if this part of the expression's value is computed of encrypted values.  node may be NULL. */
extern bool tde_in_clear_part_reads(Node *node, const TdeScope *scope);

/* Returns the same of an output column of a query.  scope: around the query. */
extern bool tde_in_clear_output_reads(Query *query, AttrNumber column, const TdeScope *scope);

/* Returns the same of a column that an expression reads.  scope: the expression's. */
extern bool tde_in_clear_var_reads(Var *var, const TdeScope *scope);

/* Returns true if what decides whether a query has rows is computed of encrypted values.  scope: around the query. */
extern bool tde_in_clear_rows_read(Query *query, const TdeScope *scope);

/*
 * Returns true if the expression reads an encrypted value at all, since what goes in may come out.  An expression_tree_walker; context: a TdeScope.
 */
extern bool tde_in_clear_goes_in(Node *node, void *context);

/* Returns the same of what an expression consists of: of its operands, not of itself. */
extern bool tde_in_clear_any_goes_in(Node *node, const TdeScope *scope);

#endif							/* TDE_DDL_IN_CLEAR_SEARCH_H */
