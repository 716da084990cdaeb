/*
 * secret_shmem.c - shared memory for secrets: on pages of its own, out of swap and core dumps where the kernel allows it.
 */
#include "postgres.h"

#include <unistd.h>

#include "storage/shmem.h"

#include "server/compat.h"
#include "server/secret_pages.h"
#include "server/secret_shmem.h"

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
