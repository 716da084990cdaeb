/*
 * shamir.h - a secret in n shares of which any k give it back (Shamir), and their text form.
 *
 * The text is "tde1" and 45 bytes in Crockford's base 32: split id, k, x, y, and the beginning of the SHA-256 of "tde1" and
 * of these 40 bytes.  The checksum is of the share alone: it finds typing errors and says nothing of the secret.
 *
 * Nothing here knows of PostgreSQL: it reports by status, and is tested outside of the server (unit/shares.c).  All that holds a secret is the
 * caller's to cleanse.
 */
#ifndef TDE_CEREMONY_SHAMIR_H
#define TDE_CEREMONY_SHAMIR_H

#include <stddef.h>
#include <stdint.h>

#include "crypto/status.h"

#define TDE_SHARE_SECRET_SIZE	32
#define TDE_SHARE_SPLIT_SIZE	6
#define TDE_MIN_SHARES			2
#define TDE_MAX_SHARES			255

/* Characters that count, those printed (dashes between groups of four), and the passphrase's digits with their zero. */
#define TDE_SHARE_CHARACTERS	76
#define TDE_SHARE_TEXT_SIZE		(TDE_SHARE_CHARACTERS + TDE_SHARE_CHARACTERS / 4)
#define TDE_SHARE_PASSPHRASE_SIZE	(2 * TDE_SHARE_SECRET_SIZE + 1)

/* One share of a split, as bytes.  y is secret; the rest may be told. */
typedef struct TdeShare
{
	uint8_t		split[TDE_SHARE_SPLIT_SIZE];	/* random; which shares belong together */
	uint8_t		k;				/* how many are needed */
	uint8_t		x;				/* number of the share, from 1 */
	uint8_t		y[TDE_SHARE_SECRET_SIZE];	/* value at x of the polynomial of each byte; at 0 it is the secret */
} TdeShare;

/* What is wrong with a text. */
typedef enum TdeShareFault
{
	TDE_SHARE_GOOD = 0,
	TDE_SHARE_UNKNOWN,			/* does not begin as a share does */
	TDE_SHARE_CHARACTER,		/* a character that does not occur in shares */
	TDE_SHARE_LENGTH,			/* too short or too long */
	TDE_SHARE_CHECKSUM			/* some character is not what was printed */
} TdeShareFault;

/* Makes n shares of which k are needed; 2 <= k <= n <= 255, else TDE_E_FORMAT.  On an error the shares are not to be used. */
extern TDE_MUST_CHECK TdeStatus tde_shamir_split(const uint8_t secret[TDE_SHARE_SECRET_SIZE], int k, int n,
												 TdeShare *shares);

/* Returns true if the shares belong to one split. */
extern int	tde_shamir_same_split(const TdeShare *a, const TdeShare *b);

/*
 * Computes the secret of as many shares as they say are needed.  TDE_E_FORMAT if they are of different splits, fewer or more, or not all different.
 * Nothing can tell whether they are genuine: another y gives another secret.
 */
extern TDE_MUST_CHECK TdeStatus tde_shamir_combine(const TdeShare *shares, int count,
												   uint8_t secret[TDE_SHARE_SECRET_SIZE]);

/* Writes the text of a share, with its terminating zero.  On an error the text is cleansed. */
extern TDE_MUST_CHECK TdeStatus tde_shamir_print(const TdeShare *share, char text[TDE_SHARE_TEXT_SIZE]);

/*
 * Reads a share as it was printed or typed: case, spaces and dashes do not matter, I and L are 1, O is 0.  *fault tells what is wrong with the text,
 * which is no error; the share is zeros then.
 */
extern TDE_MUST_CHECK TdeStatus tde_shamir_parse(const char *text, size_t size, TdeShare *share, TdeShareFault *fault);

/* Writes the passphrase that a secret stands for: its hexadecimal digits, with a terminating zero. */
extern void tde_shamir_passphrase(const uint8_t secret[TDE_SHARE_SECRET_SIZE], char passphrase[TDE_SHARE_PASSPHRASE_SIZE]);

#endif							/* TDE_CEREMONY_SHAMIR_H */
