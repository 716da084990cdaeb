/*
 * tde_secret_shmem.c - shared memory for secrets: on pages of its own, out of swap and core dumps where the kernel allows it.
 */
#include "postgres.h"

#include <sys/mman.h>
#include <unistd.h>

#include "storage/shmem.h"

#include "tde_secret_shmem.h"

static Size
whole_pages(Size size)
{
	return TYPEALIGN(sysconf(_SC_PAGESIZE), size);
}

/* One page more, since shared memory is not handed out in whole pages. */
Size
tde_secret_shmem_size(Size size)
{
	return whole_pages(size) + sysconf(_SC_PAGESIZE);
}

/*
 * RLIMIT_MEMLOCK and huge pages may prevent it.  That is the operator's to check, docs say how, so a failure is only told at
 * DEBUG1.
 */
static void
protect_pages(void *start, Size size)
{
	if (mlock(start, size) < 0)
		elog(DEBUG1, "could not lock the wallet's memory: %m");
#ifdef MADV_DONTDUMP
	if (madvise(start, size, MADV_DONTDUMP) < 0)
		elog(DEBUG1, "could not keep the wallet's memory out of core dumps: %m");
#endif
}

void *
tde_secret_shmem(const char *name, Size size, bool *found)
{
	char	   *pages = ShmemInitStruct(name, tde_secret_shmem_size(size), found);

	pages = (char *) whole_pages((Size) pages);
	if (!*found)
	{
		memset(pages, 0, whole_pages(size));
		protect_pages(pages, whole_pages(size));
	}
	return pages;
}
