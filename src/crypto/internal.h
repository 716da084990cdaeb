/*
 * internal.h - what the files of the pure layer share among themselves and with their unit tests only.
 */
#ifndef TDE_CRYPTO_INTERNAL_H
#define TDE_CRYPTO_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "crypto/status.h"

#ifdef TDE_UNIT_TEST
/*
 * From now on new keys and contexts leave whole modes and MACs to EVP, as they do under FIPS (true), or not (false).  Contexts decide when they
 * are made, so both ways can be compared side by side in one process.  What FIPS itself refuses is for test/long/092_fips.pl, with a real provider.
 */
extern void tde_crypto_use_evp(bool on);
#endif

/* EVP counts bytes in an int.  No value of PostgreSQL reaches this size. */
#define TDE_MAX_UPDATE	((size_t) 1 << 30)

/* TDE_E_UNAVAILABLE; tde_crypto_missing() will name this cipher. */
extern TDE_MUST_CHECK TdeStatus tde_crypto_unavailable(const char *cipher);

/*
 * Overwrite secrets on the stack.  OPENSSL_cleanse() would do, but this is a move or two where the size is known; the
 * empty asm statement keeps the compiler from dropping them.
 */
static inline void
tde_wipe(void *secret, size_t size)
{
	memset(secret, 0, size);
	__asm__ volatile("" : : "r"(secret) : "memory");
}

static inline uint32_t
tde_load32(const uint8_t *from)
{
	uint32_t	word;

	memcpy(&word, from, sizeof(word));
	return word;
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

/*
 * 16 bytes in one register.  AES and the SHAs read 16 bytes at once, and on the processors of today such a read has to
 * wait, about half as long as a block of AES takes, if the bytes were just written by several narrower stores.
 */
typedef uint64_t TdePair __attribute__((vector_size(16)));

static inline TdePair
tde_load128(const uint8_t *from)
{
	TdePair		pair;

	memcpy(&pair, from, sizeof(pair));
	return pair;
}

static inline void
tde_store128(uint8_t *to, TdePair pair)
{
	memcpy(to, &pair, sizeof(pair));
}

/* Between a block's bytes as a little-endian number, lower half first, and the machine's order. */
static inline TdePair
tde_little128(TdePair pair)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return pair;
#else
	return (TdePair) {__builtin_bswap64(pair[0]), __builtin_bswap64(pair[1])};
#endif
}

/* tde_wipe() of a few whole blocks: for so little the call of memset() would take a sixth of the time of all. */
static inline void
tde_wipe_blocks(uint8_t *blocks, size_t count)
{
	for (size_t i = 0; i < count; i++)
	{
		tde_store128(blocks + 16 * i, (TdePair) {0, 0});
		/* keeps the compiler from leaving it out, and from calling memset() after all */
		__asm__ volatile("" : : "r"(blocks) : "memory");
	}
}

/* The size (less than 16) bytes at from, followed by zeros; reads nothing beyond them. */
static inline TdePair
tde_load_partial(const uint8_t *from, size_t size)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	uint64_t	first = 0,
				second = 0;

	if (size >= 8)
	{
		first = tde_load64(from);
		/* two shifts, because one by 64 is undefined */
		second = tde_load64(from + size - 8) >> 8 * (15 - size) >> 8;
	}
	else if (size >= 4)
		first = tde_load32(from) | (uint64_t) tde_load32(from + size - 4) << 8 * (size - 4);
	else if (size > 0)
		first = from[0] | (uint64_t) from[size / 2] << 8 * (size / 2) | (uint64_t) from[size - 1] << 8 * (size - 1);
	return (TdePair) {first, second};
#else
	uint8_t		bytes[16] = {0};

	if (size > 0)
		memcpy(bytes, from, size);
	return tde_load128(bytes);
#endif
}

/* The byte first, followed by the first 15 bytes of pair. */
static inline TdePair
tde_shift_in(uint8_t first, TdePair pair)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (TdePair) {pair[0] << 8 | first, pair[1] << 8 | pair[0] >> 56};
#else
	return (TdePair) {pair[0] >> 8 | (uint64_t) first << 56, pair[1] >> 8 | pair[0] << 56};
#endif
}

/* A byte at an offset below 16 in the order of memory, zeros elsewhere. */
static inline TdePair
tde_byte_at(size_t offset, uint8_t byte)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	uint64_t	word = (uint64_t) byte << 8 * (offset & 7);
#else
	uint64_t	word = (uint64_t) byte << 8 * (7 - (offset & 7));
#endif

	return offset < 8 ? (TdePair) {word, 0} : (TdePair) {0, word};
}

/* out = a xor b; out may be a or b. */
static inline void
tde_xor(uint8_t *out, const uint8_t *a, const uint8_t *b, size_t size)
{
	for (; size >= 16; size -= 16, out += 16, a += 16, b += 16)
		tde_store128(out, tde_load128(a) ^ tde_load128(b));
	/* what is left, as two pieces that may overlap: both are read before one is written */
	if (size >= 8)
	{
		uint64_t	first = tde_load64(a) ^ tde_load64(b);
		uint64_t	last = tde_load64(a + size - 8) ^ tde_load64(b + size - 8);

		tde_store64(out, first);
		tde_store64(out + size - 8, last);
		return;
	}
	if (size >= 4)
	{
		uint32_t	first = tde_load32(a) ^ tde_load32(b);
		uint32_t	last = tde_load32(a + size - 4) ^ tde_load32(b + size - 4);

		memcpy(out, &first, sizeof(first));
		memcpy(out + size - 4, &last, sizeof(last));
		return;
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
