/*
 * modes.c - what decryption costs by mode and block size, in memory and from disk: experiments 1 to 6 of Canim and Kantarcioglu.
 *
 *	modes blocks MEGABYTES ROUNDS KEYBITS
 *	modes pages MEGABYTES ROUNDS KEYBITS FOLDER
 *
 * "blocks" decrypts data in memory in blocks of 16 to 8192 bytes, with the key set once and with the key set for each block.
 * "pages" reads pages of 4 KB from files in FOLDER and decrypts them: see pages.c.
 *
 * It writes CSV: first "runs" and the number of lines that follow; then workload, mode, round, and seconds.  Modes take turns.
 * Round 0 is to encrypt and to warm up, and in it each decrypted byte is compared with the plaintext, in later rounds the last
 * block of each run.  What is not equal ends the program with exit status 1.
 */
#include "modes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BLOCK	8192
#define PATTERN		65536		/* the plaintext repeats itself after so many bytes */

static const size_t block_sizes[] = {16, 32, 64, 128, 256, 512, 1024, 2048, 4096, MAX_BLOCK};

#define BLOCK_SIZES	(sizeof(block_sizes) / sizeof(block_sizes[0]))

static uint8_t pattern[PATTERN];

const char program_name[] = "modes";

static void
flush(void)
{
	if (fflush(stdout) != 0)
		fail("the results cannot be written");
}

void
announce(size_t runs)
{
	printf("runs,%zu\n", runs);
	flush();
}

void
result(const char *workload, const char *variant, unsigned round, double nanoseconds)
{
	printf("%s,%s,%u,%.9f\n", workload, variant, round, nanoseconds / 1e9);
	flush();
}

static void
make_pattern(void)
{
	uint64_t	state = 1;

	for (size_t i = 0; i < PATTERN; i++)
	{
		state = state * 6364136223846793005 + 1442695040888963407;
		pattern[i] = (uint8_t) (state >> 56);
	}
}

const uint8_t *
plain_at(uint64_t offset)
{
	return pattern + offset % PATTERN;
}

static void
encrypt_all(Family family, uint8_t *data, size_t bytes, size_t block)
{
	uint8_t		iv[16];
	double		start = now();

	for (size_t i = 0; i < bytes / block; i++)
	{
		iv_of(i, iv);
		encrypt(family, iv, plain_at(i * block), block, data + i * block);
	}
	result("encrypting", family_names[family], 0, now() - start);
}

static void
expect_plain(const uint8_t *out, size_t block, uint64_t number, const Mode *mode)
{
	if (memcmp(out, plain_at(number * block), block) != 0)
		fail("%s does not decrypt block %llu of %zu bytes to its plaintext", mode->name, (unsigned long long) number, block);
}

/* Bring into the processor's cache what fits there, for all modes alike. */
static void
touch(const uint8_t *data, size_t bytes)
{
	uint8_t		sum = 0;

	for (size_t i = 0; i < bytes; i += 64)
		sum ^= data[i];
	__asm__ volatile("" : : "r"(sum));
}

static double
decrypt_all(const Mode *mode, bool set_key, bool check, const uint8_t *data, size_t bytes, size_t block)
{
	static uint8_t out[MAX_BLOCK];
	size_t		count = bytes / block;
	uint8_t		iv[16];
	double		start;

	touch(data, bytes);
	start = now();
	for (size_t i = 0; i < count; i++)
	{
		iv_of(i, iv);
		mode->decrypt(mode, set_key, iv, data + i * block, block, out);
		if (check)
			expect_plain(out, block, i, mode);
	}
	start = now() - start;
	expect_plain(out, block, count - 1, mode);
	return start;
}

static void
measure_round(unsigned round, uint8_t *const data[FAMILIES], size_t bytes, size_t block)
{
	size_t		count;
	const Mode *mode = modes(&count);
	char		workload[64];

	for (int set_key = 0; set_key <= 1; set_key++)
	{
		snprintf(workload, sizeof(workload), "key %s %zu", set_key ? "per block" : "once", block);
		for (size_t i = 0; i < count; i++)
			if (!set_key || mode[i].sets_key)
				result(workload, mode[i].name, round,
					   decrypt_all(&mode[i], set_key, round == 0, data[mode[i].family], bytes, block));
	}
}

static void
measure_blocks(size_t megabytes, unsigned rounds)
{
	size_t		bytes = megabytes << 20;
	size_t		count;
	size_t		runs = 0;		/* in a round */
	const Mode *mode = modes(&count);
	uint8_t    *data[FAMILIES];

	for (size_t i = 0; i < count; i++)
		runs += mode[i].sets_key ? 2 : 1;
	announce(BLOCK_SIZES * (FAMILIES + runs * (rounds + 1)));
	for (Family family = CLEAR; family < FAMILIES; family++)
	{
		data[family] = malloc(bytes);
		if (data[family] == NULL)
			fail("out of memory");
	}
	for (size_t i = 0; i < BLOCK_SIZES; i++)
	{
		for (Family family = CLEAR; family < FAMILIES; family++)
			encrypt_all(family, data[family], bytes, block_sizes[i]);
		for (unsigned round = 0; round <= rounds; round++)
			measure_round(round, data, bytes, block_sizes[i]);
	}
	for (Family family = CLEAR; family < FAMILIES; family++)
		free(data[family]);
}

static unsigned
number(const char *text)
{
	char	   *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*end != '\0' || end == text || value < 1 || value > 1 << 20)
		fail("\"%s\" is not a number from 1 to %d", text, 1 << 20);
	return (unsigned) value;
}

int
main(int argc, char **argv)
{
	bool		pages = argc == 6 && strcmp(argv[1], "pages") == 0;
	unsigned	key_bits;

	if (!pages && !(argc == 5 && strcmp(argv[1], "blocks") == 0))
		fail("usage: modes blocks MEGABYTES ROUNDS KEYBITS, or modes pages MEGABYTES ROUNDS KEYBITS FOLDER");
	key_bits = number(argv[4]);
	if (key_bits != 128 && key_bits != 256)
		fail("AES keys have 128 or 256 bits here");
	make_pattern();
	modes_init(key_bits);
	if (pages)
		measure_pages(number(argv[2]), number(argv[3]), argv[5]);
	else
		measure_blocks(number(argv[2]), number(argv[3]));
	modes_free();
	return 0;
}
