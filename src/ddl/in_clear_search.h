/*
 * in_clear_search.h - the search of in_clear.c: through expressions (in_clear.c), and on to what columns come from (in_clear_columns.c).
 */
#ifndef TDE_DDL_IN_CLEAR_SEARCH_H
#define TDE_DDL_IN_CLEAR_SEARCH_H

#include "nodes/parsenodes.h"
#include "utils/hsearch.h"

#define TDE_MAX_PATH	8

/* Which part of a value is asked for, and for what. */
typedef struct TdePart
{
	Oid			type;			/* of the field that the path leads to */
	bool		any;			/* for encrypted values, too: whoever gets them decrypts them */
	uint8		depth;			/* of the path; 0: the whole value */
	AttrNumber	path[TDE_MAX_PATH]; /* numbers of fields, the first one last; zeros after them */
} TdePart;

typedef struct TdeScope TdeScope;

/* How one search goes through expressions, and what it has come across. */
typedef struct TdeSearch
{
	bool		(*part) (Node *node, const TdeScope *scope);	/* tde_in_clear_part_reads() */
	HTAB	   *seen;			/* NULL: nothing */
	List	   *views;			/* their queries, as they were at first sight */
} TdeSearch;

struct TdeScope
{
	TdeSearch  *search;
	List	   *queries;		/* around the expression, the innermost first; NIL: a table's own expression */
	TdePart		part;
};

/* The part is in this field, which is of this type; false: the path becomes too long. */
extern bool tde_in_clear_enter_field(TdeScope *scope, AttrNumber field, Oid type);

/* The first field of the path, which is left behind. */
extern AttrNumber tde_in_clear_leave_field(TdeScope *scope);

/* The same for a whole value; any: for encrypted ones, too. */
extern TdeScope tde_in_clear_of_whole(const TdeScope *scope, bool any);

/* Is it an encrypted value, where those count?  type: of the whole. */
extern bool tde_in_clear_part_is_encrypted(const TdeScope *scope, Oid type);

/* Is the part of the expression's value computed of encrypted values? */
extern bool tde_in_clear_part_reads(Node *node, const TdeScope *scope);

/* The same of an output column of a query, and of a column that an expression reads. */
extern bool tde_in_clear_output_reads(Query *query, AttrNumber column, const TdeScope *scope);
extern bool tde_in_clear_var_reads(Var *var, const TdeScope *scope);

/* Is what decides whether a query has rows computed of encrypted values?  scope: around the query. */
extern bool tde_in_clear_rows_read(Query *query, const TdeScope *scope);

/* Whatever goes in may come out: the expression itself, an expression_tree_walker; what it consists of. */
extern bool tde_in_clear_goes_in(Node *node, void *context);
extern bool tde_in_clear_any_goes_in(Node *node, const TdeScope *scope);

#endif							/* TDE_DDL_IN_CLEAR_SEARCH_H */
