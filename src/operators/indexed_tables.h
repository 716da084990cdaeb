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
	bool		has_users_types;	/* columns of types that are not PostgreSQL's own */
	MemoryContext context;		/* of what follows; NULL: there is nothing */
	Bitmapset  *columns;		/* encrypted ones in keys and conditions */
	List	   *computed;		/* calls of tde_computed() and encrypted COALESCE() there, with varno 1 */
	List	   *unspecified;	/* the same without specifications, to be compared */
} TdeIndexedTable;

/* A copy without the specifications of what is computed; context: nothing. */
extern Node *tde_indexed_without_specification(Node *node, void *context);

/* NULL if there is nothing.  Good until something else is looked up. */
extern const TdeIndexedTable *tde_indexed_table(Oid relid);

/* Has a table, or the like, columns of types that are not PostgreSQL's own, encrypted ones among them? */
extern bool tde_table_has_users_types(Oid relid);

extern void tde_indexed_tables_init(void);

#endif							/* TDE_OPERATORS_INDEXED_TABLES_H */
