/*
 * gin_pages.h - all entries of a GIN index, beside those who write.
 */
#ifndef TDE_VERIFY_GIN_PAGES_H
#define TDE_VERIFY_GIN_PAGES_H

#include "access/ginblock.h"
#include "utils/relcache.h"

/* Who is told of entries. */
typedef struct TdeGinVisitor
{
	void	   *arg;
	/* an entry of one of the index's columns, and a row that has it; must not do anything but compute, as a page may be locked */
	void		(*entry) (void *arg, AttrNumber column, Datum key, GinNullCategory category, ItemPointerData row);
	/* now and then, when none is */
	void		(*page) (void *arg);
} TdeGinVisitor;

/* Tells of what was in the index at the beginning, and is still, at least once.  Throws ERRCODE_INDEX_CORRUPTED on a page that is none. */
extern void tde_gin_read(Relation index, const TdeGinVisitor *visitor);

#endif							/* TDE_VERIFY_GIN_PAGES_H */
