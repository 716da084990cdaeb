/*
 * tde_purge.h - does a database of the instance still need a master key?
 *
 * layer: 9
 */
#ifndef TDE_PURGE_H
#define TDE_PURGE_H

#include "postgres.h"

/*
 * How many data keys of that database the master key wraps, once all open transactions that change them have ended.  For one
 * process at a time.  False if the worker failed; the server log says why.
 */
extern bool tde_purge_count(Oid database, const uint8 *master, int *count);

/* Was the library in shared_preload_libraries?  Otherwise there is no shared memory for it. */
extern bool tde_purge_available(void);

/* The background worker's main function. */
extern PGDLLEXPORT void tde_purge_worker(Datum main_arg);

extern void tde_purge_init(void);

#endif							/* TDE_PURGE_H */
