/*
 * shamir.c - a secret in n shares of which any k give it back (Shamir, over GF(2^8) byte by byte), and their text form.
 *
 * The scheme is that of A. Shamir, How to share a secret, CACM 22 (1979).  The text is in Crockford's base 32, which leaves out what is misread.
 *
 * Of k - 1 shares every secret is equally likely, as long as all coefficients, the highest one included, are uniformly random:
 * it must not be kept from being zero.
 *
 * Nothing here looks up a table by a secret byte or branches on one.  Masks are all ones for true and zero for false.
 */
#include "ceremony/shamir.h"

#include <stdbool.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include "crypto/primitives.h"

#define FORMAT			"tde1"
#define FORMAT_SIZE		4
#define CHECKSUM_SIZE	5
#define CHECKED_SIZE	(TDE_SHARE_SPLIT_SIZE + 2 + TDE_SHARE_SECRET_SIZE)
#define BODY_SIZE		(CHECKED_SIZE + CHECKSUM_SIZE)

/* The text has eight characters for each five bytes, so nothing is left over. */
_Static_assert(BODY_SIZE % 5 == 0 && FORMAT_SIZE + BODY_SIZE / 5 * 8 == TDE_SHARE_CHARACTERS, "text of a share");

/* ---- arithmetic: GF(2^8) modulo x^8 + x^4 + x^3 + x + 1 ---- */

/* The product, with AES's polynomial.  Bits are taken one after the other under masks, so time tells nothing of the factors. */
static uint8_t
multiply(uint8_t a, uint8_t b)
{
	uint32_t	product = 0;
	uint32_t	shifted = a;

	for (int i = 0; i < 8; i++)
	{
		product ^= shifted & (0 - (uint32_t) (b >> i & 1));
		shifted = (shifted << 1) ^ (0x11b & (0 - (shifted >> 7)));
	}
	return (uint8_t) product;
}

/* 1 / a = a^254 by squaring, and 0 for 0. */
static uint8_t
invert(uint8_t a)
{
	uint8_t		result = a;

	for (int i = 0; i < 6; i++)
		result = multiply(multiply(result, result), a);
	return multiply(result, result);
}

/* ---- splitting and combining ---- */

/* Horner's rule, y = (...(c[k-1] x + c[k-2]) x + ...) x + secret, in each byte. */
static void
evaluate(const uint8_t secret[TDE_SHARE_SECRET_SIZE], uint8_t coefficients[][TDE_SHARE_SECRET_SIZE], int k, TdeShare *share)
{
	for (int i = 0; i < TDE_SHARE_SECRET_SIZE; i++)
	{
		uint8_t		y = 0;

		for (int degree = k - 1; degree > 0; degree--)
			y = multiply(y ^ coefficients[degree - 1][i], share->x);
		share->y[i] = y ^ secret[i];
	}
}

TdeStatus
tde_shamir_split(const uint8_t secret[TDE_SHARE_SECRET_SIZE], int k, int n, TdeShare *shares)
{
	uint8_t		coefficients[TDE_MAX_SHARES - 1][TDE_SHARE_SECRET_SIZE];
	uint8_t		split[TDE_SHARE_SPLIT_SIZE];
	TdeStatus	status;

	if (k < TDE_MIN_SHARES || k > n || n > TDE_MAX_SHARES)
		return TDE_E_FORMAT;
	status = tde_random_key(split, sizeof(split));
	if (status == TDE_OK)
		status = tde_random_key(coefficients[0], (size_t) (k - 1) * sizeof(coefficients[0]));
	for (int i = 0; status == TDE_OK && i < n; i++)
	{
		memcpy(shares[i].split, split, sizeof(split));
		shares[i].k = (uint8_t) k;
		shares[i].x = (uint8_t) (i + 1);
		evaluate(secret, coefficients, k, &shares[i]);
	}
	OPENSSL_cleanse(coefficients, sizeof(coefficients));
	return status;
}

int
tde_shamir_same_split(const TdeShare *a, const TdeShare *b)
{
	return a->k == b->k && memcmp(a->split, b->split, sizeof(a->split)) == 0;
}

/* Returns true if they are as many as they say are needed, of one split, and all different.  x 0 would be the secret itself. */
static bool
belong_together(const TdeShare *shares, int count)
{
	for (int i = 0; i < count; i++)
	{
		if (shares[i].k != count || shares[i].x == 0 || !tde_shamir_same_split(&shares[i], &shares[0]))
			return false;
		for (int j = 0; j < i; j++)
			if (shares[j].x == shares[i].x)
				return false;
	}
	return count >= TDE_MIN_SHARES;
}

/* Returns what share i counts in the secret: the product of x[j] / (x[j] - x[i]) over the others (Lagrange, at 0).  Here - is the same as +, XOR. */
static uint8_t
weight(const TdeShare *shares, int count, int i)
{
	uint8_t		above = 1;
	uint8_t		below = 1;

	for (int j = 0; j < count; j++)
	{
		if (j == i)
			continue;
		above = multiply(above, shares[j].x);
		below = multiply(below, shares[j].x ^ shares[i].x);
	}
	return multiply(above, invert(below));
}

TdeStatus
tde_shamir_combine(const TdeShare *shares, int count, uint8_t secret[TDE_SHARE_SECRET_SIZE])
{
	if (!belong_together(shares, count))
		return TDE_E_FORMAT;
	memset(secret, 0, TDE_SHARE_SECRET_SIZE);
	for (int i = 0; i < count; i++)
	{
		uint8_t		factor = weight(shares, count, i);

		for (int byte = 0; byte < TDE_SHARE_SECRET_SIZE; byte++)
			secret[byte] ^= multiply(factor, shares[i].y[byte]);
	}
	return TDE_OK;
}

/* ---- characters ---- */

/* Returns the mask of low <= value <= high, for numbers below 2^31. */
static uint32_t
is_within(uint32_t value, uint32_t low, uint32_t high)
{
	return 0 - (((low - 1 - value) & (value - high - 1)) >> 31);
}

/* Crockford's digits: 0-9 and the letters without i, l, o and u. */
static char
digit_of(uint32_t value)
{
	return (char) ('0' + value +
				   (is_within(value, 10, 31) & ('a' - '0' - 10)) +
				   (is_within(value, 18, 31) & 1) +
				   (is_within(value, 20, 31) & 1) +
				   (is_within(value, 22, 31) & 1) +
				   (is_within(value, 27, 31) & 1));
}

/* The reverse; *wrong becomes non-zero if there is no such digit.  All digits are read before anybody looks at that. */
static uint32_t
value_of(char digit, uint32_t *wrong)
{
	uint32_t	c = (uint8_t) digit;
	uint32_t	is_number = is_within(c, '0', '9');
	uint32_t	letter = c + (is_within(c, 'A', 'Z') & ('a' - 'A'));
	uint32_t	is_letter = is_within(letter, 'a', 'z') & ~is_within(letter, 'u', 'u');
	uint32_t	is_one = is_within(letter, 'i', 'i') | is_within(letter, 'l', 'l');
	uint32_t	is_zero = is_within(letter, 'o', 'o');
	uint32_t	rank = letter - 'a' + 10 -
	(is_within(letter, 'j', 'z') & 1) -
	(is_within(letter, 'm', 'z') & 1) -
	(is_within(letter, 'p', 'z') & 1) -
	(is_within(letter, 'v', 'z') & 1);

	*wrong |= ~(is_number | is_letter);
	return (is_number & (c - '0')) | (is_one & 1) | (is_letter & ~is_one & ~is_zero & rank);
}

static bool
is_separator(char c)
{
	return c == '-' || c == ' ' || (c >= '\t' && c <= '\r');
}

/* ---- text ---- */

/* Computes the checksum over the format's name and the share. */
static TdeStatus
checksum(const uint8_t checked[CHECKED_SIZE], uint8_t sum[CHECKSUM_SIZE])
{
	uint8_t		input[FORMAT_SIZE + CHECKED_SIZE];
	uint8_t		digest[EVP_MAX_MD_SIZE];
	int			good;

	ERR_clear_error();
	memcpy(input, FORMAT, FORMAT_SIZE);
	memcpy(input + FORMAT_SIZE, checked, CHECKED_SIZE);
	good = EVP_Q_digest(NULL, "SHA256", NULL, input, sizeof(input), digest, NULL);
	memcpy(sum, digest, CHECKSUM_SIZE);
	OPENSSL_cleanse(input, sizeof(input));
	OPENSSL_cleanse(digest, sizeof(digest));
	return good == 1 ? TDE_OK : TDE_E_CRYPTO;
}

static void
pack(const TdeShare *share, uint8_t body[BODY_SIZE])
{
	memcpy(body, share->split, TDE_SHARE_SPLIT_SIZE);
	body[TDE_SHARE_SPLIT_SIZE] = share->k;
	body[TDE_SHARE_SPLIT_SIZE + 1] = share->x;
	memcpy(body + TDE_SHARE_SPLIT_SIZE + 2, share->y, TDE_SHARE_SECRET_SIZE);
}

static void
unpack(const uint8_t body[BODY_SIZE], TdeShare *share)
{
	memcpy(share->split, body, TDE_SHARE_SPLIT_SIZE);
	share->k = body[TDE_SHARE_SPLIT_SIZE];
	share->x = body[TDE_SHARE_SPLIT_SIZE + 1];
	memcpy(share->y, body + TDE_SHARE_SPLIT_SIZE + 2, TDE_SHARE_SECRET_SIZE);
}

TdeStatus
tde_shamir_print(const TdeShare *share, char text[TDE_SHARE_TEXT_SIZE])
{
	uint8_t		body[BODY_SIZE];
	char	   *out = text;
	TdeStatus	status;

	pack(share, body);
	status = checksum(body, body + CHECKED_SIZE);
	for (int i = 0; i < TDE_SHARE_CHARACTERS; i++)
	{
		int			bit = (i - FORMAT_SIZE) * 5;	/* the first one of the character's five */

		if (i > 0 && i % 4 == 0)
			*out++ = '-';
		if (i < FORMAT_SIZE)
			*out++ = FORMAT[i];
		else
		{
			uint32_t	pair = (uint32_t) body[bit / 8] << 8 | (bit / 8 + 1 < BODY_SIZE ? body[bit / 8 + 1] : 0);

			*out++ = digit_of(pair >> (11 - bit % 8) & 31);
		}
	}
	*out = '\0';
	OPENSSL_cleanse(body, sizeof(body));
	if (status != TDE_OK)
		OPENSSL_cleanse(text, TDE_SHARE_TEXT_SIZE);
	return status;
}

/* Reads the characters of the text as numbers, one too many at most.  Returns how many there are. */
static int
read_values(const char *text, size_t size, uint8_t values[TDE_SHARE_CHARACTERS + 1], uint32_t *wrong)
{
	int			count = 0;

	*wrong = 0;
	for (size_t i = 0; i < size && count <= TDE_SHARE_CHARACTERS; i++)
		if (!is_separator(text[i]))
			values[count++] = (uint8_t) value_of(text[i], wrong);
	return count;
}

static bool
has_format(const uint8_t *values, int count)
{
	uint32_t	wrong = 0;

	for (int i = 0; i < FORMAT_SIZE; i++)
		if (i >= count || values[i] != value_of(FORMAT[i], &wrong))
			return false;
	return true;
}

/* Makes five bytes of eight characters of five bits each. */
static void
join(const uint8_t values[TDE_SHARE_CHARACTERS], uint8_t body[BODY_SIZE])
{
	for (int i = 0; i < BODY_SIZE / 5; i++)
	{
		uint64_t	bits = 0;

		for (int j = 0; j < 8; j++)
			bits = bits << 5 | values[FORMAT_SIZE + 8 * i + j];
		for (int j = 0; j < 5; j++)
			body[5 * i + j] = (uint8_t) (bits >> (32 - 8 * j));
	}
}

/* A share that no split makes has a right checksum only if somebody made it up. */
static bool
is_possible(const TdeShare *share)
{
	return share->k >= TDE_MIN_SHARES && share->x > 0;
}

TdeStatus
tde_shamir_parse(const char *text, size_t size, TdeShare *share, TdeShareFault *fault)
{
	uint8_t		values[TDE_SHARE_CHARACTERS + 1];
	uint8_t		body[BODY_SIZE];
	uint8_t		expected[CHECKSUM_SIZE];
	uint32_t	wrong;
	int			count = read_values(text, size, values, &wrong);
	TdeStatus	status = TDE_OK;

	memset(share, 0, sizeof(*share));
	if (!has_format(values, count))
		*fault = TDE_SHARE_UNKNOWN;
	else if (wrong)
		*fault = TDE_SHARE_CHARACTER;
	else if (count != TDE_SHARE_CHARACTERS)
		*fault = TDE_SHARE_LENGTH;
	else
	{
		join(values, body);
		unpack(body, share);
		status = checksum(body, expected);
		*fault = CRYPTO_memcmp(expected, body + CHECKED_SIZE, CHECKSUM_SIZE) == 0 && is_possible(share) ?
			TDE_SHARE_GOOD : TDE_SHARE_CHECKSUM;
		OPENSSL_cleanse(body, sizeof(body));
	}
	OPENSSL_cleanse(values, sizeof(values));
	if (status != TDE_OK || *fault != TDE_SHARE_GOOD)
		OPENSSL_cleanse(share, sizeof(*share));
	return status;
}

void
tde_shamir_passphrase(const uint8_t secret[TDE_SHARE_SECRET_SIZE], char passphrase[TDE_SHARE_PASSPHRASE_SIZE])
{
	for (int i = 0; i < 2 * TDE_SHARE_SECRET_SIZE; i++)
	{
		uint32_t	nibble = secret[i / 2] >> (i % 2 ? 0 : 4) & 15;

		passphrase[i] = (char) ('0' + nibble + (is_within(nibble, 10, 15) & ('a' - '0' - 10)));
	}
	passphrase[2 * TDE_SHARE_SECRET_SIZE] = '\0';
}
