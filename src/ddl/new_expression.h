/*
 * new_expression.h - an expression over the columns that a table is going to have: it is analyzed, and written back as a user could have
 * written it.
 */
#ifndef TDE_DDL_NEW_EXPRESSION_H
#define TDE_DDL_NEW_EXPRESSION_H

#include "nodes/parsenodes.h"
#include "parser/parse_node.h"
#include "utils/relcache.h"

/*
 * The columns are TargetEntries of NULL constants, which have the name, type, modifier and collation of a column each.  Both functions append to the
 * list, which may be NIL, what it has no column of the same name of, and return it.
 */

/* Appends the columns of a table or composite type that is there, without dropped ones. */
extern List *tde_new_columns_add_relation(List *columns, Relation rel);

/* Appends what the ColumnDefs among these nodes declare, without what names no type, of which PostgreSQL says itself what is wrong. */
extern List *tde_new_columns_add(List *columns, List *defs);

/* Returns the entry of the column that has this name; NULL if there is none. */
extern TargetEntry *tde_new_column(List *columns, const char *name);

/* What an expression may read, and what it does. */
typedef struct TdeReadColumns
{
	List	   *columns;		/* as above */
	const char *encrypted;		/* the name of an encrypted one that the expression reads; NULL: none yet */
} TdeReadColumns;

/*
 * Returns true if a raw expression reads something else than these columns, at the first such find.  read->encrypted is set on the way, and is
 * complete only if the result is false.
 */
extern bool tde_new_reads_others(Node *expr, TdeReadColumns *read);

/*
 * Returns a ParseState in which raw expressions over these columns can be analyzed; the caller frees it by free_parsestate().  table: the name by
 * which the expressions may qualify columns.  source: the text to which locations refer.
 */
extern ParseState *tde_new_parse_state(List *columns, const char *table, const char *source);

/*
 * Returns an analyzed expression over these columns as the parser would have made it of a user's text, in a new tree; NULL if it cannot be written.
 * Functions and operators are named with their schemas and types by OID, so that every search_path finds the same.
 */
extern Node *tde_new_raw_form(Node *expr, List *columns);

#endif							/* TDE_DDL_NEW_EXPRESSION_H */
