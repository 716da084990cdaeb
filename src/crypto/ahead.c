/*
 * ahead.c - salts drawn ahead, a few at a time, together with the key stream that belongs to them.
 */
#include "crypto/ahead.h"

#define STREAM_BLOCKS	(TDE_AHEAD_STREAM / 16)

/*
 * Draw salts and encrypt their counters in one call, in place.
 */
TdeStatus
tde_ahead_fill(TdeAhead *ahead, TdeCipherKey *key)
{
	TdeStatus	status = tde_random_salts(ahead->salts, sizeof(ahead->salts));
	uint8_t    *counter = ahead->streams;
	int			written = 0;

	ahead->left = 0;
	if (status != TDE_OK)
		return status;
	for (int i = 0; i < TDE_AHEAD_SALTS; i++)
		for (uint8_t block = 0; block < STREAM_BLOCKS; block++, counter += 16)
		{
			tde_first_counter(counter, ahead->salts + i * TDE_CTR_SALT);
			counter[15] = block;
		}
	if (EVP_EncryptUpdate(key->encrypt, ahead->streams, &written, ahead->streams, sizeof(ahead->streams)) != 1 ||
		written != sizeof(ahead->streams))
		return TDE_E_CRYPTO;
	ahead->left = TDE_AHEAD_SALTS;
	ahead->forks = tde_random_forks;
	return TDE_OK;
}
