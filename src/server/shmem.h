/*
 * shmem.h - the extension's parts of shared memory.
 */
#ifndef TDE_SERVER_SHMEM_H
#define TDE_SERVER_SHMEM_H

#include "storage/lwlock.h"

/*
 * From _PG_init: a part of shared memory, and a named lock to go with it unless the name is NULL.  startup is called in the
 * postmaster, with AddinShmemInitLock held, to find or make the part.  False, and nothing is done, if the library is not being
 * loaded by shared_preload_libraries: then there is no shared memory for it.
 */
extern bool tde_shmem_add(Size size, const char *lock, void (*startup) (void));

/* The same for an array with an element for each of MaxBackends, a number that _PG_init comes too early for. */
extern bool tde_shmem_add_for_backends(Size size_each, void (*startup) (void));

/* The lock of that name; for startup. */
extern LWLock *tde_shmem_lock(const char *lock);

#endif							/* TDE_SERVER_SHMEM_H */
