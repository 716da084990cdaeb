/*
 * cipher.c - AES in CBC, CTR, OFB and CFB mode by OpenSSL, and CTR4: counter mode that encrypts counters several at a time.
 *
 * The study's CTR4 encrypts four counters by one call of ECB and xors.  Batches of 32 are measured beside it, because four blocks
 * do not fill the pipeline of today's AES instructions, and the mode that encrypted columns use, which is the same with batches
 * of 32 and any counter.
 *
 * Contexts are made once.  Every block has an IV of its own, as it must where blocks are pages or values that are read one by one.
 */
#include "modes.h"

#include <stdio.h>
#include <string.h>

#include "crypto/cipher.h"
#include "crypto/internal.h"

#define MAX_BATCH	32

const char *const family_names[FAMILIES] = {"clear", "CBC", "CTR", "OFB", "CFB"};

static uint8_t key[32];
static EVP_CIPHER_CTX *encryption[FAMILIES];
static TdeCipherKey column_key;

/* The first 8 bytes differ, the last 8 are zeros: up to 2^64 blocks of counter mode follow without a carry out of them. */
void
iv_of(uint64_t number, uint8_t iv[16])
{
	tde_store128(iv, (TdePair) {(number + 1) * 0x9e3779b97f4a7c15, 0});
}

static void
copy(const Mode *mode, bool set_key, const uint8_t iv[16], const uint8_t *in, size_t size, uint8_t *out)
{
	(void) mode;
	(void) set_key;
	(void) iv;
	memcpy(out, in, size);
}

static void
evp_decrypt(const Mode *mode, bool set_key, const uint8_t iv[16], const uint8_t *in, size_t size, uint8_t *out)
{
	int			written = 0;

	must(EVP_DecryptInit_ex(mode->context, NULL, NULL, set_key ? key : NULL, iv) == 1);
	must(EVP_DecryptUpdate(mode->context, out, &written, in, (int) size) == 1 && (size_t) written == size);
}

/* Two AES blocks in one register where the processor has such; which it has is found out when the program starts. */
typedef uint64_t Pairs __attribute__((vector_size(32)));

#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__)
#define WIDE	__attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

/* size is a multiple of 16 */
WIDE void
xor_bytes(uint8_t *out, const uint8_t *a, const uint8_t *b, size_t size)
{
	for (; size >= sizeof(Pairs); size -= sizeof(Pairs), out += sizeof(Pairs), a += sizeof(Pairs), b += sizeof(Pairs))
	{
		Pairs		x,
					y;

		memcpy(&x, a, sizeof(x));
		memcpy(&y, b, sizeof(y));
		x ^= y;
		memcpy(out, &x, sizeof(x));
	}
	if (size > 0)
		tde_store128(out, tde_load128(a) ^ tde_load128(b));
}

/*
 * Counters from first on, which is a multiple of the mode's batch, so that the others differ from it in a few bits of the last
 * byte only.  They are written by twos: there must be room for one more than asked for.
 */
static WIDE void
make_counters(uint8_t *counters, const uint8_t iv[16], uint64_t first, size_t count)
{
	uint64_t	high = tde_load64(iv);
	uint64_t	low = tde_big64(first);
	Pairs		base = {high, low, high, low};
	Pairs		number = {0, 0, 0, tde_big64(1)};
	const Pairs two = {0, tde_big64(2), 0, tde_big64(2)};

	for (size_t i = 0; i < count; i += 2, number += two)
	{
		Pairs		pair = base | number;

		memcpy(counters + 16 * i, &pair, sizeof(pair));
	}
}

/* One batch of key stream, at most; returns its size. */
static inline size_t
batch_stream(const Mode *mode, const uint8_t iv[16], uint64_t first, uint8_t *stream, size_t size)
{
	size_t		blocks = size / 16 < mode->batch ? size / 16 : mode->batch;
	int			written = 0;

	make_counters(stream, iv, first, blocks);
	must(EVP_EncryptUpdate(mode->context, stream, &written, stream, (int) (16 * blocks)) == 1 &&
		 (size_t) written == 16 * blocks);
	return 16 * blocks;
}

/* As most values of a column are: the IV is the counter. */
static void
single_block(const Mode *mode, const uint8_t iv[16], const uint8_t *in, uint8_t *out)
{
	uint8_t		stream[16];
	int			written = 0;

	must(EVP_EncryptUpdate(mode->context, stream, &written, iv, 16) == 1 && written == 16);
	tde_store128(out, tde_load128(in) ^ tde_load128(stream));
}

static void
batched_decrypt(const Mode *mode, bool set_key, const uint8_t iv[16], const uint8_t *in, size_t size, uint8_t *out)
{
	uint8_t		stream[16 * MAX_BATCH];

	if (set_key)
		must(EVP_EncryptInit_ex(mode->context, NULL, NULL, key, NULL) == 1);
	if (size == 16)
	{
		single_block(mode, iv, in, out);
		return;
	}
	for (size_t done = 0; done < size;)
	{
		size_t		part = batch_stream(mode, iv, done / 16, stream, size - done);

		xor_bytes(out + done, in + done, stream, part);
		done += part;
	}
}

void
key_stream(const Mode *mode, const uint8_t iv[16], uint8_t *stream, size_t size)
{
	for (size_t done = 0; done < size;)
		done += batch_stream(mode, iv, done / 16, stream + done, size - done);
}

static void
column_decrypt(const Mode *mode, bool set_key, const uint8_t iv[16], const uint8_t *in, size_t size, uint8_t *out)
{
	(void) mode;
	(void) set_key;
	must(tde_cipher_ctr(&column_key, iv, in, size, out) == TDE_OK);
}

static Mode all_modes[] = {
	{"copy", CLEAR, copy, false, 0, NULL},
	{"CBC", CBC, evp_decrypt, true, 0, NULL},
	{"CTR", CTR, evp_decrypt, true, 0, NULL},
	{"OFB", OFB, evp_decrypt, true, 0, NULL},
	{"CFB", CFB, evp_decrypt, true, 0, NULL},
	{"CTR4", CTR, batched_decrypt, true, 4, NULL},
	{"CTR32", CTR, batched_decrypt, true, MAX_BATCH, NULL},
	/* its keys are set when a session needs them first, never for a value */
	{"tde_column", CTR, column_decrypt, false, 0, NULL},
};

#define MODES	(sizeof(all_modes) / sizeof(all_modes[0]))

void
modes_init(unsigned key_bits)
{
	TdeSpec		spec = {key_bits == 128 ? TDE_AES128 : TDE_AES256, TDE_CTR, TDE_NOMAC, true};

	for (size_t i = 0; i < sizeof(key); i++)
		key[i] = (uint8_t) (i * 73 + 11);
	for (Family family = CBC; family < FAMILIES; family++)
		encryption[family] = aes_context(key_bits, family_names[family], key, 1);
	for (size_t i = 0; i < MODES; i++)
	{
		if (all_modes[i].decrypt == evp_decrypt)
			all_modes[i].context = aes_context(key_bits, family_names[all_modes[i].family], key, 0);
		else if (all_modes[i].decrypt == batched_decrypt)
			all_modes[i].context = aes_context(key_bits, "ECB", key, 1);
	}
	must(tde_cipher_init(&column_key, spec, key) == TDE_OK);
}

void
modes_free(void)
{
	for (Family family = CBC; family < FAMILIES; family++)
		EVP_CIPHER_CTX_free(encryption[family]);
	for (size_t i = 0; i < MODES; i++)
		EVP_CIPHER_CTX_free(all_modes[i].context);
	tde_cipher_free(&column_key);
}

const Mode *
modes(size_t *count)
{
	*count = MODES;
	return all_modes;
}

const Mode *
mode_named(const char *name)
{
	for (size_t i = 0; i < MODES; i++)
		if (strcmp(all_modes[i].name, name) == 0)
			return &all_modes[i];
	fail("there is no mode %s", name);
}

void
encrypt(Family family, const uint8_t iv[16], const uint8_t *in, size_t size, uint8_t *out)
{
	int			written = 0;

	if (family == CLEAR)
	{
		memcpy(out, in, size);
		return;
	}
	must(EVP_EncryptInit_ex(encryption[family], NULL, NULL, NULL, iv) == 1);
	must(EVP_EncryptUpdate(encryption[family], out, &written, in, (int) size) == 1 && (size_t) written == size);
}
