/*
 * computed.h - PostgreSQL's own functions of encrypted values, with encrypted results: what indexes over expressions hold.
 *
 * Who makes such calls: CREATE INDEX and generated columns, from what the user has written (ddl/plaintext_guard.c, ddl/kept_encrypted.c), and each
 * query that is to use the index (index_conditions.c).  Both go through tde_form_encrypted(), so that equal() finds one in the other.
 *
 * Specification and key of a result are those of the first encrypted argument, unsalted.  They stand in the index as a typmod.  ALTER COLUMN TYPE may
 * leave that behind; tde_computed_is_current() tells.
 */
#ifndef TDE_OPERATORS_COMPUTED_H
#define TDE_OPERATORS_COMPUTED_H

#include "nodes/pg_list.h"
#include "nodes/primnodes.h"
#include "utils/hsearch.h"

#include "type/type.h"

/*
 * Returns true if tde_computed() can call a function: it is PostgreSQL's own and IMMUTABLE, and takes and returns types that columns have.  Asks
 * neither rights nor the wallet.
 */
extern bool tde_computed_is_possible(Oid function);

/*
 * Returns the OID of tde_computed() in this database; InvalidOid: it is not here, as while the extension is made.  Looked up each time, in system
 * caches.
 */
extern Oid	tde_computed_function(void);

/* Returns true if a node is a call of tde_computed().  By the C function's address: a namesake is not taken for it. */
extern PGDLLEXPORT bool tde_is_computed(const Node *node);

/* From _PG_init: the C function by which tde_computed() is known. */
extern void tde_computed_init(PGFunction function); /* from _PG_init: the C function */

/*
 * Returns the typmod that a result of this type gets from the arguments: that of the first encrypted one, but unsalted.  -1: none is encrypted, that
 * one has no typmod, or the result's type cannot express it.
 */
extern int32 tde_computed_typmod(TdeType *result, List *args);

/*
 * Returns the typmod of what is computed of a value of a type and its modifiers: the same specification and key, but unsalted, and padded as nearly
 * as the result's type can be.  The base type's modifiers are left out.  -1 as above.
 */
extern int32 tde_computed_unsalted(TdeType *result, TdeType *type, int32 typmod);

/*
 * Returns the typmod of an expression: that of its column, of the first argument of its call, or of the first of its alternatives that has one; or
 * -1.
 */
extern int32 tde_computed_typmod_of(Node *expr);

/*
 * Returns true if the result is encrypted as the columns are declared now that it is made of.  A REINDEX does not mend it: the specification stands
 * in the index's definition.
 */
extern bool tde_computed_is_current(const FuncExpr *call);

/*
 * Returns true if the function takes the arguments as the columns are declared now.  Otherwise they are cast at each call to what it was for, since the
 * function, too, stands in the index's definition: after integer has become bigint, large values are errors.
 */
extern bool tde_computed_takes_arguments(const FuncExpr *call);

/*
 * Returns an expression that decrypts as one that is encrypted: for (ok)::boolean and (name)::text what is cast; for lower(email), j ->> 'k' and
 * (n)::text a call of tde_computed().  NULL if it has no such form.
 *
 * Evaluates nothing, and leaves the expression as it is; the form shares nodes with it.  Its collations are set.
 */
extern Node *tde_form_encrypted(Node *expr);

/* Returns true if an expression is of a kind that can have a form.  A look at the node's tag: to be asked before the others. */
extern bool tde_form_is_possible(Node *expr);

/* Returns the form of an expression if that is a column alone, otherwise NULL: name for (name)::text.  Costs less than the whole form. */
extern Node *tde_form_operand(Node *expr);

/*
 * The same as tde_form_encrypted(), for many parts of one expression, which is not changed meanwhile: what is remembered of each part is not
 * looked at again.
 *
 * tde_forms_remembered() makes the table, in the current memory context, for the caller to destroy; NULL in its place remembers nothing.
 * tde_form_find() returns a form without collations.  tde_form_collated() sets those in place, and returns its argument.
 */
extern HTAB *tde_forms_remembered(void);
extern Node *tde_form_find(Node *expr, HTAB *remembered);
extern Node *tde_form_collated(Node *form);

#endif							/* TDE_OPERATORS_COMPUTED_H */
