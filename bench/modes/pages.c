/*
 * pages.c - pages of 4 KB are read from files and decrypted: in order or at random, from the page cache or from disk.
 *
 * Each kind of ciphertext has a file.  Every page is read by one pread().  Before each run the file is read wholly, or the kernel is
 * told to forget it (POSIX_FADV_DONTNEED) and asked whether it did (mincore), so that "disk" is what the name says; what a disk or a
 * hypervisor caches itself is out of reach.  Random runs read half of the pages, each once, without readahead.
 *
 * Threaded CTR4 needs no ciphertext for its key stream, so a second thread computes that while the first one waits for pages.
 */
#include "modes.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE		4096
#define GROUP		8			/* pages whose key stream is handed over at once: waking a thread is dear */
#define AHEAD		4			/* groups that the second thread may be ahead */

/* What is known of a run. */
typedef struct Run
{
	const Mode *mode;			/* NULL: reading alone */
	int			file;
	const uint32_t *order;		/* page numbers */
	size_t		count;
	bool		check;
} Run;

/* The second thread: it fills groups of slots in turn, and the first one empties them. */
typedef struct Stream
{
	const Run  *run;
	sem_t		empty;			/* groups */
	sem_t		full;
	uint8_t		slots[AHEAD * GROUP][PAGE];
} Stream;

typedef struct Workload
{
	const char *name;
	bool		random;
	bool		disk;
} Workload;

static const Workload workloads[] = {
	{"sequential from memory", false, false},
	{"sequential from disk", false, true},
	{"random from memory", true, false},
	{"random from disk", true, true},
};

#define WORKLOADS	(sizeof(workloads) / sizeof(workloads[0]))

static int	files[FAMILIES];
static size_t page_count;
static uint32_t *in_order;
static uint32_t *at_random;		/* the first half is used */

static void
write_page(int file, const uint8_t *page, size_t number)
{
	if (pwrite(file, page, PAGE, (off_t) (number * PAGE)) != PAGE)
		fail("a file of pages cannot be written: %s", strerror(errno));
}

static void
read_page(int file, uint8_t *page, size_t number)
{
	if (pread(file, page, PAGE, (off_t) (number * PAGE)) != PAGE)
		fail("a page cannot be read: %s", strerror(errno));
}

/* A file without a name, which is gone with the process. */
static int
make_file(const char *folder, Family family)
{
	char		path[4096];
	uint8_t		page[PAGE];
	uint8_t		iv[16];
	int			file;
	double		start = now();

	snprintf(path, sizeof(path), "%s/pages.XXXXXX", folder);
	file = mkstemp(path);
	if (file < 0)
		fail("a file cannot be made in %s: %s", folder, strerror(errno));
	unlink(path);
	for (size_t i = 0; i < page_count; i++)
	{
		iv_of(i, iv);
		encrypt(family, iv, plain_at(i * PAGE), PAGE, page);
		write_page(file, page, i);
	}
	if (fsync(file) != 0)
		fail("a file of pages cannot be written: %s", strerror(errno));
	result("encrypting", family_names[family], 0, now() - start);
	return file;
}

static void
make_orders(void)
{
	uint64_t	state = 7;

	in_order = malloc(page_count * sizeof(*in_order));
	at_random = malloc(page_count * sizeof(*at_random));
	if (in_order == NULL || at_random == NULL)
		fail("out of memory");
	for (size_t i = 0; i < page_count; i++)
		in_order[i] = at_random[i] = (uint32_t) i;
	for (size_t i = page_count - 1; i > 0; i--)
	{
		size_t		other;
		uint32_t	swap = at_random[i];

		state = state * 6364136223846793005 + 1442695040888963407;
		other = (state >> 32) % (i + 1);
		at_random[i] = at_random[other];
		at_random[other] = swap;
	}
}

/* The share of a file that the page cache holds. */
static double
cached(int file)
{
	static unsigned char *pages = NULL;
	size_t		unit = (size_t) sysconf(_SC_PAGESIZE);
	size_t		units = (page_count * PAGE + unit - 1) / unit;
	size_t		found = 0;
	void	   *map = mmap(NULL, page_count * PAGE, PROT_READ, MAP_SHARED, file, 0);

	if (pages == NULL)
		pages = malloc(units);
	if (pages == NULL || map == MAP_FAILED || mincore(map, page_count * PAGE, (void *) pages) != 0)
		fail("it cannot be found out what the page cache holds: %s", strerror(errno));
	for (size_t i = 0; i < units; i++)
		found += pages[i] & 1;
	munmap(map, page_count * PAGE);
	return (double) found / (double) units;
}

static void
prepare(int file, const Workload *workload)
{
	uint8_t		page[PAGE];

	posix_fadvise(file, 0, 0, workload->random ? POSIX_FADV_RANDOM : POSIX_FADV_NORMAL);
	if (workload->disk)
	{
		posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
		if (cached(file) > 0.02)
			fail("the page cache keeps what it was told to forget: the temporary folder is not on a disk; TMPDIR chooses another");
		return;
	}
	for (size_t i = 0; i < page_count; i++)
		read_page(file, page, i);
	if (cached(file) < 0.98)
		fail("the page cache does not hold a file that was just read: there is too little memory");
}

static void
expect_plain(const Run *run, const uint8_t *page, size_t number)
{
	if (memcmp(page, plain_at(number * PAGE), PAGE) != 0)
		fail("%s does not decrypt page %zu to its plaintext", run->mode->name, number);
}

static void
read_pages(const Run *run)
{
	uint8_t		in[PAGE],
				out[PAGE],
				iv[16];

	for (size_t i = 0; i < run->count; i++)
	{
		size_t		number = run->order[i];

		read_page(run->file, in, number);
		if (run->mode == NULL)
			continue;
		iv_of(number, iv);
		run->mode->decrypt(run->mode, false, iv, in, PAGE, out);
		if (run->check || i == run->count - 1)
			expect_plain(run, out, number);
	}
}

/* At the first page of a group. */
static void
wait_for(sem_t *semaphore, size_t page)
{
	while (page % GROUP == 0 && sem_wait(semaphore) != 0)
		if (errno != EINTR)
			fail("waiting for the other thread failed: %s", strerror(errno));
}

/* After the last page of a group. */
static void
pass_on(sem_t *semaphore, size_t page, size_t pages)
{
	if (page % GROUP == GROUP - 1 || page == pages - 1)
		sem_post(semaphore);
}

static void *
compute_stream(void *argument)
{
	Stream	   *stream = argument;
	const Run  *run = stream->run;
	uint8_t		iv[16];

	for (size_t i = 0; i < run->count; i++)
	{
		wait_for(&stream->empty, i);
		iv_of(run->order[i], iv);
		key_stream(run->mode, iv, stream->slots[i % (AHEAD * GROUP)], PAGE);
		pass_on(&stream->full, i, run->count);
	}
	return NULL;
}

static void
read_pages_threaded(const Run *run)
{
	static Stream stream;
	pthread_t	thread;
	uint8_t		in[PAGE],
				out[PAGE];

	stream.run = run;
	if (sem_init(&stream.empty, 0, AHEAD) != 0 || sem_init(&stream.full, 0, 0) != 0 ||
		pthread_create(&thread, NULL, compute_stream, &stream) != 0)
		fail("a second thread cannot be started");
	for (size_t i = 0; i < run->count; i++)
	{
		size_t		number = run->order[i];

		read_page(run->file, in, number);
		wait_for(&stream.full, i);
		xor_bytes(out, in, stream.slots[i % (AHEAD * GROUP)], PAGE);
		pass_on(&stream.empty, i, run->count);
		if (run->check || i == run->count - 1)
			expect_plain(run, out, number);
	}
	pthread_join(thread, NULL);
	sem_destroy(&stream.empty);
	sem_destroy(&stream.full);
}

static void
measure(const Workload *workload, const Mode *mode, const char *variant, unsigned round, void (*read) (const Run *))
{
	Run			run = {
		.mode = mode,
		.file = files[mode == NULL ? CTR : mode->family],
		.order = workload->random ? at_random : in_order,
		.count = workload->random ? page_count / 2 : page_count,
		.check = round == 0,
	};
	double		start;

	prepare(run.file, workload);
	start = now();
	read(&run);
	result(workload->name, variant, round, now() - start);
}

void
measure_pages(size_t megabytes, unsigned rounds, const char *folder)
{
	size_t		count;
	const Mode *mode = modes(&count);

	page_count = (megabytes << 20) / PAGE;
	/* reading alone has the place of copying */
	announce(FAMILIES - CBC + (count + 1) * WORKLOADS * (rounds + 1));
	make_orders();
	for (Family family = CBC; family < FAMILIES; family++)
		files[family] = make_file(folder, family);
	for (unsigned round = 0; round <= rounds; round++)
		for (const Workload *workload = workloads; workload < workloads + WORKLOADS; workload++)
		{
			for (size_t i = 0; i < count; i++)
				measure(workload, mode[i].family == CLEAR ? NULL : &mode[i],
						mode[i].family == CLEAR ? "reading alone" : mode[i].name, round, read_pages);
			measure(workload, mode_named("CTR4"), "CTR4 threaded", round, read_pages_threaded);
		}
	for (Family family = CBC; family < FAMILIES; family++)
		close(files[family]);
	free(in_order);
	free(at_random);
}
