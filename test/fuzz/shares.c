/*
 * shares.c - fuzzing of shares of a secret: texts, what they are put together from, and splitting.
 *
 * The first byte of an input says what is done with the rest.
 */
#include <openssl/crypto.h>

#include "check.h"
#include "ceremony/shamir.h"

/* More make a run slow: the work grows with the square. */
#define MOST	6

/* A text that somebody typed. */
static void
text_of_a_share(const uint8_t *bytes, size_t size)
{
	char	   *text = (char *) copy_of(bytes, size);
	char		printed[TDE_SHARE_TEXT_SIZE];
	TdeShare	share,
				again;
	TdeShareFault fault = -1;

	CHECK(tde_shamir_parse(text, size, &share, &fault) == TDE_OK && fault <= TDE_SHARE_CHECKSUM);
	if (fault == TDE_SHARE_GOOD)
	{
		CHECK(share.k >= TDE_MIN_SHARES && share.x > 0);
		CHECK(tde_shamir_print(&share, printed) == TDE_OK && strlen(printed) == TDE_SHARE_TEXT_SIZE - 1);
		CHECK(tde_shamir_parse(printed, strlen(printed), &again, &fault) == TDE_OK && fault == TDE_SHARE_GOOD);
		CHECK(memcmp(&share, &again, sizeof(share)) == 0);
	}
	free(text);
}

/* A share that somebody made up has a text; it is read unless no split makes such a one. */
static void
made_up(const uint8_t *bytes, size_t size)
{
	TdeShare	share = {0},
				again;
	TdeShareFault fault;
	char		text[TDE_SHARE_TEXT_SIZE];

	memcpy(&share, bytes, size < sizeof(share) ? size : sizeof(share));
	CHECK(tde_shamir_print(&share, text) == TDE_OK);
	CHECK(tde_shamir_parse(text, strlen(text), &again, &fault) == TDE_OK);
	CHECK((fault == TDE_SHARE_GOOD) == (share.k >= TDE_MIN_SHARES && share.x > 0));
	CHECK(fault != TDE_SHARE_GOOD || memcmp(&share, &again, sizeof(share)) == 0);
}

/* Any shares at all. */
static void
combine(const uint8_t *bytes, size_t size)
{
	size_t		count = size / sizeof(TdeShare);
	TdeShare   *shares = (TdeShare *) copy_of(bytes, count * sizeof(TdeShare));
	uint8_t		secret[TDE_SHARE_SECRET_SIZE];
	TdeStatus	status = tde_shamir_combine(shares, (int) count, secret);

	CHECK(status == TDE_OK || status == TDE_E_FORMAT);
	free(shares);
}

/* As many as are needed give the secret back, whichever they are. */
static void
split(const uint8_t *bytes, size_t size)
{
	uint8_t		secret[TDE_SHARE_SECRET_SIZE] = {0},
				result[TDE_SHARE_SECRET_SIZE];
	char		passphrase[TDE_SHARE_PASSPHRASE_SIZE];
	TdeShare	shares[MOST];
	int			k = bytes[0] % (MOST + 2);
	int			n = bytes[1] % (MOST + 1);
	TdeStatus	status;

	memcpy(secret, bytes + 2, size - 2 < sizeof(secret) ? size - 2 : sizeof(secret));
	status = tde_shamir_split(secret, k, n, shares);
	CHECK(status == (k >= TDE_MIN_SHARES && k <= n ? TDE_OK : TDE_E_FORMAT));
	if (status == TDE_OK)
	{
		CHECK(tde_shamir_combine(shares + bytes[0] % (n - k + 1), k, result) == TDE_OK);
		CHECK(memcmp(result, secret, sizeof(secret)) == 0);
		CHECK(tde_shamir_combine(shares, k - 1, result) == TDE_E_FORMAT);
		tde_shamir_passphrase(result, passphrase);
		CHECK(strlen(passphrase) == sizeof(passphrase) - 1);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 3)
		return 0;
	switch (data[0] & 3)
	{
		case 0:
			text_of_a_share(data + 1, size - 1);
			break;
		case 1:
			made_up(data + 1, size - 1);
			break;
		case 2:
			combine(data + 1, size - 1);
			break;
		case 3:
			split(data + 1, size - 1);
			break;
	}
	return 0;
}
