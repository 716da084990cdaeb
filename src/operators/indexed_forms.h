/*
 * indexed_forms.h - expressions of a query as the indexes of its tables have them.
 */
#ifndef TDE_OPERATORS_INDEXED_FORMS_H
#define TDE_OPERATORS_INDEXED_FORMS_H

#include "access/transam.h"
#include "catalog/pg_class.h"
#include "nodes/parsenodes.h"
#include "utils/hsearch.h"

/* What can be used of indexes; a mutator's context. */
typedef struct TdeUsable
{
	List	   *range_table;	/* of a query */
	List	   *computed;		/* those of its tables, as OIDs, that have something computed in their indexes */
	HTAB	   *remembered;		/* instead: whatever has a form, no matter what indexes have, as tde_forms_remembered() keeps it */
} TdeUsable;

static inline bool
tde_may_have_indexes(RangeTblEntry *entry)
{
	return entry->rtekind == RTE_RELATION && entry->relid >= FirstNormalObjectId && entry->relkind != RELKIND_VIEW;
}

/* A form as an index has it; NULL: none has it. */
extern Node *tde_indexed_find(Node *form, const TdeUsable *usable);

/*
 * An expression as an index has it, NULL if none does; of what is remembered its form, without its collations.  COLLATE stays: the definition
 * of a condition is written with it.
 */
extern Node *tde_indexed_form(Node *node, const TdeUsable *usable);

#endif							/* TDE_OPERATORS_INDEXED_FORMS_H */
