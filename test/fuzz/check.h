/*
 * check.h - what a harness claims of every input; libFuzzer shows the input for which it does not hold.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(claim) \
	do { \
		if (!(claim)) \
		{ \
			fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #claim); \
			abort(); \
		} \
	} while (0)

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A block of exactly this size, so that the address sanitizer sees the first byte before and behind it. */
static inline uint8_t *
copy_of(const uint8_t *bytes, size_t size)
{
	uint8_t    *copy = malloc(size);

	CHECK(copy != NULL);
	if (size > 0)
		memcpy(copy, bytes, size);
	return copy;
}

#endif							/* CHECK_H */
