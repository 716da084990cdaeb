/*
 * new_expression.h - an expression over the columns that a table is going to have: it is analyzed, and written back as a user could have
 * written it.
 */
#ifndef TDE_DDL_NEW_EXPRESSION_H
#define TDE_DDL_NEW_EXPRESSION_H

#include "nodes/parsenodes.h"
#include "parser/parse_node.h"
#include "utils/relcache.h"

/* The columns of a table, and those that are added by the ColumnDefs among these: target entries of NULLs. */
extern List *tde_new_columns_of(Relation rel);
extern List *tde_new_columns_add(List *columns, List *defs);

/* One of them; NULL: there is none of this name. */
extern TargetEntry *tde_new_column(List *columns, const char *name);

typedef struct TdeReadColumns
{
	List	   *columns;
	const char *encrypted;		/* one that the expression reads */
} TdeReadColumns;

/* Does an expression as the parser makes it read something else than these columns?  Sets encrypted. */
extern bool tde_new_reads_others(Node *expr, TdeReadColumns *read);

/* For the analysis of expressions over these columns. */
extern ParseState *tde_new_parse_state(List *columns, const char *table, const char *source);

/* An analyzed expression as the parser would make it; NULL: it cannot be written. */
extern Node *tde_new_raw_form(Node *expr, List *columns);

#endif							/* TDE_DDL_NEW_EXPRESSION_H */
