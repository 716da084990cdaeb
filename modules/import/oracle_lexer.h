/*
 * oracle_lexer.h - the words of Oracle's DDL, and errors that name their place.
 */
#ifndef TDE_IMPORT_ORACLE_LEXER_H
#define TDE_IMPORT_ORACLE_LEXER_H

#include "server/compat.h"

typedef enum TdeOracleKind
{
	TDE_ORACLE_END,
	TDE_ORACLE_WORD,			/* in capitals */
	TDE_ORACLE_QUOTED,			/* "name", without its quotes */
	TDE_ORACLE_STRING,			/* 'text', without its quotes */
	TDE_ORACLE_NUMBER,
	TDE_ORACLE_SYMBOL
} TdeOracleKind;

/* A text, and the token that is next in it. */
typedef struct TdeOracleLexer
{
	const char *rest;
	const char *start;			/* of the token */
	int			line;			/* of the token */
	TdeOracleKind kind;
	char	   *token;
	bool		opens_line;		/* the token is the first of its line */
	bool		secret;			/* errors do not quote it */
	bool		dropped;		/* storage clauses of this statement were passed over */
} TdeOracleLexer;

/* Begin with a text, which stays the caller's; and read the next token in place of this one.  Tokens are palloc'd. */
extern void tde_oracle_lexer_start(TdeOracleLexer *lexer, const char *text);
extern void tde_oracle_lexer_next(TdeOracleLexer *lexer);

/* Returns true if this word, or symbol, is next.  A quoted name or a string never is. */
extern bool tde_oracle_lexer_is(const TdeOracleLexer *lexer, const char *token);

/* Returns true if a slash is next that has a line to itself: that ends a statement, and divides nothing. */
extern bool tde_oracle_lexer_is_slash_line(const TdeOracleLexer *lexer);

/* The same as tde_oracle_lexer_is() of any word in a list that ends with NULL. */
extern bool tde_oracle_lexer_is_any(const TdeOracleLexer *lexer, const char *const *tokens);

/* Passes over it, and returns true, if it is next. */
extern bool tde_oracle_lexer_accept(TdeOracleLexer *lexer, const char *token);

/* Passes over it; throws if something else is next. */
extern void tde_oracle_lexer_expect(TdeOracleLexer *lexer, const char *token);

/* Returns the number that is next, of at most five digits; throws if there is none. */
extern int	tde_oracle_lexer_number(TdeOracleLexer *lexer);

/* Returns a name, in small letters if Oracle would have it in capitals alone, as it has names without quotes. */
extern char *tde_oracle_lexer_raw_name(TdeOracleLexer *lexer);

/* Returns the same as SQL has it, in quotes where it needs them; palloc'd. */
extern char *tde_oracle_lexer_name(TdeOracleLexer *lexer);

/* Throws ERRCODE_FEATURE_NOT_SUPPORTED: what is next is not understood.  It names the line.  hint may be NULL. */
pg_noreturn extern void tde_oracle_lexer_refuse(const TdeOracleLexer *lexer, const char *hint);

#endif							/* TDE_IMPORT_ORACLE_LEXER_H */
