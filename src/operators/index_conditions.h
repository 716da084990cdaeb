/*
 * index_conditions.h - conditions on an expression that an index of encrypted results serves.
 *
 * The planner hook calls tde_index_conditions_prepare() once for each query that tde_index_conditions_none() does not exclude (functions/hooks.c).
 * CREATE INDEX calls tde_index_condition_form() for a partial index (ddl/plaintext_guard.c).  So both have the same form, and PostgreSQL's predicate
 * tests find it.
 */
#ifndef TDE_OPERATORS_INDEX_CONDITIONS_H
#define TDE_OPERATORS_INDEX_CONDITIONS_H

#include "nodes/parsenodes.h"
#include "utils/hsearch.h"

#include "operators/indexed_tables.h"

/*
 * Called before a query is planned.  Conditions, and those of its subqueries, that compare what such an index holds then compare that; joins compare
 * what is encrypted.  Changes the query, as the planner does.
 */
extern void tde_index_conditions_prepare(Query *query);

/*
 * Returns true if that has nothing to do, as for most statements, which read or write one table, in which nothing is encrypted.  INSERT ... VALUES
 * has its table twice for ON CONFLICT, and compares nothing.  Looks up no catalog: an unknown table counts as one with encrypted columns.
 */
static inline bool
tde_index_conditions_none(const Query *query)
{
	const ListCell *cell;

	if (query->hasAggs || query->hasSubLinks || query->cteList != NIL || query->setOperations != NULL || query->commandType == CMD_MERGE ||
		(list_length(query->rtable) > 1 && query->jointree->fromlist != NIL))
		return false;
	foreach(cell, query->rtable)
	{
		const RangeTblEntry *entry = (const RangeTblEntry *) lfirst(cell);

		if (entry->rtekind == RTE_RELATION ? !tde_table_is_known_plain(entry->relid) : entry->rtekind == RTE_SUBQUERY)
			return false;
	}
	return true;
}

/*
 * Returns the condition of a partial index as one that does not decrypt, where it has such a form: WHERE ok, WHERE length(name) > 3.  The condition
 * itself if it has none.
 */
extern Node *tde_index_condition_form(Node *condition);

/* The same of a condition inside an expression, with what is remembered of its parts.  The result has no collations yet. */
extern Node *tde_condition_form(Node *condition, HTAB *remembered);

#endif							/* TDE_OPERATORS_INDEX_CONDITIONS_H */
