/*
 * held_cursors.h - rows that PostgreSQL keeps before it sends them: decrypted ones in memory, those of cursors WITH HOLD as ciphertext.
 */
#ifndef TDE_CLIENT_HELD_CURSORS_H
#define TDE_CLIENT_HELD_CURSORS_H

#include "executor/execdesc.h"
#include "utils/portal.h"

#include "type/type.h"

/* Where a value in a result comes from, as the plan knew it, for those who decrypt it later. */
typedef struct TdeOrigin
{
	TdeColumn	masked;			/* the column that it is, if that has masks */
	TdeColumn	counted;		/* the one for which it counts, while values are counted */
} TdeOrigin;

/*
 * Has the active portal keep its rows in memory, without the limit of work_mem, if dest fills the portal's store.  To be called before EXECUTE of a
 * statement that decrypts, or CALL whose outputs are decrypted, when the store is still empty.
 */
extern void tde_held_rows_execute(DestReceiver *dest);

/* Does the same before FETCH from a cursor, if that decrypts. */
extern void tde_held_rows_fetch(Portal cursor, DestReceiver *dest);

/*
 * Does the same before a plan is run whose rows go into a DestTuplestore, if it is a RETURNING, or a SELECT with a data-changing WITH clause, that
 * decrypts, and the portal's own statement.
 */
extern void tde_held_rows_run(QueryDesc *query);

/* Returns true if the executor is about to put down all rows of the active portal, a cursor that outlives its transaction. */
extern bool tde_held_cursor_persists(QueryDesc *query);

/*
 * To be called then.  The rows are put down as the executor makes them, with the descriptor that the query has by now; columns: the indexes of those
 * that are to be decrypted when they are read, copied here.
 */
extern void tde_held_cursor_keep(QueryDesc *query, Bitmapset *columns);

/*
 * Before FETCH or MOVE: returns true if the cursor is such a one, lets it be read until tde_held_cursors_seal(), and tells what its rows are
 * (*encrypted), which columns are to be decrypted, and where all columns come from, by index.  What it returns lives as long as the portal.
 */
extern bool tde_held_cursor_open(Portal cursor, TupleDesc *encrypted, Bitmapset **columns, const TdeOrigin **origins);

/*
 * Makes such cursors unreadable again, for Execute messages and functions that fetch by SPI.  Called after each utility command and at the end of
 * transactions.
 */
extern void tde_held_cursors_seal(void);

#endif							/* TDE_CLIENT_HELD_CURSORS_H */
