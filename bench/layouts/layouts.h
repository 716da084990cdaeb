/*
 * layouts.h - encrypted pages of tuples, in the layouts that Canim and Kantarcioglu compare: see layouts.c.
 */
#ifndef LAYOUTS_H
#define LAYOUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../common.h"

#define PAGE_BYTES		4096
#define PAGE_HEADER		16
#define PAGE_TUPLES		8
#define TUPLE_BYTES		500
#define SENSITIVE_BYTES	350
#define PLAIN_BYTES		(TUPLE_BYTES - SENSITIVE_BYTES)

/* Both parts of a tuple begin with the attribute that selections look at, the same in both. */
#define SELECTION_BYTES	10

#define CIPHER_BLOCK	16
#define PAGE_BLOCKS		(PAGE_BYTES / CIPHER_BLOCK)

#define ALL_TUPLES		((1u << PAGE_TUPLES) - 1)

/*
 * cipher.c
 */
typedef struct Range
{
	unsigned	offset;			/* in the page */
	unsigned	size;
} Range;

extern void cipher_init(unsigned key_bits);
extern void cipher_check(unsigned key_bits);
extern void cipher_free(void);
extern void ctr_crypt(uint8_t *page, uint64_t counter, const Range *ranges, unsigned count);
extern void cbc_crypt(uint8_t *page, uint64_t counter, Range range, bool encrypt);

/*
 * pages.c
 */
typedef enum Method
{
	CLEAR,
	MINI_CBC,					/* the sensitive parts of all tuples are one message */
	MINI_CTR,
	PAGE_CTR					/* bytes are decrypted where and when they are asked for */
} Method;

typedef struct Layout
{
	const char *name;
	Method		method;
	unsigned	batch;			/* PAGE_CTR: tuples whose key streams are made by one call */
} Layout;

typedef struct Page
{
	uint8_t		bytes[PAGE_BYTES];
	const Layout *layout;
	bool		open;			/* is the mini page decrypted? */
} Page;

/* A file named as the layout: a page for the counter, then pages of tuples. */
typedef struct File
{
	const Layout *layout;
	int			fd;
	unsigned	pages;
	uint64_t	next;			/* counter of the next page that is written */
	uint64_t	reserved;		/* counters below are never handed out after the file is opened anew */
} File;

extern void file_create(File *file, const Layout *layout, unsigned pages);
extern void file_open(File *file);
extern void file_close(File *file);
extern void file_read(File *file, unsigned number, Page *page);
extern void file_write(File *file, unsigned number, Page *page);

extern void page_fill(Page *page, const Layout *layout, unsigned number);
extern void page_reveal(Page *page, unsigned tuples, unsigned from, unsigned size);
extern uint64_t page_counter(const Page *page);
extern uint8_t *page_plain(Page *page, unsigned tuple);
extern uint8_t *page_sensitive(Page *page, unsigned tuple);

extern uint64_t mix(uint64_t number);

#endif							/* LAYOUTS_H */
