/*
 * usage_scan.h - every encrypted value that a table or an index still holds for somebody.
 */
#ifndef TDE_MAINTENANCE_USAGE_SCAN_H
#define TDE_MAINTENANCE_USAGE_SCAN_H

#include "access/itup.h"
#include "access/tableam.h"
#include "utils/hsearch.h"
#include "utils/rel.h"

#include "maintenance/usage.h"
#include "server/counters.h"
#include "type/inside.h"

/* ---- rows ---- */

/* A scan that is under way. */
typedef struct TdeRows TdeRows;

/*
 * Reads the rows of a table that some transaction may still see, now or if another one commits: all versions but those that VACUUM could remove.
 * While the caller keeps a snapshot none that it could see is removed, and one that moves within the table leaves its old version behind, so that
 * none is missed.  Tables of another access method than heap show the rows of a fresh snapshot only.
 *
 * The slot is the scan's, and good until the next call; NULL: there are no more.
 */
extern PGDLLEXPORT TdeRows *tde_scan_rows_begin(Relation rel);
extern PGDLLEXPORT TupleTableSlot *tde_scan_rows_next(TdeRows *rows);
extern PGDLLEXPORT void tde_scan_rows_end(TdeRows *rows);

/* ---- values ---- */

/* What a scan tells; callers embed it in a struct of their own.  All but value and datum may be NULL. */
typedef struct TdeScan
{
	/* an encrypted value; header is NULL if it is damaged */
	void		(*value) (struct TdeScan *scan, AttrNumber column, const TdeHeader *header);
	/* instead: a whole datum of this type, which may be an array or the like */
	void		(*datum) (struct TdeScan *scan, AttrNumber column, Oid type, Datum datum);
	/* an entry of a btree that is not marked dead, after its values */
	void		(*entry) (struct TdeScan *scan, IndexTuple entry);
	/* a page is read */
	void		(*page) (struct TdeScan *scan);
	/* of a heap: only these blocks, if there are any */
	BlockNumber first_block;
	BlockNumber blocks;
	/* the row, or of an index entry the first row, that is told of; not valid: none */
	ItemPointerData row;
} TdeScan;

/* Tells what a datum of this type has: an array, for example, of each of its elements. */
extern void tde_scan_value(TdeScan *scan, AttrNumber column, Oid type, Datum value);

/* A page is read. */
static inline void
tde_scan_tell_page(TdeScan *scan)
{
	if (scan->page)
		scan->page(scan);
}

/* Tell of a btree or BRIN index, in these of its columns, in ascending order. */
extern void tde_scan_btree(Relation index, const AttrNumber *columns, int count, TdeScan *scan);
extern void tde_scan_brin(Relation index, const AttrNumber *columns, int count, TdeScan *scan);

/*
 * Returns how many columns may hold encrypted values, and their numbers in ascending order, palloc'd.  Of a dropped column the bytes are still there,
 * but nobody can read them any more: it is none of them.
 */
extern PGDLLEXPORT int tde_scan_columns(Relation rel, AttrNumber **columns);

/*
 * Tells of all encrypted values of a table or materialized view, with those in its TOAST table (of which only the first piece is read), or of an
 * index.
 *
 * Returns false if it cannot be read: an index of another access method than btree and BRIN, or a temporary table of another session.  The caller
 * holds a lock on it and a snapshot.
 */
extern PGDLLEXPORT bool tde_scan_relation(Relation rel, TdeScan *scan);

/* What tde_usage_collect() has found so far.  A place begins, values are counted, and it gets its name when it ends. */
typedef struct TdeUsage
{
	TdeScan		scan;			/* first, since its callbacks are given it */
	MemoryContext context;		/* in which the result is */
	List	   *relations;		/* OIDs of tables and indexes to read */
	List	   *tables;			/* the table and partitions that were asked for; NIL: all */
	List	   *uses;			/* of TdeUse */
	HTAB	   *counts;			/* CountId -> Count (usage_scan.c) */
	int32		place;			/* the number of the place that is being read, ... */
	int			before;			/* ... and how many uses there were before it */
	Relation	rel;			/* the relation that is being read, or NULL: a catalog's row */
	TdeProgress progress;
} TdeUsage;

/* Nothing is counted yet.  The result will be in this memory context. */
extern void tde_usage_begin(TdeUsage *usage);

/* Returns true if the table, or the index, is one of those that were asked for. */
extern bool tde_usage_wants(TdeUsage *usage, Oid relation);

/* From here on values are counted for another place.  If it has some, tde_usage_end_place() tells its name. */
extern void tde_usage_begin_place(TdeUsage *usage);

/* A TdeHeaderVisitor that counts a value; header NULL: a damaged one. */
extern void tde_usage_count(const TdeHeader *header, void *usage);

/* Returns true if values have been counted in this place. */
extern bool tde_usage_counted(TdeUsage *usage);

/* Names the place in all uses that it has got.  The texts are copied; column may be NULL. */
extern void tde_usage_end_place(TdeUsage *usage, const char *object_type, const char *object, const char *column);

/* ---- usage_catalogs.c ---- */

/* Counts what the system catalogs hold. */
extern void tde_usage_of_catalogs(TdeUsage *usage);

#endif							/* TDE_MAINTENANCE_USAGE_SCAN_H */
