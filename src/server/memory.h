/*
 * memory.h - memory: shared memory, pages for secrets, how every process forgets the secrets that it keeps; changes of relations.
 */
#ifndef TDE_SERVER_MEMORY_H
#define TDE_SERVER_MEMORY_H

#include "storage/lwlock.h"
#include "utils/hsearch.h"

/* ---- shared memory ---- */

/*
 * From _PG_init: a part of shared memory, and a named lock to go with it unless the name is NULL.  startup is called in the
 * postmaster, with AddinShmemInitLock held, to find or make the part.  False, and nothing is done, if the library is not being
 * loaded by shared_preload_libraries: then there is no shared memory for it.
 */
extern PGDLLEXPORT bool tde_memory_shmem_add(Size size, const char *lock, void (*startup) (void));

/* The same for an array with an element for each of MaxBackends, a number that _PG_init comes too early for. */
extern bool tde_memory_shmem_add_for_backends(Size size_each, void (*startup) (void));

/* The lock of that name; for startup. */
extern PGDLLEXPORT LWLock *tde_memory_shmem_lock(const char *lock);

/* ---- pages for secrets, out of swap and core dumps where the kernel allows it ---- */

/* Pages of this process alone, filled with zeros; NULL if there is no memory. */
extern void *tde_memory_secret_pages_new(Size size);

/* More of them, with the same beginning, in their place; NULL if there is no memory, and then they stay as they are. */
extern void *tde_memory_secret_pages_grow(void *pages, Size size, Size new_size);

/* Cleanse the first bytes, as many as were used, and give the pages back; size as when they were made. */
extern void tde_memory_secret_pages_free(void *pages, Size size, Size used);

/* Lock pages and keep them out of core dumps. */
extern void tde_memory_secret_pages_protect(void *start, Size size);

/* Such a number of bytes, rounded up to whole pages. */
extern Size tde_memory_whole_pages(Size size);

/*
 * The same of shared memory: main shared memory only, since dynamic shared memory can be a file.  What to request for it; finding or
 * making it, with AddinShmemInitLock held: filled with zeros if it was not *found.
 */
extern PGDLLEXPORT Size tde_memory_secret_shmem_size(Size size);
extern PGDLLEXPORT void *tde_memory_secret_shmem(const char *name, Size size, bool *found);

/* ---- forgetting secrets ---- */

/*
 * What asks for it is an invalidation of the relation cache for an OID that no relation has (those of pg_class begin above
 * FirstGenbkiObjectId or were assigned by hand, and 1 is a database).  The module that follows such invalidations calls
 * tde_memory_forget_here() for this one: PostgreSQL has room for ten callbacks of all libraries together.
 */
#define TDE_FORGET_RELID	1

/* Something that is to be forgotten was made: ready keys, and so whatever is decrypted with them. */
extern bool tde_secrets_held;

/* From _PG_init: what cleanses it.  May be called wherever PostgreSQL accepts invalidations; must not look at catalogs. */
extern void tde_memory_forget_by(void (*forget) (void));

/* The same for what all processes share; called when all forget, by one of them. */
extern void tde_memory_forget_shared_by(void (*forget) (void));

/* Forget it now, in this process; then cleanse what is left of it on the stack and in freed memory. */
extern void tde_memory_forget_here(void);

/* In every process: at once in idle ones, in others when they look at the invalidations next, at the end of a statement at last. */
extern void tde_memory_forget_everywhere(void);

extern void tde_memory_forget_init(void);	/* from _PG_init */

/* ---- changes of relations ---- */

/* Called with the relation, or InvalidOid: all may have changed.  Under the rules of relcache callbacks: no catalog is looked at. */
typedef void (*TdeRelationChanged) (Oid relation);

extern PGDLLEXPORT void tde_memory_when_relation_changes(TdeRelationChanged callback);

/* What begins each entry of a hash table that remembers something of relations. */
typedef struct TdeRelationMemo
{
	Oid			relation;		/* hash key */
	bool		valid;			/* false: look again */
} TdeRelationMemo;

/* For such a callback: what is remembered of the relation, or of all, is not valid any more.  The entries stay. */
extern void tde_memory_relation_memos_invalidate(HTAB *memos, Oid relation);

/* A hash table that lives as long as the backend; its keys are compared byte by byte. */
extern PGDLLEXPORT HTAB *tde_memory_table_new(const char *name, Size keysize, Size entrysize);

#endif							/* TDE_SERVER_MEMORY_H */
