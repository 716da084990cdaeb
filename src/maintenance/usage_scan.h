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

typedef struct TdeRows TdeRows;

/*
 * The rows of a table that some transaction may still see, now or if another one commits: all versions but those that VACUUM
 * could remove.  While the caller keeps a snapshot none that it could see is removed, and one that moves within the table
 * leaves its old version behind, so that none is missed.  Tables of another access method than heap show the rows of
 * a fresh snapshot only.
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

/* Tell what a datum of this type has. */
extern void tde_scan_value(TdeScan *scan, AttrNumber column, Oid type, Datum value);

static inline void
tde_scan_tell_page(TdeScan *scan)
{
	if (scan->page)
		scan->page(scan);
}

/* Tell those of a btree or BRIN index, in these of its columns. */
extern void tde_scan_btree(Relation index, const AttrNumber *columns, int count, TdeScan *scan);
extern void tde_scan_brin(Relation index, const AttrNumber *columns, int count, TdeScan *scan);

/*
 * The numbers of the columns that may hold encrypted values, in ascending order, and how many there are.  Of a dropped
 * column the bytes are still there, but nobody can read them any more: it is none of them.
 */
extern PGDLLEXPORT int tde_scan_columns(Relation rel, AttrNumber **columns);

/*
 * All encrypted values of a table or materialized view, with those in its TOAST table (of which only the first piece is
 * read), or of an index.  False if it cannot be read: an index of another access method than btree and BRIN, or a temporary
 * table of another session.  The caller holds a lock on it and a snapshot.
 */
extern PGDLLEXPORT bool tde_scan_relation(Relation rel, TdeScan *scan);

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

#endif							/* TDE_MAINTENANCE_USAGE_SCAN_H */
