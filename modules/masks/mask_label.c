/*
 * mask_label.c - the masks of a column as they are written: its security label.
 *
 * What tde_mask_print() prints, tde_mask_parse() reads as the same masks: pg_dump brings labels from one to the other.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "parser/scansup.h"
#include "utils/builtins.h"

#include "masks/mask_label.h"
#include "server/compat.h"

/* ---- words ---- */

/* What a word of a label is. */
typedef enum WordKind
{
	WORD_END,
	WORD_BARE,
	WORD_QUOTED,				/* 'text' */
	WORD_NAME,					/* "name" */
	WORD_COMMA,
	WORD_SEMICOLON
} WordKind;

/* A label, and the word that is next in it. */
typedef struct Words
{
	const char *label;
	const char *at;				/* what follows the word */
	const char *begin;			/* where the word begins */
	WordKind	kind;			/* of the word */
	char	   *text;
} Words;

/* Throws ERRCODE_INVALID_PARAMETER_VALUE, with the place of the word. */
pg_noreturn static void
complain(Words *words, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid masks \"%s\"", words->label),
			 *words->begin ? errdetail("%s at \"%s\".", what, words->begin) : errdetail("%s at the end.", what),
			 errhint("A mask is one of: clear; first 6, last 4, padded by '*'; domain; year; range 1000; hash; constant 'text'; null.  "
					 "Several, with semicolons between them, are each followed by TO and roles, except for that of everybody else.")));
}

/* Reads what stands between two quotes; two in a row are one. */
static void
read_quoted(Words *words, char quote)
{
	StringInfoData text;

	initStringInfo(&text);
	for (words->at++; words->at[0] != quote || *++words->at == quote; words->at++)
	{
		CHECK_FOR_INTERRUPTS();
		if (words->at[0] == '\0')
			complain(words, "Unterminated quotation");
		appendStringInfoChar(&text, *words->at);
	}
	words->text = text.data;
}

/* Reads the next word in place of this one.  Words end at blanks, commas, semicolons and quotes. */
static void
next_word(Words *words)
{
	size_t		size;

	words->begin = words->at += strspn(words->at, " \t\n\r\f\v");
	words->text = NULL;
	switch (*words->at)
	{
		case '\0':
			words->kind = WORD_END;
			break;
		case ',':
		case ';':
			words->kind = *words->at++ == ',' ? WORD_COMMA : WORD_SEMICOLON;
			break;
		case '\'':
		case '"':
			words->kind = *words->at == '\'' ? WORD_QUOTED : WORD_NAME;
			read_quoted(words, *words->at);
			break;
		default:
			words->kind = WORD_BARE;
			size = strcspn(words->at, " \t\n\r\f\v,;'\"");
			words->text = pnstrdup(words->at, size);
			words->at += size;
	}
}

/* Returns true if the word is this one; then the next is read. */
static bool
take(Words *words, const char *word)
{
	if (words->kind != WORD_BARE || pg_strcasecmp(words->text, word) != 0)
		return false;
	next_word(words);
	return true;
}

/* The same of a mark, such as a comma. */
static bool
take_kind(Words *words, WordKind kind)
{
	if (words->kind != kind)
		return false;
	next_word(words);
	return true;
}

/* Takes a text, in quotes or as it is; missing: what to say if there is none. */
static char *
take_text(Words *words, const char *missing)
{
	char	   *text = words->text;

	if (words->kind != WORD_QUOTED && words->kind != WORD_BARE)
		complain(words, missing);
	next_word(words);
	return text;
}

/* Takes a number of characters, up to a million. */
static int
take_count(Words *words)
{
	char	   *end;
	long		count = words->kind == WORD_BARE ? strtol(words->text, &end, 10) : -1;

	if (count < 0 || count > 1000000 || *end != '\0')
		complain(words, "A number of characters is missing");
	next_word(words);
	return (int) count;
}

/* Takes a role's name.  Without quotes it is folded to small letters, as SQL does it. */
static char *
take_role(Words *words)
{
	char	   *name = words->text;

	if (words->kind != WORD_NAME && words->kind != WORD_BARE)
		complain(words, "The name of a role is missing");
	if (words->kind == WORD_BARE)
		name = downcase_truncate_identifier(name, strlen(name), false);
	next_word(words);
	return name;
}

/* ---- masks ---- */

/* Parses first 6, last 4, padded by '*', in any order and number; a later one replaces an earlier one. */
static void
parse_parts(Words *words, TdeMask *mask)
{
	mask->kind = TDE_MASK_PARTS;
	do
	{
		CHECK_FOR_INTERRUPTS();
		if (take(words, "first"))
			mask->first = take_count(words);
		else if (take(words, "last"))
			mask->last = take_count(words);
		else if (take(words, "padded"))
		{
			if (!take(words, "by"))
				complain(words, "BY is missing");
			mask->text = take_text(words, "What to pad by is missing");
			if (mask->text[0] == '\0')
				complain(words, "What to pad by is missing");
		}
		else
			complain(words, "No mask");
	} while (take_kind(words, WORD_COMMA));
}

/* Parses what is shown.  The words are keywords only here: a role may be called year. */
static void
parse_kind(Words *words, TdeMask *mask)
{
	static const struct
	{
		const char *word;
		TdeMaskKind kind;
	}			simple[] = {
		{"clear", TDE_MASK_CLEAR}, {"domain", TDE_MASK_DOMAIN}, {"year", TDE_MASK_YEAR}, {"hash", TDE_MASK_HASH}, {"null", TDE_MASK_NULL}
	};

	for (int i = 0; i < lengthof(simple); i++)
	{
		mask->kind = simple[i].kind;
		if (take(words, simple[i].word))
			return;
	}
	if (take(words, "range"))
	{
		mask->kind = TDE_MASK_RANGE;
		mask->text = take_text(words, "The width of the range is missing");
	}
	else if (take(words, "constant"))
	{
		mask->kind = TDE_MASK_CONSTANT;
		mask->text = take_text(words, "The constant is missing");
	}
	else
		parse_parts(words, mask);
}

/* Throws ERRCODE_DUPLICATE_OBJECT if the role has a mask among these already: nobody could say which one counts. */
static void
require_new(Words *words, List *masks, const char *role)
{
	if (tde_mask_of_role(masks, role))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 role ? errmsg("masks \"%s\" name role \"%s\" twice", words->label, role) :
				 errmsg("masks \"%s\" have two for everybody else", words->label)));
}

/* Parses TO and roles; without it the mask is everybody else's, and so it is TO PUBLIC. */
static void
parse_roles(Words *words, List *masks, TdeMask *mask)
{
	bool		bare;

	if (!take(words, "to"))
	{
		require_new(words, masks, NULL);
		return;
	}
	do
	{
		char	   *role;

		CHECK_FOR_INTERRUPTS();
		bare = words->kind == WORD_BARE;
		role = take_role(words);
		/* everybody, as GRANT says it, stands alone */
		if (bare && strcmp(role, "public") == 0 && mask->roles == NIL && words->kind != WORD_COMMA)
		{
			require_new(words, masks, NULL);
			return;
		}
		require_new(words, lappend(list_copy(masks), mask), role);
		mask->roles = lappend(mask->roles, role);
	} while (take_kind(words, WORD_COMMA));
}

List *
tde_mask_parse(const char *label)
{
	Words		words = {.label = label, .at = label};
	List	   *masks = NIL;

	next_word(&words);
	do
	{
		TdeMask    *mask = palloc0(sizeof(TdeMask));

		CHECK_FOR_INTERRUPTS();
		parse_kind(&words, mask);
		parse_roles(&words, masks, mask);
		masks = lappend(masks, mask);
	} while (take_kind(&words, WORD_SEMICOLON));
	if (words.kind != WORD_END)
		complain(&words, "No mask");
	return masks;
}

TdeMask *
tde_mask_of_role(List *masks, const char *role)
{
	ListCell   *mask;
	ListCell   *name;

	foreach(mask, masks)
	{
		List	   *roles = ((TdeMask *) lfirst(mask))->roles;

		if (role == NULL && roles == NIL)
			return lfirst(mask);
		foreach(name, roles)
			if (role && strcmp(lfirst(name), role) == 0)
				return lfirst(mask);
	}
	return NULL;
}

/* ---- printing ---- */

/* Prints a text in quotes, which are doubled within. */
static void
print_text(StringInfo label, const char *text)
{
	appendStringInfoChar(label, '\'');
	for (; *text; text++)
	{
		CHECK_FOR_INTERRUPTS();
		if (*text == '\'')
			appendStringInfoChar(label, '\'');
		appendStringInfoChar(label, *text);
	}
	appendStringInfoChar(label, '\'');
}

/* Prints at least one part, since the parser knows such a mask by it. */
static void
print_parts(StringInfo label, const TdeMask *mask)
{
	const char *comma = "";

	if (mask->first > 0 || (mask->last == 0 && mask->text == NULL))
	{
		appendStringInfo(label, "first %d", mask->first);
		comma = ", ";
	}
	if (mask->last > 0)
	{
		appendStringInfo(label, "%slast %d", comma, mask->last);
		comma = ", ";
	}
	if (mask->text)
	{
		appendStringInfo(label, "%spadded by ", comma);
		print_text(label, mask->text);
	}
}

/* Prints a mask.  A role public is in quotes, since without them it is everybody. */
static void
print_mask(StringInfo label, const TdeMask *mask)
{
	static const char *const words[] = {"clear", "", "domain", "year", "range ", "hash", "constant ", "null"};
	const char *separator = " TO ";
	ListCell   *role;

	appendStringInfoString(label, words[mask->kind]);
	if (mask->kind == TDE_MASK_PARTS)
		print_parts(label, mask);
	else if (mask->text)
		print_text(label, mask->text);
	foreach(role, mask->roles)
	{
		const char *name = lfirst(role);

		appendStringInfo(label, "%s%s", separator, strcmp(name, "public") == 0 ? "\"public\"" : quote_identifier(name));
		separator = ", ";
	}
}

char *
tde_mask_print(List *masks)
{
	StringInfoData label;
	ListCell   *cell;

	if (masks == NIL)
		return NULL;
	initStringInfo(&label);
	foreach(cell, masks)
	{
		appendStringInfoString(&label, label.len > 0 ? "; " : "");
		print_mask(&label, lfirst(cell));
	}
	return label.data;
}
