/*
 * mask_sources.h - which table's column the value of an expression is.
 */
#ifndef TDE_MASKS_MASK_SOURCES_H
#define TDE_MASKS_MASK_SOURCES_H

#include "nodes/parsenodes.h"

#include "type/masks.h"
#include "type/type.h"

/* A query, and the one that it is in; NULL: none. */
typedef struct TdeMaskScope
{
	Query	   *query;
	struct TdeMaskScope *outer;
} TdeMaskScope;

/* Returns the encrypted type of an expression, also under a domain; NULL: it has none. */
extern TdeType *tde_mask_encrypted_type(Expr *expr);

/*
 * Returns the table that a Var is of, and its query in *scope.  What UNION and its like give seems to be a column of their first query, and is none.
 */
extern RangeTblEntry *tde_mask_entry_of(Var *var, TdeMaskScope **scope);

/* Returns the table's column that an expression's value is; TDE_NO_COLUMN: it is none, or nobody knows. */
extern TdeColumn tde_mask_column_of(Expr *expr, TdeMaskScope *scope);

#endif							/* TDE_MASKS_MASK_SOURCES_H */
