/*
 * databases.h - the databases of the instance, and background workers that look at, or wrap anew, the data keys of each.
 *
 * A session asks (maintenance/purge.c), one at a time in the instance, and a worker in the database answers through shared memory.  The worker runs
 * as the bootstrap superuser, and sees what is committed.
 */
#ifndef TDE_MAINTENANCE_DATABASES_H
#define TDE_MAINTENANCE_DATABASES_H

#include "postgres.h"

#include "keys/table_rows.h"

/* A database of the instance, as it was when the list was made. */
typedef struct TdeDatabase
{
	Oid			oid;			/* names may change */
	char	   *name;			/* palloc'd */
} TdeDatabase;

/* What a worker is to do. */
typedef enum TdeDatabaseTask
{
	TDE_COUNT_WRAPPED,			/* how many data keys a master key wraps, once all open transactions that change them have ended */
	TDE_COUNT_KEYS,				/* how many data keys there are, without waiting for anybody */
	TDE_WRAP_ANEW				/* wrap them by the current master key: how many were not; -1: the database does not have the extension */
} TdeDatabaseTask;

/* Returns true if the library was in shared_preload_libraries.  Otherwise there are no workers. */
extern bool tde_databases_available(void);

/*
 * Throws ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE unless they are available, and ERRCODE_ACTIVE_SQL_TRANSACTION if this transaction has changed
 * something: a worker may have to wait for it, for ever.  doing: "cannot ...", for the message.
 */
extern void tde_databases_require(const char *doing);

/* Returns TdeDatabase in the order of their names, but for those that a DROP DATABASE left half removed: nobody can connect to them. */
extern List *tde_databases_list(void);

/*
 * Has a worker do it, waits for its end, and sets *count.  For one process at a time; the caller holds the purge lock.  Returns false if none could;
 * the server log says why.  master: for TDE_COUNT_WRAPPED.  Throws ERRCODE_CONFIGURATION_LIMIT_EXCEEDED if no worker is free, but for TDE_COUNT_KEYS.
 */
extern bool tde_databases_ask(Oid database, TdeDatabaseTask task, const uint8 *master, int *count);

/*
 * Wraps the data keys of this database by a master key of the open wallet, in the transaction; NULL: by the current one.  Returns how many were not.
 * Nobody makes keys here until the transaction ends.
 */
extern int	tde_databases_rewrap_own(const uint8 *master);

/* The background worker's main function, which the postmaster finds by its name. */
extern PGDLLEXPORT void tde_databases_worker(Datum main_arg);

extern void tde_databases_init(void);	/* from _PG_init */

#endif							/* TDE_MAINTENANCE_DATABASES_H */
