/*
 * pages.c - pages of tuples in files: where a tuple's parts are, how they are encrypted, and which counter a page gets.
 *
 * A page: its counter in 8 bytes, 8 bytes of nothing, then
 *
 *	mini page	the sensitive parts of all tuples, then the plain parts
 *	otherwise	tuple after tuple, each its plain part, then its sensitive part
 *
 * A page gets a new counter whenever it is written, from one that all pages of a key share and that never goes back.
 */
#include "layouts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Counters that are noted as used ahead of their use, so that not every written page writes the counter, too. */
#define RESERVE			(1024 * PAGE_BLOCKS)

/* A number that looks random (SplitMix64): the same contents in all layouts and runs. */
uint64_t
mix(uint64_t number)
{
	number = (number + 1) * 0x9e3779b97f4a7c15;
	number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9;
	number = (number ^ number >> 27) * 0x94d049bb133111eb;
	return number ^ number >> 31;
}

static bool
is_mini(const Layout *layout)
{
	return layout->method == MINI_CBC || layout->method == MINI_CTR;
}

static unsigned
sensitive_offset(const Layout *layout, unsigned tuple)
{
	return PAGE_HEADER + (is_mini(layout) ? tuple * SENSITIVE_BYTES : tuple * TUPLE_BYTES + PLAIN_BYTES);
}

uint8_t *
page_sensitive(Page *page, unsigned tuple)
{
	return page->bytes + sensitive_offset(page->layout, tuple);
}

uint8_t *
page_plain(Page *page, unsigned tuple)
{
	if (is_mini(page->layout))
		return page->bytes + PAGE_HEADER + PAGE_TUPLES * SENSITIVE_BYTES + tuple * PLAIN_BYTES;
	return page->bytes + PAGE_HEADER + tuple * TUPLE_BYTES;
}

uint64_t
page_counter(const Page *page)
{
	uint64_t	counter;

	memcpy(&counter, page->bytes, sizeof(counter));
	return counter;
}

static void
fill(uint8_t *part, unsigned size, uint64_t seed, uint32_t percentile)
{
	for (unsigned i = 0; i < size; i++)
		part[i] = (uint8_t) mix(seed + i);
	memcpy(part, &percentile, sizeof(percentile));
}

/* The tuples of a page, in clear. */
void
page_fill(Page *page, const Layout *layout, unsigned number)
{
	memset(page, 0, sizeof(*page));
	page->layout = layout;
	page->open = true;
	for (unsigned tuple = 0; tuple < PAGE_TUPLES; tuple++)
	{
		uint64_t	seed = ((uint64_t) number * PAGE_TUPLES + tuple) * TUPLE_BYTES;
		uint32_t	percentile = mix(~seed) % 100;

		fill(page_plain(page, tuple), PLAIN_BYTES, seed, percentile);
		fill(page_sensitive(page, tuple), SENSITIVE_BYTES, seed + PLAIN_BYTES, percentile);
	}
}

static void
mini_crypt(Page *page, bool encrypt)
{
	Range		range = {PAGE_HEADER, PAGE_TUPLES * SENSITIVE_BYTES};

	if (page->layout->method == MINI_CBC)
		cbc_crypt(page->bytes, page_counter(page), range, encrypt);
	else
		ctr_crypt(page->bytes, page_counter(page), &range, 1);
	page->open = !encrypt;
}

/* Encryption and decryption are the same. */
static void
page_ctr_crypt(Page *page, unsigned tuples, unsigned from, unsigned size)
{
	Range		ranges[PAGE_TUPLES];
	unsigned	count = 0;

	for (unsigned tuple = 0; tuple < PAGE_TUPLES; tuple++)
	{
		if (!(tuples >> tuple & 1))
			continue;
		ranges[count++] = (Range) {sensitive_offset(page->layout, tuple) + from, size};
		if (count == page->layout->batch)
		{
			ctr_crypt(page->bytes, page_counter(page), ranges, count);
			count = 0;
		}
	}
	if (count > 0)
		ctr_crypt(page->bytes, page_counter(page), ranges, count);
}

/* Make bytes of the sensitive part readable, in these tuples (a bit for each) at least, and nowhere twice. */
void
page_reveal(Page *page, unsigned tuples, unsigned from, unsigned size)
{
	if (tuples == 0 || page->layout->method == CLEAR)
		return;
	if (page->layout->method == PAGE_CTR)
		page_ctr_crypt(page, tuples, from, size);
	else if (!page->open)
		mini_crypt(page, false);
}

static void
file_fail(const File *file, const char *action)
{
	fail("could not %s file \"%s\": %s", action, file->layout->name, errno != 0 ? strerror(errno) : "it is too short");
}

static void
transfer(File *file, unsigned place, void *bytes, bool writing)
{
	off_t		offset = (off_t) place * PAGE_BYTES;
	ssize_t		done;

	errno = 0;
	done = writing ? pwrite(file->fd, bytes, PAGE_BYTES, offset) : pread(file->fd, bytes, PAGE_BYTES, offset);
	if (done != PAGE_BYTES)
		file_fail(file, writing ? "write" : "read");
}

/* No counter may be handed out twice, not even after the program was killed: the file says first that they are used. */
static void
reserve_counters(File *file)
{
	uint8_t		bytes[PAGE_BYTES] = {0};

	file->reserved += RESERVE;
	memcpy(bytes, &file->reserved, sizeof(file->reserved));
	transfer(file, 0, bytes, true);
}

static uint64_t
next_counter(File *file)
{
	uint64_t	counter = file->next;

	if (counter == file->reserved)
		reserve_counters(file);
	file->next += PAGE_BLOCKS;
	return counter;
}

void
file_create(File *file, const Layout *layout, unsigned pages)
{
	memset(file, 0, sizeof(*file));
	file->layout = layout;
	file->pages = pages;
	file->fd = open(layout->name, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (file->fd < 0)
		file_fail(file, "create");
	for (unsigned number = 0; number < pages; number++)
	{
		Page		page;

		page_fill(&page, layout, number);
		file_write(file, number, &page);
	}
	if (fsync(file->fd) != 0)
		file_fail(file, "synchronize");
	file_close(file);
}

/* A file that was created; counters go on where they were noted. */
void
file_open(File *file)
{
	uint8_t		bytes[PAGE_BYTES];

	file->fd = open(file->layout->name, O_RDWR);
	if (file->fd < 0)
		file_fail(file, "open");
	transfer(file, 0, bytes, false);
	memcpy(&file->reserved, bytes, sizeof(file->reserved));
	file->next = file->reserved;
}

void
file_close(File *file)
{
	if (close(file->fd) != 0)
		file_fail(file, "close");
}

void
file_read(File *file, unsigned number, Page *page)
{
	transfer(file, number + 1, page->bytes, false);
	page->layout = file->layout;
	page->open = false;
}

/* Write a page whose sensitive parts are all in clear; they are encrypted under a counter that no page ever had. */
void
file_write(File *file, unsigned number, Page *page)
{
	uint64_t	counter = next_counter(file);

	memcpy(page->bytes, &counter, sizeof(counter));
	if (file->layout->method == PAGE_CTR)
		page_ctr_crypt(page, ALL_TUPLES, 0, SENSITIVE_BYTES);
	else if (is_mini(file->layout))
		mini_crypt(page, true);
	transfer(file, number + 1, page->bytes, true);
}
