/*
 * ahead.h - salts drawn ahead, a few at a time, together with the key stream that belongs to them.
 *
 * A salt is random, so nothing of a value is needed to make it or its key stream.  Encrypting the counters of many
 * salts in one call costs hardly more than those of one: what is left for a value is a xor.
 */
#ifndef TDE_CRYPTO_AHEAD_H
#define TDE_CRYPTO_AHEAD_H

#include "crypto/cipher.h"
#include "crypto/primitives.h"
#include "crypto/spec.h"
#include "crypto/status.h"

#define TDE_AHEAD_SALTS		16
#define TDE_AHEAD_STREAM	32	/* bytes of key stream per salt: most values are not longer */

/* To be zeroed before use, and wiped after it. */
typedef struct TdeAhead
{
	uint8_t		streams[TDE_AHEAD_SALTS * TDE_AHEAD_STREAM];
	uint8_t		salts[TDE_AHEAD_SALTS * TDE_CTR_SALT];
	unsigned	left;			/* the first ones; those behind them were used and wiped */
	unsigned	forks;			/* tde_random_forks when they were drawn */
} TdeAhead;

extern TDE_MUST_CHECK TdeStatus tde_ahead_fill(TdeAhead *ahead, TdeCipherKey *key);

/*
 * CTR of a value that is sealed under a fresh salt, which is written before its ciphertext.  size is at most
 * TDE_AHEAD_STREAM; only for keys with own_modes, since a validated module does the whole mode itself.
 */
static inline TDE_MUST_CHECK TdeStatus
tde_ahead_crypt(TdeAhead *ahead, TdeCipherKey *key, const uint8_t *in, size_t size, uint8_t *out)
{
	unsigned	next;
	uint8_t    *stream;

	if (ahead->left == 0 || ahead->forks != tde_random_forks)
	{
		TdeStatus	status = tde_ahead_fill(ahead, key);

		if (status != TDE_OK)
			return status;
	}
	next = --ahead->left;
	stream = ahead->streams + next * TDE_AHEAD_STREAM;
	memcpy(out, ahead->salts + next * TDE_CTR_SALT, TDE_CTR_SALT);
	tde_xor(out + TDE_CTR_SALT, in, stream, size);
	/* the salt is no secret */
	tde_wipe(stream, TDE_AHEAD_STREAM);
	return TDE_OK;
}

#endif							/* TDE_CRYPTO_AHEAD_H */
