/*
 * cipher.c - AES in counter mode for any bytes of a page, and in CBC mode for a mini page.
 *
 * A page has a counter, and the 16 bytes at offset 16 * i of the page have counter + i.  That is Algorithms 1 to 3 of Canim and
 * Kantarcioglu, with their two improvements: the counter of a byte is found by one addition, from an attribute to one that is
 * 220 bytes away by adding 13 and not by 13 increments; and the counters of several tuples are encrypted by one call.
 */
#include "layouts.h"

#include <stdio.h>
#include <string.h>

#include "crypto/internal.h"

static EVP_CIPHER_CTX *ecb;
static EVP_CIPHER_CTX *cbc_encrypt;
static EVP_CIPHER_CTX *cbc_decrypt;
static uint8_t key[32];

/* The key is set once: that is the point of a key for each table. */
void
cipher_init(unsigned key_bits)
{
	for (size_t i = 0; i < sizeof(key); i++)
		key[i] = (uint8_t) mix(i);
	ecb = aes_context(key_bits, "ECB", key, 1);
	cbc_encrypt = aes_context(key_bits, "CBC", key, 1);
	cbc_decrypt = aes_context(key_bits, "CBC", key, 0);
}

void
cipher_free(void)
{
	EVP_CIPHER_CTX_free(ecb);
	EVP_CIPHER_CTX_free(cbc_encrypt);
	EVP_CIPHER_CTX_free(cbc_decrypt);
}

static void
counter_block(uint8_t *block, uint64_t counter)
{
	tde_store128(block, (TdePair) {0, tde_big64(counter)});
}

/*
 * Encrypt or decrypt some bytes of a page, with one call for the key stream of all ranges (there is at least one, not empty).
 *
 * The last block of a range is that of its last byte, floor(last / 16).  The study prints ceil(last / 16) - 1, which forgets a
 * block if the last byte is the first of its block.
 */
void
ctr_crypt(uint8_t *page, uint64_t counter, const Range *ranges, unsigned count)
{
	/* two ranges may share a block */
	uint8_t		stream[(PAGE_BLOCKS + PAGE_TUPLES) * CIPHER_BLOCK];
	uint8_t    *end = stream;
	uint8_t    *next = stream;
	int			written;

	for (const Range *range = ranges; range == ranges || range < ranges + count; range++)
	{
		unsigned	block = range->offset / CIPHER_BLOCK;
		unsigned	last = (range->offset + range->size - 1) / CIPHER_BLOCK;

		do
		{
			counter_block(end, counter + block);
			end += CIPHER_BLOCK;
		} while (block++ < last);
	}
	must(EVP_EncryptUpdate(ecb, stream, &written, stream, (int) (end - stream)) == 1);
	for (unsigned i = 0; i < count; i++)
	{
		unsigned	skip = ranges[i].offset % CIPHER_BLOCK;
		uint8_t    *at = page + ranges[i].offset;

		tde_xor(at, at, next + skip, ranges[i].size);
		next += (skip + ranges[i].size + CIPHER_BLOCK - 1) / CIPHER_BLOCK * CIPHER_BLOCK;
	}
}

/* Whole blocks.  The IV is the counter, encrypted, so that nobody can foretell it (NIST SP 800-38A, appendix C). */
void
cbc_crypt(uint8_t *page, uint64_t counter, Range range, bool encrypt)
{
	EVP_CIPHER_CTX *cbc = encrypt ? cbc_encrypt : cbc_decrypt;
	uint8_t		iv[CIPHER_BLOCK];
	uint8_t    *at = page + range.offset;
	int			written;

	counter_block(iv, counter);
	must(EVP_EncryptUpdate(ecb, iv, &written, iv, sizeof(iv)) == 1);
	must(EVP_CipherInit_ex2(cbc, NULL, NULL, iv, -1, NULL) == 1);
	must(EVP_CipherUpdate(cbc, at, &written, at, (int) range.size) == 1);
}

/* Every range near the beginning of a page, and one after another, against OpenSSL's counter mode over the whole page. */
void
cipher_check(unsigned key_bits)
{
	const uint64_t counter = 0xfffffffe00;
	uint8_t		plain[PAGE_BYTES],
				whole[PAGE_BYTES],
				parts[PAGE_BYTES],
				iv[CIPHER_BLOCK];
	EVP_CIPHER_CTX *ctr = aes_context(key_bits, "CTR", key, 1);
	int			written;

	for (unsigned i = 0; i < PAGE_BYTES; i++)
		plain[i] = (uint8_t) mix(i);
	counter_block(iv, counter);
	must(EVP_CipherInit_ex2(ctr, NULL, NULL, iv, -1, NULL) == 1);
	must(EVP_CipherUpdate(ctr, whole, &written, plain, PAGE_BYTES) == 1);
	EVP_CIPHER_CTX_free(ctr);
	for (unsigned from = 0; from < 40; from++)
		for (unsigned size = 1; size < 80; size++)
		{
			Range		ranges[2] = {{from, size}, {from + size, size}};

			memcpy(parts, plain, PAGE_BYTES);
			ctr_crypt(parts, counter, ranges, 2);
			if (memcmp(parts, plain, from) != 0 || memcmp(parts + from, whole + from, 2 * size) != 0 ||
				memcmp(parts + from + 2 * size, plain + from + 2 * size, PAGE_BYTES - from - 2 * size) != 0)
				fail("bytes %u to %u of a page are not encrypted as OpenSSL's counter mode does it", from, from + 2 * size - 1);
		}
}
