/*
 * receiver.h - receivers of rows that stand before another one: the client's, a function's, Citus'.
 */
#ifndef TDE_SERVER_RECEIVER_H
#define TDE_SERVER_RECEIVER_H

#include "tcop/dest.h"

typedef struct TdeReceiver
{
	DestReceiver pub;
	DestReceiver *next;
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

/* Whoever made the next one destroys it. */
static inline void
tde_receiver_destroy(DestReceiver *self)
{
}

static inline void
tde_receiver_set_next(TdeReceiver *receiver, DestReceiver *next)
{
	receiver->next = next;
	receiver->pub.mydest = next->mydest;
}

/* size: of a structure that begins with a TdeReceiver; the rest of it is zero. */
static inline void *
tde_receiver_new(Size size, bool (*receive) (TupleTableSlot *slot, DestReceiver *self),
				 void (*startup) (DestReceiver *self, int operation, TupleDesc rows))
{
	TdeReceiver *receiver = palloc0(size);

	receiver->pub = (DestReceiver) {receive, startup, tde_receiver_shutdown, tde_receiver_destroy, DestNone};
	return receiver;
}

#endif							/* TDE_SERVER_RECEIVER_H */
