/*
 * indexed_tables.h - what is encrypted in the indexes of a table and in its partition key.
 */
#ifndef TDE_OPERATORS_INDEXED_TABLES_H
#define TDE_OPERATORS_INDEXED_TABLES_H

#include "nodes/bitmapset.h"
#include "nodes/pg_list.h"

#include "server/memory.h"

typedef struct TdeIndexedTable
{
	TdeRelationMemo memo;
	bool		plain;			/* see tde_plain_tables */
	bool		searched;		/* columns that have operators of GIN, by which a search is estimated, with an index or without */
	MemoryContext context;		/* of what follows; NULL: there is nothing */
	Bitmapset  *columns;		/* encrypted ones in keys and conditions */
	List	   *computed;		/* calls of tde_computed() and encrypted COALESCE() there, with varno 1 */
	List	   *unspecified;	/* the same without specifications, to be compared */
} TdeIndexedTable;

/* A copy without the specifications of what is computed; context: nothing. */
extern Node *tde_indexed_without_specification(Node *node, void *context);

/* NULL if there is nothing.  Good until something else is looked up. */
extern const TdeIndexedTable *tde_indexed_table(Oid relid);

/*
 * Tables that are known to be plain, each where its OID says.  A plain one has columns of PostgreSQL's own types only, and nothing encrypted in its
 * indexes.  Every statement of the server asks.
 */
#define TDE_PLAIN_TABLES	64
extern Oid	tde_plain_tables[TDE_PLAIN_TABLES];

static inline bool
tde_table_is_known_plain(Oid relid)
{
	return likely(tde_plain_tables[relid % TDE_PLAIN_TABLES] == relid);
}

extern bool tde_table_looks_plain(Oid relid);

/* Is a table, or the like, plain? */
static inline bool
tde_table_is_plain(Oid relid)
{
	return tde_table_is_known_plain(relid) || tde_table_looks_plain(relid);
}

/* Is a row type that of a plain table, or the like? */
extern bool tde_table_type_is_plain(Oid type);

extern void tde_indexed_tables_init(void);

#endif							/* TDE_OPERATORS_INDEXED_TABLES_H */
