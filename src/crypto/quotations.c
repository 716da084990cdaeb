/*
 * quotations.c - overwrites what a message quotes, and numbers in it, in place and without changing its length.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "crypto/quotations.h"

#define CONTINUES_WORD(c) (isalnum((unsigned char) (c)) || (c) == '_' || (c) == '$' || ((unsigned char) (c)) >= 0x80)

static void
mask(char *from, const char *to)
{
	while (from < to)
		*from++ = '*';
}

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

/* Returns true if the format has this between two quotation marks: the text between two quotations of one message. */
static bool
is_between(const char *format, const char *gap, size_t size)
{
	for (const char *p = format; p != NULL && (p = strchr(p, '"')) != NULL; p++)
		if (strncmp(p + 1, gap, size) == 0 && p[1 + size] == '"')
			return true;
	return false;
}

/* Returns true if text has this word, whole and in whatever case.  What is empty is a word of every text. */
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
tde_quotations_redact(char *message, const char *format, const char *keep)
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
		mask(first + quotation_mark(first), marks == 1 ? message + strlen(message) : last);
		return;
	}
	for (char *p = first; p != NULL;)
	{
		char	   *body = p + quotation_mark(p);
		char	   *end = next_mark(body);

		if (!is_word_of(keep, body, end - body))
			mask(body, end);
		p = next_mark(end + quotation_mark(end));
	}
}

/* The end of a number, be it a date, a time, or have it a point or an exponent. */
static char *
number_end(char *p)
{
	while (CONTINUES_WORD(*p) || (*p == '.' && isdigit((unsigned char) p[1])))
		p++;
	return p;
}

/* Returns true if a number stands as in numeric(10,2). */
static bool
is_modifier(const char *message, const char *from, const char *to)
{
	while (from > message && (isdigit((unsigned char) from[-1]) || from[-1] == ','))
		from--;
	while (isdigit((unsigned char) *to) || *to == ',')
		to++;
	return from > message + 1 && from[-1] == '(' && CONTINUES_WORD(from[-2]) && *to == ')';
}

void
tde_quotations_redact_numbers(char *message, const char *format, const char *keep)
{
	for (char *p = message, *end; *p != '\0'; p = end)
	{
		end = p + 1;
		if (!CONTINUES_WORD(*p))
			continue;
		end = number_end(p);
		if (isdigit((unsigned char) *p) && !is_modifier(message, p, end) && !is_word_of(format, p, end - p) && !is_word_of(keep, p, end - p))
			mask(p, end);
	}
}
