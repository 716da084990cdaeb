/*
 * tap.h - the little of the Test Anything Protocol that the unit tests need.
 */
#ifndef TAP_H
#define TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int	tap_count = 0;
static int	tap_failed = 0;

/* One test; returns whether it was good. */
__attribute__((format(printf, 2, 3), unused)) static bool
ok(bool good, const char *format, ...)
{
	va_list		args;

	printf("%sok %d - ", good ? "" : "not ", ++tap_count);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	if (!good)
		tap_failed++;
	return good;
}

/* A remark. */
__attribute__((format(printf, 1, 2), unused)) static void
diag(const char *format, ...)
{
	va_list		args;

	printf("# ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}

/* The plan; returns the exit status. */
__attribute__((unused)) static int
tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed == 0 ? 0 : 1;
}

/* A test cannot go on: what it relies on is broken. */
__attribute__((unused)) static void
must(bool good, const char *what)
{
	if (!good)
	{
		printf("Bail out! %s\n", what);
		exit(1);
	}
}

/* Reproducible bytes that look random (xorshift64*), so that a failure can be repeated. */
static uint64_t tap_seed = 88172645463325252u;

__attribute__((unused)) static uint64_t
random64(void)
{
	tap_seed ^= tap_seed >> 12;
	tap_seed ^= tap_seed << 25;
	tap_seed ^= tap_seed >> 27;
	return tap_seed * 2685821657736338717u;
}

__attribute__((unused)) static void
random_fill(uint8_t *out, size_t size)
{
	for (size_t i = 0; i < size; i++)
		out[i] = (uint8_t) (random64() >> 56);
}

/* Allocated at exactly this size, so that the address sanitizer sees one byte too many; never null. */
__attribute__((unused)) static uint8_t *
exact(size_t size)
{
	uint8_t    *memory = malloc(size > 0 ? size : 1);

	must(memory != NULL, "out of memory");
	return memory;
}

__attribute__((unused)) static size_t
unhex(const char *hex, uint8_t *out)
{
	size_t		size = strlen(hex) / 2;

	for (size_t i = 0; i < size; i++)
	{
		unsigned	byte;

		must(sscanf(hex + 2 * i, "%2x", &byte) == 1, "bad hexadecimal digits in a test");
		out[i] = (uint8_t) byte;
	}
	return size;
}

#endif							/* TAP_H */
