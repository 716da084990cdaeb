/*
 * polyval.c - the hashes of gcm: what a processor multiplies without carries is what is multiplied bit by bit.
 *
 * It needs no OpenSSL, so that test/long/094_processors.pl can compile it for another processor.
 */
#include "tap.h"
#include "crypto/polyval.h"

#define KEYS	200
#define USUAL	0x31

static bool
same(TdePair one, TdePair other)
{
	return one[0] == other[0] && one[1] == other[1];
}

/* All sizes up to this one, with the usual associated byte and another. */
static bool
compare(const TdePolyval *fast, const TdePolyval *portable, const uint8_t *data, size_t most)
{
	bool		good = true;

	for (size_t size = 0; size <= most && good; size++)
	{
		TdePair		hash = tde_polyval(portable, USUAL, data, size);

		good = same(tde_polyval(fast, USUAL, data, size), hash) &&
			same(tde_polyval(fast, USUAL + 1, data, size), tde_polyval(portable, USUAL + 1, data, size));
		if (good && tde_polyval_is_short(fast, USUAL, size))
			good = same(tde_polyval_short(fast, size < 16 ? tde_load_partial(data, size) : tde_load128(data), size), hash);
	}
	return good;
}

int
main(void)
{
	uint8_t		secret[16],
				data[1100];

	diag("this processor has %scarry-less multiplication", tde_polyval_has_fast() ? "" : "no ");
	for (int ghash = 0; ghash <= 1; ghash++)
	{
		bool		good = true;

		for (int i = 0; i < KEYS && good; i++)
		{
			TdePolyval	fast = {0},
						portable = {0};

			random_fill(secret, sizeof(secret));
			random_fill(data, sizeof(data));
			tde_polyval_use_portable(false);
			tde_polyval_init(&fast, secret, ghash == 1, USUAL);
			tde_polyval_use_portable(true);
			tde_polyval_init(&portable, secret, ghash == 1, USUAL);
			good = compare(&fast, &portable, data, i == 0 ? sizeof(data) : 70);
		}
		ok(good, "%s: both ways give the same for %d keys", ghash ? "GHASH" : "POLYVAL", KEYS);
	}
	return tap_done();
}
