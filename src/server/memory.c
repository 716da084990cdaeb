/*
 * memory.c - memory: the extension's parts of shared memory, pages for secrets, and how every process forgets the secrets that it keeps, or
 * what it has remembered of relations.
 *
 * An idle backend waits for its client and runs no code of ours.  What wakes it is PostgreSQL's own signal to those who lag behind in
 * reading invalidations: it makes an idle backend read them, outside of the signal handler, whether it is in a transaction or
 * not.  So what forgets is called where invalidations are accepted, can free memory as usual, and costs nothing until then.
 *
 * A backend has ten places for relcache callbacks and ends if there is none left.  PostgreSQL takes up to four, Citus five.  So ours share
 * one.
 */
#include "postgres.h"

#include <openssl/crypto.h>
#include <sys/mman.h>
#include <unistd.h>

#include "access/xact.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "storage/procsignal.h"
#include "storage/shmem.h"
#include "storage/sinval.h"
#include "utils/inval.h"
#include "utils/memutils.h"

#include "server/compat.h"
#include "server/memory.h"
#include "server/remains.h"
#include "server/statement.h"

/* ---- shared memory: one pair of PostgreSQL's hooks for all parts of it ---- */

/* A part of shared memory that was added; the list lives in the postmaster's TopMemoryContext, which children inherit. */
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

/*
 * DROP EXTENSION locks each of the extension's objects, some 8,000, and by default PostgreSQL has room for a third of these locks.  Up to 18 its table
 * of them grows as long as there is shared memory that nobody has taken (ShmemInitHash()): so here is some.  A lock and its holder take 300 bytes.
 */
#define ROOM_FOR_LOCKS	(8000 * 400)

/* For shmem_request_hook, which is called when MaxBackends is known. */
static void
request_shmem(void)
{
	ListCell   *cell;

	if (prev_shmem_request_hook)
		prev_shmem_request_hook();
	if (TDE_LOCK_TABLE_GROWS)
		RequestAddinShmemSpace(ROOM_FOR_LOCKS);
	foreach(cell, parts)
	{
		Part	   *part = lfirst(cell);

		RequestAddinShmemSpace(CACHELINEALIGN(add_size(part->size, mul_size(MaxBackends, part->size_each))));
		if (part->lock)
			RequestNamedLWLockTranche(part->lock, 1);
	}
}

/* For shmem_startup_hook.  The named locks exist by then. */
static void
startup_memory(void)
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
	shmem_startup_hook = startup_memory;
}

/* Adds a part to the list; the hooks are installed with the first one. */
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
tde_memory_shmem_add(Size size, const char *lock, void (*startup) (void))
{
	return add_part(size, 0, lock, startup);
}

bool
tde_memory_shmem_add_for_backends(Size size_each, void (*startup) (void))
{
	return add_part(0, size_each, NULL, startup);
}

LWLock *
tde_memory_shmem_lock(const char *lock)
{
	return &(GetNamedLWLockTranche(lock))->lock;
}

/* ---- pages for secrets, out of swap and core dumps where the kernel allows it ---- */

Size
tde_memory_whole_pages(Size size)
{
	return TYPEALIGN(sysconf(_SC_PAGESIZE), size);
}

/* Pages that are never touched are never locked, where the kernel can do that: few sessions fill all that they may use. */
static int
lock_pages(void *start, Size size)
{
#ifdef MLOCK_ONFAULT
	if (mlock2(start, size, MLOCK_ONFAULT) == 0)
		return 0;
#endif
	return mlock(start, size);
}

/*
 * RLIMIT_MEMLOCK and huge pages may prevent it.  That is the operator's to check, docs say how, so a failure is only told at
 * DEBUG1.
 */
void
tde_memory_secret_pages_protect(void *start, Size size)
{
	if (lock_pages(start, size) < 0)
		elog(DEBUG1, "could not lock memory for secrets: %m");
#ifdef MADV_DONTDUMP
	if (madvise(start, size, MADV_DONTDUMP) < 0)
		elog(DEBUG1, "could not keep memory for secrets out of core dumps: %m");
#endif
}

void *
tde_memory_secret_pages_new(Size size)
{
	void	   *pages = mmap(NULL, tde_memory_whole_pages(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		return NULL;
	tde_memory_secret_pages_protect(pages, tde_memory_whole_pages(size));
	return pages;
}

void *
tde_memory_secret_pages_grow(void *pages, Size size, Size new_size)
{
	void	   *grown;

#ifdef MREMAP_MAYMOVE
	/* no copy is made, and they stay protected */
	grown = mremap(pages, tde_memory_whole_pages(size), tde_memory_whole_pages(new_size), MREMAP_MAYMOVE);
	if (grown == MAP_FAILED)
	{
		/* there may not be so many locked ones */
		(void) munlock(pages, tde_memory_whole_pages(size));
		grown = mremap(pages, tde_memory_whole_pages(size), tde_memory_whole_pages(new_size), MREMAP_MAYMOVE);
	}
	return grown == MAP_FAILED ? NULL : grown;
#else
	grown = tde_memory_secret_pages_new(new_size);
	if (grown == NULL)
		return NULL;
	memcpy(grown, pages, size);
	tde_memory_secret_pages_free(pages, size, size);
	return grown;
#endif
}

void
tde_memory_secret_pages_free(void *pages, Size size, Size used)
{
	OPENSSL_cleanse(pages, used);
	(void) munmap(pages, tde_memory_whole_pages(size));
}

/* ---- shared memory ---- */

/* One page more, since shared memory is not handed out in whole pages. */
Size
tde_memory_secret_shmem_size(Size size)
{
	return tde_memory_whole_pages(size) + sysconf(_SC_PAGESIZE);
}

void *
tde_memory_secret_shmem(const char *name, Size size, bool *found)
{
	char	   *pages = ShmemInitStruct(name, tde_memory_secret_shmem_size(size), found);

	pages = (char *) tde_memory_whole_pages((Size) pages);
	if (!*found)
	{
		memset(pages, 0, tde_memory_whole_pages(size));
		tde_memory_secret_pages_protect(pages, tde_memory_whole_pages(size));
	}
	return pages;
}

/* ---- forgetting secrets, in idle processes too ---- */

#define MAX_FORGETTERS	4

bool		tde_secrets_held = false;

static void (*forgetters[MAX_FORGETTERS]) (void);
static int	forgetter_count = 0;
static void (*forget_shared) (void) = NULL;

/* Cleanse remains once more when the transaction ends: the statement that is running now may leave some. */
static bool cleanse_at_end = false;

void
tde_memory_forget_by(void (*forget) (void))
{
	if (forgetter_count == MAX_FORGETTERS)
		elog(ERROR, "too many callbacks that forget secrets");
	forgetters[forgetter_count++] = forget;
}

void
tde_memory_forget_shared_by(void (*forget) (void))
{
	forget_shared = forget;
}

void
tde_memory_forget_here(void)
{
	if (!tde_secrets_held)
		return;
	tde_secrets_held = false;
	for (int i = 0; i < forgetter_count; i++)
		forgetters[i] ();
	tde_remains_cleanse();
	cleanse_at_end = true;
}

/* Have a process read the invalidations soon.  It is no harm if it has ended, or is another one now. */
static void
wake(const PGPROC *proc)
{
	int			pid = proc->pid;

	if (pid != 0 && pid != MyProcPid && OidIsValid(proc->databaseId))
		(void) SendProcSignal(pid, PROCSIG_CATCHUP_INTERRUPT, INVALID_PROC_NUMBER);
}

void
tde_memory_forget_everywhere(void)
{
	SharedInvalidationMessage message;

	if (forget_shared)
		forget_shared();
	tde_memory_forget_here();
	memset(&message, 0, sizeof(message));
	message.rc.id = SHAREDINVALRELCACHE_ID;
	message.rc.dbId = InvalidOid;	/* all databases */
	message.rc.relId = TDE_FORGET_RELID;
	SendSharedInvalidMessages(&message, 1);
	for (uint32 i = 0; i < ProcGlobal->allProcCount; i++)
		wake(&ProcGlobal->allProcs[i]);
}

static pg_noinline void
cleanse_remains(void)
{
	tde_remains_cleanse();
	cleanse_at_end = false;
}

/* The end of a transaction, for what statement.c and remains.c have of it: they would need callbacks of their own. */
static void
memory_at_end(XactEvent event, void *arg)
{
	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE)
		return;
	tde_statement_transaction_ends(event == XACT_EVENT_ABORT);
	if (event == XACT_EVENT_PREPARE)
		return;
	if (unlikely(cleanse_at_end))
		cleanse_remains();
	if (unlikely(tde_remains_any))
		tde_remains_at_end();
}

void
tde_memory_forget_init(void)
{
	RegisterXactCallback(memory_at_end, NULL);
}

/* ---- changes of relations ---- */

#define MAX_CALLBACKS	8

static TdeRelationChanged callbacks[MAX_CALLBACKS];
static int	callback_count = 0;

/* The one callback that PostgreSQL knows.  It may be called outside of transactions, and no catalog can be read. */
static void
relcache_callback(Datum arg, Oid relation)
{
	for (int i = 0; i < callback_count; i++)
		callbacks[i] (relation);
}

void
tde_memory_when_relation_changes(TdeRelationChanged callback)
{
	if (callback_count == MAX_CALLBACKS)
		elog(ERROR, "too many callbacks for changes of relations");
	if (callback_count == 0)
		CacheRegisterRelcacheCallback(relcache_callback, (Datum) 0);
	callbacks[callback_count++] = callback;
}

void
tde_memory_relation_memos_invalidate(HTAB *memos, Oid relation)
{
	HASH_SEQ_STATUS status;
	TdeRelationMemo *memo;

	if (OidIsValid(relation))
	{
		memo = hash_search(memos, &relation, HASH_FIND, NULL);
		if (memo)
			memo->valid = false;
		return;
	}
	hash_seq_init(&status, memos);
	while ((memo = hash_seq_search(&status)) != NULL)
		memo->valid = false;
}

HTAB *
tde_memory_table_new(const char *name, Size keysize, Size entrysize)
{
	HASHCTL		ctl;

	ctl.keysize = keysize;
	ctl.entrysize = entrysize;
	ctl.hcxt = TopMemoryContext;
	return hash_create(name, 64, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}
