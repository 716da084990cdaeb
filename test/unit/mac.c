/*
 * mac.c - both ways to an HMAC give the same tags at every length, and HKDF is what its definition says.
 */
#include <openssl/hmac.h>

#include "tap.h"
#include "crypto/internal.h"
#include "crypto/mac.h"
#include "crypto/primitives.h"

#define MAX_MESSAGE	300

static void
test_mac(TdeMac mac)
{
	const char *name = mac == TDE_SHA1 ? "HMAC-SHA1" : "HMAC-SHA256";
	size_t		digest_size = mac == TDE_SHA1 ? 20 : 32;
	TdeMacKey	fast = {0},
				evp = {0};
	uint8_t		secret[32],
				message[MAX_MESSAGE];
	bool		good = true;

	random_fill(secret, sizeof(secret));
	random_fill(message, sizeof(message));
	tde_crypto_use_evp(false);
	must(tde_mac_init(&fast, mac, secret, sizeof(secret)) == TDE_OK, "cannot make a MAC key");
	tde_crypto_use_evp(true);
	must(tde_mac_init(&evp, mac, secret, sizeof(secret)) == TDE_OK, "cannot make a MAC key");
	tde_crypto_use_evp(false);
	must(evp.evp != NULL, "the second key does not use EVP_MAC");
#ifdef TDE_PAD_STATES
	ok(fast.evp == NULL, "%s: pad states are used", name);
#else
	ok(fast.evp != NULL, "%s: EVP_MAC is used, there is nothing else", name);
#endif

	for (size_t size = 1; size <= MAX_MESSAGE && good; size++)
	{
		uint8_t		one[TDE_MAX_DIGEST],
					two[TDE_MAX_DIGEST],
					three[TDE_MAX_DIGEST];
		/* of their exact size, so that a sanitizer sees whatever reads beyond them */
		uint8_t    *data = malloc(size > 1 ? size - 1 : 1);

		memcpy(data, message + 1, size - 1);
		good = tde_mac_digest(&fast, message[0], data, size - 1, one) == TDE_OK &&
			tde_mac_digest(&evp, message[0], data, size - 1, two) == TDE_OK &&
			HMAC(mac == TDE_SHA1 ? EVP_sha1() : EVP_sha256(), secret, 32, message, size, three, NULL) != NULL &&
			tde_mac_equal(one, two, digest_size) && tde_mac_equal(one, three, digest_size);
		one[random64() % digest_size] ^= (uint8_t) (1 << random64() % 8);
		good = good && !tde_mac_equal(one, three, digest_size);
		free(data);
	}
	ok(good, "%s: both ways and HMAC() agree, 1-%d bytes", name, MAX_MESSAGE);
	tde_mac_free(&fast);
	tde_mac_free(&evp);
}

/* HKDF written out from RFC 5869. */
static void
slow_hkdf(const uint8_t *ikm, size_t ikm_size, const uint8_t *info, size_t info_size, uint8_t *out, size_t size)
{
	static const uint8_t zeros[32] = {0};
	uint8_t		prk[32],
				block[32],
				message[32 + 64 + 1];
	size_t		previous = 0;

	HMAC(EVP_sha256(), zeros, 32, ikm, ikm_size, prk, NULL);
	for (uint8_t i = 1; size > 0; i++)
	{
		size_t		now = size < 32 ? size : 32;

		memcpy(message, block, previous);
		memcpy(message + previous, info, info_size);
		message[previous + info_size] = i;
		HMAC(EVP_sha256(), prk, 32, message, previous + info_size + 1, block, NULL);
		memcpy(out, block, now);
		out += now;
		size -= now;
		previous = 32;
	}
}

static void
test_hkdf(void)
{
	bool		good = true;

	for (int i = 0; i < 200 && good; i++)
	{
		uint8_t		ikm[32],
					info[64],
					expected[100],
					out[100];
		size_t		info_size = random64() % (sizeof(info) + 1);
		size_t		size = 1 + random64() % sizeof(out);

		random_fill(ikm, sizeof(ikm));
		random_fill(info, sizeof(info));
		slow_hkdf(ikm, sizeof(ikm), info, info_size, expected, size);
		good = tde_crypto_hkdf(ikm, sizeof(ikm), info, info_size, out, size) == TDE_OK && memcmp(out, expected, size) == 0;
	}
	ok(good, "HKDF as written out from the RFC");
}

static void
test_wrap(void)
{
	uint8_t		kek[32],
				plain[128],
				wrapped[136],
				out[128];
	bool		good = true;

	random_fill(kek, sizeof(kek));
	random_fill(plain, sizeof(plain));
	for (size_t size = 1; size <= sizeof(plain) && good; size++)
	{
		size_t		wrapped_size = sizeof(wrapped);
		size_t		out_size = size;

		good = tde_crypto_wrap_key(kek, plain, size, wrapped, &wrapped_size) == TDE_OK &&
			wrapped_size == (size + 7) / 8 * 8 + TDE_WRAP_OVERHEAD &&
			tde_crypto_unwrap_key(kek, wrapped, wrapped_size, out, &out_size) == TDE_OK && out_size == size &&
			memcmp(out, plain, size) == 0;
		for (size_t bit = 0; bit < wrapped_size * 8 && good; bit++)
		{
			wrapped[bit / 8] ^= (uint8_t) (1 << bit % 8);
			out_size = sizeof(out);
			good = tde_crypto_unwrap_key(kek, wrapped, wrapped_size, out, &out_size) == TDE_E_AUTH && out_size == 0;
			wrapped[bit / 8] ^= (uint8_t) (1 << bit % 8);
		}
		for (size_t cut = 0; cut < wrapped_size && good; cut++)
		{
			out_size = sizeof(out);
			good = tde_crypto_unwrap_key(kek, wrapped, cut, out, &out_size) == TDE_E_AUTH;
		}
		kek[7] ^= 2;
		out_size = sizeof(out);
		good = good && tde_crypto_unwrap_key(kek, wrapped, wrapped_size, out, &out_size) == TDE_E_AUTH;
		kek[7] ^= 2;
		out_size = size - 1;
		good = good && tde_crypto_unwrap_key(kek, wrapped, wrapped_size, out, &out_size) == TDE_E_AUTH;
		out_size = wrapped_size - 1;
		good = good && tde_crypto_wrap_key(kek, plain, size, wrapped, &out_size) == TDE_E_CRYPTO;
	}
	ok(good, "key wrap: 1-%zu bytes come back; flipped bits, other lengths, another key, too little room are refused",
	   sizeof(plain));
}

int
main(void)
{
	test_mac(TDE_SHA1);
	test_mac(TDE_SHA256);
	test_hkdf();
	test_wrap();
	ok(tde_crypto_reason() != NULL && strlen(tde_crypto_reason()) > 0, "there always is a reason");
	return tap_done();
}
