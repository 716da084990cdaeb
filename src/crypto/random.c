/*
 * random.c - random bytes: for keys, and for salts, drawn ahead for an epoch.
 *
 * OpenSSL's generators keep their state in this process.  A snapshot of a virtual machine that is resumed twice has it twice, and two processes
 * draw the same, until they are seeded anew.  So the first bytes of an epoch are the operating system's own, and stir OpenSSL's generator when
 * more are needed: the kernel is told of a resumption (by the virtual machine's generation id), and has noise of its own otherwise.
 */
#include <errno.h>
#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <unistd.h>
#ifdef __APPLE__
#include <sys/random.h>
#endif

#include "crypto/cipher.h"
#include "crypto/internal.h"
#include "crypto/primitives.h"
#include "crypto/spec.h"

#define POOL_SIZE	4096
#define LARGEST		256			/* that may be taken at once; and that getentropy() gives at once */
#define STIR_SIZE	32

volatile sig_atomic_t tde_random_epoch = 1;
bool		tde_random_is_ahead = false;
void		(*tde_random_draws) (void) = NULL;

/* Random bytes for salts.  Bytes before pool_next were used and wiped; the pool starts empty. */
static uint8_t pool[POOL_SIZE];
static size_t pool_next = POOL_SIZE;
static sig_atomic_t pool_epoch = 0;
static unsigned fillings = 0;	/* of this epoch, */
static bool stirred = false;	/* one of which by OpenSSL's generator, stirred */

/* Salts drawn ahead from the pool, of keys. */
static TdeAhead *first_ahead = NULL;

/* ---- generators ---- */

/* Draws from one of OpenSSL's generators, with bytes of the operating system's as additional input (NIST SP 800-90A, 9.3). */
static TdeStatus
draw_stirred(EVP_RAND_CTX *generator, uint8_t *out, size_t size)
{
	uint8_t		fresh[STIR_SIZE];
	TdeStatus	status = TDE_E_CRYPTO;

	if (generator != NULL && getentropy(fresh, sizeof(fresh)) == 0 &&
		EVP_RAND_generate(generator, out, size, 0, 0, fresh, sizeof(fresh)) == 1)
		status = TDE_OK;
	tde_wipe(fresh, sizeof(fresh));
	return status;
}

TdeStatus
tde_random_key(uint8_t *out, size_t size)
{
	ERR_clear_error();
	if (draw_stirred(RAND_get0_private(NULL), out, size) != TDE_OK)
	{
		OPENSSL_cleanse(out, size);
		return TDE_E_CRYPTO;
	}
	return TDE_OK;
}

/* ---- drawn ahead ---- */

/* Cleanses what is left in the pool.  What was taken from it was wiped by who took it. */
static void
drop_pool(void)
{
	tde_wipe(pool + pool_next, POOL_SIZE - pool_next);
	pool_next = POOL_SIZE;
	fillings = 0;
	stirred = false;
}

void
tde_random_drop(void)
{
	tde_random_expire();
	drop_pool();
	for (TdeAhead *ahead = first_ahead; ahead != NULL; ahead = ahead->after)
	{
		tde_wipe(ahead->streams, sizeof(ahead->streams));
		tde_wipe(ahead->salts, sizeof(ahead->salts));
		ahead->left = 0;
		ahead->listed = false;
	}
	first_ahead = NULL;
	tde_random_is_ahead = false;
}

/*
 * The bytes themselves.  Most statements need few: 64 of the operating system's cost less than OpenSSL's (0.5 us, and 1.1 us stirred), 4096 much
 * more.  A validated module draws all itself.
 */
static TdeStatus
draw_pool(size_t wanted)
{
	static const size_t firsts[] = {64, LARGEST};
	size_t		size = fillings < 2 && !tde_crypto_fips() && wanted <= firsts[fillings] ? firsts[fillings] : POOL_SIZE;
	bool		good;

	fillings++;
	pool_next = POOL_SIZE - size;
	if (size < POOL_SIZE)
		good = getentropy(pool + pool_next, size) == 0;
	else if (!stirred)
		good = stirred = draw_stirred(RAND_get0_public(NULL), pool, size) == TDE_OK;
	else
		good = RAND_bytes(pool, POOL_SIZE) == 1;
	return good ? TDE_OK : TDE_E_CRYPTO;
}

/* Fills the pool when it has not enough left, or the epoch has ended.  On failure nothing stays drawn ahead. */
static TdeStatus
fill_pool(size_t wanted)
{
	static bool watching_fork = false;
	TdeStatus	status;

	ERR_clear_error();
	if (!watching_fork)
	{
		/* runs between fork() and its return in the child, where little is allowed; stores are */
		if (pthread_atfork(NULL, NULL, tde_random_drop) != 0)
			return TDE_E_NOMEM;
		watching_fork = true;
	}
	if (pool_epoch != tde_random_epoch)
	{
		drop_pool();
		tde_random_is_ahead = true;
		pool_epoch = tde_random_epoch;
		if (tde_random_draws)
			tde_random_draws();
	}
	status = draw_pool(wanted);
	if (status != TDE_OK)
		tde_random_drop();
	return status;
}

/* So many bytes of the pool for the caller to copy and wipe; NULL and *status if it fails. */
static inline uint8_t *
take_from_pool(size_t size, TdeStatus *status)
{
	*status = pool_epoch != tde_random_epoch || POOL_SIZE - pool_next < size ? fill_pool(size) : TDE_OK;
	if (*status != TDE_OK)
		return NULL;
	pool_next += size;
	return pool + pool_next - size;
}

/*
 * The pool serves one thread, as a PostgreSQL backend is one.  The sizes that occur have a case each, so that copying
 * and wiping become a few moves.
 */
TdeStatus
tde_random_salt(uint8_t *out, size_t size)
{
	uint8_t    *next;
	TdeStatus	status;

	if (size > TDE_MAX_SALT)
		return TDE_E_CRYPTO;
	next = take_from_pool(size, &status);
	if (next == NULL)
		return status;
	switch (size)
	{
		case 14:
			memcpy(out, next, 14);
			tde_wipe(next, 14);
			break;
		case 16:
			memcpy(out, next, 16);
			tde_wipe(next, 16);
			break;
		default:
			memcpy(out, next, size);
			tde_wipe(next, size);
			break;
	}
	return TDE_OK;
}

TdeStatus
tde_random_salts(uint8_t *out, size_t size)
{
	uint8_t    *next;
	TdeStatus	status;

	if (size > LARGEST)
		return TDE_E_CRYPTO;
	next = take_from_pool(size, &status);
	if (next == NULL)
		return status;
	memcpy(out, next, size);
	tde_wipe(next, size);
	return TDE_OK;
}

/* ---- salts of a key, drawn ahead with their key streams ---- */

/*
 * Draw salts and encrypt their counters in one call, in place: one at first, since many statements need no more, and twice as many each time.
 */
TdeStatus
tde_random_ahead_fill(TdeAhead *ahead, EVP_CIPHER_CTX *ecb, TdeAheadKind kind)
{
	unsigned	count = ahead->epoch != tde_random_epoch ? 1 : ahead->drawn < TDE_AHEAD_SALTS ? ahead->drawn * 2 : TDE_AHEAD_SALTS;
	TdeStatus	status = tde_random_salts(ahead->salts, (size_t) count * kind.salt);
	int			size = (int) count * kind.blocks * 16;
	uint8_t    *counter = ahead->streams;
	int			written = 0;

	ahead->left = 0;
	if (status != TDE_OK)
		return status;
	for (unsigned i = 0; i < count; i++)
	{
		TdePair		salt = tde_load_partial(ahead->salts + i * kind.salt, kind.salt);

		for (int block = 0; block < kind.blocks; block++, counter += 16)
			tde_store128(counter, salt | tde_byte_at(15, (uint8_t) (kind.first + block)));
	}
	if (EVP_EncryptUpdate(ecb, ahead->streams, &written, ahead->streams, size) != 1 || written != size)
		return TDE_E_CRYPTO;
	ahead->left = ahead->drawn = count;
	ahead->epoch = pool_epoch;
	if (!ahead->listed)
	{
		ahead->after = first_ahead;
		first_ahead = ahead;
		ahead->listed = true;
	}
	return TDE_OK;
}

void
tde_random_ahead_free(TdeAhead *ahead)
{
	TdeAhead  **place = &first_ahead;

	while (*place != NULL && *place != ahead)
		place = &(*place)->after;
	if (*place == ahead)
		*place = ahead->after;
	tde_wipe(ahead, sizeof(*ahead));
}
