/*
 * secret_calls.c - finds calls that pass a secret in the text of a statement, so that all of it is hidden.
 *
 * Hidden is a text in which the name of such a function, or one that is misspelt by a letter or two, has arguments behind it: in a
 * statement, the body of a block or function, a literal, a comment, or what is left of a broken statement.  Where the secret begins and
 * ends is not asked: who puts the call together from variables has it elsewhere in the text, and who forgets a quote has it outside of
 * one.  Not hidden are what has no secret: tde_wallet_open(), which takes what COPY has brought, a signature like tde_wallet_open(text),
 * the name alone.
 *
 * Anybody can hide a statement of theirs by such a call that is never made, as they could by writing the name in a comment if calls were
 * told from comments.  So a text only decides what is written of its own statement.  The entry of the log stays, with who and what
 * (server/hidden.c), and so do those about others.
 */
#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "crypto/secret_calls.h"

static const char *const secret_functions[] = {
	"tde_wallet_create", "tde_wallet_open", "tde_wallet_change_passphrase", "tde_wallet_open_share", "tde_export_keys",
	"tde_import_keys", "tde_open_envelope", "tde_import_oracle_ddl"
};

#define FUNCTIONS (sizeof(secret_functions) / sizeof(secret_functions[0]))

/* The view that takes secrets, and the schema that it is in. */
#define SECRET_VIEW		"tde.passphrase"

/* Letters that may be wrong, missing or too many. */
#define MAX_MISTAKES	2

/* Longer words are no names of ours. */
#define MAX_WORD		63

#define BEGINS_WORD(c) (isalpha((unsigned char) (c)) || (c) == '_' || ((unsigned char) (c)) >= 0x80)
#define CONTINUES_WORD(c) (BEGINS_WORD(c) || isdigit((unsigned char) (c)) || (c) == '$')

/* ---- words ---- */

/* The hexadecimal digits at p, as an ASCII character; -1 if these are none. */
static int
hex_character(const char *p, int digits)
{
	unsigned	value = 0;

	for (; digits > 0; digits--, p++)
	{
		int			c = tolower((unsigned char) *p);

		if (!isxdigit(c))
			return -1;
		value = value << 4 | (unsigned) (isdigit(c) ? c - '0' : c - 'a' + 10);
	}
	return value > 0 && value < 128 ? (int) value : -1;
}

/* The character at *p, in small letters, and *p behind it.  unicode: in a text with U&"...", where any character may begin an escape. */
static char
next_character(const char **p, bool unicode)
{
	char		c = *(*p)++;

	if (unicode && !CONTINUES_WORD(c) && !isspace((unsigned char) c))
	{
		int			digits = **p == '+' ? 6 : 4;
		int			escaped = hex_character(*p + (digits == 6), digits);

		if (escaped > 0)
		{
			*p += digits + (digits == 6);
			c = (char) escaped;
		}
	}
	return (char) tolower((unsigned char) c);
}

/* Returns how many letters of word are to be changed, removed or added to make it name: the distance of Levenshtein.  Beyond MAX_MISTAKES: many. */
static int
mistakes(const char *word, size_t size, const char *name)
{
	size_t		length = strlen(name);
	int			row[MAX_WORD + 1];

	if (size > length + MAX_MISTAKES || length > size + MAX_MISTAKES)
		return MAX_MISTAKES + 1;
	for (size_t i = 0; i <= length; i++)
		row[i] = (int) i;
	for (size_t w = 1; w <= size; w++)
	{
		int			diagonal = row[0]++;

		for (size_t n = 1; n <= length; n++)
		{
			int			changed = diagonal + (word[w - 1] != name[n - 1]);
			int			least = row[n] < row[n - 1] ? row[n] + 1 : row[n - 1] + 1;

			diagonal = row[n];
			row[n] = changed < least ? changed : least;
		}
	}
	return row[length];
}

/* The function that the word names, if need be with mistakes; NULL: none. */
static const char *
function_named(const char *word, size_t size, bool *exactly)
{
	const char *found = NULL;
	int			least = MAX_MISTAKES + 1;

	for (size_t i = 0; i < FUNCTIONS && least > 0; i++)
	{
		int			count = mistakes(word, size, secret_functions[i]);

		if (count < least)
		{
			least = count;
			found = secret_functions[i];
		}
	}
	*exactly = least == 0;
	return found;
}

/* ---- what is behind a name ---- */

/* "\n" in the body of E'...', and where a statement is quoted in JSON. */
static bool
is_escaped_blank(const char *p)
{
	return *p == '\\' && p[1] != '\0' && strchr("nrtbf", p[1]) != NULL;
}

/* Blanks, the quotes of a name, also as JSON and CSV have them, and UESCAPE '!'. */
static const char *
skip_blanks(const char *p)
{
	for (;;)
	{
		if (isspace((unsigned char) *p) || *p == '"')
			p++;
		else if (is_escaped_blank(p) || (p[0] == '\\' && p[1] == '"'))
			p += 2;
		else if (strncasecmp(p, "uescape", 7) == 0)
		{
			p += 7 + strspn(p + 7, " \t\r\n");
			p += *p == '\'' && p[1] != '\0' && p[2] == '\'' ? 3 : 0;
		}
		else
			return p;
	}
}

/* Returns true if nothing is between these parentheses but types, NULL and booleans; also if the text ends before anything else comes. */
static bool
is_harmless(const char *p)
{
	static const char *const words[] = {"text", "bytea", "boolean", "bool", "pg_catalog", "null", "default", "true", "false"};

	while (*p != '\0' && *p != ')')
	{
		size_t		size = 0;
		bool		known = false;

		if (!BEGINS_WORD(*p))
		{
			if (!isspace((unsigned char) *p) && strchr(",.\"", *p) == NULL)
				return false;
			p++;
			continue;
		}
		while (CONTINUES_WORD(p[size]))
			size++;
		for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && !known; i++)
			known = strlen(words[i]) == size && strncasecmp(p, words[i], size) == 0;
		if (!known)
			return false;
		p += size;
	}
	return true;
}

/* What is looked for in a text once. */
typedef struct Text
{
	const char *start;
	bool		escapes;		/* has U&"..." */
	bool		composes;		/* puts texts together */
} Text;

/* Returns true if the name that ends at p may be called with arguments.  What is behind a comment is not asked, and a literal may become code. */
static bool
may_pass_arguments(const Text *text, const char *p, bool exactly)
{
	const char *next = skip_blanks(p);

	if (*next == '(')
		return !is_harmless(next + 1);
	if ((next[0] == '-' && next[1] == '-') || (next[0] == '/' && next[1] == '*'))
		return true;
	return exactly && *p == '\'' && text->composes;
}

/* ---- a text ---- */

/* The word at *p, and *p behind it.  Returns its size; 0 if it is too long. */
static size_t
read_word(const char **p, bool unicode, char word[MAX_WORD])
{
	size_t		size = 0;

	while (**p != '\0')
	{
		const char *after = *p;
		char		c = next_character(&after, unicode);

		if (!CONTINUES_WORD(c))
			break;
		if (size < MAX_WORD)
			word[size] = c;
		size++;
		*p = after;
	}
	return size <= MAX_WORD ? size : 0;
}

/* The call at *p, the beginning of a word; *p is moved behind the word. */
static const char *
call_at(const Text *text, const char **p)
{
	char		word[MAX_WORD];
	size_t		size = read_word(p, text->escapes, word);
	bool		exactly;
	const char *name;

	if (size < 4 || memcmp(word, "tde_", 4) != 0)
		return NULL;
	name = function_named(word, size, &exactly);
	return name != NULL && may_pass_arguments(text, *p, exactly) ? name : NULL;
}

/* Returns true if a word begins at p, also behind "\n". */
static bool
begins_word(const char *start, const char *p)
{
	return p == start || !CONTINUES_WORD(p[-1]) || (p - start > 1 && is_escaped_blank(p - 2));
}

/* Each word is read, since names may be in escapes. */
static const char *
call_in_words(const Text *text)
{
	for (const char *p = text->start; *p != '\0';)
	{
		const char *before = p;
		const char *call = call_at(text, &p);

		if (call != NULL)
			return call;
		if (p == before)
			p += is_escaped_blank(p) && hex_character(p + 1, 4) < 0 ? 2 : 0;
		if (p == before)
			(void) next_character(&p, true);
	}
	return NULL;
}

/* The same of words that begin as our names do; fast, since a search for one character is, and most statements have none. */
static const char *
call_in_names(const char *start)
{
	Text		text = {.start = start};
	bool		first = true;

	for (const char *p = start; (p = strchr(p, '_')) != NULL; p++)
	{
		const char *word = p - 3;
		const char *call;

		if (p - start < 3 || strncasecmp(word, "tde", 3) != 0 || !begins_word(start, word))
			continue;
		if (first)
			text.composes = strchr(start, '%') != NULL || strstr(start, "||") != NULL;
		first = false;
		call = call_at(&text, &word);
		if (call != NULL)
			return call;
	}
	return NULL;
}

/* Returns true if the word at p is the view's name, in its schema, or where a table to insert into is named. */
static bool
is_view(const char *start, const char *p)
{
	if (strncasecmp(p, "passphrase", 10) != 0)
		return false;
	while (p > start && (p[-1] == '"' || p[-1] == '.' || isspace((unsigned char) p[-1])))
		p--;
	return (p - start >= 3 && strncasecmp(p - 3, "tde", 3) == 0) || (p - start >= 4 && strncasecmp(p - 4, "into", 4) == 0);
}

/* Returns true if the text has the view and a literal or a parameter.  COPY FROM STDIN has neither. */
static bool
passes_to_view(const char *start)
{
	if (strchr(start, '\'') == NULL && strchr(start, '$') == NULL)
		return false;
	for (const char *p = start; (p = strpbrk(p, "pP")) != NULL; p++)
		if (is_view(start, p))
			return true;
	return false;
}

/* Looks at a whole text, in the way that it asks for: word by word if names may be in escapes, otherwise by names that begin with tde_. */
static const char *
call_in(const char *text)
{
	const char *call = NULL;
	bool		escapes = false;

	for (const char *p = text; !escapes && (p = strchr(p, '&')) != NULL; p++)
		escapes = p[1] == '"';
	if (escapes)
		call = call_in_words(&(Text) {.start = text,.escapes = true,.composes = true});
	else
		call = call_in_names(text);
	return call == NULL && passes_to_view(text) ? SECRET_VIEW : call;
}

/* Returns true if there is at p what something that is looked for has in it: U&"...", a name of ours, or the view's. */
static bool
is_hint(const char *text, const char *p)
{
	switch (*p)
	{
		case '&':
			return p[1] == '"';
		case '_':
			return p - text >= 3 && (p[-1] | 0x20) == 'e' && (p[-2] | 0x20) == 'd' && (p[-3] | 0x20) == 't';
		default:
			return (p[1] | 0x20) == 'a' && (p[2] | 0x20) == 's';
	}
}

#define HINTS	"&_pP"

/* hint: the first. */
static const char *
call_in_hints(const char *text, const char *hint)
{
	for (; hint != NULL; hint = strpbrk(hint + 1, HINTS))
		if (is_hint(text, hint))
			return call_in(text);
	return NULL;
}

/* Every statement of the server comes here. */
const char *
tde_secret_call(const char *text)
{
	const char *hint = strpbrk(text, HINTS);

	return hint ? call_in_hints(text, hint) : NULL;
}

bool
tde_secret_has_parameter(const char *text)
{
	for (const char *p = text; (p = strchr(p, '$')) != NULL; p++)
		if (isdigit((unsigned char) p[1]))
			return true;
	return false;
}

bool
tde_secret_has_execute(const char *text)
{
	static const char *const others[] = {"on", "function", "procedure"};

	for (const char *p = text; *p != '\0'; p++)
	{
		const char *next;
		bool		other = false;

		if ((*p | 0x20) != 'e' || strncasecmp(p, "execute", 7) != 0)
			continue;
		next = p + 7 + strspn(p + 7, " \t\r\n");
		for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
			other |= strncasecmp(next, others[i], strlen(others[i])) == 0 && !CONTINUES_WORD(next[strlen(others[i])]);
		if (!other)
			return true;
	}
	return false;
}
