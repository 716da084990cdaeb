/*
 * header.h - what the value codec and the reading of headers share.
 */
#ifndef TDE_CRYPTO_HEADER_H
#define TDE_CRYPTO_HEADER_H

#include "crypto/spec.h"

/*
 * Returns true if a value of this spec can have so many bytes of ciphertext.  Asked for the header's own spec when it is read, and for the key's when
 * it is opened.
 */
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
