/*
 * remains.c - memory that is free is overwritten, for what functions of PostgreSQL and of the base types left there in clear.
 *
 * Three have such memory: the stack, below; PostgreSQL's memory contexts, in the blocks that they have and in those that they keep for
 * contexts to come, and in the free entries of hash tables; and the C library, which gives back to the kernel whole pages only, and does
 * not tell what is free.  So memory is asked for until it comes from somewhere new, overwritten, and given back.
 *
 * That takes a millisecond or two, when secrets are forgotten, and nothing else waits for it.  By then others may have taken such memory
 * without writing to all of it; so what many values leave is overwritten at once.
 */
#include "postgres.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <unistd.h>

#include "miscadmin.h"
#include "storage/spin.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "server/compat.h"
#include "server/remains.h"

/* How far down the stack remains are looked for.  PostgreSQL keeps twice as much free below the depth that it checks. */
#define STACK_BELOW		(256 * 1024)

/* What functions that have returned left on the stack. */
static pg_noinline void
cleanse_stack(void)
{
	char		below[STACK_BELOW];

	explicit_bzero(below, sizeof(below));
}

/* ---- memory contexts ---- */

/*
 * How PostgreSQL's usual memory contexts begin, and their blocks.  From "free" to "end" nothing of a block is used; in a list is what was
 * freed, chunks of 8 bytes, of 16 and so on.
 */
typedef struct Block
{
	MemoryContext context;
	struct Block *previous;
	struct Block *next;
	char	   *free;
	char	   *end;
} Block;

#define CHUNK_LISTS		11

typedef struct Blocks
{
	MemoryContextData header;
	Block	   *first;
	void	   *lists[CHUNK_LISTS];
} Blocks;

/* So many contexts that were deleted are kept, of either kind of sizes.  One more, and those are freed. */
#define KEPT_CONTEXTS	100

/*
 * Returns true if memory contexts are laid out as assumed above; nothing of them is touched otherwise.  Asked of a new context: its first block
 * stands within it.
 */
static bool
is_layout_known(MemoryContext context)
{
	Blocks	   *blocks = (Blocks *) context;
	char	   *begin = (char *) context;
	char	   *end = begin + context->mem_allocated;
	char	   *was_free;
	char	   *chunk;

	if ((char *) blocks->first < begin || (char *) (blocks->first + 1) > end)
		return false;
	was_free = blocks->first->free;
	chunk = MemoryContextAlloc(context, 1);
	return blocks->first->context == context && blocks->first->end == end && was_free < chunk && chunk < blocks->first->free &&
		blocks->lists[0] == NULL && (pfree(chunk), blocks->lists[0] != NULL);
}

/*
 * Overwrites the chunks of a list: takes all of them, and gives them back.  They serve sizes of their own, less a byte where PostgreSQL wants to find
 * writes beyond the end.
 */
static void
cleanse_chunks(Blocks *blocks, int list)
{
	Size		size = ((Size) 8 << list) - 1;
	void	   *first;
	void	   *chunks = NULL;
	void	   *chunk;

	while ((first = blocks->lists[list]) != NULL)
	{
		chunk = MemoryContextAlloc((MemoryContext) blocks, size);
		explicit_bzero(chunk, size);
		memcpy(chunk, &chunks, sizeof(chunks));
		chunks = chunk;
		if (blocks->lists[list] == first)
			break;
	}
	while ((chunk = chunks) != NULL)
	{
		memcpy(&chunks, chunk, sizeof(chunks));
		pfree(chunk);
	}
}

/* Overwrites what is free in a context of PostgreSQL's usual kind; others are left alone. */
static void
cleanse_context(MemoryContext context)
{
	Blocks	   *blocks = (Blocks *) context;

	if (!IsA(context, AllocSetContext))
		return;
	for (Block *block = blocks->first; block != NULL; block = block->next)
		explicit_bzero(block->free, block->end - block->free);
	/* no value fits into the smallest */
	for (int list = 1; list < CHUNK_LISTS; list++)
		cleanse_chunks(blocks, list);
}

/* ---- hash tables ---- */

/*
 * Hash tables take memory for some dozens of entries at once, and write to each only when it is used.  Those of one process have a context of
 * their own, which is identified by the table's name, which stands behind the table.  A table begins with a pointer to its header, and that
 * with lists of free entries, of which these tables use the first.
 */
typedef struct TableHeader
{
	struct
	{
		slock_t		mutex;
		int64		count;
		HASHELEMENT *first;
	}			free[32];
	long		directory[2];
	uint32		buckets[3];
	Size		key_size;
	Size		entry_size;
} TableHeader;

/* What tells contexts of tables from others, NULL if the layout is not known; and how far the name is from the table's begin. */
typedef struct TableLayout
{
	const char *context_name;
	Size		name_at;
} TableLayout;

/* An entry of a table that is made to look at it: no field of a header has one of these sizes by chance. */
typedef struct Sample
{
	char		key[40];
	char		rest[1000];
} Sample;

static HASHELEMENT *
element_of(void *entry)
{
	return (HASHELEMENT *) ((char *) entry - MAXALIGN(sizeof(HASHELEMENT)));
}

/* Returns true if the header is as it is assumed to be.  An entry that is removed is the first free one, and was not while it was in use. */
static bool
is_header_known(HTAB *table, TableHeader *header)
{
	char		key[sizeof(((Sample *) NULL)->key)] = {0};
	Sample	   *entry = hash_search(table, key, HASH_ENTER, NULL);
	bool		first_in_use = header->free[0].first == element_of(entry);

	(void) hash_search(table, key, HASH_REMOVE, NULL);
	return !first_in_use && header->free[0].first == element_of(entry) && header->key_size == sizeof(key) && header->entry_size == sizeof(Sample);
}

/*
 * Finds out how tables are laid out, by a new one.  That stands with its header in the first block of its context, which is the newest one of the
 * parent.
 */
static TableLayout
layout_of_tables(MemoryContext parent)
{
	TableLayout layout = {NULL, 0};
	HASHCTL		info = {.keysize = sizeof(((Sample *) NULL)->key), .entrysize = sizeof(Sample), .hcxt = parent};
	HTAB	   *table = hash_create("tde remains", 1, &info, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	MemoryContext context = parent->firstchild;
	char	   *begin = (char *) context;
	char	   *end = begin + ALLOCSET_DEFAULT_INITSIZE;
	TableHeader *header = *(TableHeader **) table;

	if (context != NULL && IsA(context, AllocSetContext) && begin < (char *) table && (char *) table < context->ident && context->ident < end &&
		begin < (char *) header && (char *) (header + 1) <= end && is_header_known(table, header))
	{
		layout.context_name = context->name;
		layout.name_at = context->ident - (char *) table;
	}
	return layout;
}

/* The free entries of a table, if that is what the context is of. */
static void
cleanse_table(MemoryContext context, TableLayout layout)
{
	TableHeader *header;

	if (layout.context_name == NULL || context->name != layout.context_name || context->ident == NULL)
		return;
	header = *(TableHeader **) (context->ident - layout.name_at);
	if (header == NULL)
		return;
	for (HASHELEMENT *element = header->free[0].first; element != NULL; element = element->link)
		explicit_bzero((char *) element + MAXALIGN(sizeof(HASHELEMENT)), header->entry_size);
}

/* ---- all of them ---- */

static void
cleanse_contexts(MemoryContext context, TableLayout tables)
{
	check_stack_depth();
	cleanse_context(context);
	cleanse_table(context, tables);
	for (MemoryContext child = context->firstchild; child != NULL; child = child->nextchild)
		cleanse_contexts(child, tables);
}

/* Takes a context that was kept, if there is one, and overwrites it; it goes with the parent. */
static void
cleanse_kept_context(MemoryContext parent, Size first_block)
{
	cleanse_context(AllocSetContextCreateInternal(parent, "tde remains", 0, first_block, ALLOCSET_DEFAULT_MAXSIZE));
}

/* What this takes is clean when it is given back, and those that are kept are freed then. */
static void
cleanse_all_contexts(MemoryContext parent)
{
	if (is_layout_known(parent))
	{
		for (int i = 0; i <= KEPT_CONTEXTS; i++)
		{
			cleanse_kept_context(parent, ALLOCSET_DEFAULT_INITSIZE);
			cleanse_kept_context(parent, ALLOCSET_SMALL_INITSIZE);
		}
		cleanse_contexts(TopMemoryContext, layout_of_tables(parent));
	}
}

/* ---- the C library ---- */

#ifdef __GLIBC__

/* Larger than these, malloc() may ask the kernel; up to these, it keeps a list for each size. */
#define LARGEST_PIECE	(120 * 1024)
#define LISTED_PIECE	1032
#define SMALLEST_PIECE	24

typedef struct Piece
{
	struct Piece *next;
} Piece;

/* Take pieces of a size, until they come from beyond the heap's end; put them last into the list.  Returns the new place of its end. */
static Piece **
take_pieces(Piece **last, Size size, const char *end)
{
	Piece	   *piece;

	while ((piece = malloc(size)) != NULL)
	{
		explicit_bzero(piece, malloc_usable_size(piece));
		*last = piece;
		last = &piece->next;
		if ((char *) piece >= end)
			break;
	}
	return last;
}

/* Overwrites what malloc() has free, from large pieces to small ones: a large one that is taken first is not cut into small ones. */
static void
cleanse_heap(void)
{
	Piece	   *pieces = NULL;
	Piece	  **last = &pieces;
	const char *end;

	(void) malloc_trim(0);
	end = sbrk(0);
	for (Size size = LARGEST_PIECE; size >= SMALLEST_PIECE; size = size > LISTED_PIECE ? Max(size / 2, LISTED_PIECE) : size - 16)
		last = take_pieces(last, size, end);
	while (pieces != NULL)
	{
		Piece	   *next = pieces->next;

		free(pieces);
		pieces = next;
	}
	(void) malloc_trim(0);
}
#else
#define cleanse_heap()	((void) 0)
#endif

/* ---- prevention, where there are many values ---- */

/*
 * What asks for 600 bytes gets 1024, and leaves the rest as it was.  So glibc is told to overwrite what it is given back, and what it gives
 * out (M_PERTURB), from MUCH bytes of values on until the next statement begins.  Not beside a sort, which takes memory that it may never
 * write to, and keeps values in pages of ours.
 */
#define MUCH	(64 * 1024)

static int64 until_much = MUCH;
static bool much = false;
static bool sorts = false;
static bool overwrites = false;
bool		tde_remains_any = false;	/* one of these */

/* Switches M_PERTURB.  Elsewhere than in glibc only the switch is remembered. */
static void
overwrite_freed(bool on)
{
	if (overwrites == on)
		return;
	overwrites = on;
	tde_remains_any |= on;
#ifdef __GLIBC__
	(void) mallopt(M_PERTURB, on ? 0xff : 0);
#endif
}

void
tde_remains_of(Size size)
{
	until_much -= size;
	if (likely(until_much > 0))
		return;
	until_much = MUCH;
	much = true;
	tde_remains_any = true;
	overwrite_freed(!sorts);
}

void
tde_remains_of_sort(void)
{
	sorts = true;
	tde_remains_any = true;
	overwrite_freed(false);
}

void
tde_remains_at_start(void)
{
	sorts = false;
	overwrite_freed(false);
	tde_remains_any = much;
}

void
tde_remains_at_end(void)
{
	if (much)
		overwrite_freed(true);
	much = false;
	sorts = false;
	tde_remains_any = overwrites;
}

/* ---- cleansing ---- */

void
tde_remains_cleanse(void)
{
	MemoryContext old = CurrentMemoryContext;
	volatile MemoryContext parent = NULL;

	cleanse_stack();
	PG_TRY();
	{
		parent = AllocSetContextCreate(TopMemoryContext, "tde remains", ALLOCSET_SMALL_SIZES);
		cleanse_all_contexts(parent);
	}
	PG_CATCH();
	{
		/* memory is short: no reason to fail, which a transaction that has committed must not */
		MemoryContextSwitchTo(old);
		FlushErrorState();
	}
	PG_END_TRY();
	if (parent)
		MemoryContextDelete(parent);
	cleanse_heap();
}
