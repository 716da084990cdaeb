/*
 * computed.h - PostgreSQL's own functions of encrypted values, with encrypted results: what indexes over expressions hold.
 */
#ifndef TDE_OPERATORS_COMPUTED_H
#define TDE_OPERATORS_COMPUTED_H

#include "nodes/pg_list.h"
#include "nodes/primnodes.h"
#include "utils/hsearch.h"

#include "type/type.h"

/* Can tde_computed() call it?  If it is PostgreSQL's own, IMMUTABLE, and takes and returns types that columns have. */
extern bool tde_computed_is_possible(Oid function);

/* tde_computed() in this database; InvalidOid: it is not here. */
extern Oid	tde_computed_function(void);

/* Is it a call of tde_computed()? */
extern PGDLLEXPORT bool tde_is_computed(const Node *node);

extern void tde_computed_init(PGFunction function); /* from _PG_init: the C function */

/* The typmod of a result of this type: as that of the first encrypted argument, but unsalted; -1: there is none. */
extern int32 tde_computed_typmod(TdeType *result, List *args);

/* Of what is computed of a value of a type and its modifiers: the same, but unsalted. */
extern int32 tde_computed_unsalted(TdeType *result, TdeType *type, int32 typmod);

/* Of an expression: as its columns, calls and choices have it. */
extern int32 tde_computed_typmod_of(Node *expr);

/* Is its result encrypted as the columns are now that it is made of? */
extern bool tde_computed_is_current(const FuncExpr *call);

/*
 * An expression that decrypts, as one that is encrypted: for (ok)::boolean and (name)::text what is cast; for lower(email), (n)::text and
 * j ->> 'k' a call of tde_computed().  NULL if it has no such form.  Evaluates nothing.
 */
extern Node *tde_form_encrypted(Node *expr);

/* Is it of a kind that can have one? */
extern bool tde_form_is_possible(Node *expr);

/* Only the first, of a column alone, which costs less. */
extern Node *tde_form_operand(Node *expr);

/*
 * The same as tde_form_encrypted(), for many parts of one expression, which is not changed meanwhile: what is remembered of each part is not
 * looked at again.  tde_form_collated() makes a form that is to be used complete.
 */
extern HTAB *tde_forms_remembered(void);
extern Node *tde_form_find(Node *expr, HTAB *remembered);
extern Node *tde_form_collated(Node *form);

#endif							/* TDE_OPERATORS_COMPUTED_H */
