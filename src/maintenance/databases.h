/*
 * databases.h - the databases of the instance, and background workers that look at, or wrap anew, the data keys of each.
 */
#ifndef TDE_MAINTENANCE_DATABASES_H
#define TDE_MAINTENANCE_DATABASES_H

#include "postgres.h"

#include "keys/table_rows.h"

typedef struct TdeDatabase
{
	Oid			oid;
	char	   *name;
} TdeDatabase;

/* What a worker is to do. */
typedef enum TdeDatabaseTask
{
	TDE_COUNT_WRAPPED,			/* how many data keys a master key wraps, once all open transactions that change them have ended */
	TDE_COUNT_KEYS,				/* how many data keys there are, without waiting for anybody */
	TDE_WRAP_ANEW				/* wrap them by the current master key: how many were not; -1: the database does not have the extension */
} TdeDatabaseTask;

/* Was the library in shared_preload_libraries?  Otherwise there are no workers. */
extern bool tde_databases_available(void);

/* ereport unless they are available, and this transaction has changed nothing: a worker may have to wait for it, for ever. */
extern void tde_databases_require(const char *doing);

/* All in the order of their names, but for those that a DROP DATABASE left half removed: nobody can connect to them. */
extern List *tde_databases_list(void);

/* Has a worker do it.  For one process at a time.  False if none could; the server log says why.  master: for TDE_COUNT_WRAPPED. */
extern bool tde_databases_ask(Oid database, TdeDatabaseTask task, const uint8 *master, int *count);

/* Wrap the data keys of this database by a master key of the open wallet, in the transaction; NULL: by the current one.  Returns how many were not. */
extern int	tde_databases_rewrap_own(const uint8 *master);

/* The background worker's main function. */
extern PGDLLEXPORT void tde_databases_worker(Datum main_arg);

extern void tde_databases_init(void);

#endif							/* TDE_MAINTENANCE_DATABASES_H */
