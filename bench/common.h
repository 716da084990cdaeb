/*
 * common.h - what the C programs of the benchmarks share: a clock, the end after an error, AES of OpenSSL.
 */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#include <openssl/evp.h>
#include <stdint.h>

/* Nanoseconds, since some moment. */
extern double now(void);

/* Say it on standard error after the program's name, which it defines, and exit with status 1. */
extern const char program_name[];
extern void fail(const char *format,...) __attribute__((format(printf, 1, 2), noreturn));

/* A call of OpenSSL. */
static inline void
must(int good)
{
	if (!good)
		fail("OpenSSL failed");
}

/* AES in a mode ("ECB", "CBC", ...), without padding; the IV is zeros where the mode has one. */
extern EVP_CIPHER_CTX *aes_context(unsigned key_bits, const char *mode, const uint8_t *key, int encrypt);

#endif							/* BENCH_COMMON_H */
