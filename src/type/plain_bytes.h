/*
 * plain_bytes.h - a base type's datum as the bytes that are encrypted, and back; which bytes that no MAC vouches for are safe.
 *
 * Fixed-length types: their canonical little-endian bytes.  Varlena types: the bytes without the header.
 *
 * A nomac value may decrypt to anything.  That may be a wrong value; it must not be one that crashes the backend.
 */
#ifndef TDE_TYPE_PLAIN_BYTES_H
#define TDE_TYPE_PLAIN_BYTES_H

#include "type/type.h"

/* ---- decrypted bytes that no MAC vouches for, and that are safe to give to the base type's functions ---- */

typedef struct TdeVerifier TdeVerifier;

/* Returns what verifies bytes of a base type; NULL if they cannot be checked completely, so that nomac must not be allowed for it. */
extern const TdeVerifier *tde_plain_verifier(Oid base);

/*
 * Throws ERRCODE_TDE_NOT_AUTHENTIC if these bytes (little-endian if of fixed length) cannot be a value of the base type; always, if verifier is NULL.
 */
extern void tde_plain_verify(const TdeVerifier *verifier, const uint8 *bytes, size_t size);

/*
 * The same for the beginning of a value of a string type, cut off after size bytes (ends: not cut off).  Returns how many of
 * them are whole characters.
 */
extern size_t tde_plain_verify_slice(Oid base, const uint8 *bytes, size_t size, bool ends);

/* ---- padding ---- */

/*
 * Returns the number of bytes that these modifiers pad values to a multiple of; 0: they do not, or values of the base type have no length to be
 * hidden.
 */
extern size_t tde_plain_pad(Oid base, const TdeModifiers *mods);

/* Has modifiers for another base type pad as nearly to so many bytes as they can; 0: none. */
extern void tde_plain_pad_as(TdeModifiers *mods, Oid base, size_t pad);

/* ---- a datum as bytes ---- */

/* GUC tde_column.compression */
typedef enum TdeCompression
{
	TDE_COMPRESSION_OFF,
	TDE_COMPRESSION_PGLZ,
	TDE_COMPRESSION_LZ4
} TdeCompression;

extern int	tde_compression;

/*
 * The bytes of a datum that are encrypted.  They may point into the datum, which must stay as long; tde_plain_bytes_free() cleanses them only if they
 * are a copy.
 */
typedef struct TdePlainBytes
{
	const uint8 *bytes;
	size_t		size;
	bool		compressed;
	void	   *allocated;		/* by us, with the bytes in it, or NULL */
	uint8		scratch[16];
} TdePlainBytes;

/*
 * Sets *plain_bytes to the bytes of a datum; compressed if the spec allows it and the setting asks for it.  Fetches a value from TOAST, by which a
 * key that was looked up before may be lost.
 */
extern void tde_plain_bytes_make(TdeType *type, Datum value, TdeSpec spec, TdePlainBytes *plain_bytes);

/* Cleanses and frees what tde_plain_bytes_make() has allocated, if anything. */
static inline void
tde_plain_bytes_free(TdePlainBytes *plain_bytes)
{
	if (plain_bytes->allocated == NULL)
		return;
	explicit_bzero((void *) plain_bytes->bytes, plain_bytes->size);
	pfree(plain_bytes->allocated);
	plain_bytes->allocated = NULL;
}

/* Little-endian numbers, so written that the compiler makes one load of each. */
static inline uint32
tde_plain_bytes_32(const uint8 *from)
{
	return from[0] | (uint32) from[1] << 8 | (uint32) from[2] << 16 | (uint32) from[3] << 24;
}

static inline uint64
tde_plain_bytes_64(const uint8 *from)
{
	return tde_plain_bytes_32(from) | (uint64) tde_plain_bytes_32(from + 4) << 32;
}

/* The datum of a type of this length that is passed by value. */
static inline Datum
tde_plain_bytes_by_value(const uint8 *from, int16 length)
{
	switch (length)
	{
		case sizeof(char):
			return CharGetDatum((char) from[0]);
		case sizeof(int16):
			return Int16GetDatum((int16) (from[0] | from[1] << 8));
		case sizeof(int32):
			return Int32GetDatum((int32) tde_plain_bytes_32(from));
		default:
			return Int64GetDatum((int64) tde_plain_bytes_64(from));
	}
}

/*
 * The datum that size decrypted bytes at VARDATA(buffer) stand for; buffer has VARHDRSZ bytes before them.  *in_buffer: the
 * datum points into buffer; otherwise it is palloc'd or passed by value.  checked: the bytes were authenticated, or seen to be
 * good before; if they were not, everything that could make the base type's functions misbehave is refused.  For
 * tde_plain_bytes_datum() alone, which does what most values need itself: not for varlena that is not compressed.
 */
extern Datum tde_plain_bytes_any_datum(TdeType *type, char *buffer, size_t size, bool compressed, bool checked, bool *in_buffer);

/* Throws ERRCODE_TDE_NOT_AUTHENTIC on bytes that could make the base type's functions misbehave. */
extern void tde_plain_bytes_verify(TdeType *type, const uint8 *bytes, size_t size);

/* The same for all values, and without a call for most: a varlena that is not compressed becomes a datum where it is. */
static inline Datum
tde_plain_bytes_datum(TdeType *type, char *buffer, size_t size, bool compressed, bool checked, bool *in_buffer)
{
	if (type->base_byval && likely(checked && size == type->base_len && !compressed))
	{
		*in_buffer = false;
		return tde_plain_bytes_by_value((const uint8 *) VARDATA(buffer), type->base_len);
	}
	if (unlikely(type->base_len != -1 || compressed))
		return tde_plain_bytes_any_datum(type, buffer, size, compressed, checked, in_buffer);
	if (!checked)
		tde_plain_bytes_verify(type, (const uint8 *) VARDATA(buffer), size);
	SET_VARSIZE(buffer, size + VARHDRSZ);
	*in_buffer = true;
	return PointerGetDatum(buffer);
}

#endif							/* TDE_TYPE_PLAIN_BYTES_H */
