/*
 * shmem.c - the extension's parts of shared memory: one pair of PostgreSQL's hooks for all of them.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "storage/ipc.h"
#include "storage/shmem.h"
#include "utils/memutils.h"

#include "server/shmem.h"

typedef struct Part
{
	Size		size;
	Size		size_each;		/* and so much for each backend */
	const char *lock;			/* NULL: none */
	void		(*startup) (void);
} Part;

static List *parts = NIL;
static shmem_request_hook_type prev_shmem_request_hook = NULL;
static shmem_startup_hook_type prev_shmem_startup_hook = NULL;

static void
request_shmem(void)
{
	ListCell   *cell;

	if (prev_shmem_request_hook)
		prev_shmem_request_hook();
	foreach(cell, parts)
	{
		Part	   *part = lfirst(cell);

		RequestAddinShmemSpace(CACHELINEALIGN(add_size(part->size, mul_size(MaxBackends, part->size_each))));
		if (part->lock)
			RequestNamedLWLockTranche(part->lock, 1);
	}
}

static void
startup_shmem(void)
{
	ListCell   *cell;

	if (prev_shmem_startup_hook)
		prev_shmem_startup_hook();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	foreach(cell, parts)
		((Part *) lfirst(cell))->startup();
	LWLockRelease(AddinShmemInitLock);
}

static void
install_hooks(void)
{
	prev_shmem_request_hook = shmem_request_hook;
	shmem_request_hook = request_shmem;
	prev_shmem_startup_hook = shmem_startup_hook;
	shmem_startup_hook = startup_shmem;
}

static bool
add_part(Size size, Size size_each, const char *lock, void (*startup) (void))
{
	MemoryContext old;
	Part	   *part;

	if (!process_shared_preload_libraries_in_progress)
		return false;
	if (parts == NIL)
		install_hooks();
	old = MemoryContextSwitchTo(TopMemoryContext);
	part = palloc(sizeof(Part));
	part->size = size;
	part->size_each = size_each;
	part->lock = lock;
	part->startup = startup;
	parts = lappend(parts, part);
	MemoryContextSwitchTo(old);
	return true;
}

bool
tde_shmem_add(Size size, const char *lock, void (*startup) (void))
{
	return add_part(size, 0, lock, startup);
}

bool
tde_shmem_add_for_backends(Size size_each, void (*startup) (void))
{
	return add_part(0, size_each, NULL, startup);
}

LWLock *
tde_shmem_lock(const char *lock)
{
	return &(GetNamedLWLockTranche(lock))->lock;
}
