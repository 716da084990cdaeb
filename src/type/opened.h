/*
 * opened.h - a value is given out in clear: to who may see it, and counted by its column, for tde.decryptions.
 */
#ifndef TDE_TYPE_OPENED_H
#define TDE_TYPE_OPENED_H

#include "executor/tuptable.h"
#include "fmgr.h"

#include "server/decryptions.h"
#include "type/access.h"
#include "type/origin.h"

/* A function of ours gives this argument out: it is counted.  False: the user may not see it, and it is not. */
extern bool tde_opened_permits(FunctionCallInfo fcinfo, int arg);

/* The same; ereport if he may not. */
extern void tde_opened_check_watched(FunctionCallInfo fcinfo, int arg);

static inline void
tde_opened_check(FunctionCallInfo fcinfo, int arg)
{
	if (unlikely(tde_access_watched))
		tde_opened_check_watched(fcinfo, arg);
}

/* The same for who has asked for the right himself, and whether values are counted. */
extern void tde_opened_argument(FunctionCallInfo fcinfo, int arg);

/* The column that an argument comes from, as far as that is known. */
extern TdeColumn tde_opened_column(FunctionCallInfo fcinfo, int arg);

/* So many values are given out, likewise, of no argument; *place, at first NULL, remembers where they are counted. */
static inline void
tde_opened_values(TdeDecrypted **place, TdeColumn column, uint64 values)
{
	if (unlikely(tde_track_decryptions))
		tde_decryptions_add(place, column, values);
}

/* How many values an array has. */
extern uint64 tde_opened_elements(Datum array);

/*
 * A row goes to output functions, which are told of no column: these are the columns that its own come from.  NULL: no more.  An error forgets it.
 */
extern void tde_opened_row(TupleTableSlot *slot, const TdeColumn *origins);

#endif							/* TDE_TYPE_OPENED_H */
