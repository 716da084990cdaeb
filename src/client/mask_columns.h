/*
 * mask_columns.h - which columns with masks the values in a query come from.
 */
#ifndef TDE_CLIENT_MASK_COLUMNS_H
#define TDE_CLIENT_MASK_COLUMNS_H

#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"

#include "type/type.h"

/* Where a value in a result comes from. */
typedef struct TdeOrigin
{
	TdeColumn	column;			/* as far as it is known */
	bool		unchanged;		/* it is that column's, and nothing computed or chosen: the column's masks are its own */
} TdeOrigin;

static inline TdeColumn
tde_origin_masked(TdeOrigin origin)
{
	return origin.unchanged ? origin.column : TDE_NO_COLUMN;
}

/*
 * Before a query is planned, while somebody may not decrypt: its calls are told which column with masks an argument is, and what is stored in such
 * a column is checked.  Returns the same of the columns of its result, for tde_mask_result_origin(); the list belongs among the plan's
 * invalItems if the receiver decrypts them.
 */
extern List *tde_mask_columns(Query *query);

/* The column with masks that a column of the result is, by its index. */
extern TdeOrigin tde_mask_result_origin(List *items, int index);

/* These items: see tde_is_postponed(). */
#define TDE_MASKED_ITEM	(-(1 << 23))

/* A call that tells it of an expression; the expression itself if there is no column. */
extern Expr *tde_mask_column_call(Expr *expr, TdeColumn column);

#endif							/* TDE_CLIENT_MASK_COLUMNS_H */
