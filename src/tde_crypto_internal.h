/*
 * tde_crypto_internal.h - what the files of the pure layer share among themselves and with their unit tests only.
 *
 * layer: 1 (no PostgreSQL)
 */
#ifndef TDE_CRYPTO_INTERNAL_H
#define TDE_CRYPTO_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * For unit tests: from now on new keys and contexts behave as if OpenSSL were in FIPS mode (true), or as if it were
 * not (false).  Contexts decide when they are made, so both ways can be compared side by side in one process.
 */
extern void tde_crypto_pretend_fips(bool on);

/*
 * Overwrite secrets on the stack.  OPENSSL_cleanse() would do, but its call costs as much as an AES block; the empty asm
 * statement is what keeps the compiler from dropping the stores.
 */
static inline void
tde_wipe(void *secret, size_t size)
{
	memset(secret, 0, size);
	__asm__ volatile("" : : "r"(secret) : "memory");
}

static inline uint64_t
tde_load64(const uint8_t *from)
{
	uint64_t	word;

	memcpy(&word, from, sizeof(word));
	return word;
}

static inline void
tde_store64(uint8_t *to, uint64_t word)
{
	memcpy(to, &word, sizeof(word));
}

/* Between the machine's byte order and big-endian. */
static inline uint64_t
tde_big64(uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return __builtin_bswap64(word);
#else
	return word;
#endif
}

static inline uint32_t
tde_big32(uint32_t word)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return __builtin_bswap32(word);
#else
	return word;
#endif
}

/* out = a xor b; out may be a or b. */
static inline void
tde_xor(uint8_t *out, const uint8_t *a, const uint8_t *b, size_t size)
{
	for (; size >= 16; size -= 16, out += 16, a += 16, b += 16)
	{
		uint64_t	first = tde_load64(a) ^ tde_load64(b);
		uint64_t	second = tde_load64(a + 8) ^ tde_load64(b + 8);

		tde_store64(out, first);
		tde_store64(out + 8, second);
	}
	if (size >= 8)
	{
		tde_store64(out, tde_load64(a) ^ tde_load64(b));
		size -= 8, out += 8, a += 8, b += 8;
	}
	for (size_t i = 0; i < size; i++)
		out[i] = a[i] ^ b[i];
}

/* memcpy() that may be given a null pointer together with size 0. */
static inline void
tde_copy(uint8_t *to, const uint8_t *from, size_t size)
{
	if (size > 0)
		memcpy(to, from, size);
}

#endif							/* TDE_CRYPTO_INTERNAL_H */
