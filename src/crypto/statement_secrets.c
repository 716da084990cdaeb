/*
 * statement_secrets.c - overwrites secrets in the text of statements, in place and without changing its length.
 *
 * The text may be anything: a statement with a syntax error, cut off, or of an attacker who wants the log to hold less.  So what a
 * call hides ends with its closing parenthesis, and never reaches beyond the literal that the call is in.
 */
#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "crypto/statement_secrets.h"
#include "crypto/statement_tokens.h"

/* Literals within literals: a function's body in a DO block that EXECUTEs it.  There is no use for more. */
#define MAX_NESTING		6

/* As long as PostgreSQL's identifiers, and the terminating zero. */
#define NAME_SIZE		64

#define PREFIX			"tde_wallet_"

static const char *const secret_functions[] = {
	"tde_wallet_create", "tde_wallet_open", "tde_wallet_change_passphrase", "tde_wallet_open_share", "tde_export_keys",
	"tde_import_keys"
};
static const char *const other_functions[] = {
	"tde_wallet_close", "tde_wallet_status", "tde_wallet_split", "tde_wallet_forget_shares"
};

/* After these words, a name and a parenthesis are no call; ... */
static const char *const before_signature[] = {"function", "routine", "procedure"};

/* ... nor is it after these, if the name is none of ours: it may as well be a table as a function that is misspelt. */
static const char *const before_relation[] = {
	"table", "exists", "into", "on", "references", "view", "copy", "only", "index", "update", "as", "with", "recursive"
};

/* Words that can stand before the first word of a statement in PL/pgSQL. */
static const char *const before_statement[] = {"declare", "begin", "then", "else", "loop"};

#define IS_ONE_OF(token, words) is_one_of(token, words, sizeof(words) / sizeof((words)[0]))

static bool
is_one_of(const TdeToken *token, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (tde_token_is(token, words[i]))
			return true;
	return false;
}

bool
tde_redact_suspects(const char *text)
{
	/* U&"...": a name in escapes; a search for one character is the faster one, and most statements have none */
	for (const char *p = text; (p = strchr(p, '&')) != NULL; p++)
		if (p[1] == '"')
			return true;
	for (const char *p = text; (p = strchr(p, '_')) != NULL; p++)
		if (p - text >= 3 && strncasecmp(p - 3, "tde", 3) == 0)
			return true;
	return false;
}

static bool
mask_body(const TdeToken *token)
{
	return tde_mask(token->body, token->body_end);
}

/* ---- a call ---- */

/* What is known of the text around a call. */
typedef struct Scan
{
	TdeCalls   *calls;
	int			nesting;		/* how many literals the text is within */
	bool		unfinished;		/* a call has more arguments than those that stand in this text */
	bool		broken;			/* the text ends within a literal */
	char		variable[NAME_SIZE];	/* an argument of a call; "": none */
} Scan;

static bool
is_punctuation(const TdeToken *token, const char *which)
{
	return token->kind == TDE_TOKEN_OTHER && strchr(which, *token->start) != NULL;
}

static void
note_parameter(TdeCalls *calls, const TdeToken *token)
{
	unsigned	n = 0;

	for (const char *p = token->start + 1; p < token->end && n < 1000; p++)
		n = n * 10 + (*p - '0');
	calls->parameters |= n >= 1 && n <= 64 ? UINT64_C(1) << (n - 1) : TDE_ALL_PARAMETERS;
}

/* A word is all of an argument: a variable, a column, or a passphrase whose quotes were forgotten. */
static void
mask_variable(Scan *scan, const TdeToken *token)
{
	size_t		size = token->end - token->start;

	if (tde_token_is(token, "null") || tde_token_is(token, "default"))
		return;
	if (size < NAME_SIZE)
	{
		for (size_t i = 0; i < size; i++)
			scan->variable[i] = (char) tolower((unsigned char) token->start[i]);
		scan->variable[size] = '\0';
	}
	scan->unfinished = true;
	scan->calls->elsewhere = true;
	scan->calls->masked |= tde_mask(token->start, token->end);
}

static void
mask_argument(Scan *scan, const TdeToken *before, const TdeToken *token, const TdeToken *after)
{
	bool		is_whole = is_punctuation(before, "(,>=") && (is_punctuation(after, "),") || after->kind == TDE_TOKEN_END);

	switch (token->kind)
	{
		case TDE_TOKEN_STRING:
		case TDE_TOKEN_NUMBER:
			scan->calls->masked |= mask_body(token);
			break;
		case TDE_TOKEN_QUOTED:
			/* not the name of a function, nor a qualified one */
			if (is_punctuation(after, "(."))
				break;
			scan->calls->masked |= mask_body(token);
			break;
		case TDE_TOKEN_WORD:
			if (is_whole)
				mask_variable(scan, token);
			else if (is_punctuation(before, ".") && !is_punctuation(after, "(."))
				scan->calls->elsewhere = true;
			/* a piece of a literal whose end was not recognized */
			else if (before->kind == TDE_TOKEN_STRING && before->end == token->start)
				scan->calls->masked |= tde_mask(token->start, token->end);
			break;
		case TDE_TOKEN_PARAMETER:
			note_parameter(scan->calls, token);
			if (scan->nesting > 0)
				scan->unfinished = true;
			break;
		default:
			/* format()'s %L */
			if (*token->start == '%')
				scan->unfinished = true;
	}
}

/* The cursor is behind the opening parenthesis; it is moved behind the closing one. */
static void
mask_arguments(TdeCursor *cursor, Scan *scan)
{
	int			depth = 1;
	char		parenthesis = '(';
	TdeToken	before = {.kind = TDE_TOKEN_OTHER, .start = &parenthesis, .end = &parenthesis + 1};
	TdeToken	token;

	scan->calls->any = true;
	cursor->in_call = true;
	tde_token_next(cursor, &token);
	while (depth > 0 && token.kind != TDE_TOKEN_END)
	{
		TdeToken	after;

		if (is_punctuation(&token, "("))
			depth++;
		else if (is_punctuation(&token, ")") && --depth == 0)
			break;
		tde_token_next(cursor, &after);
		mask_argument(scan, &before, &token, &after);
		before = token;
		token = after;
	}
	cursor->in_call = false;
	if (depth > 0)
		scan->unfinished = true;
}

/* 'tde_wallet_open(text)', for regprocedure.  The cursor is at the parenthesis. */
static bool
is_signature(TdeCursor cursor)
{
	TdeToken	token;

	(void) tde_token_next(&cursor, &token);
	while (tde_token_next(&cursor, &token) && (tde_token_is(&token, "text") || is_punctuation(&token, ",")))
		;
	return is_punctuation(&token, ")") && !tde_token_next(&cursor, &token);
}

/* Is the token, with the cursor behind it, the name of a function that takes a secret, and called?  before is the word before. */
static bool
is_call(const TdeCursor *cursor, const TdeToken *name, const TdeToken *before, bool is_first)
{
	TdeCursor	ahead = *cursor;
	TdeToken	next;
	bool		is_known = IS_ONE_OF(name, secret_functions);

	if (!is_known && (!tde_token_begins(name, PREFIX) || IS_ONE_OF(name, other_functions)))
		return false;
	if (IS_ONE_OF(before, before_signature) || (!is_known && IS_ONE_OF(before, before_relation)))
		return false;
	return tde_token_next(&ahead, &next) && is_punctuation(&next, "(") && !(is_first && is_signature(*cursor));
}

/* ---- around calls ---- */

/* What is put together with an unfinished call: the other arguments of format(), the operands of ||, USING. */
static void
mask_rest(TdeCursor *cursor, TdeCalls *calls)
{
	TdeToken	token;

	for (int depth = 0; tde_token_next(cursor, &token) && !is_punctuation(&token, ";");)
	{
		if (is_punctuation(&token, "("))
			depth++;
		else if (is_punctuation(&token, ")") && --depth < 0)
			break;
		else if (token.kind == TDE_TOKEN_STRING)
			calls->masked |= mask_body(&token);
	}
}

/* The literals in "variable type := ...;", in the body of a function or block. */
static void
mask_assignments(TdeCursor cursor, const char *variable, TdeCalls *calls)
{
	bool		begins = true;
	TdeToken	token;

	while (tde_token_next(&cursor, &token))
	{
		if (begins && tde_token_is(&token, variable))
		{
			mask_rest(&cursor, calls);
			continue;
		}
		begins = is_punctuation(&token, ";") || IS_ONE_OF(&token, before_statement);
	}
}

/*
 * A quote too many or too few turns literals inside out.  Such a text is a syntax error, or cut off: so look for calls everywhere,
 * also in what seem to be literals.
 */
static void
scan_broken_text(const TdeCursor *text, TdeCalls *calls)
{
	for (char *p = text->p; p < text->end; p++)
	{
		TdeCursor	cursor = *text;
		Scan		scan = {.calls = calls};
		TdeToken	none = {.kind = TDE_TOKEN_END};
		TdeToken	token;

		if ((*p | 0x20) != 't')
			continue;
		cursor.p = p;
		cursor.no_comments = true;	/* lest each be followed to the end of the text */
		if (tde_token_next(&cursor, &token) && is_call(&cursor, &token, &none, false))
		{
			(void) tde_token_next(&cursor, &none);
			mask_arguments(&cursor, &scan);
			p = cursor.p - 1;
		}
	}
}

/* Returns whether a call is unfinished. */
static bool
scan_text(TdeCursor cursor, int nesting, TdeCalls *calls)
{
	Scan		scan = {.calls = calls, .nesting = nesting};
	TdeCursor	all = cursor;
	TdeToken	before = {.kind = TDE_TOKEN_END};	/* the word before the name, with its schema, that may be coming */
	TdeToken	last = before;
	TdeToken	token;
	bool		is_first = nesting > 0; /* so far nothing but a name */
	int			depth = 0;

	while (tde_token_next(&cursor, &token))
	{
		bool		is_name = token.kind == TDE_TOKEN_WORD || token.kind == TDE_TOKEN_QUOTED;

		if (is_name && is_call(&cursor, &token, is_punctuation(&last, ".") ? &before : &last, is_first))
		{
			(void) tde_token_next(&cursor, &last);
			mask_arguments(&cursor, &scan);
			is_first = false;
			continue;
		}
		if (token.kind == TDE_TOKEN_STRING && nesting < MAX_NESTING &&
			scan_text(tde_cursor_within(&cursor, &token), nesting + 1, calls))
		{
			scan.unfinished = true;
			/* in a statement, the rest is what the call's text is in parentheses with; in a body, the rest of the statement */
			if (nesting > 0 || depth > 0)
			{
				TdeCursor	rest = cursor;

				mask_rest(&rest, calls);
			}
		}
		if (is_punctuation(&token, "("))
			depth++;
		else if (is_punctuation(&token, ")") && depth > 0)
			depth--;
		scan.broken = token.kind == TDE_TOKEN_STRING && token.open;
		is_first = is_first && (is_name || is_punctuation(&token, "."));
		if (is_name && !is_punctuation(&last, "."))
			before = last;
		last = token;
	}
	if (nesting > 0 && scan.variable[0] != '\0')
		mask_assignments(all, scan.variable, calls);
	if (nesting == 0 && scan.broken)
		scan_broken_text(&all, calls);
	return scan.unfinished;
}

/* ---- when it is known by other means that there are secrets ---- */

static bool
mask_literals(TdeCursor cursor, int nesting)
{
	TdeToken	before = {.kind = TDE_TOKEN_END};
	TdeToken	token;
	bool		changed = false;

	for (; tde_token_next(&cursor, &token); before = token)
	{
		if (token.kind != TDE_TOKEN_STRING)
			continue;
		/* the code of a block or function stays, but for its literals */
		if (nesting < MAX_NESTING && (tde_token_is(&before, "do") || tde_token_is(&before, "as")))
			changed |= mask_literals(tde_cursor_within(&cursor, &token), nesting + 1);
		else
			changed |= mask_body(&token);
	}
	return changed;
}

bool
tde_redact_literals(char *text, int flags)
{
	return mask_literals(tde_cursor(text, flags), 0);
}

void
tde_redact_calls(char *text, int flags, TdeCalls *calls)
{
	TdeCalls	here = {0};

	if (!tde_redact_suspects(text))
		return;
	(void) scan_text(tde_cursor(text, flags), 0, &here);
	if (here.elsewhere)
	{
		here.masked |= tde_redact_literals(text, flags);
		here.parameters = TDE_ALL_PARAMETERS;
	}
	calls->any |= here.any;
	calls->masked |= here.masked;
	calls->elsewhere |= here.elsewhere;
	calls->parameters |= here.parameters;
}

void
tde_redact_parameters(char *text, int flags, uint64_t parameters)
{
	TdeCursor	cursor = tde_cursor(text, flags);
	TdeCalls	calls = {0};
	TdeToken	token;
	bool		wanted = false;

	while (tde_token_next(&cursor, &token))
	{
		if (token.kind == TDE_TOKEN_PARAMETER)
		{
			calls.parameters = 0;
			note_parameter(&calls, &token);
			wanted = (calls.parameters & parameters) != 0;
		}
		else if (token.kind == TDE_TOKEN_STRING && wanted)
			mask_body(&token);
		else if (!is_punctuation(&token, "="))
			wanted = false;
	}
}

/* The cursor is behind the opening parenthesis.  Returns whether there are more arguments than those that stand in this text. */
static bool
mask_execute_arguments(TdeCursor *cursor, uint64_t parameters, TdeCalls *calls)
{
	unsigned	n = 0;
	int			depth = 1;
	TdeToken	token;

	while (depth > 0 && tde_token_next(cursor, &token))
	{
		if (is_punctuation(&token, "("))
			depth++;
		else if (is_punctuation(&token, ")"))
			depth--;
		else if (is_punctuation(&token, ",") && depth == 1)
			n++;
		else if (token.kind == TDE_TOKEN_STRING && (n >= 64 || (parameters >> n & 1)))
			calls->masked |= mask_body(&token);
	}
	return depth > 0;
}

/* Is it EXECUTE name( ?  The cursor is moved behind what is. */
static bool
is_execute(TdeCursor *cursor, const TdeToken *first)
{
	TdeCursor	ahead = *cursor;
	TdeToken	token;

	if (!tde_token_is(first, "execute") || !tde_token_next(&ahead, &token) ||
		(token.kind != TDE_TOKEN_WORD && token.kind != TDE_TOKEN_QUOTED) ||
		!tde_token_next(&ahead, &token) || !is_punctuation(&token, "("))
		return false;
	*cursor = ahead;
	return true;
}

/* Also in literals: the body of a DO block or function, the text of its EXECUTE.  Returns whether one is unfinished. */
static bool
mask_execute(TdeCursor cursor, int nesting, uint64_t parameters, TdeCalls *calls)
{
	bool		unfinished = false;
	TdeToken	token;

	while (tde_token_next(&cursor, &token))
	{
		if (is_execute(&cursor, &token))
			unfinished |= mask_execute_arguments(&cursor, parameters, calls) && nesting > 0;
		else if (token.kind == TDE_TOKEN_STRING && nesting < MAX_NESTING &&
				 mask_execute(tde_cursor_within(&cursor, &token), nesting + 1, parameters, calls))
		{
			TdeCursor	rest = cursor;

			mask_rest(&rest, calls);
			unfinished = true;
		}
	}
	return unfinished;
}

bool
tde_redact_execute(char *text, int flags, uint64_t parameters)
{
	TdeCalls	calls = {0};

	(void) mask_execute(tde_cursor(text, flags), 0, parameters, &calls);
	return calls.masked;
}

/* Behind a field of CSV and its comma. */
static char *
csv_skip(char *p)
{
	bool		quoted = false;

	for (; *p != '\0' && (quoted || *p != ','); p++)
		if (*p == '"')
			quoted = !quoted;
	return *p == ',' ? p + 1 : p;
}

void
tde_redact_audit(char *text)
{
	/* kind, number, number, class, command, type, name, statement */
	for (int i = 0; i < 8; i++)
		text = csv_skip(text);
	if (*text == '<')			/* <none>, <not logged>, <previously logged> */
		return;
	for (; *text != '\0'; text++)
		if (*text != ',' && *text != '"')
			*text = '*';
}
