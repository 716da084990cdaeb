/*
 * postponed.h - the columns of a SELECT whose decryption is left to the receiver of its rows.
 */
#ifndef TDE_CLIENT_POSTPONED_H
#define TDE_CLIENT_POSTPONED_H

#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"

#include "type/masks.h"

/*
 * Returns the columns of a SELECT that are to be decrypted when its rows are sent, though the query does not say so: all of encrypted types.  The
 * items belong among the plan's invalItems; NIL if there is none.
 */
extern List *tde_postponed_mark(Query *query);

/*
 * Returns the same of a SELECT that decrypts its columns itself, by tde_result(): the calls are taken out of it, in place, and hidden copies by which
 * it sorts or groups with them.  Calls that somebody has written stay.
 */
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

/*
 * Returns the indexes of these columns in the rows of a plan; NULL if there are none, as in most statements of the server.  The set is new, in the
 * current memory context.
 */
extern Bitmapset *tde_postponed_columns(PlannedStmt *plan);

/* Returns a copy of a plan in which its top node decrypts the postponed columns, for EXPLAIN: they are postponed no more. */
extern PlannedStmt *tde_postponed_show(PlannedStmt *plan);

/*
 * For RETURNING of a table of Citus, which takes no function there that is not IMMUTABLE.  Before the query is planned: takes the calls out, in
 * place, and returns the indexes of their columns; NULL if there were none.
 */
extern PGDLLEXPORT Bitmapset *tde_postponed_take_returning(Query *query);

/* Afterwards: puts a node on top of the plan that decrypts these columns. */
extern PGDLLEXPORT void tde_postponed_decrypt_returning(PlannedStmt *plan, Bitmapset *columns);

#endif							/* TDE_CLIENT_POSTPONED_H */
