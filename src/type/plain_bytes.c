/*
 * plain_bytes.c - a base type's datum as the bytes that are encrypted, and back; which bytes that no MAC vouches for are safe.
 */
#include "postgres.h"

#include "access/toast_compression.h"
#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "server/compat.h"
#include "server/error.h"
#include "type/plain_bytes.h"

/* ---- numbers, little-endian on every machine ---- */

static inline void
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

/* ---- decrypted bytes that no MAC vouches for, and that are safe to give to the base type's functions ---- */

struct TdeVerifier
{
	Oid			base;
	int			length;			/* -1: any */
	bool		(*good) (const uint8 *bytes, size_t size);
};

static int64
number_at(const uint8 *bytes, int width)
{
	uint64		number = get_little_endian(bytes, width);

	/* sign-extend */
	return width == 8 ? (int64) number : (int64) (number << (64 - 8 * width)) >> (64 - 8 * width);
}

static bool
any_bytes(const uint8 *bytes, size_t size)
{
	return true;
}

/* Returns true if these eight bytes are ASCII, and none of them zero.  (A zero byte borrows into its high bit.) */
static inline bool
ascii_word(const uint8 *bytes)
{
	uint64		word;

	memcpy(&word, bytes, sizeof(word));
	return ((word | (word - UINT64CONST(0x0101010101010101))) & UINT64CONST(0x8080808080808080)) == 0;
}

/*
 * All server encodings hold ASCII as it is, so most text needs no look at its encoding, which takes as long as decrypting a
 * short one.
 */
static bool
good_text(const uint8 *bytes, size_t size)
{
	size_t		done = 0;

	if (size < 8)
	{
		while (done < size && (uint8) (bytes[done] - 1) < 0x7f)
			done++;
		if (done == size)
			return true;
	}
	while (done + 8 <= size && ascii_word(bytes + done))
		done += 8;
	/* the rest, together with some that were seen already */
	if (done + 8 > size && size >= 8 && ascii_word(bytes + size - 8))
		return true;
	return pg_verify_mbstr(GetDatabaseEncoding(), (const char *) bytes, (int) size, true);
}

static bool
good_bool(const uint8 *bytes, size_t size)
{
	return size == 1 && bytes[0] <= 1;
}

static bool
good_date(const uint8 *bytes, size_t size)
{
	int64		date = number_at(bytes, 4);

	return DATE_NOT_FINITE(date) || IS_VALID_DATE(date);
}

static bool
good_time(const uint8 *bytes, size_t size)
{
	int64		time = number_at(bytes, 8);

	return time >= 0 && time <= USECS_PER_DAY;
}

static bool
good_timetz(const uint8 *bytes, size_t size)
{
	int64		zone = number_at(bytes + 8, 4);

	return good_time(bytes, size) && zone > -(MAX_TZDISP_HOUR + 1) * SECS_PER_HOUR &&
		zone < (MAX_TZDISP_HOUR + 1) * SECS_PER_HOUR;
}

static bool
good_timestamp(const uint8 *bytes, size_t size)
{
	Timestamp	timestamp = number_at(bytes, 8);

	return TIMESTAMP_NOT_FINITE(timestamp) || IS_VALID_TIMESTAMP(timestamp);
}

/*
 * numeric's own macros are private to numeric.c; this is the format that numeric_recv() and pg_upgrade keep stable: a
 * 16-bit header word, a second one (the weight) in the long form, then base-10000 digits.
 */
static bool
good_numeric(const uint8 *bytes, size_t size)
{
	uint16		header;
	size_t		header_size;

	if (size < sizeof(uint16) || size % sizeof(uint16) != 0)
		return false;
	memcpy(&header, bytes, sizeof(header));
	if ((header & 0xc000) == 0xc000)	/* NaN, Infinity, -Infinity */
		return size == sizeof(uint16) && (header == 0xc000 || header == 0xd000 || header == 0xf000);
	header_size = (header & 0x8000) ? sizeof(uint16) : 2 * sizeof(uint16);
	if (size < header_size)
		return false;
	for (size_t i = header_size; i < size; i += sizeof(int16))
	{
		int16		digit;

		memcpy(&digit, bytes + i, sizeof(digit));
		if (digit < 0 || digit > 9999)
			return false;
	}
	return true;
}

/* What is not in this list has an inner structure, or is not known well enough. */
static const TdeVerifier verifiers[] = {
	{TEXTOID, -1, good_text},
	{VARCHAROID, -1, good_text},
	{BPCHAROID, -1, good_text},
	{BYTEAOID, -1, any_bytes},
	{NUMERICOID, -1, good_numeric},
	{INT2OID, 2, any_bytes},
	{INT4OID, 4, any_bytes},
	{INT8OID, 8, any_bytes},
	{FLOAT4OID, 4, any_bytes},
	{FLOAT8OID, 8, any_bytes},
	{BOOLOID, 1, good_bool},
	{DATEOID, 4, good_date},
	{TIMEOID, 8, good_time},
	{TIMETZOID, 12, good_timetz},
	{TIMESTAMPOID, 8, good_timestamp},
	{TIMESTAMPTZOID, 8, good_timestamp},
	{INTERVALOID, 16, any_bytes},
	{UUIDOID, 16, any_bytes},
};

const TdeVerifier *
tde_plain_verifier(Oid base)
{
	for (int i = 0; i < lengthof(verifiers); i++)
		if (verifiers[i].base == base)
			return &verifiers[i];
	return NULL;
}

void
tde_plain_verify(const TdeVerifier *verifier, const uint8 *bytes, size_t size)
{
	if (verifier == NULL || (verifier->length >= 0 && verifier->length != size) || !verifier->good(bytes, size))
		tde_error_throw(TDE_E_AUTH);
}

size_t
tde_plain_verify_slice(Oid base, const uint8 *bytes, size_t size, bool ends)
{
	size_t		good;

	if (base == BYTEAOID)
		return size;
	good = pg_encoding_verifymbstr(GetDatabaseEncoding(), (const char *) bytes, (int) size);
	if (good < size && (ends || size - good >= pg_database_encoding_max_length()))
		tde_error_throw(TDE_E_AUTH);
	return good;
}

/* ---- padding ---- */

size_t
tde_plain_pad(Oid base, const TdeModifiers *mods)
{
	int32		longest;

	if (mods->pad == 0 || get_typlen(base) != -1)
		return 0;
	if (mods->pad != TDE_PAD_MAX)
		return mods->pad;
	longest = type_maximum_size(base, mods->base_typmod);
	/* padding takes a byte at least */
	return longest < VARHDRSZ ? 0 : longest - VARHDRSZ + 1;
}

void
tde_plain_pad_as(TdeModifiers *mods, Oid base, size_t pad)
{
	tde_modifiers_set_pad(mods, get_typlen(base) == -1 ? (int) Min(pad, TDE_PAD_LARGEST) : 0);
}

/* ---- a datum as bytes ---- */

/* Below this, TOAST would not compress either. */
#define COMPRESS_FROM	2000

/*
 * What is compressed begins with this word, little-endian: raw size (30 bits) and method (2 bits), as in a compressed
 * varlena.
 */
#define INFO_SIZE		sizeof(uint32)

int			tde_compression = TDE_COMPRESSION_OFF;

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

/* Replaces the bytes by a compressed copy, if that is smaller; the copy that the compressor read is cleansed. */
static void
compress(TdePlainBytes *plain_bytes)
{
	struct varlena *raw;
	struct varlena *packed;

	if (tde_compression == TDE_COMPRESSION_OFF || plain_bytes->size < COMPRESS_FROM)
		return;
	raw = palloc(VARHDRSZ + plain_bytes->size);
	SET_VARSIZE(raw, VARHDRSZ + plain_bytes->size);
	memcpy(VARDATA(raw), plain_bytes->bytes, plain_bytes->size);
	packed = tde_compression == TDE_COMPRESSION_LZ4 ? lz4_compress_datum(raw) : pglz_compress_datum(raw);
	if (packed != NULL && VARSIZE(packed) < VARSIZE(raw))
	{
		uint8	   *bytes = (uint8 *) VARDATA(packed);
		uint32		method = tde_compression == TDE_COMPRESSION_LZ4 ? TOAST_LZ4_COMPRESSION_ID : TOAST_PGLZ_COMPRESSION_ID;

		put_little_endian(bytes, (uint32) plain_bytes->size | (method << VARLENA_EXTSIZE_BITS), INFO_SIZE);
		tde_plain_bytes_free(plain_bytes);
		plain_bytes->allocated = packed;
		plain_bytes->bytes = bytes;
		plain_bytes->size = VARSIZE(packed) - VARHDRSZ;
		plain_bytes->compressed = true;
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
		tde_error_throw(TDE_E_AUTH);
	return result;
}

/*
 * A server without lz4 says so of a value that it knows to be good, from another server.  Of bytes that nothing vouches for that would tell what
 * they are.
 */
static bool
is_method(uint32 method, bool checked)
{
#ifdef USE_LZ4
	return method == TOAST_PGLZ_COMPRESSION_ID || method == TOAST_LZ4_COMPRESSION_ID;
#else
	return method == TOAST_PGLZ_COMPRESSION_ID || (checked && method == TOAST_LZ4_COMPRESSION_ID);
#endif
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
	if (raw_size == 0 || raw_size > 256 * (uint64) size || !is_method(method, checked))
		tde_error_throw(TDE_E_AUTH);

	SET_VARSIZE_COMPRESSED(buffer, size + VARHDRSZ);
	memcpy(VARDATA(buffer), &info, INFO_SIZE);
	result = checked ? call_decompressor((struct varlena *) buffer, method) :
		decompress_unchecked((struct varlena *) buffer, method);
	return PointerGetDatum(result);
}

/* ---- datums ---- */

void
tde_plain_bytes_make(TdeType *type, Datum value, TdeSpec spec, TdePlainBytes *plain_bytes)
{
	plain_bytes->compressed = false;
	plain_bytes->allocated = NULL;
	if (type->base_len == -1)
	{
		struct varlena *bytes = PG_DETOAST_DATUM_PACKED(value);

		if ((Pointer) bytes != DatumGetPointer(value))
			plain_bytes->allocated = bytes;
		plain_bytes->bytes = (const uint8 *) VARDATA_ANY(bytes);
		plain_bytes->size = VARSIZE_ANY_EXHDR(bytes);
		/* never what is deterministic: another version of a library would make other bytes of it */
		if (spec.salted)
			compress(plain_bytes);
		return;
	}

	plain_bytes->size = type->base_len;
	if (type->base_byval)
	{
		/* all that a datum may have: a store */
		put_little_endian(plain_bytes->scratch, (uint64) value, sizeof(uint64));
		plain_bytes->bytes = plain_bytes->scratch;
		return;
	}
	plain_bytes->allocated = palloc(type->base_len);
	copy_by_reference(type->base, type->base_len, plain_bytes->allocated, (uint8 *) DatumGetPointer(value));
	plain_bytes->bytes = plain_bytes->allocated;
}

void
tde_plain_bytes_verify(TdeType *type, const uint8 *bytes, size_t size)
{
	if (unlikely(type->verifier == NULL))
		type->verifier = tde_plain_verifier(type->base);
	tde_plain_verify(type->verifier, bytes, size);
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
		tde_error_throw(TDE_E_AUTH);
	if (!checked)
		tde_plain_bytes_verify(type, bytes, size);
	if (type->base_byval)
		return tde_plain_bytes_by_value(bytes, type->base_len);
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
