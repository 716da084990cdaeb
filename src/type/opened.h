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

/* Where values of a column are counted for a role: what the core sees of it.  The rest is the module's. */
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

/* The setting tde_column.track_decryptions; true only if the module is loaded. */
extern PGDLLEXPORT bool tde_track_decryptions;

/* Called where a function of ours gives this argument out: it is counted.  Returns false if the user may not see it; then it is not. */
extern bool tde_opened_permits(FunctionCallInfo fcinfo, int arg);

/* The same; throws as tde_access_refuse() does if he may not. */
extern void tde_opened_check_watched(FunctionCallInfo fcinfo, int arg);

/* Called by functions that give an argument out in clear, before they decrypt it.  Costs a comparison while nobody watches. */
static inline void
tde_opened_check(FunctionCallInfo fcinfo, int arg)
{
	if (unlikely(tde_access_watched))
		tde_opened_check_watched(fcinfo, arg);
}

/* Counts a value for who has asked for the right himself: of no argument, as of a column of a result. */
static inline void
tde_opened_value(TdeDecrypted **place, TdeColumn column, Datum value, bool is_array)
{
	if (unlikely(tde_track_decryptions))
		tde_decryptions->add(place, column, value, is_array);
}

/* Counts one more, for the role for which the last one was added.  Returns false if add() is to be called. */
static inline bool
tde_opened_one_more(TdeDecrypted *place)
{
	if (place == NULL || place->room == 0)
		return false;
	place->room--;
	return true;
}

/* A client's statement ends; query: with its execution, NULL: a command. */
static inline void
tde_opened_statement_ends(QueryDesc *query)
{
	if (unlikely(tde_track_decryptions))
		tde_decryptions->statement_ends(query);
}

/* The assign hook of the setting tde_column.track_decryptions. */
extern void tde_opened_assign_tracking(bool newval, void *extra);

/* From _PG_init, before settings are defined: loads the module while shared_preload_libraries are. */
extern void tde_opened_init(void);

#endif							/* TDE_TYPE_OPENED_H */
