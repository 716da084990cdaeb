/*
 * shapes.h - what card numbers, IBAN, e-mail addresses and national ids look like.
 */
#ifndef TDE_AUDIT_SHAPES_H
#define TDE_AUDIT_SHAPES_H

#define TDE_SHAPES	10

typedef enum TdeMatch
{
	TDE_MATCH_NONE,
	TDE_MATCH_SHAPE,			/* but check digits or other rules say no */
	TDE_MATCH_VALID
} TdeMatch;

/* The kind's name, which tde_sensitive_kinds() has, too. */
extern const char *tde_shapes_kind(int shape);

/* What is the first in a text that has each shape? */
extern void tde_shapes_look(const char *text, TdeMatch matches[TDE_SHAPES]);

#endif							/* TDE_AUDIT_SHAPES_H */
