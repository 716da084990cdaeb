/*
 * indexed_forms.h - expressions of a query as the indexes of its tables have them.
 */
#ifndef TDE_OPERATORS_INDEXED_FORMS_H
#define TDE_OPERATORS_INDEXED_FORMS_H

#include "access/transam.h"
#include "catalog/pg_class.h"
#include "nodes/parsenodes.h"
#include "utils/hsearch.h"

/* What can be used of indexes; a mutator's context.  It is good for one query, or for one condition if remembered is set. */
typedef struct TdeUsable
{
	List	   *range_table;	/* of a query */
	List	   *computed;		/* those of its tables, as OIDs, that have something computed in their indexes */
	HTAB	   *remembered;		/* instead: whatever has a form, no matter what indexes have, as tde_forms_remembered() keeps it */
} TdeUsable;

/* Returns true for a relation of users that is no view. */
static inline bool
tde_may_have_indexes(RangeTblEntry *entry)
{
	return entry->rtekind == RTE_RELATION && entry->relid >= FirstNormalObjectId && entry->relkind != RELKIND_VIEW;
}

/*
 * Returns a form as an index has it: the column itself, or a copy of the index's expression with the query's varno.  NULL: none has it, or it is of
 * several tables.  May call users' functions, since constants in it are folded.
 */
extern Node *tde_indexed_find(Node *form, const TdeUsable *usable);

/*
 * Returns an expression as an index has it, NULL if none does; of what is remembered, its form, without collations.  COLLATE stays: the definition of
 * a condition is written with it.
 */
extern Node *tde_indexed_form(Node *node, const TdeUsable *usable);

#endif							/* TDE_OPERATORS_INDEXED_FORMS_H */
