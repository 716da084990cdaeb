/*
 * held_cursors.h - rows that PostgreSQL keeps before it sends them: decrypted ones in memory, those of cursors WITH HOLD as ciphertext.
 */
#ifndef TDE_CLIENT_HELD_CURSORS_H
#define TDE_CLIENT_HELD_CURSORS_H

#include "executor/execdesc.h"
#include "utils/portal.h"

/* Before EXECUTE of a statement that decrypts, before FETCH, and before a plan is run. */
extern void tde_held_rows_execute(DestReceiver *dest);
extern void tde_held_rows_fetch(Portal cursor, DestReceiver *dest);
extern void tde_held_rows_run(QueryDesc *query);

/* Is the executor about to put down all rows of the active portal, a cursor that outlives its transaction? */
extern bool tde_held_cursor_persists(QueryDesc *query);

/* They are put down as the executor makes them, with this descriptor; these columns are to be decrypted later.  items: of the plan. */
extern void tde_held_cursor_keep(TupleDesc encrypted, Bitmapset *columns, List *items);

/* Before FETCH or MOVE: if the cursor is such a one, let it be read, and tell what its rows are, and which columns are to be decrypted. */
extern bool tde_held_cursor_open(Portal cursor, TupleDesc *encrypted, Bitmapset **columns, List **items);

/* After a utility command has run. */
extern void tde_held_cursors_seal(void);

#endif							/* TDE_CLIENT_HELD_CURSORS_H */
