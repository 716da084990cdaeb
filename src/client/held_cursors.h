/*
 * held_cursors.h - rows that PostgreSQL keeps before it sends them: decrypted ones in memory, those of cursors WITH HOLD as ciphertext.
 */
#ifndef TDE_CLIENT_HELD_CURSORS_H
#define TDE_CLIENT_HELD_CURSORS_H

#include "executor/execdesc.h"
#include "utils/portal.h"

#include "type/type.h"

/* Where a value in a result comes from. */
typedef struct TdeOrigin
{
	TdeColumn	masked;			/* the column that it is, if that has masks */
	TdeColumn	counted;		/* the one for which it counts, while values are counted */
} TdeOrigin;

/* Before EXECUTE of a statement that decrypts, before FETCH, and before a plan is run. */
extern void tde_held_rows_execute(DestReceiver *dest);
extern void tde_held_rows_fetch(Portal cursor, DestReceiver *dest);
extern void tde_held_rows_run(QueryDesc *query);

/* Is the executor about to put down all rows of the active portal, a cursor that outlives its transaction? */
extern bool tde_held_cursor_persists(QueryDesc *query);

/* They are put down as the executor makes them, with the descriptor that the query has by now; these columns are to be decrypted later. */
extern void tde_held_cursor_keep(QueryDesc *query, Bitmapset *columns);

/*
 * Before FETCH or MOVE: if the cursor is such a one, let it be read, and tell what its rows are, and which columns are to be decrypted;
 * *origins: of all its columns, by index.
 */
extern bool tde_held_cursor_open(Portal cursor, TupleDesc *encrypted, Bitmapset **columns, const TdeOrigin **origins);

/* After a utility command has run. */
extern void tde_held_cursors_seal(void);

#endif							/* TDE_CLIENT_HELD_CURSORS_H */
