/*
 * memory.h - memory: shared memory, pages for secrets, how every process forgets the secrets that it keeps; changes of relations.
 */
#ifndef TDE_SERVER_MEMORY_H
#define TDE_SERVER_MEMORY_H

#include "storage/lwlock.h"
#include "utils/hsearch.h"

/* ---- shared memory ---- */

/*
 * From _PG_init: adds a part of shared memory, and a named lock to go with it unless the name is NULL.  startup is called in the postmaster, with
 * AddinShmemInitLock held, to find or make the part.
 *
 * Returns false, and does nothing, if the library is not being loaded by shared_preload_libraries: then there is no shared memory for it.
 */
extern PGDLLEXPORT bool tde_memory_shmem_add(Size size, const char *lock, void (*startup) (void));

/* The same for an array with an element for each of MaxBackends, a number that _PG_init comes too early for. */
extern bool tde_memory_shmem_add_for_backends(Size size_each, void (*startup) (void));

/* Returns the lock of that name; for startup. */
extern PGDLLEXPORT LWLock *tde_memory_shmem_lock(const char *lock);

/* ---- pages for secrets, out of swap and core dumps where the kernel allows it ---- */

/* Returns pages of this process alone, filled with zeros; NULL if there is no memory. */
extern void *tde_memory_secret_pages_new(Size size);

/*
 * Returns more of them, with the same beginning, in their place; NULL if there is no memory, and then they stay as they are.  They may get another
 * address.
 */
extern void *tde_memory_secret_pages_grow(void *pages, Size size, Size new_size);

/* Cleanses the first bytes, as many as were used, and gives the pages back; size as when they were made. */
extern void tde_memory_secret_pages_free(void *pages, Size size, Size used);

/* Locks pages and keeps them out of core dumps, if the kernel lets us.  It never fails. */
extern void tde_memory_secret_pages_protect(void *start, Size size);

/* Returns such a number of bytes, rounded up to whole pages. */
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

/*
 * Something that is to be forgotten was made: ready keys, and so whatever is decrypted with them.  Whoever makes it sets this, and forgetting clears
 * it.
 */
extern bool tde_secrets_held;

/*
 * From _PG_init: what cleanses it, one of at most four.  It may be called wherever PostgreSQL accepts invalidations; it must not look at catalogs,
 * and must not throw.
 */
extern void tde_memory_forget_by(void (*forget) (void));

/* The same, one function, for what all processes share.  It is called when all forget, by one of them. */
extern void tde_memory_forget_shared_by(void (*forget) (void));

/* Forgets it now, in this process; then cleanses what is left of it on the stack and in freed memory.  Pointers to ready keys are lost. */
extern void tde_memory_forget_here(void);

/*
 * Forgets it in every process: at once in idle ones, in others when they look at the invalidations next, at the end of a statement at last.  No
 * transaction is needed.
 */
extern void tde_memory_forget_everywhere(void);

extern void tde_memory_forget_init(void);	/* from _PG_init */

/* ---- changes of relations ---- */

/* Called with the relation, or InvalidOid: all may have changed.  Under the rules of relcache callbacks, it looks at no catalog. */
typedef void (*TdeRelationChanged) (Oid relation);

/* Adds a callback, one of at most eight, for as long as the process lives. */
extern PGDLLEXPORT void tde_memory_when_relation_changes(TdeRelationChanged callback);

/* What begins each entry of a hash table that remembers something of relations. */
typedef struct TdeRelationMemo
{
	Oid			relation;		/* hash key */
	bool		valid;			/* false: look again */
} TdeRelationMemo;

/* For such a callback: what is remembered of the relation, or of all, is not valid any more.  The entries stay, so pointers to them do, too. */
extern void tde_memory_relation_memos_invalidate(HTAB *memos, Oid relation);

/* Returns a hash table that lives as long as the backend.  Its keys are compared byte by byte, so padding in a key has to be set. */
extern PGDLLEXPORT HTAB *tde_memory_table_new(const char *name, Size keysize, Size entrysize);

#endif							/* TDE_SERVER_MEMORY_H */
