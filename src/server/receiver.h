/*
 * receiver.h - receivers of rows that stand before another one: the client's, a function's, Citus'.
 *
 * A receiver of ours looks at rows, or changes them, and hands them on.  It is a structure that begins with a TdeReceiver, made by tde_receiver_new()
 * in the current memory context; what only hands on takes the functions below.
 */
#ifndef TDE_SERVER_RECEIVER_H
#define TDE_SERVER_RECEIVER_H

#include "tcop/dest.h"

/* The beginning of a receiver that stands before another one. */
typedef struct TdeReceiver
{
	DestReceiver pub;			/* what the executor calls */
	DestReceiver *next;			/* whom rows are handed on to; not ours */
} TdeReceiver;

static inline void
tde_receiver_startup(DestReceiver *self, int operation, TupleDesc rows)
{
	DestReceiver *next = ((TdeReceiver *) self)->next;

	next->rStartup(next, operation, rows);
}

static inline void
tde_receiver_shutdown(DestReceiver *self)
{
	DestReceiver *next = ((TdeReceiver *) self)->next;

	next->rShutdown(next);
}

/* Does nothing: whoever made the next one destroys it, and this one goes with its memory context. */
static inline void
tde_receiver_destroy(DestReceiver *self)
{
}

/* To be called before the first row.  The executor takes this receiver for what the next one is. */
static inline void
tde_receiver_set_next(TdeReceiver *receiver, DestReceiver *next)
{
	receiver->next = next;
	receiver->pub.mydest = next->mydest;
}

/* Returns a receiver without a next one.  size: of a structure that begins with a TdeReceiver; the rest of it is zero. */
static inline void *
tde_receiver_new(Size size, bool (*receive) (TupleTableSlot *slot, DestReceiver *self),
				 void (*startup) (DestReceiver *self, int operation, TupleDesc rows))
{
	TdeReceiver *receiver = palloc0(size);

	receiver->pub = (DestReceiver) {receive, startup, tde_receiver_shutdown, tde_receiver_destroy, DestNone};
	return receiver;
}

#endif							/* TDE_SERVER_RECEIVER_H */
