/*
 * counts.h - who has been given what in clear: numbers of values by role, column and day, for tde.decryptions.
 *
 * The core counts what it can by itself: it has been granted room for so many values of a column (TdeDecrypted), and comes here when that is used up.
 */
#ifndef TDE_DECRYPTIONS_COUNTS_H
#define TDE_DECRYPTIONS_COUNTS_H

#include "lib/ilist.h"

#include "type/opened.h"

/* GUC tde_column.log_decryptions. */
extern bool tde_log_decryptions;

/* For what values were decrypted.  Stored in a file: only ever add to these. */
typedef enum TdeDecryptedFor
{
	TDE_FOR_READER,				/* the client, or an expression that a user has written */
	TDE_FOR_COMPARISON			/* an index, a sort, a join, a constraint: nobody has seen them */
} TdeDecryptedFor;

/* What this process has counted of a column for a role since it last told the others.  Entries live as long as the process. */
typedef struct TdeCounted
{
	struct
	{
		Oid			session_role;
		Oid			role;
		Oid			relation;
		int16		column;
		int16		purpose;	/* TdeDecryptedFor */
	}			key;
	TdeDecrypted shown;			/* what the core has */
	uint32		granted;		/* the room that it was given: what is gone of it has been counted */
	uint64		values;			/* that this module has counted itself */
	uint64		unlogged;		/* the same of the log */
	char	   *who;			/* "user ..., session user ...", for the log; NULL: not looked up since it was last written */
	char	   *what;			/* the column, likewise */
	struct TdeDecryptionsPlace *place;	/* in shared memory, where they were told last */
	slist_node	node;			/* among those that have something to tell */
} TdeCounted;

/* Counts values that have been given to a reader; *place, at first NULL, remembers where they are counted. */
extern void tde_counts_add(TdeDecrypted **place, TdeColumn column, uint64 values);

/* A statement of the client's ends: tells the others, and the log.  now: when it was, about; 0: now. */
extern void tde_counts_statement_ends(TimestampTz now);

/* The setting tde_column.track_decryptions changes.  When it is switched off, what was counted is told. */
extern void tde_counts_assign(bool newval);

#endif							/* TDE_DECRYPTIONS_COUNTS_H */
