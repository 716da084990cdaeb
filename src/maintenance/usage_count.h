/*
 * usage_count.h - uses of data keys, counted by key and place while relations and catalogs are read.
 */
#ifndef TDE_MAINTENANCE_USAGE_COUNT_H
#define TDE_MAINTENANCE_USAGE_COUNT_H

#include "utils/hsearch.h"

#include "maintenance/usage.h"
#include "maintenance/usage_scan.h"
#include "server/counters.h"

typedef struct TdeUsage
{
	TdeScan		scan;
	MemoryContext context;		/* in which the result is */
	List	   *relations;		/* OIDs of tables and indexes to read */
	List	   *tables;			/* the table and partitions that were asked for; NIL: all */
	List	   *uses;			/* of TdeUse */
	HTAB	   *counts;
	int32		place;			/* the number of the place that is being read, ... */
	int			before;			/* ... and how many uses there were before it */
	Relation	rel;			/* the relation that is being read, or NULL: a catalog's row */
	TdeProgress progress;
} TdeUsage;

/* Nothing is counted yet; the result will be in this memory context. */
extern void tde_usage_begin(TdeUsage *usage);

/* Is the table, or the index, one of those that were asked for? */
extern bool tde_usage_wants(TdeUsage *usage, Oid relation);

/* From here on values are counted for another place, whose name is told behind it if it has some. */
extern void tde_usage_begin_place(TdeUsage *usage);

/* A TdeHeaderVisitor. */
extern void tde_usage_count(const TdeHeader *header, void *usage);

/* Have values been counted in this place? */
extern bool tde_usage_counted(TdeUsage *usage);

extern void tde_usage_end_place(TdeUsage *usage, const char *object_type, const char *object, const char *column);

/* ---- usage_catalogs.c ---- */

/* Count what the system catalogs hold. */
extern void tde_usage_of_catalogs(TdeUsage *usage);

#endif							/* TDE_MAINTENANCE_USAGE_COUNT_H */
