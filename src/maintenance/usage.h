/*
 * usage.h - where the data keys are used in this database.
 */
#ifndef TDE_MAINTENANCE_USAGE_H
#define TDE_MAINTENANCE_USAGE_H

#include "access/tupdesc.h"
#include "nodes/pg_list.h"

#include "type/inside.h"

/* One key in one place.  Of one place there are as many as there are keys, and columns. */
typedef struct TdeUse
{
	uint32		key_id;			/* 0: it cannot be told */
	const char *object_type;	/* "table", "index", "view", "statistics", ... */
	const char *object;			/* its name, quoted and with its schema where that is needed */
	const char *column;			/* NULL: none in particular */
	int64		count;			/* of values; -1: they cannot be counted */
} TdeUse;

/*
 * Returns all uses in this database, or of one table with its partitions, indexes and what the catalogs hold of it, as TdeUse, ordered by key,
 * object_type, object and column.  Reads all of it, with an open wallet or a closed one, and tells now and then how far it is.
 *
 * keep_locks: the tables' locks, which keep them from being dropped, truncated or rewritten, stay until the end of the transaction.  The caller has a
 * snapshot.
 */
extern PGDLLEXPORT List *tde_usage_collect(Oid table, bool keep_locks);

/* ---- for what takes keys away: maintenance/usage_drop.c ---- */

/* Returns the first ten of the places, a line for each, and how many more there are; palloc'd. */
extern PGDLLEXPORT char *tde_usage_places(const List *uses);

/* Throws ERRCODE_OBJECT_IN_USE if this database has prepared transactions, during which one cannot do this (what, for the message). */
extern PGDLLEXPORT void tde_usage_refuse_prepared(const char *what);

/* Waits for all other transactions of this database that are running now, but for VACUUM. */
extern PGDLLEXPORT void tde_usage_wait_for_transactions(void);

/*
 * Has all sessions parse and plan their prepared statements and functions anew, from the commit on: what they keep holds literals that were encrypted
 * then.
 */
extern PGDLLEXPORT void tde_usage_forget_plans(void);

#endif							/* TDE_MAINTENANCE_USAGE_H */
