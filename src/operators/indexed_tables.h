/*
 * indexed_tables.h - what is encrypted in the indexes of a table and in its partition key.
 *
 * Every statement asks, so the answer for a table is remembered until the relation cache says that the table has changed.  Most tables are plain, and
 * an array of their OIDs answers for these without a function call.
 */
#ifndef TDE_OPERATORS_INDEXED_TABLES_H
#define TDE_OPERATORS_INDEXED_TABLES_H

#include "nodes/bitmapset.h"
#include "nodes/pg_list.h"

#include "server/memory.h"

/* What is remembered of a table.  Entries stay where they are; their contents go when the table changes, or is looked up again after that. */
typedef struct TdeIndexedTable
{
	TdeRelationMemo memo;		/* the key, and whether the rest may be used */
	bool		plain;			/* see tde_plain_tables */
	bool		searched;		/* columns that have operators of GIN, by which a search is estimated, with an index or without */
	MemoryContext context;		/* of what follows; NULL: there is nothing */
	Bitmapset  *columns;		/* encrypted ones in keys and conditions */
	List	   *computed;		/* calls of tde_computed() and encrypted COALESCE() there, with varno 1 */
	List	   *unspecified;	/* the same without specifications, to be compared */
} TdeIndexedTable;

/*
 * Returns a copy without the specifications of what is computed, for comparisons by equal(); context: nothing.  An expression_tree_mutator, so values
 * of constants are shared with the node.
 */
extern Node *tde_indexed_without_specification(Node *node, void *context);

/*
 * Returns what is encrypted in the indexes of a table; NULL if nothing is.  Good until something else is looked up: copy what is to be kept.  Opens
 * the table with AccessShareLock if it is not remembered.
 */
extern const TdeIndexedTable *tde_indexed_table(Oid relid);

/*
 * Tables that are known to be plain, each where its OID says.  A plain one has columns of PostgreSQL's own types only, and nothing encrypted in its
 * indexes.  Every statement of the server asks.
 */
#define TDE_PLAIN_TABLES	64
extern Oid	tde_plain_tables[TDE_PLAIN_TABLES];

/* Returns true if a table is known to be plain.  False says nothing: nobody may have asked yet, or another table may have its place. */
static inline bool
tde_table_is_known_plain(Oid relid)
{
	return likely(tde_plain_tables[relid % TDE_PLAIN_TABLES] == relid);
}

/* Returns true if the table is plain, by what is remembered of it or by its catalogs; for tde_table_is_plain(). */
extern bool tde_table_looks_plain(Oid relid);

/* Returns true if a table, or the like (a view, a composite type), is plain. */
static inline bool
tde_table_is_plain(Oid relid)
{
	return tde_table_is_known_plain(relid) || tde_table_looks_plain(relid);
}

/* Returns true if a row type is that of a plain table, or the like.  False for record and for types that are none of rows. */
extern bool tde_table_type_is_plain(Oid type);

/* From _PG_init. */
extern void tde_indexed_tables_init(void);

#endif							/* TDE_OPERATORS_INDEXED_TABLES_H */
