/*
 * plain_bytes.c - a base type's datum as the bytes that are encrypted, and back.
 */
#include "postgres.h"

#include "access/toast_compression.h"
#include "catalog/pg_type.h"
#include "utils/memutils.h"

#include "server/compat.h"
#include "server/error.h"
#include "type/plain_bytes.h"
#include "type/unauthenticated.h"

/* Below this, TOAST would not compress either. */
#define COMPRESS_FROM	2000

/*
 * A compressed payload begins with this word, little-endian: raw size (30 bits) and method (2 bits), as in a compressed
 * varlena.
 */
#define INFO_SIZE		sizeof(uint32)

int			tde_compression = TDE_COMPRESSION_OFF;

/* ---- numbers, little-endian on every machine ---- */

static void
put_little_endian(uint8 *to, uint64 number, int bytes)
{
	for (int i = 0; i < bytes; i++)
		to[i] = (uint8) (number >> (8 * i));
}

static inline uint64
get_little_endian(const uint8 *from, int bytes)
{
	uint64		number = 0;

	for (int i = 0; i < bytes; i++)
		number |= (uint64) from[i] << (8 * i);
	return number;
}

/* Each with a number of bytes that the compiler knows: a load. */
static inline Datum
byval_datum(const uint8 *from, int16 length)
{
	switch (length)
	{
		case sizeof(char):
			return CharGetDatum((char) from[0]);
		case sizeof(int16):
			return Int16GetDatum((int16) get_little_endian(from, sizeof(int16)));
		case sizeof(int32):
			return Int32GetDatum((int32) get_little_endian(from, sizeof(int32)));
		default:
			return Int64GetDatum((int64) get_little_endian(from, sizeof(int64)));
	}
}

/*
 * Fixed-length types passed by reference whose members are numbers; the widths of the members.  Others are arrays of
 * bytes (uuid, macaddr), which are the same everywhere.
 */
static const char *
member_widths(Oid base)
{
	switch (base)
	{
		case INTERVALOID:
			return "\10\4\4";
		case TIMETZOID:
			return "\10\4";
		case INT8OID:			/* these only where int8 is passed by reference */
		case FLOAT8OID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return "\10";
	}
	return NULL;
}

/* Copy between native and little-endian; the two are each other's reverse. */
static void
copy_by_reference(Oid base, int16 length, uint8 *to, const uint8 *from)
{
	memcpy(to, from, length);
#ifdef WORDS_BIGENDIAN
	for (const char *width = member_widths(base); width && *width; to += *width, from += *width, width++)
		for (int i = 0; i < *width; i++)
			to[i] = from[*width - 1 - i];
#else
	(void) member_widths;
#endif
}

/* ---- compression ---- */

static void
compress(TdePlainBytes *payload)
{
	struct varlena *raw;
	struct varlena *packed;

	if (tde_compression == TDE_COMPRESSION_OFF || payload->size < COMPRESS_FROM)
		return;
	raw = palloc(VARHDRSZ + payload->size);
	SET_VARSIZE(raw, VARHDRSZ + payload->size);
	memcpy(VARDATA(raw), payload->bytes, payload->size);
	packed = tde_compression == TDE_COMPRESSION_LZ4 ? lz4_compress_datum(raw) : pglz_compress_datum(raw);
	if (packed != NULL && VARSIZE(packed) < VARSIZE(raw))
	{
		uint8	   *bytes = (uint8 *) VARDATA(packed);
		uint32		method = tde_compression == TDE_COMPRESSION_LZ4 ? TOAST_LZ4_COMPRESSION_ID : TOAST_PGLZ_COMPRESSION_ID;

		put_little_endian(bytes, (uint32) payload->size | (method << VARLENA_EXTSIZE_BITS), INFO_SIZE);
		tde_plain_bytes_free(payload);
		payload->allocated = packed;
		payload->bytes = bytes;
		payload->size = VARSIZE(packed) - VARHDRSZ;
		payload->compressed = true;
	}
	explicit_bzero(raw, VARSIZE(raw));
	pfree(raw);
}

static struct varlena *
call_decompressor(struct varlena *packed, uint32 method)
{
	return method == TOAST_LZ4_COMPRESSION_ID ? lz4_decompress_datum(packed) : pglz_decompress_datum(packed);
}

/* Of bytes that nothing vouches for: the decompressors' own error about corrupt data becomes ours, as for all damage. */
static struct varlena *
decompress_unchecked(struct varlena *packed, uint32 method)
{
	MemoryContext caller = CurrentMemoryContext;
	struct varlena *volatile result = NULL;

	PG_TRY();
	{
		result = call_decompressor(packed, method);
	}
	PG_CATCH();
	{
		if (geterrcode() != ERRCODE_DATA_CORRUPTED)
			PG_RE_THROW();
		MemoryContextSwitchTo(caller);
		FlushErrorState();
	}
	PG_END_TRY();
	if (result == NULL)
		tde_throw(TDE_E_AUTH);
	return result;
}

/* The reverse; buffer is a compressed varlena but for its header and the order of the info word's bytes. */
static Datum
decompress(char *buffer, size_t size, bool checked)
{
	uint32		info = size > INFO_SIZE ? (uint32) get_little_endian((uint8 *) VARDATA(buffer), INFO_SIZE) : 0;
	uint32		raw_size = info & VARLENA_EXTSIZE_MASK;
	uint32		method = info >> VARLENA_EXTSIZE_BITS;
	struct varlena *result;

	/*
	 * Neither method can make 256 bytes out of one.  Without this bound a few bytes without a MAC could ask for a gigabyte.
	 */
	if (raw_size == 0 || raw_size > 256 * (uint64) size ||
		(method != TOAST_PGLZ_COMPRESSION_ID && method != TOAST_LZ4_COMPRESSION_ID))
		tde_throw(TDE_E_AUTH);

	SET_VARSIZE_COMPRESSED(buffer, size + VARHDRSZ);
	memcpy(VARDATA(buffer), &info, INFO_SIZE);
	result = checked ? call_decompressor((struct varlena *) buffer, method) :
		decompress_unchecked((struct varlena *) buffer, method);
	return PointerGetDatum(result);
}

/* ---- datums ---- */

void
tde_plain_bytes_make(TdeType *type, Datum value, TdeSpec spec, TdePlainBytes *payload)
{
	payload->compressed = false;
	payload->allocated = NULL;
	if (type->base_len == -1)
	{
		struct varlena *bytes = PG_DETOAST_DATUM_PACKED(value);

		if ((Pointer) bytes != DatumGetPointer(value))
			payload->allocated = bytes;
		payload->bytes = (const uint8 *) VARDATA_ANY(bytes);
		payload->size = VARSIZE_ANY_EXHDR(bytes);
		/* never what is deterministic: another version of a library would make other bytes of it */
		if (spec.salted)
			compress(payload);
		return;
	}

	payload->size = type->base_len;
	if (type->base_byval)
	{
		put_little_endian(payload->scratch, (uint64) value, type->base_len);
		payload->bytes = payload->scratch;
		return;
	}
	payload->allocated = palloc(type->base_len);
	copy_by_reference(type->base, type->base_len, payload->allocated, (uint8 *) DatumGetPointer(value));
	payload->bytes = payload->allocated;
}

void
tde_plain_bytes_verify(TdeType *type, const uint8 *bytes, size_t size)
{
	if (unlikely(type->verifier == NULL))
		type->verifier = tde_verifier_of(type->base);
	tde_verify_payload(type->verifier, bytes, size);
}

Datum
tde_plain_bytes_any_datum(TdeType *type, char *buffer, size_t size, bool compressed, bool checked, bool *in_buffer)
{
	uint8	   *bytes = (uint8 *) VARDATA(buffer);
	Datum		result;

	*in_buffer = false;
	if (type->base_len == -1 && compressed)
	{
		result = decompress(buffer, size, checked);
		if (!checked)
			tde_plain_bytes_verify(type, (const uint8 *) VARDATA(DatumGetPointer(result)), VARSIZE(DatumGetPointer(result)) - VARHDRSZ);
		return result;
	}

	if (size != type->base_len || compressed)
		tde_throw(TDE_E_AUTH);
	if (!checked)
		tde_plain_bytes_verify(type, bytes, size);
	if (type->base_byval)
		return byval_datum(bytes, type->base_len);
#ifndef WORDS_BIGENDIAN
	if ((uintptr_t) bytes % MAXIMUM_ALIGNOF == 0)
	{
		*in_buffer = true;
		return PointerGetDatum(bytes);
	}
#endif
	result = PointerGetDatum(palloc(size));
	copy_by_reference(type->base, type->base_len, (uint8 *) DatumGetPointer(result), bytes);
	return result;
}
