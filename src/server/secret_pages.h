/*
 * secret_pages.h - memory for secrets on pages of its own, out of swap and core dumps where the kernel allows it.
 */
#ifndef TDE_SERVER_SECRET_PAGES_H
#define TDE_SERVER_SECRET_PAGES_H

/* Pages of this process alone, filled with zeros; NULL if there is no memory. */
extern void *tde_secret_pages_new(Size size);

/* More of them, with the same beginning, in their place; NULL if there is no memory, and then they stay as they are. */
extern void *tde_secret_pages_grow(void *pages, Size size, Size new_size);

/* Cleanse the first bytes, as many as were used, and give the pages back; size as when they were made. */
extern void tde_secret_pages_free(void *pages, Size size, Size used);

/* Lock pages and keep them out of core dumps. */
extern void tde_secret_pages_protect(void *start, Size size);

/* Such a number of bytes, rounded up to whole pages. */
extern Size tde_whole_pages(Size size);

/*
 * The same of shared memory: main shared memory only, since dynamic shared memory can be a file.  What to request for it; finding or
 * making it, with AddinShmemInitLock held: filled with zeros if it was not *found.
 */
extern Size tde_secret_shmem_size(Size size);
extern void *tde_secret_shmem(const char *name, Size size, bool *found);

#endif							/* TDE_SERVER_SECRET_PAGES_H */
