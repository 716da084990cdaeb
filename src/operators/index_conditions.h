/*
 * index_conditions.h - conditions on an expression that an index of encrypted results serves.
 */
#ifndef TDE_OPERATORS_INDEX_CONDITIONS_H
#define TDE_OPERATORS_INDEX_CONDITIONS_H

#include "nodes/parsenodes.h"
#include "utils/hsearch.h"

#include "operators/indexed_tables.h"

/* Before a query is planned: its conditions, and those of its subqueries, that compare what such an index holds compare that, and joins what is encrypted. */
extern void tde_index_conditions_prepare(Query *query);

/*
 * Has that nothing to do?  As for most statements, which read or write one table, in which nothing is encrypted.  INSERT ... VALUES has it twice for
 * ON CONFLICT, and compares nothing.
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

/* The condition of a partial index as one that does not decrypt, where it has such a form: WHERE ok, WHERE length(name) > 3. */
extern Node *tde_index_condition_form(Node *condition);

/* The same of a condition inside an expression, with what is remembered of its parts. */
extern Node *tde_condition_form(Node *condition, HTAB *remembered);

#endif							/* TDE_OPERATORS_INDEX_CONDITIONS_H */
