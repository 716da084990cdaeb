/*
 * usage.h - where the data keys are used in this database.
 */
#ifndef TDE_MAINTENANCE_USAGE_H
#define TDE_MAINTENANCE_USAGE_H

#include "access/tupdesc.h"
#include "nodes/pg_list.h"

#include "type/inside.h"

/* One key in one place. */
typedef struct TdeUse
{
	uint32		key_id;			/* 0: it cannot be told */
	const char *object_type;	/* "table", "index", "view", "statistics", ... */
	const char *object;			/* its name, quoted and with its schema where that is needed */
	const char *column;			/* NULL: none in particular */
	int64		count;			/* of values; -1: they cannot be counted */
} TdeUse;

/*
 * All uses in this database, or of one table with its partitions, indexes and what the catalogs hold of it, ordered by key,
 * object_type, object and column.  Reads all of it, and tells now and then how far it is.  keep_locks: the tables' locks,
 * which keep them from being dropped, truncated or rewritten, stay until the end of the transaction.
 */
extern PGDLLEXPORT List *tde_usage_collect(Oid table, bool keep_locks);

/* ---- for what takes keys away: maintenance/usage_drop.c ---- */

/* The first ten of the places, a line for each, and how many more there are. */
extern PGDLLEXPORT char *tde_usage_places(const List *uses);

/* ereport if this database has prepared transactions, during which one cannot do this. */
extern PGDLLEXPORT void tde_usage_refuse_prepared(const char *what);

/* Wait for all other transactions of this database that are running now. */
extern PGDLLEXPORT void tde_usage_wait_for_transactions(void);

/*
 * Have all sessions parse and plan their prepared statements and functions anew: what they keep holds literals that were
 * encrypted then.
 */
extern PGDLLEXPORT void tde_usage_forget_plans(void);

#endif							/* TDE_MAINTENANCE_USAGE_H */
