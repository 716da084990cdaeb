/*
 * index_conditions.h - conditions on an expression that an index of encrypted results serves.
 */
#ifndef TDE_OPERATORS_INDEX_CONDITIONS_H
#define TDE_OPERATORS_INDEX_CONDITIONS_H

#include "nodes/parsenodes.h"
#include "utils/hsearch.h"

/* Before a query is planned: its conditions, and those of its subqueries, that compare what such an index holds compare that, and joins what is encrypted. */
extern void tde_index_conditions_prepare(Query *query);

/* The condition of a partial index as one that does not decrypt, where it has such a form: WHERE ok, WHERE length(name) > 3. */
extern Node *tde_index_condition_form(Node *condition);

/* The same of a condition inside an expression, with what is remembered of its parts. */
extern Node *tde_condition_form(Node *condition, HTAB *remembered);

#endif							/* TDE_OPERATORS_INDEX_CONDITIONS_H */
