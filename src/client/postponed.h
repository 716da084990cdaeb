/*
 * postponed.h - the columns of a SELECT whose decryption is left to the receiver of its rows.
 */
#ifndef TDE_CLIENT_POSTPONED_H
#define TDE_CLIENT_POSTPONED_H

#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"

#include "type/masks.h"

/*
 * The columns of a SELECT that are to be decrypted when its rows are sent; the list belongs among the plan's invalItems.
 */
extern List *tde_postponed_mark(Query *query);

/* The same of one that decrypts them itself; that is taken back, in place. */
extern List *tde_postponed_take(Query *query);

/*
 * PostgreSQL gives extensions no place in a plan, and copies and keeps plans.  So what a plan has to say stands among the
 * things that it depends on, under the number of a catalog cache that there is not: less than zero.  Each such item is a set
 * of columns, 32 to an item; those far below zero say where one with masks comes from.
 */
static inline bool
tde_is_postponed(PlanInvalItem *item)
{
	return item->cacheId < 0 && item->cacheId > TDE_MASKED_ITEM;
}

/* The indexes of these columns in the rows of a plan; for most statements of the server there is no set to make. */
extern Bitmapset *tde_postponed_columns(PlannedStmt *plan);

/* For EXPLAIN: a copy of a plan in which its top node decrypts the postponed columns. */
extern PlannedStmt *tde_postponed_show(PlannedStmt *plan);

/*
 * The same for RETURNING of a table of Citus, which takes no function there that is not IMMUTABLE: before it is planned; which columns
 * these were.  And afterwards: a node on top of the plan decrypts them.
 */
extern PGDLLEXPORT Bitmapset *tde_postponed_take_returning(Query *query);
extern PGDLLEXPORT void tde_postponed_decrypt_returning(PlannedStmt *plan, Bitmapset *columns);

#endif							/* TDE_CLIENT_POSTPONED_H */
