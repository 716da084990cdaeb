/*
 * statement_tokens.h - the tokens of SQL, as far as finding calls and literals takes; what a message quotes.
 */
#ifndef TDE_CRYPTO_STATEMENT_TOKENS_H
#define TDE_CRYPTO_STATEMENT_TOKENS_H

#include <stdbool.h>

typedef enum TdeTokenKind
{
	TDE_TOKEN_END,
	TDE_TOKEN_WORD,
	TDE_TOKEN_QUOTED,			/* "identifier" */
	TDE_TOKEN_STRING,			/* '...' with any prefix, $tag$...$tag$ */
	TDE_TOKEN_NUMBER,
	TDE_TOKEN_PARAMETER,		/* $1 */
	TDE_TOKEN_OTHER				/* one character */
} TdeTokenKind;

typedef struct TdeToken
{
	TdeTokenKind kind;
	char	   *start;
	char	   *end;
	char	   *body;			/* what is between the quotes; all of it if there are none */
	char	   *body_end;
	bool		open;			/* a string without its end */
	bool		dollar;			/* quotes in the body are as they are */
	bool		escapes;		/* E'...' */
	bool		unicode;		/* U&"..." */
	char		escape;			/* of U&"...": what begins an escape */
} TdeToken;

typedef struct TdeCursor
{
	char	   *p;
	char	   *end;
	int			flags;			/* TDE_REDACT_... */
	int			quotes;			/* so many stand for one */
	bool		escapes;		/* so does \' */
	bool		no_comments;	/* a comment does not end */
	bool		in_call;		/* double quotes are taken for an identifier's in any text */
} TdeCursor;

extern TdeCursor tde_cursor(char *text, int flags);
extern TdeCursor tde_cursor_within(const TdeCursor *cursor, const TdeToken *string);

/* False, and a token of kind END, at the end. */
extern bool tde_token_next(TdeCursor *cursor, TdeToken *token);

/* Is it this name, which is in small letters?  Case is not distinguished. */
extern bool tde_token_is(const TdeToken *token, const char *name);
extern bool tde_token_begins(const TdeToken *token, const char *prefix);

/* Overwrite a piece of the text; returns whether that changed anything. */
static inline bool
tde_mask(char *from, const char *to)
{
	bool		changed = false;

	for (; from < to; from++)
	{
		changed |= *from != '*';
		*from = '*';
	}
	return changed;
}

/*
 * Overwrite what an error message quotes, but for quotations that are words of keep (may be NULL).  format is the untranslated
 * message before values were put in, or NULL: it tells where a quotation ends if the value has quotes itself.
 */
extern void tde_redact_quotations(char *message, const char *format, const char *keep);

#endif							/* TDE_CRYPTO_STATEMENT_TOKENS_H */
