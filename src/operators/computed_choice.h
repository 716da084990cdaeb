/*
 * computed_choice.h - what chooses one of several values: COALESCE, CASE, GREATEST, LEAST.
 *
 * Such an expression decrypts each alternative, or encrypts each anew.  As a choice of encrypted values it can stand in an index: CREATE INDEX ON
 * people (coalesce(nickname, name)).
 */
#ifndef TDE_OPERATORS_COMPUTED_CHOICE_H
#define TDE_OPERATORS_COMPUTED_CHOICE_H

#include "nodes/pg_list.h"
#include "nodes/primnodes.h"
#include "utils/hsearch.h"

/* Returns true for the nodes of COALESCE, CASE, GREATEST and LEAST. */
extern bool tde_is_choice(const Node *node);

/* Returns true for such a node whose result is of an encrypted type. */
extern bool tde_choice_is_encrypted(const Node *node);

/* Returns the values among which it chooses, of CASE the one of ELSE last.  Of COALESCE, GREATEST and LEAST it is the node's own list. */
extern List *tde_choice_alternatives(Node *choice);

/*
 * Returns the same choice of others instead, which have this type and the same order; a new node, without collations.  The conditions of CASE do not
 * decrypt either, where they have such a form; remembered: see tde_forms_remembered().
 */
extern Node *tde_choice_of(Node *choice, Oid type, List *alternatives, HTAB *remembered);

/* Makes such forms of conditions; it is above this file (index_conditions.c), so _PG_init sets it here. */
typedef Node *(*TdeConditionForm) (Node *condition, HTAB *remembered);
extern void tde_choices_init(TdeConditionForm form);

#endif							/* TDE_OPERATORS_COMPUTED_CHOICE_H */
