/*
 * opened.h - a value is given out in clear: to who may see it, and counted by its column, for tde.decryptions.
 *
 * Counting is in the module "decryptions"; what may see a value is asked here.
 */
#ifndef TDE_TYPE_OPENED_H
#define TDE_TYPE_OPENED_H

#include "executor/execdesc.h"
#include "executor/tuptable.h"
#include "fmgr.h"

#include "type/access.h"

/* Where values of a column are counted for a role: what the core sees of it. */
typedef struct TdeDecrypted
{
	uint32		room;			/* for so many more, as long as the role is the same, nobody need be called */
} TdeDecrypted;

/* What the core calls in the module; all but the first only while values are counted. */
typedef struct TdeDecryptionsCalls
{
	void		(*assign) (bool newval);	/* the setting changes */
	void		(*query_starts) (QueryDesc *query); /* from now on its columns are known */
	void		(*statement_ends) (QueryDesc *query);	/* NULL: a command of the client's */

	/* A value, or an array of them, is given out; *place, at first NULL, remembers where the column is counted. */
	void		(*add) (TdeDecrypted **place, TdeColumn column, Datum value, bool is_array);

	/* The same of an argument of a function of ours. */
	void		(*add_argument) (FunctionCallInfo fcinfo, int arg);

	/* The columns that an argument, and a column of a query's result, come from, as far as that is known. */
	TdeColumn	(*argument) (FunctionCallInfo fcinfo, int arg);
	TdeColumn	(*result) (QueryDesc *query, int index);

	/* A row goes to output functions, which are told of no column: these are those of its own.  NULL: no more.  An error forgets it. */
	void		(*row) (TupleTableSlot *slot, const TdeColumn *columns);
} TdeDecryptionsCalls;

/* NULL: the server has started without the module. */
extern const TdeDecryptionsCalls *tde_decryptions;

extern PGDLLEXPORT bool tde_track_decryptions;

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

/* The same for who has asked for the right himself, of no argument. */
static inline void
tde_opened_value(TdeDecrypted **place, TdeColumn column, Datum value, bool is_array)
{
	if (unlikely(tde_track_decryptions))
		tde_decryptions->add(place, column, value, is_array);
}

/* One more, for the role for which the last one was added: false if add() is to be called. */
static inline bool
tde_opened_one_more(TdeDecrypted *place)
{
	if (place == NULL || place->room == 0)
		return false;
	place->room--;
	return true;
}

/* A client's statement ends; query: with its execution. */
static inline void
tde_opened_statement_ends(QueryDesc *query)
{
	if (unlikely(tde_track_decryptions))
		tde_decryptions->statement_ends(query);
}

/* Of the setting tde_column.track_decryptions. */
extern void tde_opened_assign_tracking(bool newval, void *extra);

/* From _PG_init, before settings are defined. */
extern void tde_opened_init(void);

#endif							/* TDE_TYPE_OPENED_H */
