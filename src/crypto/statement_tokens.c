/*
 * statement_tokens.c - the tokens of SQL, as far as finding calls and literals takes; what a message quotes.
 */
#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "crypto/statement_secrets.h"
#include "crypto/statement_tokens.h"

#define BEGINS_WORD(c) (isalpha((unsigned char) (c)) || (c) == '_' || ((unsigned char) (c)) >= 0x80)
#define CONTINUES_WORD(c) (BEGINS_WORD(c) || isdigit((unsigned char) (c)) || (c) == '$')

TdeCursor
tde_cursor(char *text, int flags)
{
	return (TdeCursor) {.p = text,.end = text + strlen(text),.flags = flags,.quotes = 1};
}

TdeCursor
tde_cursor_within(const TdeCursor *cursor, const TdeToken *string)
{
	TdeCursor	within = *cursor;

	within.p = string->body;
	within.end = string->body_end;
	if (!string->dollar)
		within.quotes = cursor->quotes * 2;
	within.escapes = cursor->escapes || string->escapes;
	return within;
}

static char
peek(const TdeCursor *cursor, ptrdiff_t offset)
{
	return cursor->end - cursor->p > offset ? cursor->p[offset] : '\0';
}

/* Is "\n" a blank here?  It is in the body of E'...', and where a statement is quoted in JSON. */
static bool
is_escaped_blank(const TdeCursor *cursor, char next)
{
	return (cursor->escapes || (cursor->flags & TDE_REDACT_ENTRY)) && next != '\0' && strchr("nrtbf", next) != NULL;
}

/* ---- what is not a token ---- */

static void
skip_line(TdeCursor *cursor)
{
	while (cursor->p < cursor->end && *cursor->p != '\n' && *cursor->p != '\r')
	{
		if (*cursor->p == '\\' && is_escaped_blank(cursor, peek(cursor, 1)))
			break;
		cursor->p++;
	}
}

/* False if it has no end: then it is none, nor is any that follows, lest each of them be followed to the end of the text. */
static bool
skip_comment(TdeCursor *cursor)
{
	int			depth = 0;

	if (cursor->no_comments)
		return false;

	for (char *p = cursor->p; p + 1 < cursor->end; p++)
	{
		if (p[0] == '/' && p[1] == '*')
			depth++, p++;
		else if (p[0] == '*' && p[1] == '/')
		{
			p++;
			if (--depth == 0)
			{
				cursor->p = p + 1;
				return true;
			}
		}
	}
	cursor->no_comments = true;
	return false;
}

/* Double quotes in an entry of the log are around statements and around names in them: which, cannot be told. */
static bool
is_blank_quote(const TdeCursor *cursor)
{
	return *cursor->p == '"' && (cursor->flags & TDE_REDACT_ENTRY) && !cursor->in_call;
}

static void
skip_blanks(TdeCursor *cursor)
{
	while (cursor->p < cursor->end)
	{
		char		next = peek(cursor, 1);

		if (isspace((unsigned char) *cursor->p) || is_blank_quote(cursor))
			cursor->p++;
		else if (*cursor->p == '\\' && (is_escaped_blank(cursor, next) || (next == '"' && (cursor->flags & TDE_REDACT_ENTRY))))
			cursor->p += next == '"' ? 1 : 2;
		else if (*cursor->p == '-' && next == '-')
			skip_line(cursor);
		else if (!(*cursor->p == '/' && next == '*' && skip_comment(cursor)))
			break;
		if (cursor->in_call && cursor->p < cursor->end && *cursor->p == '"')
			break;
	}
}

/* ---- tokens ---- */

/* The size of what stands for one quote at p, or 0. */
static int
quote_at(const TdeCursor *cursor, const char *p)
{
	int			run = 0;

	if (cursor->escapes && *p == '\\' && p + 1 < cursor->end && p[1] == '\'')
		return 2;
	while (p + run < cursor->end && p[run] == '\'' && run < cursor->quotes)
		run++;
	return run;
}

/* The cursor is at the opening quote. */
static void
read_string(TdeCursor *cursor, TdeToken *token, bool escapes)
{
	int			size;

	token->kind = TDE_TOKEN_STRING;
	token->escapes = escapes;
	cursor->p += quote_at(cursor, cursor->p);
	token->body = cursor->p;
	for (; cursor->p < cursor->end; cursor->p++)
	{
		if ((size = quote_at(cursor, cursor->p)) > 0)
		{
			int			second = cursor->p + size < cursor->end ? quote_at(cursor, cursor->p + size) : 0;

			if (second == 0)
			{
				token->body_end = cursor->p;
				cursor->p += size;
				return;
			}
			cursor->p += size + second - 1;
		}
		else if (escapes && *cursor->p == '\\' && cursor->p + 1 < cursor->end)
			cursor->p++;
	}
	token->body_end = cursor->end;
	token->open = true;
}

/* $tag$...$tag$, if it is one. */
static bool
read_dollar(TdeCursor *cursor, TdeToken *token)
{
	const char *tag = cursor->p;
	size_t		size = 1;

	if (peek(cursor, 1) != '$' && !BEGINS_WORD(peek(cursor, 1)))
		return false;
	while (tag + size < cursor->end && tag[size] != '$' && CONTINUES_WORD(tag[size]))
		size++;
	if (tag + size >= cursor->end || tag[size] != '$')
		return false;
	size++;
	token->kind = TDE_TOKEN_STRING;
	token->dollar = true;
	token->body = cursor->p + size;
	for (cursor->p += size; cursor->end - cursor->p >= (ptrdiff_t) size; cursor->p++)
		if (memcmp(cursor->p, tag, size) == 0)
		{
			token->body_end = cursor->p;
			cursor->p += size;
			return true;
		}
	token->body_end = cursor->p = cursor->end;
	token->open = true;
	return true;
}

/* "...", in pgaudit's CSV ""..."". */
static void
read_quoted(TdeCursor *cursor, TdeToken *token)
{
	bool		entry = (cursor->flags & TDE_REDACT_ENTRY) != 0;

	token->kind = TDE_TOKEN_QUOTED;
	cursor->p++;
	if (entry && peek(cursor, 0) == '"')
		cursor->p++;
	token->body = cursor->p;
	for (; cursor->p < cursor->end; cursor->p++)
	{
		if (*cursor->p != '"')
			continue;
		if (entry || peek(cursor, 1) != '"')
			break;
		cursor->p++;
	}
	/* in JSON, the closing quote has a backslash */
	token->body_end = entry && cursor->p > token->body && cursor->p[-1] == '\\' ? cursor->p - 1 : cursor->p;
	if (cursor->p < cursor->end)
		cursor->p++;
	if (entry && peek(cursor, 0) == '"')
		cursor->p++;
}

/* UESCAPE '!', if it is there. */
static char
read_uescape(TdeCursor *cursor)
{
	static const char word[] = "uescape";
	TdeCursor	ahead = *cursor;
	TdeToken	token = {.kind = TDE_TOKEN_STRING};

	skip_blanks(&ahead);
	if (ahead.end - ahead.p < (ptrdiff_t) sizeof(word) || strncasecmp(ahead.p, word, sizeof(word) - 1) != 0)
		return '\\';
	ahead.p += sizeof(word) - 1;
	skip_blanks(&ahead);
	if (ahead.p >= ahead.end || quote_at(&ahead, ahead.p) == 0)
		return '\\';
	read_string(&ahead, &token, false);
	if (token.body_end - token.body != 1)
		return '\\';
	*cursor = ahead;
	return *token.body;
}

static void
read_word(TdeCursor *cursor, TdeToken *token)
{
	char		first = *cursor->p;

	token->kind = TDE_TOKEN_WORD;
	if ((first == 'u' || first == 'U') && peek(cursor, 1) == '&' && peek(cursor, 2) == '"')
	{
		cursor->p += 2;
		read_quoted(cursor, token);
		token->unicode = true;
		token->escape = read_uescape(cursor);
		return;
	}
	while (cursor->p < cursor->end && CONTINUES_WORD(*cursor->p))
		cursor->p++;
	token->body_end = cursor->p;

	/* a literal's prefix; U&'...' comes in two tokens, which does no harm */
	if (cursor->p - token->start == 1 && strchr("eEbBxXnN", first) != NULL && cursor->p < cursor->end &&
		quote_at(cursor, cursor->p) > 0)
		read_string(cursor, token, first == 'e' || first == 'E' || (cursor->flags & TDE_REDACT_BACKSLASH));
}

static void
read_number(TdeCursor *cursor, TdeToken *token, TdeTokenKind kind)
{
	token->kind = kind;
	for (cursor->p++; cursor->p < cursor->end && (isalnum((unsigned char) *cursor->p) || *cursor->p == '.'); cursor->p++)
		if (kind == TDE_TOKEN_PARAMETER && !isdigit((unsigned char) *cursor->p))
			break;
	token->body_end = cursor->p;
}

bool
tde_token_next(TdeCursor *cursor, TdeToken *token)
{
	skip_blanks(cursor);
	*token = (TdeToken) {.kind = TDE_TOKEN_END,.start = cursor->p,.end = cursor->p,.body = cursor->p,.body_end = cursor->p};
	if (cursor->p >= cursor->end)
		return false;

	if (quote_at(cursor, cursor->p) > 0)
		read_string(cursor, token, (cursor->flags & TDE_REDACT_BACKSLASH) != 0);
	else if (*cursor->p == '"')
		read_quoted(cursor, token);
	else if (BEGINS_WORD(*cursor->p))
		read_word(cursor, token);
	else if (isdigit((unsigned char) *cursor->p))
		read_number(cursor, token, TDE_TOKEN_NUMBER);
	else if (*cursor->p == '$' && isdigit((unsigned char) peek(cursor, 1)))
		read_number(cursor, token, TDE_TOKEN_PARAMETER);
	else if (!(*cursor->p == '$' && read_dollar(cursor, token)))
	{
		token->kind = TDE_TOKEN_OTHER;
		token->body_end = ++cursor->p;
	}
	token->end = cursor->p;
	return true;
}

/* ---- names ---- */

static int
hex_value(char c)
{
	if (isdigit((unsigned char) c))
		return c - '0';
	return isxdigit((unsigned char) c) ? tolower((unsigned char) c) - 'a' + 10 : -1;
}

/* The character at *p, with escapes undone, and behind it; 1, which is in no name, for what is not ASCII. */
static char
name_character(const TdeToken *token, const char **p)
{
	uint32_t	value = 0;
	int			digits = 4;
	char		c = *(*p)++;

	if (!token->unicode || c != token->escape)
		return (char) tolower((unsigned char) c);
	if (*p < token->body_end && **p == '+')
	{
		digits = 6;
		(*p)++;
	}
	for (; digits > 0 && *p < token->body_end && hex_value(**p) >= 0; digits--)
		value = value << 4 | hex_value(*(*p)++);
	return value < 128 && digits == 0 ? (char) tolower((int) value) : 1;
}

/* What follows the name in the token; NULL: it does not begin with it. */
static const char *
compare(const TdeToken *token, const char *name)
{
	const char *p = token->body;

	if (token->kind != TDE_TOKEN_WORD && token->kind != TDE_TOKEN_QUOTED)
		return NULL;
	for (; *name != '\0'; name++)
		if (p >= token->body_end || name_character(token, &p) != *name)
			return NULL;
	return p;
}

bool
tde_token_is(const TdeToken *token, const char *name)
{
	const char *rest = compare(token, name);

	return rest != NULL && rest == token->body_end;
}

bool
tde_token_begins(const TdeToken *token, const char *prefix)
{
	return compare(token, prefix) != NULL;
}

/* ---- quotations in messages ---- */

/* The size of the quotation mark at p, or 0.  Translations have "..." or guillemets. */
static int
quotation_mark(const char *p)
{
	if (*p == '"')
		return 1;
	return strncmp(p, "\302\253", 2) == 0 || strncmp(p, "\302\273", 2) == 0 ? 2 : 0;
}

static char *
next_mark(char *p)
{
	while (*p != '\0' && quotation_mark(p) == 0)
		p++;
	return *p == '\0' ? NULL : p;
}

/* Does the format have this between two quotation marks? */
static bool
is_between(const char *format, const char *gap, size_t size)
{
	for (const char *p = format; p != NULL && (p = strchr(p, '"')) != NULL; p++)
		if (strncmp(p + 1, gap, size) == 0 && p[1 + size] == '"')
			return true;
	return false;
}

static bool
is_word_of(const char *text, const char *word, size_t size)
{
	if (size == 0)
		return true;
	for (const char *p = text; p != NULL && *p != '\0'; p++)
		if (strncasecmp(p, word, size) == 0 &&
			!(p > text && CONTINUES_WORD(p[-1]) && CONTINUES_WORD(*p)) &&
			!(CONTINUES_WORD(p[size - 1]) && CONTINUES_WORD(p[size])))
			return true;
	return false;
}

void
tde_redact_quotations(char *message, const char *format, const char *keep)
{
	char	   *first = next_mark(message);
	char	   *last = first;
	int			marks = 0;
	bool		clear = true;	/* each pair of marks is one quotation */

	for (char *p = first; p != NULL; p = next_mark(p + quotation_mark(p)))
	{
		if (marks > 0 && marks % 2 == 0 && !is_between(format, last + quotation_mark(last), p - last - quotation_mark(last)))
			clear = false;
		last = p;
		marks++;
	}
	if (marks == 0)
		return;
	if (marks % 2 != 0 || !clear)
	{
		/* a lone mark: all that follows it */
		tde_mask(first + quotation_mark(first), marks == 1 ? message + strlen(message) : last);
		return;
	}
	for (char *p = first; p != NULL;)
	{
		char	   *body = p + quotation_mark(p);
		char	   *end = next_mark(body);

		if (!is_word_of(keep, body, end - body))
			tde_mask(body, end);
		p = next_mark(end + quotation_mark(end));
	}
}
