/*
 * layouts.c - projections, selections and updates on encrypted pages, in the layouts that Canim and Kantarcioglu compare.
 *
 *	layouts FOLDER MEGABYTES ROUNDS KEYBITS
 *
 * Tuples of 500 bytes, 350 of them sensitive, stand in pages of 4 KB.  A mini page holds the sensitive bytes of a page's tuples
 * together and is decrypted whole; a page in counter mode leaves them in their tuples and decrypts what is asked for.  Each layout
 * has a file of its own with the same tuples.  Round by round every workload runs on every layout; round 0 is to warm up.
 *
 * It writes CSV: first "runs" and their number, then workload, layout, round, and ns per tuple (or per updated page).  All answers
 * must equal those of the layout without encryption, and so must all tuples in the end; otherwise the exit status is 1.
 */
#include "layouts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char program_name[] = "layouts";

static const Layout layouts[] = {
	{"plain", CLEAR, 0},
	{"mini page CBC", MINI_CBC, 0},
	{"mini page CTR", MINI_CTR, 0},
	{"page CTR", PAGE_CTR, 4},
	{"page CTR, single tuples", PAGE_CTR, 1},
};

#define LAYOUTS		(sizeof(layouts) / sizeof(layouts[0]))

typedef enum Kind
{
	PROJECT,					/* the first so many bytes of the sensitive part */
	SELECT_SENSITIVE,			/* the sensitive part where an attribute of it is below so many percent */
	SELECT_PLAIN,				/* the same by an attribute that is not sensitive */
	UPDATE						/* ten sensitive bytes of a tuple in one of so many pages */
} Kind;

typedef struct Workload
{
	const char *name;
	Kind		kind;
	unsigned	parameter;
} Workload;

static const Workload workloads[] = {
	{"projection of 10 bytes", PROJECT, 10},
	{"projection of 50 bytes", PROJECT, 50},
	{"projection of 100 bytes", PROJECT, 100},
	{"projection of 150 bytes", PROJECT, 150},
	{"projection of 200 bytes", PROJECT, 200},
	{"projection of 250 bytes", PROJECT, 250},
	{"projection of 300 bytes", PROJECT, 300},
	{"projection of 350 bytes", PROJECT, 350},
	{"selection of 30 % by a sensitive attribute", SELECT_SENSITIVE, 30},
	{"selection of 60 % by a sensitive attribute", SELECT_SENSITIVE, 60},
	{"selection of 100 % by a sensitive attribute", SELECT_SENSITIVE, 100},
	{"selection of 30 % by a plain attribute", SELECT_PLAIN, 30},
	{"selection of 60 % by a plain attribute", SELECT_PLAIN, 60},
	{"selection of 100 % by a plain attribute", SELECT_PLAIN, 100},
	{"update of one page in 8", UPDATE, 8},
};

#define WORKLOADS	(sizeof(workloads) / sizeof(workloads[0]))

/* Something that differs if one byte does, and costs little beside the decryption. */
static uint64_t
digest(uint64_t before, const uint8_t *bytes, size_t size)
{
	uint64_t	sum = 0;
	uint64_t	word;

	for (; size >= sizeof(word); size -= sizeof(word), bytes += sizeof(word))
	{
		memcpy(&word, bytes, sizeof(word));
		sum += word;
	}
	word = 0;
	memcpy(&word, bytes, size);
	return before * 0x9e3779b97f4a7c15 + (sum ^ word << 1);
}

static uint64_t
digest_tuples(Page *page, unsigned tuples, uint64_t before, size_t size)
{
	for (unsigned tuple = 0; tuple < PAGE_TUPLES; tuple++)
		if (tuples >> tuple & 1)
			before = digest(before, page_sensitive(page, tuple), size);
	return before;
}

static unsigned
selected(Page *page, uint8_t *(*part) (Page *, unsigned), uint32_t below)
{
	unsigned	result = 0;

	for (unsigned tuple = 0; tuple < PAGE_TUPLES; tuple++)
	{
		uint32_t	percentile;

		memcpy(&percentile, part(page, tuple), sizeof(percentile));
		result |= (unsigned) (percentile < below) << tuple;
	}
	return result;
}

static uint64_t
answer(const Workload *workload, Page *page, uint64_t before)
{
	unsigned	tuples;

	switch (workload->kind)
	{
		case PROJECT:
			page_reveal(page, ALL_TUPLES, 0, workload->parameter);
			return digest_tuples(page, ALL_TUPLES, before, workload->parameter);
		case SELECT_SENSITIVE:
			page_reveal(page, ALL_TUPLES, 0, SELECTION_BYTES);
			tuples = selected(page, page_sensitive, workload->parameter);
			page_reveal(page, tuples, SELECTION_BYTES, SENSITIVE_BYTES - SELECTION_BYTES);
			return digest_tuples(page, tuples, before, SENSITIVE_BYTES);
		default:
			tuples = selected(page, page_plain, workload->parameter);
			page_reveal(page, tuples, 0, SENSITIVE_BYTES);
			return digest_tuples(page, tuples, before, SENSITIVE_BYTES);
	}
}

static uint64_t
query(File *file, const Workload *workload)
{
	uint64_t	result = 0;
	Page		page;

	for (unsigned number = 0; number < file->pages; number++)
	{
		file_read(file, number, &page);
		result = answer(workload, &page, result);
	}
	return result;
}

static unsigned
updates(const File *file, const Workload *workload)
{
	return file->pages / workload->parameter + 1;
}

/* One tuple in some pages.  The whole page is encrypted anew, under a new counter. */
static void
update(File *file, const Workload *workload, unsigned round)
{
	for (unsigned i = 0; i < updates(file, workload); i++)
	{
		uint64_t	value = mix((uint64_t) round << 32 | i);
		unsigned	number = (unsigned) (value % file->pages);
		unsigned	tuple = (unsigned) (value >> 60) % PAGE_TUPLES;
		Page		page;

		file_read(file, number, &page);
		page_reveal(&page, ALL_TUPLES, 0, SENSITIVE_BYTES);
		memcpy(page_sensitive(&page, tuple) + SELECTION_BYTES, &value, sizeof(value));
		file_write(file, number, &page);
	}
}

static void
run(File files[LAYOUTS], const Workload *workload, unsigned round)
{
	uint64_t	right = 0;

	for (size_t i = 0; i < LAYOUTS; i++)
	{
		File	   *file = &files[i];
		double		units = (double) file->pages * PAGE_TUPLES;
		uint64_t	result = 0;
		double		start = now();

		if (workload->kind == UPDATE)
		{
			units = updates(file, workload);
			update(file, workload, round);
		}
		else
			result = query(file, workload);
		printf("\"%s\",\"%s\",%u,%.3f\n", workload->name, file->layout->name, round, (now() - start) / units);
		fflush(stdout);
		if (i == 0)
			right = result;
		else if (result != right)
			fail("%s: layout \"%s\" gives another answer than plain pages", workload->name, file->layout->name);
	}
}

static int
compare(const void *a, const void *b)
{
	uint64_t	x = *(const uint64_t *) a,
				y = *(const uint64_t *) b;

	return x < y ? -1 : x > y;
}

/* Do all tuples equal those of the layout without encryption, and has each page a counter of its own? */
static void
verify(File *plain, File *file)
{
	uint64_t   *counters = calloc(file->pages, sizeof(uint64_t));
	Page		page,
				other;

	if (counters == NULL)
		fail("out of memory");
	for (unsigned number = 0; number < file->pages; number++)
	{
		file_read(plain, number, &page);
		file_read(file, number, &other);
		counters[number] = page_counter(&other);
		page_reveal(&other, ALL_TUPLES, 0, SENSITIVE_BYTES);
		for (unsigned tuple = 0; tuple < PAGE_TUPLES; tuple++)
			if (memcmp(page_plain(&page, tuple), page_plain(&other, tuple), PLAIN_BYTES) != 0 ||
				memcmp(page_sensitive(&page, tuple), page_sensitive(&other, tuple), SENSITIVE_BYTES) != 0)
				fail("layout \"%s\": tuple %u of page %u is not what it was", file->layout->name, tuple, number);
	}
	qsort(counters, file->pages, sizeof(uint64_t), compare);
	for (unsigned i = 1; i < file->pages; i++)
		if (counters[i] == counters[i - 1])
			fail("layout \"%s\": two pages have the same counter", file->layout->name);
	free(counters);
}

static unsigned
parse_number(const char *text, unsigned least, unsigned most)
{
	char	   *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*text == '\0' || *end != '\0' || value < least || value > most)
		fail("\"%s\" is not a number from %u to %u", text, least, most);
	return (unsigned) value;
}

int
main(int argc, char **argv)
{
	File		files[LAYOUTS];
	unsigned	pages,
				rounds,
				key_bits;

	if (argc != 5)
		fail("usage: layouts FOLDER MEGABYTES ROUNDS KEYBITS");
	pages = parse_number(argv[2], 1, 1 << 20) * (1024 * 1024 / PAGE_BYTES);
	rounds = parse_number(argv[3], 1, 10000);
	key_bits = parse_number(argv[4], 128, 256);
	if (chdir(argv[1]) != 0)
		fail("could not change to folder \"%s\": %s", argv[1], strerror(errno));
	cipher_init(key_bits);
	cipher_check(key_bits);

	printf("runs,%zu\n", LAYOUTS * WORKLOADS * (rounds + 1));
	fflush(stdout);
	for (size_t i = 0; i < LAYOUTS; i++)
	{
		file_create(&files[i], &layouts[i], pages);
		file_open(&files[i]);
		verify(&files[0], &files[i]);
	}
	for (unsigned round = 0; round <= rounds; round++)
		for (size_t i = 0; i < WORKLOADS; i++)
			run(files, &workloads[i], round);
	for (size_t i = 0; i < LAYOUTS; i++)
		verify(&files[0], &files[i]);
	for (size_t i = 0; i < LAYOUTS; i++)
		file_close(&files[i]);
	cipher_free();
	return 0;
}
