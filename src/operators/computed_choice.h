/*
 * computed_choice.h - what chooses one of several values: COALESCE, CASE, GREATEST, LEAST.
 */
#ifndef TDE_OPERATORS_COMPUTED_CHOICE_H
#define TDE_OPERATORS_COMPUTED_CHOICE_H

#include "nodes/pg_list.h"
#include "nodes/primnodes.h"
#include "utils/hsearch.h"

extern bool tde_is_choice(const Node *node);

/* Is it one of encrypted values? */
extern bool tde_choice_is_encrypted(const Node *node);

/* The values. */
extern List *tde_choice_alternatives(Node *choice);

/*
 * The same choice of others instead, which have this type and the same order.  The conditions of CASE do not decrypt either, where they have
 * such a form; remembered: see tde_forms_remembered().
 */
extern Node *tde_choice_of(Node *choice, Oid type, List *alternatives, HTAB *remembered);

/* From _PG_init: what makes such forms of conditions, which is above (index_conditions.c). */
typedef Node *(*TdeConditionForm) (Node *condition, HTAB *remembered);
extern void tde_choices_init(TdeConditionForm form);

#endif							/* TDE_OPERATORS_COMPUTED_CHOICE_H */
