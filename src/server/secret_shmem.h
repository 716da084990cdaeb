/*
 * secret_shmem.h - shared memory for secrets: on pages of its own, out of swap and core dumps where the kernel allows it.
 *
 * Main shared memory only: dynamic shared memory can be a file.
 */
#ifndef TDE_SERVER_SECRET_SHMEM_H
#define TDE_SERVER_SECRET_SHMEM_H

/* What to request for it. */
extern Size tde_secret_shmem_size(Size size);

/* Find or make it, with AddinShmemInitLock held; filled with zeros if it was not *found. */
extern void *tde_secret_shmem(const char *name, Size size, bool *found);

#endif							/* TDE_SERVER_SECRET_SHMEM_H */
