/*
 * oracle_lexer.c - the words of Oracle's DDL, and errors that name their place.
 *
 * Words come in capitals, as Oracle compares them; names in quotes stay as they are.  A password is a token like others, so lexer->secret keeps it
 * out of errors.
 */
#include "postgres.h"

#include <ctype.h>

#include "miscadmin.h"
#include "utils/builtins.h"

#include "import/oracle_lexer.h"

#define IS_WORD(c) (isalnum((unsigned char) (c)) || (c) == '_' || (c) == '$' || (c) == '#' || ((unsigned char) (c)) >= 0x80)

void
tde_oracle_lexer_refuse(const TdeOracleLexer *lexer, const char *hint)
{
	bool		quoted = !lexer->secret && (lexer->kind == TDE_ORACLE_WORD || lexer->kind == TDE_ORACLE_SYMBOL || lexer->kind == TDE_ORACLE_QUOTED);

	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 lexer->kind == TDE_ORACLE_END ? errmsg("Oracle's DDL ends in a statement") :
			 quoted ? errmsg("cannot import \"%s\" at line %d of Oracle's DDL", lexer->token, lexer->line) :
			 errmsg("cannot import line %d of Oracle's DDL", lexer->line),
			 hint ? errhint("%s", hint) : 0));
}

/* Passes over blanks and comments, and counts lines. */
static void
skip_blanks(TdeOracleLexer *lexer)
{
	const char *p = lexer->rest;

	for (;;)
	{
		const char *end;

		CHECK_FOR_INTERRUPTS();
		if (isspace((unsigned char) *p))
		{
			lexer->line += *p++ == '\n';
			continue;
		}
		if (p[0] == '-' && p[1] == '-')
			end = p + strcspn(p, "\n");
		else if (p[0] == '/' && p[1] == '*' && (end = strstr(p + 2, "*/")) != NULL)
			end += 2;
		else
			break;
		for (; p < end; p++)
			lexer->line += *p == '\n';
	}
	lexer->rest = p;
}

/* Returns what is behind the quote that ends a token; those within are doubled.  A text that ends before is refused, as in a statement. */
static const char *
find_end(TdeOracleLexer *lexer, char quote)
{
	const char *p = lexer->rest + 1;

	for (;; p++)
	{
		CHECK_FOR_INTERRUPTS();
		if (*p == '\0')
		{
			lexer->kind = TDE_ORACLE_END;
			tde_oracle_lexer_refuse(lexer, NULL);
		}
		lexer->line += *p == '\n';
		if (*p == quote && *++p != quote)
			return p;
	}
}

/* Reads what is between quotes. */
static void
read_quoted(TdeOracleLexer *lexer, char quote)
{
	const char *end = find_end(lexer, quote);
	char	   *out = lexer->token = palloc(end - lexer->rest);

	lexer->kind = quote == '"' ? TDE_ORACLE_QUOTED : TDE_ORACLE_STRING;
	for (const char *p = lexer->rest + 1; p < end - 1; p++)
	{
		CHECK_FOR_INTERRUPTS();
		p += *p == quote;
		*out++ = *p;
	}
	*out = '\0';
	lexer->rest = end;
}

/* Symbols have one character, or two, such as <= and ||.  A number may have a point, and no exponent. */
void
tde_oracle_lexer_next(TdeOracleLexer *lexer)
{
	size_t		size = 0;
	int			line = lexer->line;

	skip_blanks(lexer);
	lexer->opens_line = lexer->line != line;
	lexer->start = lexer->rest;
	if (*lexer->rest == '\0')
	{
		lexer->kind = TDE_ORACLE_END;
		lexer->token = "";
		return;
	}
	if (*lexer->rest == '"' || *lexer->rest == '\'')
	{
		read_quoted(lexer, *lexer->rest);
		return;
	}
	lexer->kind = isdigit((unsigned char) *lexer->rest) ? TDE_ORACLE_NUMBER : IS_WORD(*lexer->rest) ? TDE_ORACLE_WORD : TDE_ORACLE_SYMBOL;
	while (lexer->kind == TDE_ORACLE_NUMBER ? isdigit((unsigned char) lexer->rest[size]) || lexer->rest[size] == '.' : IS_WORD(lexer->rest[size]))
		size++;
	if (lexer->kind == TDE_ORACLE_SYMBOL)
		size = 1 + (strchr("<>!=|", *lexer->rest) != NULL && lexer->rest[1] != '\0' && strchr("=>|", lexer->rest[1]) != NULL);
	lexer->token = pnstrdup(lexer->rest, size);
	for (size_t i = 0; i < size && lexer->kind == TDE_ORACLE_WORD; i++)
		lexer->token[i] = (char) toupper((unsigned char) lexer->token[i]);
	lexer->rest += size;
}

void
tde_oracle_lexer_start(TdeOracleLexer *lexer, const char *text)
{
	*lexer = (TdeOracleLexer) {.rest = text,.line = 1};
	tde_oracle_lexer_next(lexer);
}

bool
tde_oracle_lexer_is(const TdeOracleLexer *lexer, const char *token)
{
	return (lexer->kind == TDE_ORACLE_WORD || lexer->kind == TDE_ORACLE_SYMBOL) && strcmp(lexer->token, token) == 0;
}

bool
tde_oracle_lexer_is_slash_line(const TdeOracleLexer *lexer)
{
	char		next = lexer->rest[strspn(lexer->rest, " \t\r")];

	return lexer->opens_line && tde_oracle_lexer_is(lexer, "/") && (next == '\n' || next == '\0');
}

bool
tde_oracle_lexer_is_any(const TdeOracleLexer *lexer, const char *const *tokens)
{
	for (; *tokens; tokens++)
		if (tde_oracle_lexer_is(lexer, *tokens))
			return true;
	return false;
}

bool
tde_oracle_lexer_accept(TdeOracleLexer *lexer, const char *token)
{
	if (!tde_oracle_lexer_is(lexer, token))
		return false;
	tde_oracle_lexer_next(lexer);
	return true;
}

void
tde_oracle_lexer_expect(TdeOracleLexer *lexer, const char *token)
{
	if (!tde_oracle_lexer_accept(lexer, token))
		tde_oracle_lexer_refuse(lexer, psprintf("Expected is \"%s\".", token));
}

int
tde_oracle_lexer_number(TdeOracleLexer *lexer)
{
	int			number;

	if (lexer->kind != TDE_ORACLE_NUMBER || strspn(lexer->token, "0123456789") != strlen(lexer->token) || strlen(lexer->token) > 5)
		tde_oracle_lexer_refuse(lexer, "Expected is a number.");
	number = atoi(lexer->token);
	tde_oracle_lexer_next(lexer);
	return number;
}

/* The name is changed where it is: each token is a copy of its own. */
char *
tde_oracle_lexer_raw_name(TdeOracleLexer *lexer)
{
	char	   *name = lexer->token;
	bool		capitals = true;

	if (lexer->kind != TDE_ORACLE_WORD && lexer->kind != TDE_ORACLE_QUOTED)
		tde_oracle_lexer_refuse(lexer, "Expected is a name.");
	for (const char *p = name; *p; p++)
		capitals &= !islower((unsigned char) *p);
	for (char *p = name; *p && capitals; p++)
		*p = (char) tolower((unsigned char) *p);
	tde_oracle_lexer_next(lexer);
	return name;
}

char *
tde_oracle_lexer_name(TdeOracleLexer *lexer)
{
	return pstrdup(quote_identifier(tde_oracle_lexer_raw_name(lexer)));
}
