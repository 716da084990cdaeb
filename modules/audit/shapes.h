/*
 * shapes.h - what card numbers, IBAN, e-mail addresses and national ids look like.
 *
 * tde_discover() looks for columns in clear that hold such data.  A shape alone is found by chance; check digits that are right are not, in many
 * values.
 */
#ifndef TDE_AUDIT_SHAPES_H
#define TDE_AUDIT_SHAPES_H

#define TDE_SHAPES	10

/* What was found of a shape in a text; a later one is more. */
typedef enum TdeMatch
{
	TDE_MATCH_NONE,
	TDE_MATCH_SHAPE,			/* but check digits or other rules say no */
	TDE_MATCH_VALID
} TdeMatch;

/* Returns the name of shape 0 to TDE_SHAPES - 1, which tde_sensitive_kinds() has, too. */
extern const char *tde_shapes_kind(int shape);

/* Sets for each shape what the first place in a text is that has it.  It allocates nothing. */
extern void tde_shapes_look(const char *text, TdeMatch matches[TDE_SHAPES]);

#endif							/* TDE_AUDIT_SHAPES_H */
