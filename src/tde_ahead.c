/*
 * tde_ahead.c - salts drawn ahead, a few at a time, together with the key stream that belongs to them.
 */
#include "tde_ahead.h"

#define STREAM_BLOCKS	(TDE_AHEAD_STREAM / 16)

/*
 * Draw salts and encrypt their counters in one call.
 */
TdeStatus
tde_ahead_fill(TdeAhead *ahead, TdeCipherKey *key)
{
	uint8_t		counters[TDE_AHEAD_SALTS * TDE_AHEAD_STREAM];
	TdeStatus	status = TDE_OK;
	int			written = 0;

	ahead->left = 0;
	for (int i = 0; i < TDE_AHEAD_SALTS && status == TDE_OK; i++)
	{
		status = tde_random_salt(ahead->salts[i].salt, TDE_CTR_SALT);
		for (int block = 0; block < STREAM_BLOCKS; block++)
		{
			uint8_t    *counter = counters + 16 * (STREAM_BLOCKS * i + block);

			tde_first_counter(counter, ahead->salts[i].salt);
			counter[15] = (uint8_t) block;
		}
	}
	if (status == TDE_OK && (EVP_EncryptUpdate(key->encrypt, counters, &written, counters, sizeof(counters)) != 1 ||
							 written != sizeof(counters)))
		status = TDE_E_CRYPTO;
	if (status != TDE_OK)
		return status;
	for (int i = 0; i < TDE_AHEAD_SALTS; i++)
		memcpy(ahead->salts[i].stream, counters + TDE_AHEAD_STREAM * i, TDE_AHEAD_STREAM);
	tde_wipe(counters, sizeof(counters));
	ahead->left = TDE_AHEAD_SALTS;
	ahead->forks = tde_random_forks;
	return TDE_OK;
}
