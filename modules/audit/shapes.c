/*
 * shapes.c - what card numbers, IBAN, e-mail addresses and national ids look like, and whether their check digits are right.
 *
 * A pattern is matched at each word's beginning, without regular expressions: these would be compiled, and take time that a text can choose.
 */
#include "postgres.h"

#include "audit/shapes.h"

/* ---- signs ---- */

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_capital(char c)
{
	return c >= 'A' && c <= 'Z';
}

/* Returns true of a letter of an address's domain; all letters outside of ASCII are, too. */
static bool
is_letter(char c)
{
	return is_capital(c) || (c >= 'a' && c <= 'z') || IS_HIGHBIT_SET(c);
}

/* A shape neither begins nor ends within a word: 16 digits of a number of 40 are no card number. */
static bool
is_word(char c)
{
	return is_digit(c) || c == '_' || (is_letter(c) && !IS_HIGHBIT_SET(c));
}

static int64
number_of(const char *digits, int count)
{
	int64		number = 0;

	for (int i = 0; i < count; i++)
		number = number * 10 + digits[i] - '0';
	return number;
}

/* ---- rules: of capitals and digits, without what stands between them ---- */

/* Luhn (ISO/IEC 7812): every other digit from the last but one on counts twice, by the sum of its digits. */
static bool
is_card_number(const char *signs, int count)
{
	int			sum = 0;

	for (int i = 0; i < count; i++)
	{
		int			digit = signs[i] - '0';

		if ((count - i) % 2 == 0)
			digit = digit > 4 ? 2 * digit - 9 : 2 * digit;
		sum += digit;
	}
	return sum % 10 == 0;
}

/* ISO 13616: the first four signs moved to the end, with 10 for A to 35 for Z. */
static bool
is_iban(const char *signs, int count)
{
	int			rest = 0;

	for (int i = 0; i < count; i++)
	{
		char		c = signs[(i + 4) % count];

		rest = is_digit(c) ? (rest * 10 + c - '0') % 97 : (rest * 100 + c - 'A' + 10) % 97;
	}
	return rest == 1;
}

/* Areas, groups and serial numbers that are never given. */
static bool
is_us_number(const char *signs, int count)
{
	int64		area = number_of(signs, 3);

	return area != 0 && area != 666 && area < 900 && number_of(signs + 3, 2) != 0 && number_of(signs + 5, 4) != 0;
}

/* Letters that no prefix has, and the suffixes A to D. */
static bool
is_uk_number(const char *signs, int count)
{
	return strchr("DFIQUV", signs[0]) == NULL && strchr("DFIOQUV", signs[1]) == NULL && signs[8] <= 'D';
}

/* Sex, month, and the key: 97 less the rest of 13 digits by 97.  Corsica's letters are not taken. */
static bool
is_french_number(const char *signs, int count)
{
	int64		month = number_of(signs + 3, 2);

	return (signs[0] == '1' || signs[0] == '2') && month >= 1 && month <= 12 && 97 - number_of(signs, 13) % 97 == number_of(signs + 13, 2);
}

/* The letter is the number's rest by 23, in an order of its own. */
static bool
is_spanish_number(const char *signs, int count)
{
	return "TRWAGMYFPDXBNJZSQVHLCKE"[number_of(signs, 8) % 23] == signs[8];
}

/* A letter for the month. */
static bool
is_italian_code(const char *signs, int count)
{
	return strchr("ABCDEHLMPRST", signs[8]) != NULL;
}

/* Weights 1, 3, 7, 9 and the check digit.  The month has the century in it, as a multiple of 20. */
static bool
is_polish_number(const char *signs, int count)
{
	static const int weights[] = {1, 3, 7, 9};
	int64		month = number_of(signs + 2, 2) % 20;
	int64		day = number_of(signs + 4, 2);
	int			sum = signs[10] - '0';

	for (int i = 0; i < 10; i++)
		sum += weights[i % 4] * (signs[i] - '0');
	return sum % 10 == 0 && month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

/* ---- shapes ---- */

/*
 * 9: a digit.  2: one from 2 to 6.  A: a capital.  X: either.  A space: one that may be missing.  ~: a space or hyphen that may be missing.  Others are themselves.
 * more: what follows on that, from least to most times.
 */
typedef struct Shape
{
	const char *kind;
	const char *pattern;
	bool		(*is_valid) (const char *signs, int count);
	const char *more;
	int			least;
	int			most;
} Shape;

#define MOST_SIGNS 64

/* The first is no pattern. */
#define ADDRESS 0

static const Shape shapes[] = {
	{"e-mail address"},
	{"card number", "2", is_card_number, "~9", 12, 18},
	{"IBAN", "AA99", is_iban, " X", 11, 30},
	{"US social security number", "999-99-9999", is_us_number},
	{"UK national insurance number", "AA 99 99 99 A", is_uk_number},
	{"French NIR", "9 99 99 99 999 999 99", is_french_number},
	{"Spanish DNI", "99999999~A", is_spanish_number},
	{"Italian codice fiscale", "AAAAAA99A99A999A", is_italian_code},
	{"Polish PESEL", "99999999999", is_polish_number},
	{"Brazilian CPF", "999.999.999-99"},
};

StaticAssertDecl(lengthof(shapes) == TDE_SHAPES, "all shapes are counted");

const char *
tde_shapes_kind(int shape)
{
	return shapes[shape].kind;
}

/* Returns true if a character fits a sign of a pattern (see Shape); blanks that may be missing are take()'s. */
static bool
fits(char pattern, char c)
{
	switch (pattern)
	{
		case '9':
			return is_digit(c);
		case '2':
			return c >= '2' && c <= '6';
		case 'A':
			return is_capital(c);
		case 'X':
			return is_digit(c) || is_capital(c);
		default:
			return c == pattern;
	}
}

/* Returns where the pattern ends in the text; NULL: it does not fit.  *signs grows by capitals and digits, for the rules above. */
static const char *
take(const char *at, const char *pattern, char **signs)
{
	for (; *pattern; pattern++)
	{
		if (*pattern == ' ' || *pattern == '~')
		{
			at += *at == ' ' || (*pattern == '~' && *at == '-');
			continue;
		}
		if (!fits(*pattern, *at))
			return NULL;
		if (is_word(*at))
			*(*signs)++ = *at;
		at++;
	}
	return at;
}

/* A word begins here; the shape may end with this or with a later one. */
static TdeMatch
match_shape(const Shape *shape, const char *at)
{
	TdeMatch	match = TDE_MATCH_NONE;
	char		signs[MOST_SIGNS];
	char	   *end = signs;

	at = take(at, shape->pattern, &end);
	for (int i = 0; at != NULL && match != TDE_MATCH_VALID; i++)
	{
		if (i >= shape->least && !is_word(*at))
			match = shape->is_valid == NULL || shape->is_valid(signs, end - signs) ? TDE_MATCH_VALID : TDE_MATCH_SHAPE;
		at = i < shape->most ? take(at, shape->more, &end) : NULL;
	}
	return match;
}

/* Returns true of an @ (at) with a local part before and a domain behind it that ends with two letters. */
static bool
is_address(const char *text, const char *at)
{
	const char *label = at + 1;
	bool		first = true;

	if (at == text || !(is_digit(at[-1]) || is_letter(at[-1]) || strchr("._%+-", at[-1])))
		return false;
	while (first || !is_letter(label[0]) || !is_letter(label[1]))
	{
		const char *end = label;

		while (is_digit(*end) || is_letter(*end) || *end == '-')
			end++;
		if (end == label || *end != '.')
			return false;
		label = end + 1;
		first = false;
	}
	return true;
}

void
tde_shapes_look(const char *text, TdeMatch matches[TDE_SHAPES])
{
	memset(matches, 0, TDE_SHAPES * sizeof(TdeMatch));
	for (const char *at = text; *at; at++)
	{
		if (*at == '@' && matches[ADDRESS] == TDE_MATCH_NONE && is_address(text, at))
			matches[ADDRESS] = TDE_MATCH_VALID;
		if (!fits('X', *at) || (at > text && is_word(at[-1])))
			continue;
		for (int i = ADDRESS + 1; i < TDE_SHAPES; i++)
			if (matches[i] == TDE_MATCH_NONE)
				matches[i] = match_shape(&shapes[i], at);
	}
}
