/*
 * header.h - what the value codec and the reading of headers share.
 */
#ifndef TDE_CRYPTO_HEADER_H
#define TDE_CRYPTO_HEADER_H

#include "crypto/spec.h"

/* Can a value of this spec have so many bytes of ciphertext? */
static inline bool
tde_ciphertext_possible(bool salted, uint8_t mode, bool flag, size_t block, size_t size)
{
	if (mode == TDE_CTR)
		return true;
	if (mode == TDE_PADDED)
		return size > 0;
	if (salted)
		return size > 0 && (size & (block - 1)) == 0;
	return flag ? size == block : size >= block;
}

#endif							/* TDE_CRYPTO_HEADER_H */
