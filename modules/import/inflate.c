/*
 * inflate.c - what zlib has compressed, as Rails stores longer values: zlib decompresses it, in the memory of the caller's context.
 *
 * So an error in between, a cancelled query or no more memory, leaves nothing behind.
 */
#include "postgres.h"

#include <openssl/crypto.h>
#define ZLIB_CONST				/* it does not write into its input */
#include <zlib.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "import/inflate.h"

#define AT_ONCE		8192		/* bytes, after which a query can be cancelled */
#define LONGEST		((int) (MaxAllocSize / 2))

/* zlib keeps a copy of what it has written last, which is to be overwritten: so a block's size stands before it. */
#define HEAD		MAXALIGN(sizeof(size_t))

/* zlib's allocator.  It throws where zlib expects NULL, which ends the statement; nothing of zlib's is outside of this context. */
static voidpf
allocate(voidpf opaque, uInt count, uInt size)
{
	size_t	   *block = palloc(HEAD + (size_t) count * size);

	*block = (size_t) count * size;
	return (char *) block + HEAD;
}

/* zlib's deallocator. */
static void
wipe(voidpf opaque, voidpf address)
{
	size_t	   *block = (size_t *) ((char *) address - HEAD);

	OPENSSL_cleanse(address, *block);
	pfree(block);
}

/* In pieces of AT_ONCE, so that a value of a few bytes that stands for gigabytes (a decompression bomb) ends at LONGEST, and can be cancelled. */
bool
tde_inflate(const uint8 *data, size_t size, StringInfo out)
{
	z_stream	stream = {.zalloc = allocate, .zfree = wipe, .next_in = data, .avail_in = (uInt) size};
	int			status;

	if (size > MaxAllocSize || inflateInit(&stream) != Z_OK)
		return false;
	do
	{
		CHECK_FOR_INTERRUPTS();
		enlargeStringInfo(out, AT_ONCE);
		stream.next_out = (Bytef *) out->data + out->len;
		stream.avail_out = AT_ONCE;
		status = inflate(&stream, Z_NO_FLUSH);
		out->len += AT_ONCE - (int) stream.avail_out;
	} while (status == Z_OK && out->len < LONGEST);
	inflateEnd(&stream);
	/* less input than that is Z_BUF_ERROR, and what follows it is no value of Rails */
	return status == Z_STREAM_END && stream.avail_in == 0;
}
