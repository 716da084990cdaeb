/*
 * polyval.c - the hashes of AES-GCM-SIV (POLYVAL) and AES-GCM (GHASH) over the associated byte and the data of a value.
 *
 * OpenSSL has GHASH only behind AES-GCM, where a short value takes eight times as long: it sets up and dispatches for each.  So
 * this file has the multiplication itself, twice: by the carry-less multiplication of x86-64 and aarch64, and bit by bit for all
 * other processors.  Neither looks anything up in a table or branches on a secret.  The self-test compares them at load.
 *
 * All is in POLYVAL's terms (RFC 8452, section 3): bit i of the little-endian number is the coefficient of x^i, the polynomial is
 * x^128 + x^127 + x^126 + x^121 + 1, and dot(a, b) = a * b * x^-128.
 */
#include "crypto/polyval.h"

#if defined(__x86_64__)
#define FAST_X86
#include <cpuid.h>
#include <immintrin.h>
#elif defined(__aarch64__) && defined(__linux__)
#define FAST_ARM
#include <arm_neon.h>
#include <sys/auxv.h>
#ifndef HWCAP_PMULL
#define HWCAP_PMULL (1 << 4)
#endif
#endif

#define POLY_HIGH	UINT64_C(0xc200000000000000)	/* x^127 + x^126 + x^121 */

#ifdef TDE_UNIT_TEST
static bool portable_only = false;

void
tde_polyval_use_portable(bool on)
{
	portable_only = on;
}
#else
#define portable_only	false
#endif

bool
tde_polyval_has_fast(void)
{
#if defined(FAST_X86)
	static int	known = -1;
	unsigned	eax,
				ebx,
				ecx,
				edx;

	if (known < 0)
		known = __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_PCLMUL) && (ecx & bit_SSSE3);
	return known == 1 && !portable_only;
#elif defined(FAST_ARM)
	return (getauxval(AT_HWCAP) & HWCAP_PMULL) && !portable_only;
#else
	return false;
#endif
}

/* The bytes in reverse order. */
static inline TdePair
reverse(TdePair number)
{
	return (TdePair) {__builtin_bswap64(number[1]), __builtin_bswap64(number[0])};
}

/* The blocks of a message: the associated byte, one of data with size bytes left, and the number of bits of both. */
static inline TdePair
associated_block(bool reversed, uint8_t associated)
{
	return reversed ? (TdePair) {0, (uint64_t) associated << 56} : (TdePair) {associated, 0};
}

static inline __attribute__((always_inline)) TdePair
data_block(const uint8_t *data, size_t size)
{
	return tde_little128(size >= 16 ? tde_load128(data) : tde_load_partial(data, size));
}

static inline TdePair
bits_block(bool reversed, size_t size)
{
	return reversed ? (TdePair) {(uint64_t) size * 8, 8} : (TdePair) {8, (uint64_t) size * 8};
}

/* ---- any processor ---- */

/*
 * dot(a, b), by one bit of a after the other: the sum is multiplied by x^-1 each time, so that bit i is multiplied by x^(i - 128).
 */
static TdePair
dot(TdePair a, TdePair b)
{
	TdePair		sum = {0, 0};

	for (int i = 0; i < 128; i++)
	{
		uint64_t	mask = -((a[i / 64] >> (i % 64)) & 1);
		uint64_t	odd;

		sum ^= b & (TdePair) {mask, mask};
		odd = -(sum[0] & 1);
		/* minus the polynomial where that makes it even, then divided by x */
		sum = (TdePair) {sum[0] >> 1 | sum[1] << 63, (sum[1] >> 1) ^ (odd & (POLY_HIGH >> 1 | UINT64_C(1) << 63))};
	}
	return sum;
}

/* The hash by Horner's rule, a multiplication for each block: for processors without the instruction, and to compare the other with. */
static TdePair
hash_portable(const TdePolyval *key, uint8_t associated, const uint8_t *data, size_t size)
{
	TdePair		bits = bits_block(key->reversed, size);
	TdePair		sum = dot(associated_block(key->reversed, associated), key->powers[0]);

	for (; size > 0; data += 16, size -= size < 16 ? size : 16)
	{
		TdePair		block = data_block(data, size);

		sum = dot(sum ^ (key->reversed ? reverse(block) : block), key->powers[0]);
	}
	sum = dot(sum ^ bits, key->powers[0]);
	return key->reversed ? reverse(sum) : sum;
}

/* ---- processors that multiply without carries ---- */

#if defined(FAST_X86) || defined(FAST_ARM)

#if defined(FAST_X86)
#define FAST __attribute__((target("pclmul,ssse3")))

/* The half of a that is named first times that of b. */
#define MULTIPLY(a, a_half, b, b_half) \
	((TdePair) _mm_clmulepi64_si128((__m128i) (a), (__m128i) (b), (a_half) | (b_half) << 4))
#define SWAP(pair)	((TdePair) _mm_shuffle_epi32((__m128i) (pair), 0x4e))
#define SHUFFLE(pair, order)	((TdePair) _mm_shuffle_epi8((__m128i) (pair), (__m128i) (order)))
#else
#define FAST __attribute__((target("+crypto")))
#define MULTIPLY(a, a_half, b, b_half) \
	((TdePair) vreinterpretq_u64_p128(vmull_p64((poly64_t) (a)[a_half], (poly64_t) (b)[b_half])))
#define SWAP(pair)	((TdePair) vextq_u64((uint64x2_t) (pair), (uint64x2_t) (pair), 1))
#define SHUFFLE(pair, order)	((TdePair) vqtbl1q_u8((uint8x16_t) (pair), (uint8x16_t) (order)))
#endif

/* Which byte goes where.  Those above 15 are zeros. */
static const uint8_t reversed_order[16] = {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
static const uint8_t shifted_order[32] = {
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255
};
#define REVERSE(pair)	SHUFFLE(pair, tde_load128(reversed_order))

#define FAST_INLINE static inline __attribute__((always_inline)) FAST

/* A product of 256 bits, or a sum of some: x^0, x^64 and x^128 times these. */
typedef struct Product
{
	TdePair		low;
	TdePair		middle;
	TdePair		high;
} Product;

static const Product nothing = {{0, 0}, {0, 0}, {0, 0}};

FAST_INLINE void
add_product(Product *sum, TdePair a, TdePair b)
{
	sum->low ^= MULTIPLY(a, 0, b, 0);
	sum->middle ^= MULTIPLY(a, 0, b, 1) ^ MULTIPLY(a, 1, b, 0);
	sum->high ^= MULTIPLY(a, 1, b, 1);
}

/*
 * Times x^-128 modulo the polynomial: two steps of Montgomery's, each of which makes the lowest 64 bits zero and takes them away
 * (S. Gueron, "AES-GCM-SIV implementations", 2016).
 */
FAST_INLINE TdePair
reduce(Product sum)
{
	static const TdePair poly = {1, POLY_HIGH};
	TdePair		low = sum.low ^ (TdePair) {0, sum.middle[0]};
	TdePair		high = sum.high ^ (TdePair) {sum.middle[1], 0};

	low = SWAP(low) ^ MULTIPLY(low, 0, poly, 1);
	low = SWAP(low) ^ MULTIPLY(low, 0, poly, 1);
	return low ^ high;
}

/*
 * The blocks in groups of as many as there are powers, the first group being what is left over: in a group, the first block, to which the sum
 * so far is added, is multiplied by the highest power, and the last one by the first.
 */
FAST_INLINE TdePair
hash_blocks(const TdePolyval *key, bool reversed, uint8_t associated, const uint8_t *data, size_t size)
{
	size_t		whole = size / 16;	/* blocks of data that are not filled up */
	size_t		left = 2 + (size + 15) / 16;	/* blocks */
	size_t		power = (left - 1) % TDE_POLYVAL_POWERS;	/* by which the next is multiplied, less one */
	Product		product = nothing;
	TdePair		bits = bits_block(reversed, size);
	TdePair		block = associated_block(reversed, associated);

	add_product(&product, block, key->powers[power]);
	for (; size > 0; data += 16, size -= size < 16 ? size : 16)
	{
		/* what is left after a whole block is read with what stands before it: loading it by pieces would take as long as the product */
		if (size >= 16 || whole == 0)
			block = data_block(data, size);
		else
			block = tde_little128(SHUFFLE(tde_load128(data + size - 16), tde_load128(shifted_order + 16 - size)));
		if (reversed)
			block = REVERSE(block);
		if (power == 0)
		{
			block ^= reduce(product);
			product = nothing;
			power = TDE_POLYVAL_POWERS;
		}
		add_product(&product, block, key->powers[--power]);
	}
	if (power == 0)
	{
		bits ^= reduce(product);
		product = nothing;
	}
	add_product(&product, bits, key->powers[0]);
	return reversed ? REVERSE(reduce(product)) : reduce(product);
}

static FAST TdePair
hash_fast(const TdePolyval *key, uint8_t associated, const uint8_t *data, size_t size)
{
	return key->reversed ? hash_blocks(key, true, associated, data, size) : hash_blocks(key, false, associated, data, size);
}

/*
 * A message of which only the data is not hashed ahead.  The hash is linear: that of the data, which is times the second power, is what it adds
 * to the hash of as many zeros.  With the lower half times another multiple of the power the product has 192 bits, so that one step reduces it.
 */
TdePair		FAST
tde_polyval_short(const TdePolyval *key, TdePair data, size_t size)
{
	static const TdePair poly = {1, POLY_HIGH};
	TdePair		block = key->reversed ? REVERSE(data) : data;
	TdePair		low = MULTIPLY(block, 0, key->short_power, 0) ^ MULTIPLY(block, 1, key->powers[1], 0);
	TdePair		high = MULTIPLY(block, 0, key->short_power, 1) ^ MULTIPLY(block, 1, key->powers[1], 1);
	TdePair		hash = SWAP(low) ^ MULTIPLY(low, 0, poly, 1) ^ high;

	return tde_little128(key->ahead[size] ^ (key->reversed ? REVERSE(hash) : hash));
}

#else
#define hash_fast hash_portable

TdePair
tde_polyval_short(const TdePolyval *key, TdePair data, size_t size)
{
	uint8_t		bytes[16];

	tde_store128(bytes, data);
	return tde_little128(hash_portable(key, key->usual, bytes, size));
}
#endif

void
tde_polyval_init(TdePolyval *key, const uint8_t secret[16], bool ghash, uint8_t usual)
{
	static const uint8_t zeros[TDE_POLYVAL_AHEAD] = {0};
	TdePair		h = tde_little128(tde_load128(secret));

	key->reversed = ghash;
	key->fast = tde_polyval_has_fast();
	if (ghash)
	{
		/* times x: RFC 8452, appendix A */
		TdePair		turned = reverse(h);
		uint64_t	carry = -(turned[1] >> 63);

		h = (TdePair) {turned[0] << 1 ^ (carry & 1), (turned[1] << 1 | turned[0] >> 63) ^ (carry & POLY_HIGH)};
	}
	key->powers[0] = h;
	for (int i = 1; i < TDE_POLYVAL_POWERS; i++)
		key->powers[i] = dot(key->powers[i - 1], h);
	key->short_power = dot(key->powers[1], (TdePair) {0, 1});
	key->usual = usual;
	for (size_t size = 0; key->fast && size <= TDE_POLYVAL_AHEAD; size++)
		key->ahead[size] = hash_fast(key, usual, zeros, size);
}

void
tde_polyval_free(TdePolyval *key)
{
	tde_wipe(key, sizeof(*key));
}

TdePair
tde_polyval(const TdePolyval *key, uint8_t associated, const uint8_t *data, size_t size)
{
	return tde_little128(key->fast ? hash_fast(key, associated, data, size) : hash_portable(key, associated, data, size));
}
