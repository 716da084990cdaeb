/*
 * secret_pages.c - memory for secrets on pages of its own, out of swap and core dumps where the kernel allows it.
 */
#include "postgres.h"

#include <openssl/crypto.h>
#include <sys/mman.h>
#include <unistd.h>

#include "storage/shmem.h"

#include "server/secret_pages.h"

Size
tde_whole_pages(Size size)
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
tde_secret_pages_protect(void *start, Size size)
{
	if (lock_pages(start, size) < 0)
		elog(DEBUG1, "could not lock memory for secrets: %m");
#ifdef MADV_DONTDUMP
	if (madvise(start, size, MADV_DONTDUMP) < 0)
		elog(DEBUG1, "could not keep memory for secrets out of core dumps: %m");
#endif
}

void *
tde_secret_pages_new(Size size)
{
	void	   *pages = mmap(NULL, tde_whole_pages(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		return NULL;
	tde_secret_pages_protect(pages, tde_whole_pages(size));
	return pages;
}

void *
tde_secret_pages_grow(void *pages, Size size, Size new_size)
{
	void	   *grown;

#ifdef MREMAP_MAYMOVE
	/* no copy is made, and they stay protected; fails where there may not be so many locked ones */
	grown = mremap(pages, tde_whole_pages(size), tde_whole_pages(new_size), MREMAP_MAYMOVE);
	if (grown != MAP_FAILED)
		return grown;
#endif
	grown = tde_secret_pages_new(new_size);
	if (grown == NULL)
		return NULL;
	memcpy(grown, pages, size);
	tde_secret_pages_free(pages, size, size);
	return grown;
}

void
tde_secret_pages_free(void *pages, Size size, Size used)
{
	OPENSSL_cleanse(pages, used);
	(void) munmap(pages, tde_whole_pages(size));
}

/* ---- shared memory ---- */

/* One page more, since shared memory is not handed out in whole pages. */
Size
tde_secret_shmem_size(Size size)
{
	return tde_whole_pages(size) + sysconf(_SC_PAGESIZE);
}

void *
tde_secret_shmem(const char *name, Size size, bool *found)
{
	char	   *pages = ShmemInitStruct(name, tde_secret_shmem_size(size), found);

	pages = (char *) tde_whole_pages((Size) pages);
	if (!*found)
	{
		memset(pages, 0, tde_whole_pages(size));
		tde_secret_pages_protect(pages, tde_whole_pages(size));
	}
	return pages;
}
