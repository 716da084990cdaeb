/*
 * common.c - what the C programs of the benchmarks share: a clock, the end after an error, AES of OpenSSL.
 */
#include "common.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec * 1e9 + (double) t.tv_nsec;
}

void
fail(const char *format,...)
{
	va_list		arguments;

	va_start(arguments, format);
	fprintf(stderr, "%s: ", program_name);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	exit(1);
}

EVP_CIPHER_CTX *
aes_context(unsigned key_bits, const char *mode, const uint8_t *key, int encrypt)
{
	static const uint8_t zero_iv[16] = {0};
	char		name[32];
	EVP_CIPHER *cipher;
	EVP_CIPHER_CTX *made = EVP_CIPHER_CTX_new();

	snprintf(name, sizeof(name), "AES-%u-%s", key_bits, mode);
	cipher = EVP_CIPHER_fetch(NULL, name, NULL);
	must(cipher != NULL && made != NULL);
	must(EVP_CipherInit_ex2(made, cipher, key, EVP_CIPHER_get_iv_length(cipher) > 0 ? zero_iv : NULL, encrypt, NULL) == 1);
	must(EVP_CIPHER_CTX_set_padding(made, 0) == 1);
	EVP_CIPHER_free(cipher);
	return made;
}
