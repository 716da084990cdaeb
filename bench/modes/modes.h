/*
 * modes.h - AES in the modes that Canim and Kantarcioglu compare, and what is measured with them: see modes.c.
 */
#ifndef MODES_H
#define MODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../common.h"

/* What makes the ciphertext: all ways to do counter mode share one. */
typedef enum Family
{
	CLEAR,
	CBC,
	CTR,
	OFB,
	CFB,
	FAMILIES
} Family;

extern const char *const family_names[FAMILIES];

typedef struct Mode Mode;

struct Mode
{
	const char *name;
	Family		family;
	void		(*decrypt) (const Mode *mode, bool set_key, const uint8_t iv[16], const uint8_t *in, size_t size, uint8_t *out);
	bool		sets_key;		/* can it set the key for each block? */
	size_t		batch;			/* counters that are encrypted by one call */
	EVP_CIPHER_CTX *context;
};

/* They follow from what is encrypted and are the same in every run. */
extern void iv_of(uint64_t number, uint8_t iv[16]);

extern void modes_init(unsigned key_bits);
extern void modes_free(void);
extern const Mode *modes(size_t *count);
extern const Mode *mode_named(const char *name);

/* Encrypt by OpenSSL, which so checks our own counter mode, too. */
extern void encrypt(Family family, const uint8_t iv[16], const uint8_t *in, size_t size, uint8_t *out);

/* What counter mode xors to the data; size is a multiple of 16 up to 4096. */
extern void key_stream(const Mode *mode, const uint8_t iv[16], uint8_t *stream, size_t size);
extern void xor_bytes(uint8_t *out, const uint8_t *a, const uint8_t *b, size_t size);

/* modes.c */

/* The plaintext at an offset, of up to 8192 bytes. */
extern const uint8_t *plain_at(uint64_t offset);

/* The CSV: how many lines of results there will be, and one of them. */
extern void announce(size_t runs);
extern void result(const char *workload, const char *variant, unsigned round, double nanoseconds);

/* pages.c */
extern void measure_pages(size_t megabytes, unsigned rounds, const char *folder);

#endif							/* MODES_H */
