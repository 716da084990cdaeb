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
	bool		secret;			/* errors do not quote it */
	bool		dropped;		/* storage clauses of this statement were passed over */
} TdeOracleLexer;

extern void tde_oracle_lexer_start(TdeOracleLexer *lexer, const char *text);
extern void tde_oracle_lexer_next(TdeOracleLexer *lexer);

/* Is this word, or symbol, next? */
extern bool tde_oracle_lexer_is(const TdeOracleLexer *lexer, const char *token);

/* The same of any word in a list that ends with NULL. */
extern bool tde_oracle_lexer_is_any(const TdeOracleLexer *lexer, const char *const *tokens);

/* Passes over it, if it is next. */
extern bool tde_oracle_lexer_accept(TdeOracleLexer *lexer, const char *token);

/* Passes over it; an error if something else is next. */
extern void tde_oracle_lexer_expect(TdeOracleLexer *lexer, const char *token);

/* The number that is next; an error if there is none. */
extern int	tde_oracle_lexer_number(TdeOracleLexer *lexer);

/* A name, in small letters if Oracle would have it in capitals alone. */
extern char *tde_oracle_lexer_raw_name(TdeOracleLexer *lexer);

/* The same as SQL has it, in quotes where it needs them. */
extern char *tde_oracle_lexer_name(TdeOracleLexer *lexer);

/* What is next is not understood. */
pg_noreturn extern void tde_oracle_lexer_refuse(const TdeOracleLexer *lexer, const char *hint);

#endif							/* TDE_IMPORT_ORACLE_LEXER_H */
